/** What became of leased jobs on PostgreSQL. */
import { binaryArray, type Coroutine, kept, type PostgresDatabase, type Query, runAsync } from "../../db/index.js";
import { isRowKept } from "../../db/postgres/faults.js";
import { type Ack, movedTo } from "../jobs.js";
import type { AckEffect, AckResult, AttemptActivity } from "../types.js";
import type { AddingTransactions } from "./adding.js";
import { UNLEASED } from "./jobs.js";

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
    ...[acks.map(({ outcome }) => ("error" in outcome ? outcome.error : null)), acks.map(movedTo)].map(texts),
    ...(["principal", "subject", "record"] as const).map((name) => texts(kept.map((one) => one?.[name] ?? null))),
    numbers(kept.map((one) => one?.expires ?? null)),
    String(lockMs),
  ]);
  const held = new Set(row!.held ?? ids);
  for (const ack of acks) if (held.has(ack.job.id) && movedTo(ack) !== null) yield* moveRest(q, topic, ack);
  return held;
}

/** @returns ids of those whose row another transaction holds now */
export function* busyJobs(q: Query, acks: readonly Ack[]): Coroutine<ReadonlySet<number>> {
  const ids = acks.map(({ job }) => job.id);
  const rows = yield* q.rows<{ id: number }>(
    `with free as materialized (select id from adbind_jobs where id = any(?::bigint[]) for update skip locked)
    select id from adbind_jobs where id = any(?::bigint[]) and id not in (select id from free)`,
    [ids, ids],
  );
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

export class Acknowledging {
  /** @param lockMs longest wait for a row that another transaction holds, in milliseconds */
  constructor(
    readonly database: Pick<PostgresDatabase, "query">,
    readonly topic: string,
    readonly adding: AddingTransactions,
    readonly lockMs: number,
  ) {}

  async ack(acks: readonly Ack[], now: number, effect?: AckEffect): Promise<AckResult[]> {
    try {
      const held = await this.#acknowledged(acks, now, effect);
      return acks.map(({ job }) => held.has(job.id));
    } catch (error) {
      if (!isRowKept(error)) throw error;
    }
    return this.#ackFree(acks, now, effect);
  }

  /** Where somebody holds a row: of those jobs that nobody holds. */
  async #ackFree(acks: readonly Ack[], now: number, effect: AckEffect | undefined): Promise<AckResult[]> {
    const busy = await this.database.query((q) => busyJobs(q, acks));
    // No row of their own: of one that waits for them, or that an effect writes to.
    if (busy.size === 0 && acks.length === 1) return ["busy"];
    const half = Math.ceil(acks.length / 2);
    const parts =
      busy.size === 0 ? [acks.slice(0, half), acks.slice(half)] : [acks.filter(({ job }) => !busy.has(job.id))];
    const results = new Map<Ack, AckResult>();
    for (const part of parts.filter(({ length }) => length > 0)) {
      try {
        for (const [at, result] of (await this.ack(part, now, effect)).entries()) results.set(part[at]!, result);
      } catch (error) {
        // What was written is told. The others are tried again, and told of then.
        if (results.size === 0) throw error;
      }
    }
    return acks.map((ack) => results.get(ack) ?? "busy");
  }

  async #acknowledged(acks: readonly Ack[], now: number, effect: AckEffect | undefined): Promise<ReadonlySet<number>> {
    const activity = effect === undefined ? [] : effect.activity?.(acks);
    const moved = acks.some((ack) => movedTo(ack) !== null);
    if (activity !== undefined && !moved)
      return this.database.query((q) => ackJobs(q, this.topic, { acks, now, activity, lockMs: this.lockMs }));
    let held: ReadonlySet<number> = new Set();
    await this.adding.transaction(async (q) => {
      held = await runAsync(ackJobs(q, this.topic, { acks, now, lockMs: this.lockMs }));
      const acked = acks.filter(({ job }) => held.has(job.id));
      if (effect !== undefined) await runAsync(effect(q, acked));
    }, this.lockMs);
    return held;
  }
}
