/** Whose a task or a media buy is, where nobody says so: every database is asked, and what is found is remembered. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { checkSoughtNames } from "../ids.js";
import type { OneSender, SplitSenders } from "./members.js";

/** Names remembered; beyond it the memory starts anew. */
const KNOWN = 50_000;

/**
 * How long the others are waited for once one has said whose it is, in milliseconds: one that is frozen would keep what is none of
 * its own for as long as a statement may take.
 */
const OTHERS_MS = 1_000;

/** Looks in one database. */
type OwnerIn = (one: OneSender, query: Query, name: string) => Coroutine<string | undefined>;

export interface Owners {
  /**
   * @returns undefined where none of the databases knows of it
   * @throws what a database said that is away, where no other has it: it may be there; AdbindError `split_wrong_database` where
   * two principals are found to have it, `event_invalid` for a name that nothing can have
   */
  of(name: string): Promise<string | undefined>;
  /** Of what is being registered: a change that is asked for meanwhile comes after it. */
  note(name: string, principal: string): void;
  forget(name: string): void;
  /** Looks in one database, in a transaction. */
  within: OwnerIn;
}

const ambiguous = (where: string): AdbindError =>
  new AdbindError("split_wrong_database", "two principals have it, each in a database of its own", {
    where,
    remedy: "give `principal`; ids of tasks and media buys should be one principal's only",
  });

const ownersBy = ({ everywhere }: SplitSenders, look: OwnerIn): Owners => {
  const known = new Map<string, string>();
  const note = (name: string, principal: string): void => {
    if (known.size >= KNOWN) known.clear();
    known.set(name, principal);
  };
  return {
    within: look,
    note,
    forget: (name) => void known.delete(name),
    async of(name) {
      const before = known.get(name);
      if (before !== undefined) return before;
      const owners = new Set<string>();
      const { promise: enough, resolve } = Promise.withResolvers<readonly PromiseSettledResult<unknown>[]>();
      let others: NodeJS.Timeout | undefined;
      const all = everywhere(async (one) => {
        const owner = await one.queue.read((q) => look(one, q, name));
        if (owner === undefined) return;
        owners.add(owner);
        others ??= setTimeout(() => resolve([]), OTHERS_MS);
      });
      const answers = await Promise.race([all, enough]);
      clearTimeout(others);
      const [found, other] = owners;
      if (other !== undefined) throw ambiguous(name);
      if (found !== undefined) {
        note(name, found);
        return found;
      }
      const failed = answers.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
      if (failed !== undefined) throw failed.reason;
      return undefined;
    },
  };
};

export const taskOwners = (senders: SplitSenders): Owners =>
  ownersBy(senders, function* ({ tables }, q, taskId) {
    checkSoughtNames({ taskId });
    return (yield* tables.knownTasks(q, [taskId]))[0]?.principal;
  });

export const buyOwners = (senders: SplitSenders): Owners =>
  ownersBy(senders, function* ({ tables }, q, resource) {
    checkSoughtNames({ mediaBuyId: resource });
    return (yield* tables.channelTargets(q, [{ resource, kind: "buy", subscriber: "" }]))[0]?.principal;
  });
