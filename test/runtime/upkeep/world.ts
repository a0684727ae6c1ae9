/** Stores whose statements a test can break one by one, a log it can read, and what a world of upkeep is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Logger, pino } from "pino";
import {
  openPostgresStore,
  openSqliteStore,
  type PostgresStore,
  type SqliteStore,
} from "../../../runtime/store/index.js";

export type AnyStore = SqliteStore | PostgresStore;

export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** An opened store on an empty database. */
  open(): Promise<AnyStore>;
  /** Bytes and truth as the database writes them. */
  bytes(text: string): string;
  readonly no: string;
}

/** One kind of what is due: its step, and how the database shows that it is still to be done. */
export interface Kind {
  readonly step: string;
  readonly table: string;
  readonly where?: string;
}

/** One statement of an upkeep made impossible: a trigger that raises, or the table gone from under it. */
export interface TableBreach {
  readonly table: string;
  readonly how: "delete" | "update" | "insert" | "gone";
  /** Only for such rows: a condition on `old` and `new` that both engines read. */
  readonly when?: string;
}

/** What is not a table, and fails all the same. */
interface OtherBreach {
  readonly what: string;
  /** @returns mends it */
  make(): Promise<() => Promise<void>>;
}

export type Breach = (TableBreach | OtherBreach) & {
  /** The steps that fail by it; and those that do on one engine only. */
  readonly fails: readonly string[];
  readonly also?: Partial<Record<Engine["name"], readonly string[]>>;
  readonly only?: Engine["name"];
  /** The steps that are not tried meanwhile, because one before them fails. */
  readonly waits?: readonly string[];
  /** What is done all the same, though it is of a step that fails. */
  readonly done?: readonly Omit<Kind, "step">[];
  /** It shows when the work is stopped, which ends all the same. */
  readonly atStop?: true;
};

export interface Running {
  /** Runs once more, now or soon. */
  next(): Promise<void>;
  /** Whether what is no row of a table is done, too. */
  done?(): Promise<boolean>;
  stop(): Promise<unknown>;
}

export interface World {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly breaches: readonly Breach[];
  /** The engine that has it, where that is one only. */
  readonly only?: Engine["name"];
  /** Among so many its breaches are shared out: those of one store come one after the other. */
  readonly stores?: number;
  /** Makes something due of every kind, once more. */
  fill(store: AnyStore, engine: Engine): Promise<void>;
  start(store: AnyStore, log: Logger): Promise<Running>;
}

export const nameOf = (breach: Breach): string =>
  "table" in breach
    ? `${breach.table} ${breach.how}${breach.when === undefined ? "" : ` where ${breach.when}`}`
    : breach.what;

const folder = mkdtempSync(path.join(tmpdir(), "adbind-upkeep-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A path for a file of the test's own. */
export const freshFile = (): string => path.join(folder, `${++files}.db`);

const urls = new WeakMap<AnyStore, string>();
/** Where a store is, for whoever opens its database as well. */
export const urlOf = (store: AnyStore): string => urls.get(store)!;

function kept<Store extends AnyStore>(store: Store, url: string): Store {
  urls.set(store, url);
  return store;
}

export const onSqlite: Engine = {
  name: "sqlite",
  async open() {
    const file = freshFile();
    return kept(openSqliteStore({ path: file }), `sqlite:${file}`);
  },
  bytes: (text) => `x'${Buffer.from(text).toString("hex")}'`,
  no: "0",
};

/** @param database URL of an empty database */
export const onPostgres = (database: () => Promise<string>): Engine => ({
  name: "postgres",
  async open() {
    const url = await database();
    return kept(await openPostgresStore({ url, connections: 6 }), url);
  },
  bytes: (text) => `'\\x${Buffer.from(text).toString("hex")}'::bytea`,
  no: "false",
});

export async function execute(store: AnyStore, text: string): Promise<void> {
  await store.database.write((q) => q.run(text));
}

export const rows = (store: AnyStore, texts: readonly string[]): Promise<void> =>
  texts.reduce((before, text) => before.then(() => execute(store, text)), Promise.resolve());

async function countOf(store: AnyStore, table: string, where = "1 = 1"): Promise<number> {
  const text = `select count(*) as n from ${table} where ${where}`;
  const [row] = await store.database.query((q) => q.rows<{ n: number }>(text));
  return row!.n;
}

export const isLeft = async (store: AnyStore, { table, where }: Omit<Kind, "step">): Promise<boolean> =>
  (await countOf(store, table, where)) > 0;

/** @returns mends it */
async function brokenTable(store: AnyStore, { table, how, when }: TableBreach): Promise<() => Promise<void>> {
  if (how === "gone") {
    await execute(store, `alter table ${table} rename to taken_away`);
    return () => execute(store, `alter table taken_away rename to ${table}`);
  }
  const condition = when === undefined ? "" : `when (${when}) `;
  if (!store.database.shared) {
    await execute(
      store,
      `create trigger breach before ${how} on ${table} ${condition}begin select raise(abort, 'broken on purpose'); end`,
    );
    return () => execute(store, "drop trigger breach");
  }
  await execute(
    store,
    "create or replace function breach() returns trigger language plpgsql as " +
      "$$ begin raise exception 'broken on purpose'; end $$",
  );
  await execute(
    store,
    `create trigger breach before ${how} on ${table} for each row ${condition}execute function breach()`,
  );
  return () => execute(store, `drop trigger breach on ${table}`);
}

/** @returns mends it */
export const broken = (store: AnyStore, breach: Breach): Promise<() => Promise<void>> =>
  "table" in breach ? brokenTable(store, breach) : breach.make();

/** What is started again runs at once. */
export const restarted = (one: { start(): void; stop(): Promise<void> }): Running => {
  one.start();
  return {
    async next() {
      await one.stop();
      one.start();
    },
    stop: () => one.stop(),
  };
};

/** What runs again by itself before long. */
export const soon = { next: async (): Promise<void> => undefined };

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
