/** What the books and the receivers of a run say of its order, and of what was out when a process was killed. */
import type { Loss, Seen } from "./sender-receivers.js";
import { type Outage, wentOnAfter } from "./sender-servers.js";

export interface Made {
  readonly key: string;
  readonly task: string;
  readonly n: number;
}

/** How long what was lost took to come again, and what came twice though it was not lost. */
export function comebacks(losses: readonly Loss[], seen: readonly Seen[], outages: readonly Outage[]) {
  const arrivals = new Map<string, number[]>();
  const accepted = new Map<string, number>();
  for (const { key, at, accepted: was } of seen) {
    arrivals.set(key, [...(arrivals.get(key) ?? []), at]);
    if (was) accepted.set(key, (accepted.get(key) ?? 0) + 1);
  }
  // What was written down just before the kill never comes again. A process that leased it anew and was killed too, before
  // it sent anything, shows nowhere: so it is the last kill before it came again that counts, and none of a later volley. Nor
  // does what a server was handing out when it was killed: then it is counted from when deliveries went on.
  const waits = losses.flatMap(({ at, healthy, volley }) =>
    healthy
      .flatMap((key) => arrivals.get(key)!.find((again) => again > at) ?? [])
      .map((again) => {
        const kills = losses.filter((one) => one.at < again && (one.volley === volley || one.volley === undefined));
        const killed = Math.max(...kills.map((one) => one.at));
        return again - wentOnAfter(outages, killed, again);
      }),
  );
  return {
    backMs: Math.round(Math.max(0, ...waits)),
    doubles: [...accepted.values()].reduce((sum, times) => sum + times - 1, 0),
    inFlight: losses.reduce((sum, { keys }) => sum + keys.length, 0),
  };
}

/** Keys in the order in which their first attempts were written down. */
export async function settledKeys(db: { query<Row>(text: string): Promise<Row[]> }): Promise<Map<string, number>> {
  const rows = await db.query<{ id: number; record: string }>("select id, record from adbind_activity order by id");
  const first = new Map<string, number>();
  for (const { id, record } of rows) {
    const { idempotency_key: key } = JSON.parse(record) as { idempotency_key: string };
    if (!first.has(key)) first.set(key, Number(id));
  }
  return first;
}

/** No event before its predecessor: by what was written down, and by what the receivers saw of it. */
export function checkOrder(
  made: readonly Made[],
  seen: readonly Seen[],
  settled: ReadonlyMap<string, number>,
  note: (text: string) => void,
): void {
  const firstSeen = new Map<string, number>();
  for (const [index, one] of seen.entries()) if (!firstSeen.has(one.key)) firstSeen.set(one.key, index);
  const observed = new Set(
    seen.filter((one) => one.behaviour !== "down" && one.behaviour !== "closes early").map((one) => one.key),
  );
  const byEvent = new Map(made.map((one) => [`${one.task}/${one.n}`, one.key]));
  for (const { key, task, n } of made) {
    const before = byEvent.get(`${task}/${n - 1}`);
    if (before === undefined) continue;
    const [mine, theirs] = [settled.get(key), settled.get(before)];
    if (mine !== undefined && (theirs === undefined || theirs > mine))
      note(`${task}/${n} was attempted before ${n - 1}`);
    if (!observed.has(key)) continue;
    const [at, earlier] = [firstSeen.get(key), firstSeen.get(before)];
    if (at !== undefined && (earlier === undefined || earlier > at)) note(`${task}/${n} was seen before ${n - 1}`);
  }
}
