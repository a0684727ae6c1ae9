/**
 * Work that comes at the same time, done together: it shares round trips and the wait for the disk. What comes alone
 * waits for nothing; what comes while others are under way goes with the next.
 */

/** Items done together at most: bounds what a failure of one costs the others, and the size of a statement. */
const TOGETHER_ITEMS = 64;
/** Under way at the same time: one is on the database's disk while the next is made ready. */
const AT_ONCE = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | PromiseLike<Result>) => void;
  readonly reject: (error: unknown) => void;
}

export interface Gathered<Item, Result> {
  /** Does what has gathered, and answers for each, in its order; nothing for one that is to be done by itself. Where it throws, all have failed. */
  together(items: readonly Item[]): Promise<readonly ({ readonly result: Result } | undefined)[]>;
  alone(item: Item): Promise<Result>;
}

/** Gathers items. @returns adds one, and resolves with its result */
export function gathering<Item, Result>({ together, alone }: Gathered<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let planned = false;

  const go = (taken: readonly Waiting<Item, Result>[]): void => {
    together(taken.map(({ item }) => item))
      .then((found) => {
        for (const [at, { item, resolve }] of taken.entries()) {
          const one = found[at];
          resolve(one === undefined ? alone(item) : one.result);
        }
      })
      .catch((error: unknown) => {
        for (const { reject } of taken) reject(error);
      })
      .finally(() => {
        running -= 1;
        next();
      });
  };
  const next = (): void => {
    planned = false;
    while (running < AT_ONCE && waiting.length > 0) {
      running += 1;
      go(waiting.splice(0, TOGETHER_ITEMS));
    }
  };
  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, resolve, reject });
    // What this turn of the event loop brings goes together.
    if (!planned && running < AT_ONCE) {
      planned = true;
      setImmediate(next);
    }
    return promise;
  };
}
