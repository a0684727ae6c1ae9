/** What each database of a set knows: the set, its own name in it, and the keyspaces it has, gets or had. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import type { KeyspacesAsked } from "../sent-tasks.js";
import type { SplitKind, SplitSet } from "./placement.js";

/**
 * `here`: it is written here and nowhere else. `arriving`: its rows are being copied here. `moving`: nobody writes it, until
 * it is elsewhere or a time has come. `moved`: it is the peer's.
 */
export type KeyspaceState = "here" | "arriving" | "moving" | "moved";

export interface KeyspaceRow {
  readonly name: string;
  readonly state: KeyspaceState;
  /** Where it comes from, or goes to. */
  readonly peer: string | null;
  /** Whose move it is; of a keyspace that has moved, null once its rows here are gone. */
  readonly token: string | null;
  /** When the fence may be lifted by anybody, unix milliseconds; of `moving` only. */
  readonly until: number | null;
}

/** The set, and which member of it this database is. */
export interface OwnSet {
  readonly own: string;
  readonly set: SplitSet;
}

interface SetRow {
  readonly own: string;
  readonly id: string;
  readonly version: number;
  readonly members: string;
}

type Members = Pick<SplitSet, "members" | "previous">;

/** @param locked held as it is to the end of the transaction */
export function* readSplitSet(q: Query, kind: SplitKind, locked = false): Coroutine<OwnSet | undefined> {
  const [row] = yield* q.rows<SetRow>(
    `select own, id, version, members from adbind_splits where kind = ?${locked ? q.dialect.forShare : ""}`,
    [kind],
  );
  if (row === undefined) return undefined;
  const { id, version } = row;
  return { own: row.own, set: { id, version, ...(JSON.parse(row.members) as Members) } };
}

/** Has a database know a set, unless it knows a later one. */
export function* writeSplitSet(q: Query, kind: SplitKind, { own, set }: OwnSet): Coroutine<void> {
  const { id, version, members, previous } = set;
  yield* q.run(
    "insert into adbind_splits (kind, own, id, version, members) values (?, ?, ?, ?, ?) on conflict (kind) do update set " +
      "version = excluded.version, members = excluded.members where adbind_splits.id = excluded.id " +
      "and adbind_splits.version < excluded.version",
    [kind, own, id, version, JSON.stringify({ members, previous })],
  );
}

const COLUMNS = "name, state, peer, token, until";

/**
 * A fence that is about to be put up stands in a row of its own: those who hold the keyspace's row together would keep whoever
 * changes it waiting for as long as more of them come.
 */
const fenceOf = (kind: SplitKind): string => `${kind} fence`;

/** @param locked as it is to the end of the transaction, for who moves it */
export function* readKeyspace(
  q: Query,
  kind: SplitKind,
  name: string,
  locked = false,
): Coroutine<KeyspaceRow | undefined> {
  const text = `select ${COLUMNS} from adbind_keyspaces where kind = ? and name = ?${locked ? q.dialect.forUpdate : ""}`;
  const [row] = yield* q.rows<KeyspaceRow>(text, [kind, name]);
  return row;
}

type FencedRow = KeyspaceRow & { readonly fence: number | null };

const FENCED = `select ${COLUMNS}, (select f.until from adbind_keyspaces f where f.kind = ? and f.name = k.name) as fence
  from adbind_keyspaces k where kind = ?`;

/** One that is about to stand still reads as if it did. */
function asFenced({ fence: until, ...row }: FencedRow): KeyspaceRow {
  return until === null || row.state !== "here" ? row : { ...row, state: "moving", until };
}

/** For who writes rows of it: as it is to the end of the transaction. */
export function* shareKeyspace(q: Query, kind: SplitKind, name: string): Coroutine<KeyspaceRow | undefined> {
  const [row] = yield* q.rows<FencedRow>(`${FENCED} and name = ?${q.dialect.forShare}`, [fenceOf(kind), kind, name]);
  return row && asFenced(row);
}

/** The same of several at once; those that nobody has seen are left out. */
export function* shareKeyspaces(q: Query, kind: SplitKind, names: readonly string[]): Coroutine<KeyspaceRow[]> {
  const { dialect } = q;
  const text = `${FENCED} and ${dialect.among("name", "text")} order by name${dialect.forShare}`;
  return (yield* q.rows<FencedRow>(text, [fenceOf(kind), kind, dialect.list(names)])).map(asFenced);
}

/** For a statement that asks by itself whether all of them are here, and writes: no other question goes before it. */
export const askedTogether = (kind: SplitKind, names: readonly string[]): KeyspacesAsked => ({
  kind,
  fence: fenceOf(kind),
  names: [...new Set(names)],
});

/** Tells those who come that the keyspace is about to stand still. @param until as a fence's */
export function* announceFence(q: Query, kind: SplitKind, name: string, until: number): Coroutine<void> {
  yield* writeKeyspace(q, fenceOf(kind), { name, state: "moving", peer: null, token: null, until });
}

export function* withdrawFence(q: Query, kind: SplitKind, name: string): Coroutine<void> {
  yield* q.run("delete from adbind_keyspaces where kind = ? and name = ?", [fenceOf(kind), name]);
}

/** Nobody begins to work on anything of a keyspace that is about to move: a row of its own, until a time. */
const drainOf = (kind: SplitKind): string => `${kind} drain`;

/** @param until when it is over, whoever asked for it, unix milliseconds */
export function* announceDrain(q: Query, kind: SplitKind, name: string, until: number): Coroutine<void> {
  yield* writeKeyspace(q, drainOf(kind), { name, state: "moving", peer: null, token: null, until });
}

export function* withdrawDrain(q: Query, kind: SplitKind, name: string): Coroutine<void> {
  yield* q.run("delete from adbind_keyspaces where kind = ? and name = ?", [drainOf(kind), name]);
}

/** Which keyspaces, of some, are not here to be worked on: on their way, about to be, or gone. */
export function* awayOf(q: Query, kind: SplitKind, names: readonly string[], now: number): Coroutine<Set<string>> {
  if (names.length === 0) return new Set();
  const marks = names.map(() => "?").join(", ");
  const rows = yield* q.rows<{ name: string }>(
    `select name from adbind_keyspaces where kind = ? and state <> 'here' and name in (${marks}) ` +
      `union select name from adbind_keyspaces where kind = ? and until > ? and name in (${marks})`,
    [kind, ...names, drainOf(kind), now, ...names],
  );
  return new Set(rows.map(({ name }) => name));
}

export function* writeKeyspace(q: Query, kind: string, row: KeyspaceRow): Coroutine<void> {
  const { name, state, peer, token, until } = row;
  yield* q.run(
    "insert into adbind_keyspaces (kind, name, state, peer, token, until) values (?, ?, ?, ?, ?, ?) " +
      "on conflict (kind, name) do update set state = excluded.state, peer = excluded.peer, token = excluded.token, " +
      "until = excluded.until",
    [kind, name, state, peer, token, until],
  );
}

/** A keyspace that nobody has seen. @returns false where somebody else has just made it */
export function* beginKeyspace(q: Query, kind: SplitKind, name: string): Coroutine<boolean> {
  const text = "insert into adbind_keyspaces (kind, name, state) values (?, ?, 'here') on conflict do nothing";
  return (yield* q.run(text, [kind, name])) === 1;
}

/** Lifts a fence whose time is over, unless somebody has put up another. */
export function* liftFence(q: Query, kind: SplitKind, { name, token, until }: KeyspaceRow): Coroutine<void> {
  yield* q.run("delete from adbind_keyspaces where kind = ? and name = ? and until = ?", [fenceOf(kind), name, until]);
  yield* q.run(
    "update adbind_keyspaces set state = 'here', peer = null, token = null, until = null " +
      "where kind = ? and name = ? and state = 'moving' and token = ? and until = ?",
    [kind, name, token, until],
  );
}

/** The end of a move: what has left its old database is the new one's. */
export function* arrive(q: Query, kind: SplitKind, name: string): Coroutine<void> {
  yield* q.run(
    "update adbind_keyspaces set state = 'here', peer = null, token = null, until = null " +
      "where kind = ? and name = ? and state = 'arriving'",
    [kind, name],
  );
}

/** Keyspaces of a database in some states, by name. @param after the last one seen */
export function* listKeyspaces(
  q: Query,
  kind: SplitKind,
  {
    states,
    after,
    limit,
  }: { readonly states: readonly KeyspaceState[]; readonly after: string; readonly limit: number },
): Coroutine<KeyspaceRow[]> {
  const marks = states.map(() => "?").join(", ");
  return yield* q.rows<KeyspaceRow>(
    `select ${COLUMNS} from adbind_keyspaces where kind = ? and state in (${marks}) and name > ? order by name limit ?`,
    [kind, ...states, after, limit],
  );
}

/** Keyspaces that a database has rows of, which are another's: those being copied here, and those that have just left. */
export function* listForeign(q: Query, kind: SplitKind): Coroutine<string[]> {
  const rows = yield* q.rows<{ name: string }>(
    "select name from adbind_keyspaces where kind = ? and state in ('arriving', 'moved') " +
      "and (state = 'arriving' or token is not null)",
    [kind],
  );
  return rows.map(({ name }) => name);
}

/** How many keyspaces of each state a database has. */
export function* countKeyspaces(q: Query, kind: SplitKind): Coroutine<Readonly<Record<KeyspaceState, number>>> {
  const rows = yield* q.rows<{ state: KeyspaceState; n: number }>(
    "select state, count(*) as n from adbind_keyspaces where kind = ? group by state",
    [kind],
  );
  return { here: 0, arriving: 0, moving: 0, moved: 0, ...Object.fromEntries(rows.map(({ state, n }) => [state, n])) };
}
