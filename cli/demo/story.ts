/** What happens in the demo: a buyer finds a seller, buys twice over a network at its worst, and counts. */

import type { release } from "../../generated/3.1.0/index.js";
import type { Buyer } from "../../runtime/buyer/index.js";
import type { Market } from "./market.js";

/** Longest wait for a task to end, or for an event to come, in milliseconds. */
const WAIT_MS = 120_000;
const DAY_MS = 86_400_000;

export interface StoryEnd {
  /** Events that left a seller and whose effect is missing, or there more than once. Zero, or the demo failed. */
  readonly lost: number;
  readonly rows: readonly (readonly [name: string, value: string | number])[];
}

/** Waits until `holds`, or gives up. */
async function until(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

export type DemoBuyer = Buyer<typeof release>;

export async function tellStory(market: Market): Promise<StoryEnd> {
  const { registry, timeline, scene, side } = market;
  const found = await registry.client.searchAgents({ channels: "olv", delivery_types: "guaranteed" } as never);
  if (!found.ok) throw new Error(`the registry answered ${found.status}: ${found.error}`);
  timeline.say("buyer", "asks the registry who sells video, guaranteed", `${found.data.results.length} agents`);

  const misfortunes = [
    { working: "answer lost", "input-required": "forged", completed: "receiver killed" },
    { working: "held back" },
  ] as const;
  const buyers: DemoBuyer[] = [];
  for (const [at, plan] of misfortunes.entries()) {
    const agent = found.data.results[at % found.data.results.length]!;
    const buyer = market.buyerOf(agent);
    buyers.push(buyer);
    timeline.say("buyer", `turns to ${agent.agent_url}`, `sells for ${agent.publisher_count} publishers`);
    scene.plan(plan);
    const bought = await buyOnce(buyer, WAIT_MS, (what, verdict) => timeline.say("buyer", what, verdict));
    await scene.ended();
    if (at === misfortunes.length - 1) await followUp(market, buyer, bought);
  }

  await until(() => scene.delivered === scene.sent);
  await until(async () => (await side.ledger.applied()).length >= scene.accepted.length);
  for (const buyer of buyers) await buyer.close();
  const applied = new Map((await side.ledger.applied()).map((one) => [one.key, one.times]));
  const missing = scene.accepted.filter((key) => applied.get(key) !== 1).length;
  const strangers = [...applied.keys()].filter((key) => !scene.keys.includes(key)).length;
  const twice = [...applied.values()].filter((times) => times > 1).length;
  return {
    lost: scene.sent - scene.delivered + missing + strangers + (scene.forgeries - scene.refused),
    rows: [
      ["events sent", scene.sent],
      ["delivered", scene.delivered],
      ["effects applied once", applied.size - twice],
      ["effects applied twice", twice],
      ["duplicates dropped", scene.duplicates],
      ["late ones passed over", scene.stale],
      ["forgeries refused", `${scene.refused} of ${scene.forgeries}`],
      ["lost", scene.sent - scene.delivered + missing],
    ],
  };
}

/** What a buyer does at a seller, told step by step. @throws Error when a step fails */
export async function buyOnce(
  buyer: DemoBuyer,
  waitMs = WAIT_MS,
  tell: (what: string, verdict: string) => void = () => undefined,
): Promise<Bought> {
  const products = await buyer.tools.get_products({ buying_mode: "brief", brief: "video in sports" });
  const product = products.on({
    completed: (data) => ("products" in data ? data.products?.[0] : undefined),
    submitted: () => undefined,
    working: () => undefined,
    "input-required": () => undefined,
    failed: () => undefined,
    canceled: () => undefined,
    rejected: () => undefined,
  });
  if (product === undefined) throw new Error(`nothing is on offer: ${JSON.stringify(products.answer)}`);
  tell("asks for products", `${product.product_id}: ${product.name}`);
  const start = Date.now() + DAY_MS;
  const called = await buyer.tools.create_media_buy({
    account,
    brand: { domain: "outdoor-brand.example" },
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + 14 * DAY_MS).toISOString(),
    packages: [
      {
        product_id: product.product_id,
        budget: 20_000,
        pricing_option_id: product.pricing_options[0]!.pricing_option_id,
      },
    ],
  });
  tell("creates a media buy of 20,000", called.answer.status);
  if (called.answer.status === "failed") throw new Error(JSON.stringify(called.answer.data));
  const ended = await called.waitForCompletion({ signal: AbortSignal.timeout(waitMs) });
  if (ended.status !== "completed") throw new Error(`the task ended as ${ended.status}`);
  const { media_buy_id: id, packages } = ended.data as { media_buy_id: string; packages: { package_id: string }[] };
  tell("its task has ended", `${ended.status} ${id}`);
  return { id, packageId: packages[0]!.package_id, formatId: product.format_ids?.[0] };
}

/** A bought package, as far as the story goes on with it. */
interface Bought {
  readonly id: string;
  readonly packageId: string;
  readonly formatId: object | undefined;
}

const account = { brand: { domain: "outdoor-brand.example" }, operator: "agency.example" };

/** What reaches a buyer of a buy that runs: a creative that is taken off the air, and the report at its end. */
async function followUp({ timeline, side, wireUrl, scene }: Market, buyer: DemoBuyer, bought: Bought): Promise<void> {
  const { id, packageId, formatId } = bought;
  const sender = buyer.agentUrl;
  await side.receiver.expect({ route: "/webhooks/events", sender, kind: "impairment" });
  await side.receiver.expect({ route: "/webhooks/reports", sender, kind: "report" });
  const done = async (what: string, call: Promise<{ answer: { status: string; data: unknown } }>): Promise<void> => {
    const { answer } = await call;
    if (answer.status !== "completed") throw new Error(`${what}: ${JSON.stringify(answer.data)}`);
    timeline.say("buyer", what, answer.status);
  };
  const creative = {
    creative_id: "spot-1",
    name: "Autumn, 15 seconds",
    format_id: formatId,
    assets: {
      video: {
        ...{ asset_type: "video", url: "https://cdn.example/autumn.mp4", width: 1920, height: 1080 },
        ...{ duration_ms: 15_000, container_format: "mp4" },
      },
    },
  };
  await done("uploads a creative", buyer.call("sync_creatives", { account, creatives: [creative] }));
  await done(
    "assigns it, and asks for events and daily reports",
    buyer.call("update_media_buy", {
      account,
      media_buy_id: id,
      packages: [{ package_id: packageId, creative_assignments: [{ creative_id: creative.creative_id }] }],
      push_notification_config: { url: `${wireUrl}/webhooks/events`, operation_id: `events-${id}` },
      reporting_webhook: { url: `${wireUrl}/webhooks/reports`, reporting_frequency: "daily" },
    }),
  );
  const control = (scenario: string, params: object) =>
    buyer.call("comply_test_controller", { account: { ...account, sandbox: true }, scenario, params });
  await control("force_creative_status", { creative_id: creative.creative_id, status: "approved" });
  timeline.say("seller", "takes the creative off the air: its content is not what was agreed");
  await done(
    "(the seller's reviewer is played through its test controller)",
    control("force_creative_status", {
      ...{ creative_id: creative.creative_id, status: "rejected" },
      rejection_reason: "another product than announced",
    }),
  );
  if (!(await until(() => scene.saw("impairment")))) throw new Error("no impairment came");
  const figures = { impressions: 120_000, clicks: 340, reported_spend: { amount: 3_360, currency: "USD" } };
  await done("(so is its ad server)", control("simulate_delivery", { media_buy_id: id, ...figures }));
  await done("cancels the buy", buyer.call("update_media_buy", { account, media_buy_id: id, canceled: true }));
  if (!(await until(() => scene.saw("final report")))) throw new Error("no final report came");
}
