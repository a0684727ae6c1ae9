/** Changes of what is one principal's: in its database, or in a transaction of the application's. */
import type { MaybePromise } from "../../contract/index.js";
import { wait } from "../../db/coroutine.js";
import type { OwnedOptions } from "../types.js";
import { atOnce, type OneSender, type SplitSenders, unknownOwner } from "./members.js";
import type { Owners } from "./owners.js";

/** What a change is of: tasks, or a media buy. */
interface Subject {
  readonly owners: Owners;
  readonly names: readonly string[];
}

/**
 * Does work on something whose principal the caller may have left out.
 * @returns undefined where there is no such thing; on SQLite with a transaction no promise
 * @throws AdbindError `split_wrong_database`, `split_moving`
 */
export function owned<T>(
  senders: SplitSenders,
  { owners, names }: Subject,
  { tx, principal }: OwnedOptions,
  work: (one: OneSender, principal: string | undefined) => MaybePromise<T>,
): MaybePromise<T | undefined> {
  if (tx === undefined) return outside(senders, { owners, names }, principal, work);
  return senders.within(tx, (one) =>
    atOnce(
      (function* () {
        // Whether it is here is known before anything is written; what is not known here may be in another database.
        yield* wait(
          one.queue.within(tx, function* (q) {
            if (principal !== undefined) return yield* one.hold(q, principal);
            for (const name of names)
              if ((yield* owners.within(one, q, name)) === undefined) throw unknownOwner(name, one.name);
          }),
        );
        return yield* wait(work(one, principal));
      })(),
    ),
  );
}

async function outside<T>(
  senders: SplitSenders,
  { owners, names }: Subject,
  given: string | undefined,
  work: (one: OneSender, principal: string | undefined) => MaybePromise<T>,
): Promise<T | undefined> {
  if (given !== undefined) return senders.at(given, (one) => work(one, given));
  for (const name of names) {
    const principal = await owners.of(name);
    if (principal !== undefined) return senders.at(principal, (one) => work(one, principal));
  }
  return undefined;
}
