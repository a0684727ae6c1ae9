/**
 * Group commit on PostgreSQL: work asked for while a transaction is under way shares the next one, so that a burst of small
 * changes pays for one begin, one commit and one flush of the log instead of one each. Alone, nothing waits. What meets a
 * row that another transaction holds leaves the others, and waits for that row by itself; so does what the server has stopped
 * since another one waited for it in turn.
 */
import { type Locking, type Query, runAsync } from "../../db/index.js";
import { hasGivenWay, isStatementRefused, isUnanswered, rowKept } from "../../db/postgres/faults.js";
import { AdbindError } from "../../errors.js";
import { type EachWork, eachOf, lockedElsewhere, type SharedWork } from "../each.js";

/** Work of one transaction; more goes into the next. Bounds how long its rows stay locked. */
const BATCH_LIMIT = 64;
/** Transactions that wait for rows of others at a time: each holds a connection. */
const WAITING_LIMIT = 3;
/** One wait of whoever has nobody behind him, in milliseconds: then he looks whether somebody has come. */
const TURN_MS = 500;

/** Runs work in a transaction. A statement that would wait longer for a row fails with `database_busy`. */
export type Transact = (work: (query: Query) => Promise<void>, lockTimeoutMs: number) => Promise<void>;

/** Runs one statement by itself. */
export type Alone = (work: (query: Query) => Promise<void>) => Promise<void>;

/** How long a row of another transaction is waited for, in milliseconds. */
export interface Patience {
  /** By work that shares its transaction, where a statement cannot pass the row over; then it waits by itself. */
  readonly sharedMs: number;
  /** By itself, from the moment it was asked for; then it fails. */
  readonly longestMs: number;
}

interface Asked {
  readonly work: EachWork<unknown, unknown>;
  readonly item: unknown;
  /** What is asked for under one key is done in that order; undefined where there is no order to keep. */
  readonly key: string | undefined;
  /** Until when it waits for rows of others, as `performance.now()` says it. */
  readonly until: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Neighbours with the same work, as one call of it. */
function runsOf(batch: readonly Asked[]): Asked[][] {
  const runs: Asked[][] = [];
  for (const one of batch) {
    const last = runs.at(-1);
    if (last?.[0]?.work === one.work) last.push(one);
    else runs.push([one]);
  }
  return runs;
}

/**
 * Those who are told together of the transaction before ask for their next change as many promises later as they go through:
 * whoever is one ahead of the others would have a transaction alone, and all others wait for it. It takes no turn of the event loop.
 */
const everybodyAsked = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Of what was not run. */
const LATER: PromiseSettledResult<unknown> = { status: "rejected", reason: lockedElsewhere };

const isHeld = (result: PromiseSettledResult<unknown>): boolean =>
  result.status === "rejected" && result.reason === lockedElsewhere;

/**
 * Runs them in their order. Where one meets a row that another transaction holds, those after it under its key wait too, though the
 * row may be free by now.
 */
async function workOn(
  batch: readonly Asked[],
  query: Query,
  locking: Locking,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const held = new Set<string>();
  const results: PromiseSettledResult<unknown>[] = [];
  for (const run of runsOf(batch)) {
    const goes = run.map(({ key }) => key === undefined || !held.has(key));
    const items = run.filter((_, at) => goes[at]).map(({ item }) => item);
    const answers = (items.length === 0 ? [] : await runAsync(run[0]!.work(query, items, locking))).values();
    for (const [at, { key }] of run.entries()) {
      const result = goes[at] ? answers.next().value! : LATER;
      if (key !== undefined && isHeld(result)) held.add(key);
      results.push(result);
    }
  }
  return results;
}

/** Takes those out of a list who have waited for as long as they may. */
function takeOverdue(list: Asked[]): Asked[] {
  const now = performance.now();
  const overdue = list.filter(({ until }) => until <= now);
  list.splice(0, list.length, ...list.filter((one) => !overdue.includes(one)));
  return overdue;
}

function answer({ resolve, reject }: Asked, result: PromiseSettledResult<unknown>): void {
  if (result.status === "fulfilled") resolve(result.value);
  else reject(result.reason);
}

type Attempted =
  | { readonly results: readonly PromiseSettledResult<unknown>[] }
  | { readonly error: unknown; readonly unsure: boolean };

export class GroupCommit {
  #asked: Asked[] = [];
  /** Of a batch whose transaction failed, those that have not had their turn by themselves. */
  #rest: Asked[] = [];
  #running = false;
  /** Those that met a row of another transaction, in their order; by key those that must come after them. */
  readonly #waiting: Asked[][] = [];
  readonly #behind = new Map<string, Asked[]>();
  #waiters = 0;

  constructor(
    readonly transact: Transact,
    readonly alone: Alone,
    readonly patience: Patience,
  ) {}

  /**
   * Runs `work` in a transaction it may share; resolves with its value once that is committed. When some work of a
   * transaction throws, it is undone and each runs again in one of its own, so that only the guilty one fails.
   */
  run<T>(work: SharedWork<T>, key?: string): Promise<T> {
    return this.each(eachOf(work), undefined, key);
  }

  /**
   * The same for work that takes many items in fewer statements than one by one: those that were asked for one after the
   * other come in one call. An item it rejects fails alone, and must have written nothing.
   */
  each<Item, T>(work: EachWork<Item, T>, item: Item, key?: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const until = performance.now() + this.patience.longestMs;
    const asked = { work, item, key, until, resolve, reject } as Asked;
    if (this.#joins(asked)) return promise;
    this.#asked.push(asked);
    if (!this.#running) this.#drain().catch((error: unknown) => this.#fail(error));
    return promise;
  }

  async #drain(): Promise<void> {
    this.#running = true;
    try {
      while (this.#asked.length > 0) {
        await everybodyAsked();
        await this.#commit(this.#asked.splice(0, BATCH_LIMIT));
      }
    } finally {
      this.#running = false;
    }
  }

  /** A fault of this class itself: nobody who asked is left to wait for ever. */
  #fail(error: unknown): void {
    const lines = [...this.#waiting.splice(0), ...this.#behind.values()];
    this.#behind.clear();
    for (const { reject } of [...this.#rest.splice(0), ...this.#asked.splice(0), ...lines.flat()]) reject(error);
  }

  async #commit(batch: readonly Asked[]): Promise<void> {
    const attempted = (await this.#atOnce(batch)) ?? (await this.#attempt(batch, "skip"));
    if ("results" in attempted) {
      for (const [at, one] of batch.entries()) this.#told(one, attempted.results[at]!);
      this.#follow();
    } else if (isUnanswered(attempted.error)) {
      this.#silent(batch, attempted.error);
    } else if (attempted.unsure || (batch.length === 1 && !hasGivenWay(attempted.error))) {
      for (const { reject } of batch) reject(attempted.error);
    } else if (batch.length === 1) {
      this.#wait(batch[0]!);
      this.#follow();
    } else {
      this.#rest = [...batch];
      for (let one = this.#rest.shift(); one !== undefined; one = this.#rest.shift()) await this.#commit([one]);
    }
  }

  #told(one: Asked, result: PromiseSettledResult<unknown>): void {
    if (isHeld(result)) this.#wait(one);
    else answer(one, result);
  }

  /** @returns undefined where nothing was written, and a transaction is needed */
  async #atOnce(batch: readonly Asked[]): Promise<Attempted | undefined> {
    const { work } = batch[0]!;
    const { atOnce } = work;
    if (atOnce === undefined || batch.some((one) => one.work !== work)) return undefined;
    const items = batch.map(({ item }) => item);
    let results: readonly PromiseSettledResult<unknown>[] | undefined;
    try {
      await this.alone(async (query) => {
        results = await runAsync(atOnce(query, items));
      });
      return results && { results };
    } catch (error) {
      // The statement is its own commit: unless the server says that it failed, nobody knows.
      return isStatementRefused(error) ? undefined : { error, unsure: true };
    }
  }

  async #attempt(
    batch: readonly Asked[],
    locking: Locking,
    lockTimeoutMs = this.patience.sharedMs,
  ): Promise<Attempted> {
    let results: readonly PromiseSettledResult<unknown>[] = [];
    let worked = false;
    try {
      await this.transact(async (query) => {
        results = await workOn(batch, query, locking);
        worked = true;
      }, lockTimeoutMs);
      return { results };
    } catch (error) {
      // Once the commit was sent nobody knows what became of it: running again could do everything twice.
      return { error, unsure: worked };
    }
  }

  /**
   * None of them did it: each would wait for the server by itself, one after the other. Nor does anybody try who has waited by now
   * for as long as he may.
   */
  #silent(tried: readonly Asked[], error: unknown): void {
    const late = takeOverdue(this.#asked);
    for (const line of this.#waiting.splice(0)) {
      const { key } = line[0]!;
      late.push(...takeOverdue(line));
      this.#goesOn(line, key);
    }
    for (const { reject } of [...tried, ...this.#rest.splice(0), ...late]) reject(error);
  }

  /** What was asked for before now under a key that has begun to wait goes behind it, before anybody can ask for more. */
  #follow(): void {
    const stays = (one: Asked): boolean => !this.#joins(one);
    this.#rest = this.#rest.filter(stays);
    this.#asked = this.#asked.filter(stays);
  }

  /** Goes behind what waits under its key. False where nothing does. */
  #joins(one: Asked): boolean {
    const line = one.key === undefined ? undefined : this.#behind.get(one.key);
    line?.push(one);
    return line !== undefined;
  }

  /** Leaves the others: what is asked for under its key from now on comes after it. */
  #wait(one: Asked): void {
    if (this.#joins(one)) return;
    const fresh = [one];
    if (one.key !== undefined) this.#behind.set(one.key, fresh);
    this.#waiting.push(fresh);
    if (this.#waiters < WAITING_LIMIT) this.#waitInTurn().catch((error: unknown) => this.#fail(error));
  }

  /** No line has a waiter for itself: those who would be through at once are not kept by those whose rows stay held. */
  async #waitInTurn(): Promise<void> {
    this.#waiters += 1;
    for (let line = this.#waiting.shift(); line !== undefined; line = this.#waiting.shift()) {
      const one = line[0]!;
      const turn = this.#waiting.length > 0 ? this.patience.sharedMs : TURN_MS;
      const left = Math.max(one.until - performance.now(), this.patience.sharedMs);
      const attempted = await this.#attempt([one], "wait", Math.ceil(Math.min(turn, left)));
      if ("results" in attempted) answer(line.shift()!, attempted.results[0]!);
      else if (isUnanswered(attempted.error)) this.#silent([line.shift()!, ...takeOverdue(line)], attempted.error);
      else if (attempted.unsure || !hasGivenWay(attempted.error)) line.shift()!.reject(attempted.error);
      else this.#giveUp(line, attempted.error);
      this.#goesOn(line, one.key);
    }
    this.#waiters -= 1;
  }

  #goesOn(line: Asked[], key: string | undefined): void {
    if (line.length > 0) this.#waiting.push(line);
    else if (key !== undefined) this.#behind.delete(key);
  }

  /** What has waited for as long as it may under a key whose row is held still. */
  #giveUp(line: Asked[], error: unknown): void {
    const { longestMs } = this.patience;
    const { where, cause } = error instanceof AdbindError ? error : { where: undefined, cause: error };
    // Whoever came later has longer.
    while (line[0] !== undefined && line[0].until <= performance.now())
      line.shift()!.reject(rowKept(where, longestMs, cause));
  }
}
