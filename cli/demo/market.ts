/** The whole of it: a registry, sellers, a buyer with its receivers, and a hostile network between them. */
import path from "node:path";
import { release } from "../../generated/3.1.0/index.js";
import { type Buyer, createBuyer } from "../../runtime/buyer/index.js";
import { fileUrl } from "../../runtime/db/urls.js";
import { openBuyerSide, Receivers } from "./buyer.js";
import type { MarketDatabases } from "./cluster.js";
import { writeInventory } from "./inventory.js";
import { type RunningRegistry, startRegistry } from "./registry.js";
import { Scene } from "./scene.js";
import { type RunningSeller, type SellerPlan, scaffoldSeller, startSeller } from "./seller.js";
import { Timeline } from "./timeline.js";
import { DemoWire } from "./wire.js";

export interface MarketPlan {
  /** Empty folder for projects and databases. */
  readonly home: string;
  readonly sellers: number;
  readonly receivers: number;
  /** SQLite files without it. */
  readonly databases?: MarketDatabases;
  /** Says by how many milliseconds the receivers' clocks are wrong. */
  readonly clockFile?: string;
  /** Draws what the network does to each request; left out where a story plans it. */
  readonly weather?: () => number;
  /** First of the ports used, one after the other. */
  readonly port: number;
  readonly say: (line: string) => void;
}

export interface Market {
  readonly registry: RunningRegistry;
  readonly sellers: readonly RunningSeller[];
  /** Kills a seller and starts it again on its data. */
  replaceSeller(name: string): Promise<void>;
  readonly receivers: Receivers;
  readonly side: Awaited<ReturnType<typeof openBuyerSide>>;
  readonly wireUrl: string;
  readonly scene: Scene;
  readonly timeline: Timeline;
  buyerOf(agent: { readonly agent_url: string }): Buyer<typeof release>;
  close(): Promise<void>;
}

/** What a market is opened with, piece after piece. */
interface Opening {
  readonly plan: MarketPlan;
  readonly timeline: Timeline;
  /** The next port that is free. */
  readonly nextPort: () => number;
  /** What is to be closed again, the last one first. */
  readonly closing: (() => Promise<unknown>)[];
}

type Sellers = Pick<Market, "replaceSeller"> & { readonly sellers: RunningSeller[] };

async function openSellers({ plan, timeline, nextPort, closing }: Opening): Promise<Sellers> {
  const sellers: RunningSeller[] = [];
  const plans = new Map<string, SellerPlan>();
  closing.push(() => Promise.all(sellers.map((seller) => seller.stop())));
  for (let at = 1; at <= plan.sellers; at++) {
    const folder = path.join(plan.home, `seller-${at}`);
    await scaffoldSeller(folder, "manifests/3.1.0");
    const database = plan.databases?.sellers[at - 1] ?? fileUrl(path.join(folder, "data/seller.db"));
    const sellerPlan = { name: `seller ${at}`, folder, port: nextPort(), database };
    plans.set(sellerPlan.name, sellerPlan);
    const seller = await startSeller(sellerPlan);
    sellers.push(seller);
    timeline.say("seller", `scaffolded for sales_guaranteed, serves at ${seller.agentUrl}`);
  }

  return {
    sellers,
    async replaceSeller(name) {
      const at = sellers.findIndex((one) => one.name === name);
      await sellers[at]!.kill();
      sellers[at] = await startSeller(plans.get(name)!);
    },
  };
}

async function openRegistry(
  { plan, timeline, nextPort, closing }: Opening,
  sellers: readonly RunningSeller[],
): Promise<RunningRegistry> {
  const { home } = plan;
  const inventory = path.join(home, "inventory.ndjson");
  const publishers = writeInventory(
    inventory,
    sellers.map(({ agentUrl }) => agentUrl),
  );
  const registryStore = plan.databases?.registry ?? fileUrl(path.join(home, "registry.db"));
  const registry = await startRegistry(registryStore, inventory, nextPort());
  closing.push(() => registry.stop());
  timeline.say("registry", `knows ${publishers} publishers, serves at ${registry.url}`);
  return registry;
}

type BuyerSide = Pick<Market, "receivers" | "side" | "wireUrl" | "scene">;

/** The receivers, what is between them and the sellers, and who buys. */
async function openBuyers(
  { plan, timeline, nextPort, closing }: Opening,
  sellers: readonly RunningSeller[],
): Promise<BuyerSide> {
  const store = plan.databases?.receivers ?? fileUrl(path.join(plan.home, "receiver.db"));
  const wire: DemoWire = new DemoWire({
    receivers: () => receivers.ports,
    treat: (passed, verdict) => scene.treat(passed, verdict),
    onVerdict: (passed, verdict, treatment) => scene.judged(passed, verdict, treatment),
  });
  const wireUrl: string = await wire.start();
  closing.push(() => wire.stop());
  const ports = Array.from({ length: plan.receivers }, nextPort);
  const agents = sellers.map(({ agentUrl, brandUrl }) => ({ agentUrl, brandUrl }));
  const { clockFile } = plan;
  const receiving = { store, ports, publicUrl: wireUrl, agents, ...(clockFile !== undefined && { clockFile }) };
  const receivers: Receivers = new Receivers(receiving);
  const side = await openBuyerSide(receiving);
  await receivers.startAll();
  closing.push(
    () => receivers.stop(),
    () => side.close(),
  );
  timeline.say("buyer", `receives webhooks in ${plan.receivers === 1 ? "one process" : `${plan.receivers} processes`}`);
  const scene: Scene = new Scene({
    timeline,
    inject: (passed) => wire.inject(passed),
    publicUrl: () => wireUrl,
    ...(plan.weather && { weather: plan.weather }),
    killReceiver: async () => {
      const [first] = receivers.ports;
      if (first === undefined) return;
      await receivers.replace(first);
      timeline.say("receiver", "is back, with all it knew");
    },
  });

  return { receivers, side, wireUrl, scene };
}

export async function openMarket(plan: MarketPlan): Promise<Market> {
  const timeline = new Timeline(plan.say);
  let port = plan.port;
  const closing: (() => Promise<unknown>)[] = [];
  const opening: Opening = { plan, timeline, nextPort: () => port++, closing };
  const { sellers, replaceSeller } = await openSellers(opening);
  const registry = await openRegistry(opening, sellers);
  const { receivers, side, wireUrl, scene } = await openBuyers(opening, sellers);
  return {
    ...{ registry, sellers, replaceSeller, receivers, side, wireUrl, scene, timeline },
    buyerOf: (agent) =>
      createBuyer({
        release,
        agent,
        allowLocal: true,
        webhooks: { receiver: side.receiver as never, url: `${wireUrl}/webhooks/${new URL(agent.agent_url).port}` },
      }),
    async close() {
      for (const close of closing.reverse()) await close();
    },
  };
}
