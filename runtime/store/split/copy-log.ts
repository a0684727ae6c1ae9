/** Copies a table that is only ever added to, in the order of its numbers: most of it while traffic flows. */
import type { Database, Value } from "../../db/types.js";
import { type Copying, putRows } from "./copy.js";

/** Rows read at once. */
const PAGE_ROWS = 500;

/** A table whose rows have numbers of their own in each database. */
export interface CopiedLog {
  readonly table: string;
  /** Whose a row is, and a second column by which there is an index on both and the number. */
  readonly owner: string;
  readonly group: string;
  readonly rest: readonly string[];
}

/** Numbers after one, up to another. */
interface Span {
  readonly after: number;
  readonly to: number;
}

/**
 * Copies what is there.
 * @returns copies what has come since, and answers how many rows that was
 */
export async function copyLog(
  live: Copying,
  log: CopiedLog,
  keyspace: string,
): Promise<(fenced: Copying) => Promise<number>> {
  await empty(live, log, keyspace);
  const cut = await newest(live.from, log);
  const copied = await copySpan(live, log, keyspace, { after: 0, to: cut });
  return async (fenced) => {
    const last = await newest(fenced.from, log);
    const there = await countSpan(fenced.from, log, keyspace, { after: 0, to: cut });
    // Numbers are given before their transactions commit: one that was late, or a row that is gone, and it is done anew.
    if (there === copied) return copySpan(fenced, log, keyspace, { after: cut, to: last });
    await empty(fenced, log, keyspace);
    return copySpan(fenced, log, keyspace, { after: 0, to: last });
  };
}

/** Removes the rows of a keyspace, a page at a time. */
export async function empty(
  { to, change, goOn }: Pick<Copying, "to" | "change" | "goOn">,
  { table, owner }: CopiedLog,
  keyspace: string,
): Promise<void> {
  for (;;) {
    goOn();
    const ids = await to.query((q) =>
      q.rows<{ id: number }>(`select id from ${table} where ${owner} = ? limit ${PAGE_ROWS}`, [keyspace]),
    );
    if (ids.length === 0) return;
    const marks = ids.map(() => "?").join(", ");
    await change(function* (q) {
      yield* q.run(`delete from ${table} where ${owner} = ? and id in (${marks})`, [
        keyspace,
        ...ids.map(({ id }) => id),
      ]);
    });
  }
}

async function newest(database: Database, { table }: CopiedLog): Promise<number> {
  const [row] = await database.query((q) => q.rows<{ id: number | null }>(`select max(id) as id from ${table}`));
  return row?.id ?? 0;
}

async function countSpan(database: Database, { table, owner }: CopiedLog, keyspace: string, span: Span) {
  const text = `select count(*) as n from ${table} where ${owner} = ? and id > ? and id <= ?`;
  const [row] = await database.query((q) => q.rows<{ n: number }>(text, [keyspace, span.after, span.to]));
  return row!.n;
}

async function copySpan(
  { from, change, goOn }: Copying,
  { table, owner, group, rest }: CopiedLog,
  keyspace: string,
  { after, to }: Span,
): Promise<number> {
  const columns = [owner, group, ...rest];
  const text =
    `select id, ${columns.join(", ")} from ${table} where ${owner} = ? and id > ? and id <= ? ` +
    `and (${group}, id) > (?, ?) order by ${group}, id limit ${PAGE_ROWS}`;
  let copied = 0;
  for (let last: [Value, Value] = ["", 0]; ; ) {
    goOn();
    const rows = await from.query((q) => q.rows<Record<string, Value>>(text, [keyspace, after, to, ...last]));
    const values = rows.map((row) => columns.map((column) => row[column]!));
    if (rows.length > 0) await change((q) => putRows(q, { table, columns }, values));
    copied += rows.length;
    if (rows.length < PAGE_ROWS) return copied;
    const { [group]: name, id } = rows.at(-1)!;
    last = [name!, id!];
  }
}
