/** What became of leased jobs on PostgreSQL. */
import { binaryArray, type Coroutine, kept, type PostgresDatabase, type Query, runAsync } from "../../db/index.js";
import { isRowKept } from "../../db/postgres/faults.js";
import { type Ack, movedTo, waitsInOrder } from "../jobs.js";
import type { AckEffect, AckResult, AttemptActivity } from "../types.js";
import type { AddingTransactions } from "./adding.js";
import { letOlderGo, UNLEASED } from "./jobs.js";

/** What became of jobs, and what is kept of the attempt of each. */
export interface Acknowledged {
  readonly acks: readonly Ack[];
  readonly now: number;
  readonly activity?: readonly (AttemptActivity | undefined)[] | undefined;
  /** Longest wait for a row that another transaction holds, in milliseconds. */
  readonly lockMs: number;
}

const texts = (values: readonly (string | null)[]): Buffer => binaryArray("text", values);
const numbers = (values: readonly (number | null)[]): Buffer => binaryArray("bigint", values);

const ACK =
  kept(`select adbind_ack_jobs(?::text, ?::bigint, ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[],
  ?::text[], ?::text[], ?::text[], ?::bigint[]) as held from (select set_config('lock_timeout', ?, true)) patience`);

/** No text of the server has a NUL, and what a receiver said is no reason to set its event aside. */
const errorOf = ({ outcome }: Ack): string | null =>
  "error" in outcome && outcome.error !== null ? outcome.error.replaceAll("\0", "") : null;

/**
 * Writes what became of leased jobs, where the token is still the job's, and with it what is kept of their attempts. What
 * waits for them may go then.
 * @returns ids of those
 */
export function* ackJobs(
  q: Query,
  topic: string,
  { acks, now, activity, lockMs }: Acknowledged,
): Coroutine<ReadonlySet<number>> {
  const ids = acks.map(({ job }) => job.id);
  const kept = acks.map((_, at) => activity?.[at]);
  const [row] = yield* q.rows<{ held: number[] | null }>(ACK, [
    topic,
    now,
    numbers(ids),
    ...[acks.map(({ job }) => job.token), acks.map(({ outcome }) => outcome.kind)].map(texts),
    numbers(acks.map(({ outcome }) => ("due" in outcome ? outcome.due : null))),
    ...[acks.map(errorOf), acks.map(movedTo)].map(texts),
    ...(["principal", "subject", "record"] as const).map((name) => texts(kept.map((one) => one?.[name] ?? null))),
    numbers(kept.map((one) => one?.expires ?? null)),
    String(lockMs),
  ]);
  const held = new Set(row!.held ?? ids);
  const written = acks.filter(({ job }) => held.has(job.id));
  for (const ack of written) if (movedTo(ack) !== null) yield* moveRest(q, topic, ack);
  const backInOrder = written.filter(waitsInOrder).map(({ job }) => job.orderingKey!);
  yield* letOlderGo(q, topic, backInOrder, now);
  return held;
}

const BUSY = `with ended as materialized (
    select id, topic, ordering_key, attempts from adbind_jobs where id = any(?::bigint[])
  ), behind as materialized (
    select e.id, n.id as next from ended e cross join lateral (
      select h.id from adbind_jobs h where h.topic = e.topic and h.ordering_key = e.ordering_key and h.state = 'ready'
        and h.attempts = 0 and h.id <> e.id order by h.id limit 1) n where e.attempts = 0
  ), free as materialized (
    select id from adbind_jobs where id in (select id from ended union all select next from behind) for update skip locked
  )
  select id from ended where id not in (select id from free)
  union select id from behind where next not in (select id from free)`;

/** @returns ids of those of which another transaction holds a row now: their own, or that of the job that waits for them */
function* busyJobs(q: Query, acks: readonly Ack[]): Coroutine<ReadonlySet<number>> {
  const rows = yield* q.rows<{ id: number }>(BUSY, [acks.map(({ job }) => job.id)]);
  return new Set(rows.map(({ id }) => id));
}

/** What waits under the ordering key of a job that moved is not left to the endpoint it has gone from. */
const moveRest = (q: Query, topic: string, ack: Ack): Coroutine<number> =>
  q.run(
    `update adbind_jobs set endpoint = ? where id in (
      select id from adbind_jobs where topic = ? and ordering_key = ? and state = 'ready' and attempts = 0
      and endpoint = ? and ${UNLEASED} for update skip locked
    )`,
    [movedTo(ack), topic, ack.job.orderingKey, ack.job.endpoint],
  );

/** How long is looked for what can be written where it is not known which rows are held, in milliseconds. */
const SEARCH_MS = 1_000;

/** What is to be acknowledged. */
interface Asked {
  readonly now: number;
  readonly effect: AckEffect | undefined;
  readonly lockMs: number;
}

export class Acknowledging {
  /** @param lockMs how long a row is waited for that another transaction holds, in milliseconds, where nothing is said */
  constructor(
    readonly database: Pick<PostgresDatabase, "query">,
    readonly topic: string,
    readonly adding: AddingTransactions,
    readonly lockMs: number,
  ) {}

  async ack(acks: readonly Ack[], now: number, effect?: AckEffect, lockMs = this.lockMs): Promise<AckResult[]> {
    try {
      return await this.#all(acks, { now, effect, lockMs });
    } catch (error) {
      if (!isRowKept(error)) throw error;
    }
    const asked: Asked = { now, effect, lockMs: this.lockMs };
    const results = new Map<Ack, AckResult>();
    await this.#free(acks, asked, { results, until: performance.now() + SEARCH_MS });
    const all = acks.map((ack) => results.get(ack) ?? "busy");
    const [first] = all;
    if (typeof first === "object" && all.every((one) => typeof one === "object")) throw first.failed;
    return all;
  }

  /** Where somebody holds a row: those of which nobody does. */
  async #free(
    acks: readonly Ack[],
    asked: Asked,
    search: { readonly results: Map<Ack, AckResult>; readonly until: number },
  ): Promise<void> {
    const { results, until } = search;
    const busy = await this.database.query((q) => busyJobs(q, acks));
    const free = acks.filter(({ job }) => !busy.has(job.id));
    // None of theirs: one that is written with them.
    const half = busy.size > 0 ? free.length : Math.ceil(free.length / 2);
    for (const part of [free.slice(0, half), free.slice(half)]) {
      if (part.length === 0 || performance.now() > until) continue;
      try {
        for (const [at, result] of (await this.#all(part, asked)).entries()) results.set(part[at]!, result);
      } catch (error) {
        if (!isRowKept(error)) for (const ack of part) results.set(ack, { failed: error });
        else if (part.length > 1) await this.#free(part, asked, search);
      }
    }
  }

  /** In one transaction. */
  async #all(acks: readonly Ack[], { now, effect, lockMs }: Asked): Promise<boolean[]> {
    const activity = effect === undefined ? [] : effect.activity?.(acks);
    const moved = acks.some((ack) => movedTo(ack) !== null);
    const tell = (held: ReadonlySet<number>): boolean[] => acks.map(({ job }) => held.has(job.id));
    if (activity !== undefined && !moved)
      return tell(await this.database.query((q) => ackJobs(q, this.topic, { acks, now, activity, lockMs })));
    let held: ReadonlySet<number> = new Set();
    await this.adding.transaction(async (q) => {
      held = await runAsync(ackJobs(q, this.topic, { acks, now, lockMs }));
      const acked = acks.filter(({ job }) => held.has(job.id));
      if (effect !== undefined) await runAsync(effect(q, acked));
    }, lockMs);
    return tell(held);
  }
}
