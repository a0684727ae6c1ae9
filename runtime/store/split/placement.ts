/**
 * Which of several databases a keyspace belongs to: rendezvous hashing. Every name is weighed with the keyspace, and the
 * highest weight has it; a name that comes takes keyspaces for itself only, and one that goes leaves the others theirs.
 */
import { hash } from "node:crypto";
import { AdbindError } from "../../errors.js";

/** What a set of databases splits by: the sender of a receiver's events, or whose calls and events a seller's and a sender's are. */
export type SplitKind = "sender" | "principal";

/** A database's place in a set. */
export interface SplitMember {
  /** What is hashed: it stays when the database moves to another host. */
  readonly name: string;
  /** Its number in this set, 0 to 1,023, which no other has: with it, ids of its rows are told from others'. */
  readonly slot: number;
}

/** The databases of a set, as each of them keeps it. A higher version is a later one. */
export interface SplitSet {
  /** The same in every database of a set, so that two sets are never mistaken for one. */
  readonly id: string;
  readonly version: number;
  readonly members: readonly SplitMember[];
  /** The members before the last change, while keyspaces are moved; null when all are where they belong. */
  readonly previous: readonly SplitMember[] | null;
}

/** Ids of rows are multiplied by it and their database's slot is added: 8.8e12 rows a database stay exact. */
export const SLOTS = 1024;
const MAX_NAME_CHARS = 63;

/** @throws AdbindError `store_option_invalid` for what is no name of a database of a set */
export function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]*$/.test(name) && name.length <= MAX_NAME_CHARS) return;
  throw new AdbindError("store_option_invalid", "a database of a split has a name that cannot be used", {
    where: JSON.stringify(name),
    remedy: `give 1 to ${MAX_NAME_CHARS} of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit`,
  });
}

/** 48 bits of SHA-256: two names weigh the same about never, and then the lesser name has it. */
const weightOf = (name: string, keyspace: string): number =>
  hash("sha256", `${name}\0${keyspace}`, "buffer").readUIntBE(0, 6);

/**
 * The name that a keyspace belongs to.
 * @param names at least one, in any order
 */
export function placeAmong(names: readonly string[], keyspace: string): string {
  let best = names[0]!;
  let most = -1;
  for (const name of names) {
    const weight = weightOf(name, keyspace);
    if (weight > most || (weight === most && name < best)) [best, most] = [name, weight];
  }
  return best;
}

/** Where a keyspace belongs, and where it may still be while a change is under way. */
export function placesIn({ members, previous }: SplitSet, keyspace: string): { place: string; before: string } {
  const place = placeAmong(memberNames(members), keyspace);
  return { place, before: previous === null ? place : placeAmong(memberNames(previous), keyspace) };
}

export const memberNames = (members: readonly SplitMember[]): string[] => members.map(({ name }) => name);

/** Everybody who is in a set, or is being moved out of it. */
export const everyMember = ({ members, previous }: SplitSet): readonly SplitMember[] => [
  ...members,
  ...(previous ?? []).filter(({ name }) => !members.some((one) => one.name === name)),
];

/** The first set of some databases: whoever begins with the same names makes the same. */
export function firstSet(names: readonly string[]): SplitSet {
  const sorted = [...names].sort();
  const id = hash("sha256", sorted.join("\0"), "hex").slice(0, 16);
  return { id, version: 1, members: sorted.map((name, slot) => ({ name, slot })), previous: null };
}

export function withMember(set: SplitSet, name: string): SplitSet {
  const slot = Math.max(-1, ...everyMember(set).map((one) => one.slot)) + 1;
  return { ...set, version: set.version + 1, members: [...set.members, { name, slot }], previous: set.members };
}

export const withoutMember = (set: SplitSet, name: string): SplitSet => ({
  ...set,
  version: set.version + 1,
  members: set.members.filter((one) => one.name !== name),
  previous: set.members,
});

/** Every keyspace is where it belongs. */
export const movedSet = (set: SplitSet): SplitSet => ({ ...set, version: set.version + 1, previous: null });
