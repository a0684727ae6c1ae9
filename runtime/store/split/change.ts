/** Changes of a set: a database comes or goes, and keyspaces move to where they belong then. */

import type { Coroutine } from "../../db/coroutine.js";
import { clockOf } from "../../db/database-time.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { safely } from "../../listener.js";
import { tablesOf } from "./kinds.js";
import { leftEmpty } from "./leaving.js";
import { type SetMember, type SplitDatabase, splitMember } from "./member.js";
import { FENCE_MS, type MovedKeyspace, type MoveStep, moveKeyspace } from "./move.js";
import {
  everyMember,
  firstSet,
  memberNames,
  movedSet,
  placeAmong,
  type SplitKind,
  type SplitSet,
  withMember,
  withoutMember,
} from "./placement.js";
import { beginKeyspace, countKeyspaces, type KeyspaceState, listKeyspaces } from "./rows.js";
import { checkMemberNames, findSets, isFresh, latestOf, tellSet } from "./set.js";

/** Keyspaces listed at once. */
const PAGE_KEYSPACES = 200;

export interface SplitChangeOptions {
  readonly kind: SplitKind;
  /** Every database of the set, and the one that comes or goes. */
  readonly databases: readonly SplitDatabase<AnyDatabase>[];
  /** Longest time that writers of one keyspace may have to wait, in milliseconds. Default 5,000. */
  readonly fenceMs?: number;
  /** Longest wait for senders to make the events of changes in a database that leaves, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
  /** Unix milliseconds; by default the clock of the server that a keyspace is on, where machines share it, and else the system's. */
  readonly now?: () => number;
  readonly onStep?: (step: MoveStep, keyspace: string) => unknown;
  readonly onMoved?: (moved: MovedKeyspace & MoveOf) => void;
}

/** Which keyspace goes where. */
export interface MoveOf {
  readonly keyspace: string;
  readonly from: string;
  readonly to: string;
}

/** What one database knows. */
export interface SplitDatabaseStatus {
  readonly name: string;
  /** Null where it knows of no set. */
  readonly version: number | null;
  readonly keyspaces: Readonly<Record<KeyspaceState, number>>;
}

export interface SplitStatus {
  /** The latest that any database knows; null where none does. */
  readonly set: SplitSet | null;
  readonly databases: readonly SplitDatabaseStatus[];
}

export interface SplitChange {
  status(): Promise<SplitStatus>;
  /**
   * Makes the first set: of new databases, or of one that was alone until now and has rows.
   * @throws AdbindError `split_invalid` for several that have rows, and for rows that could not be moved to their owner
   */
  init(): Promise<SplitSet>;
  /** Has a database be of the set; keyspaces go there by `move`. Again, it changes nothing. */
  add(name: string): Promise<SplitSet>;
  /** Has a database leave the set; its keyspaces go elsewhere by `move`. Again, it changes nothing. */
  remove(name: string): Promise<SplitSet>;
  /**
   * Moves what is not where it belongs, keyspace by keyspace.
   * @returns how many, when the set has settled
   * @throws AdbindError `split_moving` where a keyspace stays, or changes that were stored by SQL in a database that leaves
   */
  move(): Promise<number>;
  close(): Promise<void>;
}

const refused = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("split_invalid", what, { where, remedy });

type Members = ReadonlyMap<string, SetMember<Database>>;

/** @throws AdbindError `split_invalid`, `store_option_invalid` for a name */
export function splitChange(options: SplitChangeOptions): SplitChange {
  const { kind, databases } = options;
  checkMemberNames(databases.map(({ name }) => name));
  const members = membersOf(databases);
  const current = async (): Promise<SplitSet> => {
    const found = await findSets(members.values(), kind, true);
    const set = latestOf(found);
    if (set === undefined)
      throw refused(
        `the databases are of no set that is split by ${kind}`,
        "databases",
        "run `adbind split init` first, or name another owner (--by)",
      );
    const missing = everyMember(set).find(({ name }) => !members.has(name));
    if (missing !== undefined) throw refused("a database of the set is not given", missing.name, "give all of them");
    // A change may have been stopped before everybody knew.
    await tellSet(found, kind, set);
    return set;
  };
  const announce = async (set: SplitSet): Promise<SplitSet> => {
    await tellSet(await findSets(members.values(), kind, true), kind, set);
    return set;
  };
  return {
    status: () => statusOf(members, kind),
    init: () => init(members, kind, options.now ?? Date.now),
    async add(name) {
      const set = await current();
      if (memberNames(set.members).includes(name)) return set;
      await mustBeNew(members, kind, name);
      return announce(withMember(unchanging(set), name));
    },
    async remove(name) {
      const set = await current();
      if (!memberNames(set.members).includes(name)) return set;
      if (set.members.length === 1) throw refused("it is the last database of the set", name, "add another before");
      return announce(withoutMember(unchanging(set), name));
    },
    async move() {
      const set = await current();
      if (set.previous === null) return 0;
      let moved = 0;
      for (const { name } of set.previous) moved += await moveFrom(members, options, { set, name });
      for (const name of memberNames(set.previous)) {
        if (!memberNames(set.members).includes(name))
          await leftEmpty(memberOf(members, name), tablesOf[kind], options.waitMs);
      }
      await announce(movedSet(set));
      return moved;
    },
    async close() {
      for (const member of members.values()) await member.close();
    },
  };
}

const membersOf = (databases: SplitChangeOptions["databases"]): Members =>
  new Map(
    databases.map((given) => {
      const member = splitMember(
        given,
        (database): Database => database,
        () => undefined,
      );
      return [given.name, member];
    }),
  );

/** @throws AdbindError `split_invalid` while a change is under way */
function unchanging(set: SplitSet): SplitSet {
  if (set.previous === null) return set;
  const names = memberNames(set.members).join(", ");
  throw refused("another change of the set is not over", names, "run `adbind split move` first");
}

function memberOf(members: Members, name: string): SetMember<Database> {
  const member = members.get(name);
  if (member === undefined) throw refused("a database is not given", name, "give all of the set");
  return member;
}

const on = <T>(members: Members, name: string, work: (database: Database) => Promise<T>): Promise<T> =>
  memberOf(members, name).use(work);

async function mustBeNew(members: Members, kind: SplitKind, name: string): Promise<void> {
  const [fresh, had] = await on(
    members,
    name,
    async (database) =>
      [await database.query((q) => isFresh(q, kind)), await database.query((q) => countKeyspaces(q, kind))] as const,
  );
  // One that was in the set before has the numbers of its keyspaces still, and no keyspace.
  if (fresh || (had.moved > 0 && had.here + had.moving + had.arriving === 0)) return;
  throw refused("the database to add has rows already", name, "add an empty one");
}

async function init(members: Members, kind: SplitKind, now: () => number): Promise<SplitSet> {
  const found = await findSets(members.values(), kind, true);
  const known = latestOf(found);
  const set = known ?? firstSet([...members.keys()]);
  const [only] = members.keys();
  for (const [name, member] of members) {
    if (known !== undefined) break;
    const names = await member.use((database) => database.query((q) => keyspacesIn(q, kind, name, now())));
    if (names.length === 0) continue;
    if (members.size > 1)
      throw refused("the database has rows already", name, "begin with it alone, then add the others");
    await on(members, only!, (database) =>
      database.write(function* (q) {
        for (const one of names) yield* beginKeyspace(q, kind, one);
        const { named } = tablesOf[kind];
        if (named !== undefined) yield* named(q, database.engine as AnyDatabase["engine"]);
      }),
    );
  }
  await tellSet(found, kind, set);
  return set;
}

/** Owners of a database that was alone. @throws AdbindError `split_invalid` where it cannot be said who all of them are */
function* keyspacesIn(q: Query, kind: SplitKind, where: string, now: number): Coroutine<string[]> {
  const { keyspaces, unnamed } = tablesOf[kind];
  const names = yield* keyspaces(q);
  const lost = unnamed === undefined ? 0 : yield* unnamed(q, names, now);
  if (lost === 0) return names;
  throw refused(
    `answers to ${lost} callers, by an instance of an earlier version, do not say whose they are`,
    where,
    "let the time pass for which keys are replayed (a day by default), and run it again",
  );
}

async function statusOf(members: Members, kind: SplitKind): Promise<SplitStatus> {
  const found = await findSets(members.values(), kind, true);
  const databases = await Promise.all(
    found.map(async ({ member, known }) => ({
      name: member.name,
      version: known?.set.version ?? null,
      keyspaces: await member.use((database) => database.query((q) => countKeyspaces(q, kind))),
    })),
  );
  return { set: latestOf(found) ?? null, databases };
}

/** Moves what is in a database and belongs elsewhere, and ends what was begun. */
async function moveFrom(
  members: Members,
  { kind, fenceMs = FENCE_MS, onStep, onMoved, ...options }: SplitChangeOptions,
  { set, name }: { readonly set: SplitSet; readonly name: string },
): Promise<number> {
  const names = memberNames(set.members);
  const tables = tablesOf[kind];
  let moved = 0;
  let after = "";
  const failed: AdbindError[] = [];
  for (;;) {
    const request = { states: ["here", "moving", "moved"] as const, after, limit: PAGE_KEYSPACES };
    const page = await on(members, name, (database) => database.query((q) => listKeyspaces(q, kind, request)));
    if (page.length === 0) break;
    after = page.at(-1)!.name;
    for (const row of page) {
      const place = row.state === "moved" ? row.peer! : placeAmong(names, row.name);
      if (place === name || (row.state === "moved" && row.token === null)) continue;
      const of = { keyspace: row.name, from: name, to: place };
      try {
        const cost = await on(members, name, async (from) => {
          const now = await clockOf(from, options.now);
          return on(members, place, (to) =>
            moveKeyspace({
              ...{ kind, keyspace: row.name, tables, fenceMs, now },
              ...{ from: { name, database: from }, to: { name: place, database: to } },
              onStep: (step) => onStep?.(step, row.name),
            }),
          );
        });
        safely(() => onMoved?.({ ...cost, ...of }));
        moved += 1;
      } catch (error) {
        // The others do not wait for one that is too large, or held for too long.
        if (!isOfOne(error)) throw error;
        failed.push(error);
      }
    }
  }
  if (failed.length === 0) return moved;
  const more = failed.length === 1 ? "" : `, and ${failed.length - 1} more were not`;
  throw new AdbindError("split_moving", `a keyspace was not moved${more}: ${failed[0]!.message}`, {
    remedy: "run `adbind split move` again",
  });
}

/** Is it one keyspace's misfortune? */
const isOfOne = (error: unknown): error is AdbindError =>
  error instanceof AdbindError && (error.code === "split_moving" || error.code === "split_unverified");
