/** Whose a task or a media buy is, where nobody says so: every database is asked, and what is found is remembered. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import type { OneSender, Senders } from "./members.js";

/** Names remembered; beyond it the memory starts anew. */
const KNOWN = 50_000;

/** Looks in one database. */
type Look = (one: OneSender, query: Query, name: string) => Coroutine<string | undefined>;

export interface Owners {
  /**
   * @returns undefined where none of the databases knows of it
   * @throws what a database said that is away, where no other has it: it may be there
   */
  of(name: string): Promise<string | undefined>;
  /** Looks in one database, in a transaction. */
  within: Look;
}

const ownersBy = ({ everywhere }: Senders, look: Look): Owners => {
  const known = new Map<string, string>();
  return {
    within: look,
    async of(name) {
      const before = known.get(name);
      if (before !== undefined) return before;
      const answers = await everywhere((one) => one.queue.read((q) => look(one, q, name)));
      const found = answers.find((one) => one.status === "fulfilled" && one.value !== undefined);
      if (found?.status === "fulfilled") {
        if (known.size >= KNOWN) known.clear();
        known.set(name, found.value!);
        return found.value;
      }
      const failed = answers.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return undefined;
    },
  };
};

export const taskOwners = (senders: Senders): Owners =>
  ownersBy(senders, function* ({ tables }, q, taskId) {
    return (yield* tables.knownTasks(q, [taskId]))[0]?.principal;
  });

export const buyOwners = (senders: Senders): Owners =>
  ownersBy(senders, function* ({ tables }, q, resource) {
    return (yield* tables.channelTargets(q, [{ resource, kind: "buy", subscriber: "" }]))[0]?.principal;
  });
