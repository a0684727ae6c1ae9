/**
 * Group commit on PostgreSQL: work asked for while a transaction is under way shares the next one, so that a burst of small
 * changes pays for one begin, one commit and one flush of the log instead of one each. Alone, nothing waits.
 */
import type { MaybePromise } from "../contract/index.js";
import type { Db, Tx } from "../store/postgres/tables.js";
import type { EachWork } from "./each.js";

/** Work of one transaction; more goes into the next. Bounds how long its rows stay locked. */
const BATCH_LIMIT = 64;

interface Asked {
  readonly work: EachWork<Tx, unknown, unknown>;
  readonly item: unknown;
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

export class GroupCommit {
  #waiting: Asked[] = [];
  #running = false;

  /**
   * @param wrap runs around a transaction's work, inside it
   */
  constructor(
    readonly db: Db,
    readonly wrap: (tx: Tx, work: () => Promise<void>) => Promise<void>,
  ) {}

  /**
   * Runs `work` in a transaction it may share; resolves with its value once that is committed. When some work of a
   * transaction throws, it is undone and each runs again in one of its own, so that only the guilty one fails.
   */
  run<T>(work: (tx: Tx) => MaybePromise<T>): Promise<T> {
    return this.each(async (tx) => [{ status: "fulfilled", value: await work(tx) }], undefined);
  }

  /**
   * The same for work that takes many items in fewer statements than one by one: those that were asked for one after the
   * other come in one call. An item it rejects fails alone, and must have written nothing.
   */
  each<Item, T>(work: EachWork<Tx, Item, T>, item: Item): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({ work, item, resolve, reject } as Asked);
    if (!this.#running) this.#drain().catch(reject);
    return promise;
  }

  async #drain(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, BATCH_LIMIT));
    } finally {
      this.#running = false;
    }
  }

  async #commit(batch: readonly Asked[]): Promise<void> {
    const results: PromiseSettledResult<unknown>[] = [];
    let worked = false;
    try {
      await this.db.transaction(async (tx) => {
        await this.wrap(tx, async () => {
          for (const run of runsOf(batch)) {
            const items = run.map(({ item }) => item);
            results.push(...(await run[0]!.work(tx, items)));
          }
        });
        worked = true;
      });
    } catch (error) {
      // Once the commit was sent nobody knows what became of it: running again could do everything twice.
      if (worked || batch.length === 1) for (const { reject } of batch) reject(error);
      else for (const one of batch) await this.#commit([one]);
      return;
    }
    for (const [at, { resolve, reject }] of batch.entries()) {
      const result = results[at];
      if (result === undefined) reject(new TypeError("the work gave no result for one of its items"));
      else if (result.status === "fulfilled") resolve(result.value);
      else reject(result.reason);
    }
  }
}
