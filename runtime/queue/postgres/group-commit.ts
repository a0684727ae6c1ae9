/**
 * Group commit on PostgreSQL: work asked for while a transaction is under way shares the next one, so that a burst of small
 * changes pays for one begin, one commit and one flush of the log instead of one each. Alone, nothing waits. What meets a
 * row that another transaction holds leaves the others, and waits for that row by itself.
 */
import { type Coroutine, type Locking, type Query, runAsync } from "../../db/index.js";
import { AdbindError } from "../../errors.js";
import { type EachWork, lockedElsewhere } from "../each.js";

/** Work of one transaction; more goes into the next. Bounds how long its rows stay locked. */
const BATCH_LIMIT = 64;
/** Transactions that wait for rows of others at a time: each holds a connection. */
const WAITING_LIMIT = 3;

/**
 * Runs work in a transaction. With `skip`, a statement that would wait for a lock fails soon, with `database_busy`.
 */
export type Transact = (work: (query: Query) => Promise<void>, locking: Locking) => Promise<void>;

/** Runs one statement by itself. */
export type Alone = (work: (query: Query) => Promise<void>) => Promise<void>;

interface Asked {
  readonly work: EachWork<unknown, unknown>;
  readonly item: unknown;
  /** What is asked for under one key is done in that order; undefined where there is no order to keep. */
  readonly key: string | undefined;
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

const isBusy = (error: unknown): boolean => error instanceof AdbindError && error.code === "database_busy";

/** The server answered that a statement failed, and nothing of it was kept. */
const isTold = (error: unknown): boolean =>
  isBusy(error) || (error as { severity?: unknown } | null)?.severity === "ERROR";

function answer({ resolve, reject }: Asked, result: PromiseSettledResult<unknown>): void {
  if (result.status === "fulfilled") resolve(result.value);
  else reject(result.reason);
}

type Attempted =
  | { readonly results: readonly PromiseSettledResult<unknown>[] }
  | { readonly error: unknown; readonly unsure: boolean };

export class GroupCommit {
  #asked: Asked[] = [];
  #running = false;
  /** Those that met a row of another transaction, in their order; by key those that must come after them. */
  readonly #waiting: Asked[][] = [];
  readonly #behind = new Map<string, Asked[]>();
  #waiters = 0;

  constructor(
    readonly transact: Transact,
    readonly alone: Alone,
  ) {}

  /**
   * Runs `work` in a transaction it may share; resolves with its value once that is committed. When some work of a
   * transaction throws, it is undone and each runs again in one of its own, so that only the guilty one fails.
   */
  run<T>(work: (query: Query) => Coroutine<T>): Promise<T> {
    const each: EachWork<undefined, T> = function* (query) {
      return [{ status: "fulfilled", value: yield* work(query) }];
    };
    return this.each(each, undefined);
  }

  /**
   * The same for work that takes many items in fewer statements than one by one: those that were asked for one after the
   * other come in one call. An item it rejects fails alone, and must have written nothing.
   */
  each<Item, T>(work: EachWork<Item, T>, item: Item, key?: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const asked = { work, item, key, resolve, reject } as Asked;
    const before = key === undefined ? undefined : this.#behind.get(key);
    if (before !== undefined) {
      before.push(asked);
      return promise;
    }
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
    for (const { reject } of [...this.#asked.splice(0), ...lines.flat()]) reject(error);
  }

  async #commit(batch: readonly Asked[]): Promise<void> {
    const attempted = (await this.#atOnce(batch)) ?? (await this.#attempt(batch, "skip"));
    if ("results" in attempted) {
      for (const [at, one] of batch.entries()) this.#told(one, attempted.results[at]!);
    } else if (attempted.unsure || (batch.length === 1 && !isBusy(attempted.error))) {
      for (const { reject } of batch) reject(attempted.error);
    } else if (batch.length === 1) {
      this.#wait(batch[0]!);
    } else {
      for (const one of batch) await this.#commit([one]);
    }
  }

  #told(one: Asked, result: PromiseSettledResult<unknown>): void {
    if (result.status === "rejected" && result.reason === lockedElsewhere) this.#wait(one);
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
      return isTold(error) ? undefined : { error, unsure: true };
    }
  }

  async #attempt(batch: readonly Asked[], locking: Locking): Promise<Attempted> {
    const results: PromiseSettledResult<unknown>[] = [];
    let worked = false;
    try {
      await this.transact(async (query) => {
        for (const run of runsOf(batch)) {
          const items = run.map(({ item }) => item);
          results.push(...(await runAsync(run[0]!.work(query, items, locking))));
        }
        worked = true;
      }, locking);
      return { results };
    } catch (error) {
      // Once the commit was sent nobody knows what became of it: running again could do everything twice.
      return { error, unsure: worked };
    }
  }

  /** Leaves the others: what is asked for under its key from now on comes after it. */
  #wait(one: Asked): void {
    const line = one.key === undefined ? undefined : this.#behind.get(one.key);
    if (line !== undefined) {
      line.push(one);
      return;
    }
    const fresh = [one];
    if (one.key !== undefined) this.#behind.set(one.key, fresh);
    this.#waiting.push(fresh);
    if (this.#waiters < WAITING_LIMIT) this.#waitInTurn().catch((error: unknown) => this.#fail(error));
  }

  async #waitInTurn(): Promise<void> {
    this.#waiters += 1;
    for (let line = this.#waiting.shift(); line !== undefined; line = this.#waiting.shift()) {
      for (let one = line[0]; one !== undefined; one = line[0]) {
        const attempted = await this.#attempt([one], "wait");
        line.shift();
        if (line.length === 0 && one.key !== undefined) this.#behind.delete(one.key);
        if ("results" in attempted) answer(one, attempted.results[0]!);
        else one.reject(attempted.error);
      }
    }
    this.#waiters -= 1;
  }
}
