/** Finds the database of a keyspace and does the work there; where that has moved on, follows it. */
import { setTimeout as pause } from "node:timers/promises";
import type { Coroutine } from "../../db/coroutine.js";
import { clockOf } from "../../db/database-time.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { safely } from "../../listener.js";
import { type Asking, type Elsewhere, KeyspaceElsewhere } from "./elsewhere.js";
import { type HealthListener, type SetMember, type SplitDatabase, splitMember } from "./member.js";
import { everyMember, memberNames, placesIn, type SplitKind, type SplitSet } from "./placement.js";
import { arrive, type KeyspaceRow, liftFence, readKeyspace, readSplitSet } from "./rows.js";
import { checkMemberNames, findSets, latestOf, openSet, tellSet } from "./set.js";

/** Longest wait for a keyspace that is on its way, in milliseconds: then whoever asked is told to come again. */
const WAIT_MS = 5_000;
/** Pause before a keyspace that is on its way is asked for again, in milliseconds. */
const AGAIN_MS = 20;
/** How often the set is read again while a database is given that is none of it, in milliseconds. */
const LOOK_MS = 1_000;
/** Keyspaces remembered to be elsewhere than hashing says; beyond it the memory starts anew. */
const MEMORY_ENTRIES = 100_000;

/** How an instance uses a split. */
export interface SplitOptions {
  /** Longest wait for a keyspace that is on its way, in milliseconds. Default 5,000. */
  readonly waitMs?: number;
  /** Told when a database stops answering and when it answers again. */
  readonly onHealth?: HealthListener;
  /** Unix milliseconds; by default the clock of the database's server, where machines share one, and else the system's. */
  readonly now?: () => number;
}

export interface Router<P> {
  readonly members: ReadonlyMap<string, SetMember<P>>;
  set(): SplitSet;
  /** Members that the set has, or moves out, as this instance knows it; where others were given too, it looks again now and then. */
  used(): readonly SetMember<P>[];
  /** Does work that writes: the check in its transaction says whether the keyspace is there. */
  at<T>(keyspace: string, work: (part: P, database: Database) => Promise<T>): Promise<T>;
  /** Reads of a keyspace. Nothing found is believed of the database that has the keyspace only. */
  look<T>(keyspace: string, read: (part: P, database: Database) => Promise<T | undefined>): Promise<T | undefined>;
  /** Does work in a named database, and again while the keyspace it is about stands still. @returns `gone` where that has moved */
  inside<T>(name: string, work: (part: P, database: Database) => Promise<T>): Promise<T | "gone">;
  close(): Promise<void>;
}

export interface RouterDependencies<P, D extends Database> {
  readonly kind: SplitKind;
  readonly databases: readonly SplitDatabase<D>[];
  /** What is used of a database; `asking` goes into the check of each transaction. */
  readonly make: (database: D, asking: Asking, name: string) => P;
  readonly options: SplitOptions;
}

const unknown = (name: string): AdbindError =>
  new AdbindError("split_outdated", "this instance was not given a database of its split", {
    where: name,
    remedy: "give it the list of databases that `adbind split status` shows, and start it anew",
  });

const standing = (): AdbindError =>
  new AdbindError("split_moving", "the keyspace is being moved to another database", {
    remedy: "try again in some seconds",
  });

/**
 * Opens a set.
 * @throws AdbindError `split_invalid`, `split_outdated` where the set has a database that was not given, `store_option_invalid`
 */
export async function openRouter<P, D extends Database = AnyDatabase>(
  parts: RouterDependencies<P, D>,
): Promise<Router<P>> {
  const { kind, databases, make, options } = parts;
  checkMemberNames(databases.map(({ name }) => name));
  const state: State<P> = {
    kind,
    now: options.now,
    members: new Map(),
    known: new Map(),
    absent: new Set(),
  };
  const tell: HealthListener = (...told) => safely(() => options.onHealth?.(...told));
  for (const given of databases) {
    const asking: Asking = {
      kind,
      own: given.name,
      version: () => state.set!.version,
      mayBegin: (keyspace) => mayBegin(state, given.name, keyspace),
    };
    state.members.set(
      given.name,
      splitMember(given, (database: D) => make(database, asking, given.name), tell),
    );
  }
  state.set = await openSet(state.members, kind);
  const missing = everyMember(state.set).find(({ name }) => !state.members.has(name));
  if (missing !== undefined) throw unknown(missing.name);
  return routing(state, options.waitMs ?? WAIT_MS);
}

interface State<P> {
  readonly kind: SplitKind;
  readonly now: SplitOptions["now"];
  readonly members: Map<string, SetMember<P>>;
  set?: SplitSet;
  /** Where keyspaces are that are elsewhere than hashing says. */
  known: Map<string, string>;
  /** Keyspaces that are not where they were to be before the change that is under way, in this version of the set. */
  absent: Set<string>;
}

function mayBegin<P>({ set, absent }: State<P>, own: string, keyspace: string): boolean {
  const { place, before } = placesIn(set!, keyspace);
  return place === own && (before === own || absent.has(keyspace));
}

function routing<P>(state: State<P>, waitMs: number): Router<P> {
  const { members } = state;
  const memberOf = async (name: string): Promise<SetMember<P>> => {
    if (!members.has(name)) await refresh(state);
    const member = members.get(name);
    if (member === undefined) throw unknown(name);
    return member;
  };
  const follow = async (keyspace: string, member: SetMember<P>, found: Elsewhere): Promise<void> => {
    const still = found.why === "row" ? await followRow(state, keyspace, member, found.row) : true;
    if (found.why === "outdated") await refresh(state);
    if (found.why === "absent") noteAbsent(state, keyspace, { ...found, name: member.name });
    if (still && found.why !== "absent") await pause(AGAIN_MS);
  };
  return {
    members,
    set: () => state.set!,
    used: usedOf(state),
    async at(keyspace, work) {
      const end = performance.now() + waitMs;
      for (;;) {
        const member = await memberOf(startOf(state, keyspace));
        try {
          return await member.use(work);
        } catch (error) {
          if (!(error instanceof KeyspaceElsewhere)) throw error;
          if (performance.now() > end) throw standing();
          await follow(keyspace, member, error.found);
        }
      }
    },
    async look(keyspace, read) {
      const end = performance.now() + waitMs;
      for (;;) {
        const member = await memberOf(startOf(state, keyspace));
        const found = await member.use(read);
        if (found !== undefined) return found;
        const elsewhere = await member.use((_, database) =>
          database.read((q) => lookElsewhere(q, state, member, keyspace)),
        );
        if (elsewhere === undefined) return undefined;
        if (performance.now() > end) throw standing();
        await follow(keyspace, member, elsewhere);
      }
    },
    inside: (name, work) => inside({ memberOf, follow, waitMs }, name, work),
    async close() {
      for (const member of members.values()) await member.close();
    },
  };
}

interface Inside<P> {
  readonly memberOf: (name: string) => Promise<SetMember<P>>;
  readonly follow: (keyspace: string, member: SetMember<P>, found: Elsewhere) => Promise<void>;
  readonly waitMs: number;
}

async function inside<P, T>(
  { memberOf, follow, waitMs }: Inside<P>,
  name: string,
  work: (part: P, database: Database) => Promise<T>,
): Promise<T | "gone"> {
  const end = performance.now() + waitMs;
  for (;;) {
    const member = await memberOf(name);
    try {
      return await member.use(work);
    } catch (error) {
      if (!(error instanceof KeyspaceElsewhere)) throw error;
      if (error.found.why !== "row" || error.found.row.state !== "moving") return "gone";
      if (performance.now() > end) throw standing();
      await follow(error.found.row.name, member, error.found);
    }
  }
}

/** Members of the set. One that was given and is none of it may have been added since: the set is read again meanwhile. */
function usedOf<P>(state: State<P>): () => readonly SetMember<P>[] {
  let looked = performance.now();
  return () => {
    const names = memberNames(everyMember(state.set!));
    const used = [...state.members.values()].filter(({ name }) => names.includes(name));
    if (used.length < state.members.size && performance.now() - looked > LOOK_MS) {
      looked = performance.now();
      // Who does work there is told of what fails; here nothing depends on it.
      refresh(state).catch(() => undefined);
    }
    return used;
  };
}

/** Where a keyspace is looked for first. */
function startOf<P>({ set, known, absent }: State<P>, keyspace: string): string {
  const remembered = known.get(keyspace);
  if (remembered !== undefined) return remembered;
  const { place, before } = placesIn(set!, keyspace);
  return absent.has(keyspace) ? place : before;
}

/** Why what was not found in a database may be in another; undefined where it is in none. */
function* lookElsewhere<P>(
  q: Query,
  { kind, set }: State<P>,
  { name }: SetMember<P>,
  keyspace: string,
): Coroutine<Elsewhere | undefined> {
  const row = yield* readKeyspace(q, kind, keyspace);
  // A fence stops who writes; what is read behind it is right.
  if (row !== undefined) return row.state === "here" || row.state === "moving" ? undefined : { why: "row", row };
  if (placesIn(set!, keyspace).place === name) return undefined;
  const known = yield* readSplitSet(q, kind);
  const version = set!.version;
  return known?.set.version === version ? { why: "absent", version } : { why: "outdated" };
}

/** Remembers that nobody has begun a keyspace where it was to be before; nobody will, for the set forbids it there. */
function noteAbsent<P>(
  state: State<P>,
  keyspace: string,
  { name, version }: { readonly name: string; readonly version: number },
): void {
  state.known.delete(keyspace);
  // Of a database that knows another version nothing follows: it may let the keyspace begin there.
  if (version !== state.set!.version || placesIn(state.set!, keyspace).before !== name) return;
  if (state.absent.size >= MEMORY_ENTRIES) state.absent.clear();
  state.absent.add(keyspace);
}

/** @returns true where the keyspace stands still, and is to be asked for again */
async function followRow<P>(
  state: State<P>,
  keyspace: string,
  member: SetMember<P>,
  row: KeyspaceRow,
): Promise<boolean> {
  const goTo = async (name: string): Promise<void> => {
    // Whoever has it was added since: what its slot is, the set says.
    if (!memberNames(everyMember(state.set!)).includes(name)) await refresh(state);
    if (state.known.size >= MEMORY_ENTRIES) state.known.clear();
    state.known.set(keyspace, name);
  };
  const change = (work: (q: Query) => Coroutine<void>): Promise<void> =>
    member.use((_, database) => database.write((q) => work(q)));
  switch (row.state) {
    case "here":
      return false;
    case "moved":
      await goTo(row.peer!);
      return false;
    case "moving": {
      const now = await member.use((_, database) => clockOf(database, state.now));
      // Whoever put the fence up may be gone: its time is over, and it is nobody's.
      if (row.until !== null && row.until < now()) await change((q) => liftFence(q, state.kind, row));
      return true;
    }
    case "arriving": {
      const from = state.members.get(row.peer!);
      if (from === undefined) throw unknown(row.peer!);
      const left = await from.use((_, database) => database.query((q) => readKeyspace(q, state.kind, keyspace)));
      const over = left?.state === "moved" && left.peer === member.name;
      // It has left: that was the moment, and whoever comes by may say so here.
      if (over) await change((q) => arrive(q, state.kind, keyspace));
      else await goTo(row.peer!);
      return false;
    }
  }
}

/** Reads the set again, and has the databases that know less know it too. */
async function refresh<P>(state: State<P>): Promise<void> {
  const found = await findSets(state.members.values(), state.kind);
  const latest = latestOf(found);
  if (latest === undefined) return;
  if (latest.version !== state.set!.version) {
    state.set = latest;
    state.known = new Map();
    state.absent = new Set();
  }
  await tellSet(found, state.kind, latest);
}
