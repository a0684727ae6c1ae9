/** The whole of it: a registry, sellers, a buyer with its receivers, and a hostile network between them. */
import path from "node:path";
import { release } from "../../generated/3.1.0/index.js";
import { type Buyer, createBuyer } from "../../runtime/buyer/index.js";
import { openBuyerSide, Receivers } from "./buyer.js";
import { writeInventory } from "./inventory.js";
import { type RunningRegistry, startRegistry } from "./registry.js";
import { Scene } from "./scene.js";
import { type RunningSeller, scaffoldSeller, startSeller } from "./seller.js";
import { Timeline } from "./timeline.js";
import { Wire } from "./wire.js";

export interface MarketPlan {
  /** Empty folder for projects and databases. */
  readonly home: string;
  readonly sellers: number;
  readonly receivers: number;
  /** PostgreSQL database for the registry and for the receivers; SQLite files without it. */
  readonly postgres?: { readonly registry: string; readonly receivers: string };
  /** First of the ports used, one after the other. */
  readonly port: number;
  readonly say: (line: string) => void;
}

/** Orders from this much on wait for a human, and so have a life in webhooks. */
const SIGNED_FROM = 1_000;

export interface Market {
  readonly registry: RunningRegistry;
  readonly sellers: readonly RunningSeller[];
  readonly receivers: Receivers;
  readonly side: Awaited<ReturnType<typeof openBuyerSide>>;
  readonly wireUrl: string;
  readonly scene: Scene;
  readonly timeline: Timeline;
  buyerOf(agent: { readonly agent_url: string }): Buyer<typeof release>;
  close(): Promise<void>;
}

export async function openMarket(plan: MarketPlan): Promise<Market> {
  const { home, say } = plan;
  const timeline = new Timeline(say);
  let port = plan.port;
  const closing: (() => Promise<unknown>)[] = [];
  const sellers: RunningSeller[] = [];
  for (let at = 1; at <= plan.sellers; at++) {
    const folder = path.join(home, `seller-${at}`);
    await scaffoldSeller(folder, "manifests/3.1.0");
    const seller = await startSeller({ name: `seller ${at}`, folder, port: port++, signedFrom: SIGNED_FROM });
    closing.push(() => seller.stop());
    sellers.push(seller);
    timeline.say("seller", `scaffolded for sales_guaranteed, serves at ${seller.agentUrl}`);
  }

  const inventory = path.join(home, "inventory.ndjson");
  const publishers = writeInventory(
    inventory,
    sellers.map(({ agentUrl }) => agentUrl),
  );
  const registryStore = plan.postgres?.registry ?? `sqlite:${path.join(home, "registry.db")}`;
  const registry = await startRegistry(registryStore, inventory, port++);
  closing.push(() => registry.stop());
  timeline.say("registry", `knows ${publishers} publishers, serves at ${registry.url}`);

  const store = plan.postgres?.receivers ?? `sqlite:${path.join(home, "receiver.db")}`;
  const wire: Wire = new Wire({
    receivers: () => receivers.ports,
    treat: (passed) => scene.treat(passed),
    onVerdict: (passed, verdict, treatment) => scene.judged(passed, verdict, treatment),
  });
  const wireUrl: string = await wire.start();
  closing.push(() => wire.stop());
  const ports = Array.from({ length: plan.receivers }, () => port++);
  const agents = sellers.map(({ agentUrl, brandUrl }) => ({ agentUrl, brandUrl }));
  const receiving = { store, ports, publicUrl: wireUrl, agents };
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
    killReceiver: async () => {
      const [first] = receivers.ports;
      if (first === undefined) return;
      await receivers.replace(first);
      timeline.say("receiver", "is back, with all it knew");
    },
  });

  return {
    registry,
    sellers,
    receivers,
    side,
    wireUrl,
    scene,
    timeline,
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
