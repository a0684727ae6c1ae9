/** The books of a soak: what was sent, what came of it, and whether the two agree. */
import { openDatabase } from "../../runtime/db/index.js";
import type { Totals } from "../closing-line.js";
import type { Market } from "./market.js";
import type { Soak } from "./soak-run.js";

/** Longest wait for what is on its way when the faults are over, in milliseconds: some retries are minutes apart. */
const DRAIN_MS = 5 * 60_000;

const WAITING = "select count(*) as n from adbind_jobs where state = 'ready'";
const BUYS = "select count(*) as n from adbind_documents where collection = 'media_buy'";

/** What a seller's database counts. @param url of a database of adbind's */
async function countAt(url: string, query: string): Promise<number> {
  const database = await openDatabase(url, { access: "read" });
  try {
    const [row] = await database.query((q) => q.rows<{ n: number }>(query));
    return Number(row!.n);
  } finally {
    await database.close();
  }
}

/** What was found when nothing was on its way any more. */
export interface Drained {
  readonly applied: readonly { readonly key: string; readonly times: number }[];
  readonly waiting: number;
  readonly buys: number;
}

/** Waits until everything has arrived, as long as that may take, and counts. */
export async function drained(market: Market): Promise<Drained> {
  const end = performance.now() + DRAIN_MS;
  const atSellers = async (query: string): Promise<number> => {
    const each = await Promise.all(market.sellers.map(({ database }) => countAt(database, query)));
    return each.reduce((a, b) => a + b);
  };
  const applied = async () => market.side.ledger.applied();
  while (performance.now() < end) {
    if ((await atSellers(WAITING)) === 0 && (await applied()).length >= market.scene.accepted.length) break;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return { applied: await applied(), waiting: await atSellers(WAITING), buys: await atSellers(BUYS) };
}

const median = (of: readonly number[]): number => [...of].sort((a, b) => a - b)[of.length >> 1] ?? Number.NaN;

/** @param say prints the books @returns what went well, and what is wrong */
export function judge(
  { market, bought, failed, faults, memory, plan: { say } }: Soak,
  { applied, waiting, buys }: Drained,
): Totals {
  const { scene } = market;
  const once = new Set(applied.filter(({ times }) => times === 1).map(({ key }) => key));
  const twice = applied.filter(({ times }) => times > 1).length;
  const missing = scene.accepted.filter((key) => !once.has(key)).length;
  const known = new Set(scene.keys);
  const strangers = applied.filter(({ key }) => !known.has(key) && !key.startsWith("poll:")).length;
  const third = Math.floor(memory.length / 3);
  const growth = median(memory.slice(-third)) - median(memory.slice(third, 2 * third));
  market.timeline.print = say;
  market.timeline.table([
    ["orders", `${bought} settled, ${failed} cut short by a fault`],
    ["media buys at the sellers", buys],
    ...Object.entries(faults),
    ["events sent", scene.sent],
    ["delivered", scene.delivered],
    ["effects applied once", once.size],
    ["effects applied twice", twice],
    ["accepted without an effect", missing],
    ["effects of nothing that was sent", strangers],
    ["duplicates dropped", scene.duplicates],
    ["late ones passed over", scene.stale],
    ["forgeries refused", `${scene.refused} of ${scene.forgeries}`],
    ["still to be delivered", waiting],
    [
      "a receiver's memory",
      `${Math.round(memory.at(-1) ?? 0)} MB, ${growth.toFixed(1)} MB more in the last third than in the one before`,
    ],
  ]);
  for (const one of scene.letIn) say(`   NOT REFUSED: ${one}`);
  const lost = scene.sent - scene.delivered;
  // An order is one call under one key, repeated until it is answered: more buys than orders, and one was made twice.
  const ordered = bought <= buys && buys <= bought + failed;
  const accepted = Math.abs(scene.forgeries - scene.refused);
  const wrong = Math.max(lost, missing) + twice + strangers + waiting + accepted + (ordered ? 0 : 1);
  say(
    wrong === 0
      ? "The books agree."
      : `THE BOOKS DO NOT AGREE: ${lost} lost${ordered ? "" : ", and buys are not the orders"}`,
  );
  return { passed: once.size, failed: wrong };
}
