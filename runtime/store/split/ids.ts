/** How rows of several databases are told apart, and asked for together. */
import type { Database } from "../../db/types.js";
import { everyMember, SLOTS } from "./placement.js";
import type { Router } from "./router.js";

type SetKnown = Pick<Router<unknown>, "set">;

/** Number of an event among those of all databases: in steps of all slots, so that none is of two. */
export function outerId(router: SetKnown, name: string, id: number): number {
  const member = everyMember(router.set()).find((one) => one.name === name);
  // Nothing is asked of a database before this instance knows the set with it.
  if (member === undefined) throw new TypeError(`${name} is none of the set`);
  return id * SLOTS + member.slot;
}

export interface InnerId {
  readonly id: number;
  /** Undefined where the database is none of the set any more. */
  readonly name: string | undefined;
}

export function innerId(router: SetKnown, outer: number): InnerId {
  const slot = outer % SLOTS;
  return { id: (outer - slot) / SLOTS, name: everyMember(router.set()).find((one) => one.slot === slot)?.name };
}

/** Asks every database that is not away, and leaves out those that fail. @throws what the first said, where all fail */
export async function askAll<P, T>(
  router: Pick<Router<P>, "used">,
  ask: (part: P, database: Database) => Promise<T>,
): Promise<T[]> {
  const asked = await Promise.allSettled(router.used().map((member) => member.use(ask)));
  const found = asked.filter((one) => one.status === "fulfilled").map(({ value }) => value);
  const [first] = asked;
  if (found.length === 0 && first?.status === "rejected") throw first.reason;
  return found;
}
