/** What is kept of jobs that ended is kept for a while, and in bounds: whoever has most of it makes room, never others. */
import type { Coroutine, Query } from "../db/index.js";

/** Endpoints counted in one statement. */
const PAGE = 10_000;

/**
 * `prune`: of what is kept what ended before a time. `evict`: where more than a number is kept, the oldest
 * of what the owner has that has most; of his endpoints of the one that has most.
 */
export type JobRemoval =
  | { readonly kind: "prune"; readonly before: number; readonly limit: number }
  | {
      readonly kind: "evict";
      readonly keep: number;
      /** Most jobs removed. */
      readonly limit: number;
      /** Whose an endpoint is, by its name. */
      ownerOf(endpoint: string): string;
    };

/** A job that was removed, and under which time its body is. */
interface RemovedRow {
  readonly id: number;
  readonly body_at: number;
}

/** Kept jobs of an endpoint. */
export interface KeptCount {
  readonly endpoint: string;
  readonly count: number;
}

/**
 * Shares out what has to go: the largest are brought down to one level.
 * @param counts of each, in any order
 * @param excess how much is to go, all together
 * @returns how much of each goes, in their order
 */
export function levelled(counts: readonly number[], excess: number): number[] {
  const order = counts.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]!);
  let [above, level] = [0, 0];
  for (const [index, at] of order.entries()) {
    above += counts[at]!;
    const next = counts[order[index + 1] ?? -1] ?? 0;
    const left = above - excess;
    // Down to the next one, that would be enough: or all of it, where there is none.
    if (left < next * (index + 1) && index + 1 < order.length) continue;
    level = Math.max(0, Math.floor(left / (index + 1)));
    break;
  }
  const taken = counts.map((count) => Math.max(0, count - level));
  // What the last step down takes too much is given back, one each.
  let surplus = taken.reduce((sum, count) => sum + count, 0) - excess;
  for (const at of order) {
    if (surplus <= 0) break;
    if (taken[at]! === 0) continue;
    taken[at]! -= 1;
    surplus -= 1;
  }
  return taken;
}

/** @param sums what each owner has. @returns how much of it goes, of those that lose some */
export function sharesOf(sums: ReadonlyMap<string, number>, excess: number): ReadonlyMap<string, number> {
  const taken = levelled([...sums.values()], excess);
  return new Map([...sums.keys()].flatMap((owner, at) => (taken[at]! > 0 ? [[owner, taken[at]!] as const] : [])));
}

type OwnerOf = (endpoint: string) => string;

/** Of the endpoints of each owner the one that has most makes room first. @returns how many of each, where any */
export const evictionsOf = (
  kept: readonly KeptCount[],
  shares: ReadonlyMap<string, number>,
  ownerOf: OwnerOf,
): KeptCount[] =>
  [...Map.groupBy(kept, ({ endpoint }) => ownerOf(endpoint))].flatMap(([owner, all]) => {
    const taken = levelled(
      all.map(({ count }) => count),
      shares.get(owner) ?? 0,
    );
    return all.flatMap(({ endpoint }, index) => (taken[index]! > 0 ? [{ endpoint, count: taken[index]! }] : []));
  });

const KEPT = "topic = ? and state <> 'ready'";

const PRUNE = `select id from adbind_jobs where ${KEPT} and due < ? order by due limit ?`;
const EVICT = `select id from adbind_jobs where ${KEPT} and endpoint = ? order by id limit ?`;

/**
 * Removes what was chosen. By itself: a planner that has not seen yet how much is kept chooses anew for each of all that are.
 * @param chosen ids of kept jobs
 */
function* removeChosen(q: Query, chosen: readonly { readonly id: number }[]): Coroutine<RemovedRow[]> {
  if (chosen.length === 0) return [];
  // Once more that it is kept: somebody may be sending it again.
  const text = `delete from adbind_jobs where ${q.dialect.among("id", "bigint")} and state <> 'ready' returning id, body_at`;
  return yield* q.rows<RemovedRow>(text, [q.dialect.list(chosen.map(({ id }) => id))]);
}

/** By which columns an engine finds bodies. */
type BodyKey = readonly ("at" | "job")[];

const COUNTS = `select endpoint, count(*) as count from adbind_jobs where ${KEPT} and endpoint > ?
  group by endpoint order by endpoint limit ?`;

/** Kept jobs of every endpoint, in parts: there may be as many of them as jobs. @returns the only part, where there is no other */
function* eachCount(
  q: Query,
  topic: string,
  each: (part: readonly KeptCount[]) => void,
): Coroutine<readonly KeptCount[] | undefined> {
  for (let after = ""; ; ) {
    const part = yield* q.rows<KeptCount>(COUNTS, [topic, after, PAGE]);
    each(part);
    if (part.length < PAGE) return after === "" ? part : undefined;
    after = part.at(-1)!.endpoint;
  }
}

/** Which jobs go: of the owner that has most, however many endpoints that is; of his endpoints of the one that has most. */
function* evictions(q: Query, topic: string, excess: number, ownerOf: OwnerOf): Coroutine<KeptCount[]> {
  const sums = new Map<string, number>();
  const only = yield* eachCount(q, topic, (part) => {
    for (const { endpoint, count } of part) {
      const owner = ownerOf(endpoint);
      sums.set(owner, (sums.get(owner) ?? 0) + count);
    }
  });
  const shares = sharesOf(sums, excess);
  const theirs = new Map<string, KeptCount[]>();
  const gather = (part: readonly KeptCount[]): void => {
    for (const one of part) {
      const owner = ownerOf(one.endpoint);
      const share = shares.get(owner);
      if (share === undefined) continue;
      const own = theirs.get(owner) ?? [];
      theirs.set(owner, own);
      // No more endpoints of an owner lose some than jobs of his go.
      if (own.push(one) > share + PAGE) own.sort((x, y) => y.count - x.count).splice(share);
    }
  };
  if (only === undefined) yield* eachCount(q, topic, gather);
  else gather(only);
  return evictionsOf([...theirs.values()].flat(), shares, ownerOf);
}

/** One text for every engine. @returns how many were removed */
export function* removeKept(q: Query, topic: string, what: JobRemoval, key: BodyKey): Coroutine<number> {
  const removed = yield* removeRows(q, topic, what);
  const columns = key.map((name) => [name, "bigint"] as const);
  const bodies = removed.map(({ id, body_at: at }) => key.map((name) => (name === "at" ? at : id)));
  yield* q.remove("adbind_job_bodies", columns, bodies);
  return removed.length;
}

function* removeRows(q: Query, topic: string, what: JobRemoval): Coroutine<RemovedRow[]> {
  if (what.kind === "prune")
    return yield* removeChosen(q, yield* q.rows<{ id: number }>(PRUNE, [topic, what.before, what.limit]));
  // Several that count at a time would all remove what is too much.
  yield* q.lock(`evict ${topic}`);
  const [all] = yield* q.rows<{ n: number }>(`select count(*) as n from adbind_jobs where ${KEPT}`, [topic]);
  const excess = Math.min(all!.n - what.keep, what.limit);
  if (excess <= 0) return [];
  const removed: RemovedRow[] = [];
  for (const { endpoint, count } of yield* evictions(q, topic, excess, what.ownerOf))
    removed.push(...(yield* removeChosen(q, yield* q.rows<{ id: number }>(EVICT, [topic, endpoint, count]))));
  return removed;
}
