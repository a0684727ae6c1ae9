/** Stores whose statements a test can break one by one, and a log it can read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";

export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** An opened store on an empty database. */
  open(): Promise<SqliteStore | PostgresStore>;
  /** Bytes and truth as the database writes them. */
  readonly blob: string;
  readonly no: string;
}

const folder = mkdtempSync(path.join(tmpdir(), "adbind-upkeep-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export const onSqlite: Engine = {
  name: "sqlite",
  open: async () => openSqliteStore({ path: path.join(folder, `${++files}.db`) }),
  blob: "x'00112233445566778899aabbccddeeff'",
  no: "0",
};

/** @param database URL of an empty database */
export const onPostgres = (database: () => Promise<string>): Engine => ({
  name: "postgres",
  open: async () => openPostgresStore({ url: await database(), connections: 6 }),
  blob: "'\\x00112233445566778899aabbccddeeff'::bytea",
  no: "false",
});

export async function execute(store: SqliteStore | PostgresStore, text: string): Promise<void> {
  await store.database.write((q) => q.run(text));
}

export async function countOf(store: SqliteStore | PostgresStore, table: string, where = "1 = 1"): Promise<number> {
  const text = `select count(*) as n from ${table} where ${where}`;
  const [row] = await store.database.query((q) => q.rows<{ n: number }>(text));
  return row!.n;
}

/** One statement of an upkeep made impossible: a trigger that raises, or the table gone from under it. */
export interface Breach {
  readonly table: string;
  readonly how: "delete" | "update" | "insert" | "gone";
}

/** @returns mends it */
export async function broken(store: SqliteStore | PostgresStore, { table, how }: Breach): Promise<() => Promise<void>> {
  if (how === "gone") {
    await execute(store, `alter table ${table} rename to taken_away`);
    return () => execute(store, `alter table taken_away rename to ${table}`);
  }
  if (!store.database.shared) {
    await execute(
      store,
      `create trigger breach before ${how} on ${table} begin select raise(abort, 'broken on purpose'); end`,
    );
    return () => execute(store, "drop trigger breach");
  }
  await execute(
    store,
    "create or replace function breach() returns trigger language plpgsql as " +
      "$$ begin raise exception 'broken on purpose'; end $$",
  );
  await execute(store, `create trigger breach before ${how} on ${table} for each row execute function breach()`);
  return () => execute(store, `drop trigger breach on ${table}`);
}

interface Line {
  readonly msg: string;
  readonly step?: string;
  readonly failures?: number;
}

export function readableLog() {
  const lines: Line[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  return {
    log,
    lines,
    failed: () => new Set(lines.filter(({ msg }) => msg.startsWith("could not ")).map(({ step }) => step)),
    recovered: () => new Set(lines.filter(({ msg }) => msg.endsWith(": works again")).map(({ step }) => step)),
  };
}

export { until } from "../support/until.js";
