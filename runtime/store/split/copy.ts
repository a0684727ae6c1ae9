/** Has rows of a keyspace in one database be as they are in another: again and again, each time less is left to do. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query, Value } from "../../db/types.js";

/** Rows read and compared at once: a fraction of a megabyte. */
const PAGE_ROWS = 500;
/** Rows of one statement that inserts; the last few go one by one, so that there are two texts and not hundreds. */
const INSERT_ROWS = 50;

/** What says whose rows of a table are. */
export type Ownership =
  /** A column of theirs. */
  | { readonly column: string }
  /** A condition on rows that say it for them, with a `?` for whose they are. */
  | { readonly among: string };

/** Rows of a table that are one keyspace's. Whose they are has a number of its own in each database. */
export interface CopiedRows {
  readonly table: string;
  /** What says whose they are, and its value in either database. */
  readonly owner: Ownership & { readonly from: Value; readonly to: Value };
  /** What tells them apart, under one owner. */
  readonly keys: readonly string[];
  /** Everything else. */
  readonly rest: readonly string[];
  /** Columns of the conflict where a row is there already. */
  readonly unique: readonly string[];
  /** Column of a number that each has from where it stands, and whose order is kept; by their keys without one. */
  readonly position?: string;
  /** Column of the time at which they may go, and how many of its units are a second. */
  readonly expires?: { readonly column: string; readonly perSecond: number };
}

type Row = Readonly<Record<string, Value>>;

/** A transaction in the database that rows are copied to, or removed from; it fails where the move is not ours any more. */
export type RowChange = (work: (q: Query) => Coroutine<void>) => Promise<void>;

export interface Copying {
  readonly from: Database;
  readonly to: Database;
  readonly change: RowChange;
  /** Called between pages; throws where time is over. */
  readonly goOn: () => void;
}

/** Columns of either side of a comparison of rows. */
const tuple = (columns: readonly string[]): string => (columns.length === 1 ? columns[0]! : `(${columns.join(", ")})`);
const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");

const conditionOf = (owner: Ownership): string => ("column" in owner ? `${owner.column} = ?` : owner.among);

interface OwnedRows {
  readonly table: string;
  readonly owner: Ownership;
  readonly value: Value;
  readonly keys: readonly string[];
  readonly columns: readonly string[];
}

/** Pages of rows in the order of some columns. */
async function* pages(database: Database, { table, owner, value, keys, columns }: OwnedRows): AsyncGenerator<Row[]> {
  const all = [...new Set([...columns, ...keys])];
  const head = `select ${all.join(", ")} from ${table} where ${conditionOf(owner)}`;
  const tail = ` order by ${keys.join(", ")} limit ${PAGE_ROWS}`;
  const further = keys.length === 1 ? " and ? < " : ` and (${marks(keys.length)}) < `;
  let after: Value[] | undefined;
  for (;;) {
    const text = after === undefined ? head + tail : head + further + tuple(keys) + tail;
    const rows = await database.query((q) => q.rows<Row>(text, [value, ...(after ?? [])]));
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = keys.map((key) => rows.at(-1)![key]!);
  }
}

/** Which of some rows a database has, by their keys. */
async function found(
  database: Database,
  { table, owner, value, keys, columns }: OwnedRows,
  rows: readonly Row[],
): Promise<Map<string, Row>> {
  // Whose they are is said of each: beside all of them, an engine would go through everything the owner has, each time.
  const one = `(${[conditionOf(owner), ...keys.map((key) => `${key} = ?`)].join(" and ")})`;
  const text = (count: number): string =>
    `select ${columns.join(", ")} from ${table} where ${Array.from({ length: count }, () => one).join(" or ")}`;
  const there: Row[] = [];
  for (const part of parts(rows, INSERT_ROWS)) {
    const values = part.flatMap((row) => [value, ...keys.map((key) => row[key]!)]);
    there.push(...(await database.query((q) => q.rows<Row>(text(part.length), values))));
  }
  return new Map(there.map((row) => [nameOf(row, keys), row]));
}

/** Full parts, and the rest one by one. */
function* parts<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  const full = all.length - (all.length % size);
  for (let at = 0; at < full; at += size) yield all.slice(at, at + size);
  for (const one of all.slice(full)) yield [one];
}

const plain = (value: Value): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value);
const nameOf = (row: Row, keys: readonly string[]): string => JSON.stringify(keys.map((key) => plain(row[key]!)));

/** Inserts rows, or brings them up to date. */
export function* putRows(
  q: Query,
  {
    table,
    columns,
    unique,
    owner,
  }: { table: string; columns: readonly string[]; unique?: readonly string[]; owner?: string },
  rows: readonly (readonly Value[])[],
): Coroutine<void> {
  const changed = columns.filter((column) => !unique?.includes(column));
  const sets = changed.map((column) => `${column} = excluded.${column}`).join(", ");
  const mine = owner === undefined ? "" : ` where ${table}.${owner} = excluded.${owner}`;
  const conflict = unique === undefined ? "" : ` on conflict (${unique.join(", ")}) do update set ${sets}${mine}`;
  for (const part of parts(rows, INSERT_ROWS)) {
    const each = part.map(() => `(${marks(columns.length)})`).join(", ");
    yield* q.run(`insert into ${table} (${columns.join(", ")}) values ${each}${conflict}`, part.flat());
  }
}

/** @returns how many rows differed */
export async function copyRows(copying: Copying, spec: CopiedRows): Promise<number> {
  const { from, to, change, goOn } = copying;
  const { table, owner, keys, rest, unique, position } = spec;
  const columns = [...keys, ...rest];
  const ours: OwnedRows = { table, keys, columns, owner, value: owner.from };
  const theirs: OwnedRows = { ...ours, value: owner.to };
  const own = "column" in owner ? owner.column : undefined;
  let changed = 0;
  for await (const rows of pages(from, position === undefined ? ours : { ...ours, keys: [position] })) {
    goOn();
    const there = await found(to, theirs, rows);
    const news = rows.filter((row) => {
      const other = there.get(nameOf(row, keys));
      return other === undefined || nameOf(row, columns) !== nameOf(other, columns);
    });
    changed += news.length;
    const whose = own === undefined ? [] : [owner.to];
    const values = news.map((row) => [...whose, ...columns.map((column) => row[column]!)]);
    const named = own === undefined ? columns : [own, ...columns];
    const into = { table, columns: named, unique, ...(own !== undefined && { owner: own }) };
    if (news.length > 0) await change((q) => putRows(q, into, values));
  }
  for await (const rows of pages(to, { ...theirs, columns: keys })) {
    goOn();
    const there = await found(from, { ...ours, columns: keys }, rows);
    const gone = rows.filter((row) => !there.has(nameOf(row, keys)));
    changed += gone.length;
    if (gone.length > 0) await change((q) => removeThese(q, theirs, gone));
  }
  return changed;
}

function* removeThese(q: Query, { table, owner, value, keys }: OwnedRows, rows: readonly Row[]): Coroutine<void> {
  const text = `delete from ${table} where ${conditionOf(owner)} and ${keys.map((key) => `${key} = ?`).join(" and ")}`;
  for (const row of rows) yield* q.run(text, [value, ...keys.map((key) => row[key]!)]);
}

/** Removes a keyspace's rows a page at a time. */
export async function removeRows(database: Database, change: RowChange, of: Omit<OwnedRows, "columns">): Promise<void> {
  const owned: OwnedRows = { ...of, columns: of.keys };
  for await (const rows of pages(database, owned)) await change((q) => removeThese(q, owned, rows));
}

/**
 * How many rows there are that nobody may remove yet.
 * @param horizonSeconds unix seconds: what expires before is left out, since either database may have removed it
 */
export function* countRows(
  q: Query,
  { table, owner, expires }: CopiedRows,
  side: "from" | "to",
  horizonSeconds: number,
): Coroutine<number> {
  const lasting = expires && ` and (${expires.column} is null or ${expires.column} > ?)`;
  const value = owner[side];
  const values = expires ? [value, Math.floor(horizonSeconds * expires.perSecond)] : [value];
  const text = `select count(*) as n from ${table} where ${conditionOf(owner)}${lasting ?? ""}`;
  const [row] = yield* q.rows<{ n: number }>(text, values);
  return row!.n;
}
