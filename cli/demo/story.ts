/** What happens in the demo: a buyer finds a seller, buys twice over a network at its worst, and counts. */

import type { release } from "../../generated/3.1.0/index.js";
import type { Buyer } from "../../runtime/buyer/index.js";
import type { Market } from "./market.js";

/** Longest wait for a task to end, or for an event to come, in milliseconds. */
const WAIT_MS = 30_000;
const DAY_MS = 86_400_000;

export interface Outcome {
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

export async function tellStory(market: Market): Promise<Outcome> {
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
    await buyOnce(buyer, WAIT_MS, (what, verdict) => timeline.say("buyer", what, verdict));
    await scene.settled();
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
): Promise<void> {
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
    account: { brand: { domain: "outdoor-brand.example" }, operator: "agency.example" },
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
  const settled = await called.settled({ signal: AbortSignal.timeout(waitMs) });
  const id = settled.status === "completed" ? (settled.data as { media_buy_id?: string }).media_buy_id : "";
  tell("its task has settled", `${settled.status} ${id}`);
}
