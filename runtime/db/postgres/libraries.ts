/**
 * What libraries call a transaction, by their shapes. To add one: a row. Each runs a statement with `$1` for values, all of
 * them texts, and answers its rows; a library's pool or unbegun instance is told where its shape shows it.
 */
import type { AdbindError } from "../../errors.js";
import type { SqlExecutor } from "./foreign.js";

type Run = (text: string, values: unknown[]) => Promise<unknown>;
type Refuse = (what: string) => AdbindError;

interface Library {
  readonly name: string;
  /** Members by which it is recognised. */
  readonly members: readonly string[];
  /** Why it is no transaction, where its shape tells. */
  closed?(tx: object): string | undefined;
  run(tx: object): Run;
}

interface Kysely {
  readonly isTransaction: boolean;
  executeQuery(query: object): Promise<unknown>;
}
interface Prisma {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
}
interface PostgresJs {
  unsafe(text: string, values: unknown[]): Promise<unknown>;
}
interface Drizzle {
  execute(query: object): Promise<unknown>;
}
interface Knex {
  readonly isTransaction?: boolean;
  isCompleted?(): boolean;
  raw(text: string, values: unknown[]): Promise<unknown>;
}
interface Queryable {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** knex has `?` for each value, in their order. */
function questionMarks(text: string, values: readonly unknown[]): readonly [string, unknown[]] {
  const inOrder: unknown[] = [];
  const marked = text.replaceAll("?", "\\?").replace(/\$(\d+)/g, (_, number: string) => {
    inOrder.push(values[Number(number) - 1]);
    return "?";
  });
  return [marked, inOrder];
}

const answers = (text: string): boolean => /^\s*(select|with)\b/i.test(text);

const libraries: readonly Library[] = [
  {
    name: "kysely",
    members: ["executeQuery", "isTransaction"],
    closed: (tx: Kysely) => (tx.isTransaction ? undefined : "this kysely is not in a transaction"),
    run: (tx: Kysely) => (sql, parameters) =>
      tx.executeQuery({
        sql,
        parameters,
        query: { kind: "RawNode", sqlFragments: [sql], parameters: [] },
        queryId: { queryId: "adbind" },
      }),
  },
  {
    name: "prisma",
    members: ["$queryRawUnsafe", "$executeRawUnsafe"],
    run: (tx: Prisma) => (text, values) =>
      answers(text) ? tx.$queryRawUnsafe(text, ...values) : tx.$executeRawUnsafe(text, ...values),
  },
  {
    name: "postgres.js",
    members: ["unsafe", "array", "json"],
    run: (tx: PostgresJs) => (text, values) => tx.unsafe(text, values),
  },
  {
    name: "drizzle",
    members: ["execute", "transaction", "$count"],
    // What drizzle makes of its own sql`...`, with the text as it is.
    run: (tx: Drizzle) => (sql, params) => tx.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) }),
  },
  {
    name: "knex",
    members: ["raw", "isTransaction", "schema"],
    closed: (tx: Knex) =>
      tx.isTransaction !== true
        ? "this knex is not in a transaction"
        : tx.isCompleted?.() === true
          ? "the transaction of this knex has ended"
          : undefined,
    run: (tx: Knex) => (text, values) => tx.raw(...questionMarks(text, values)),
  },
  {
    name: "anything with query(text, values)",
    members: ["query"],
    run: (tx: Queryable) => (text, values) => tx.query(text, values),
  },
];

const has = (tx: object, member: string): boolean => member in tx;

/** Rows as an array, or as a member of the answer. */
const rowsOf = (answer: unknown): unknown[] => {
  if (Array.isArray(answer)) return answer as unknown[];
  const { rows } = (answer ?? {}) as { rows?: unknown };
  return Array.isArray(rows) ? (rows as unknown[]) : [];
};

/** Numbers mean one thing to one driver and another to the next; as texts the server reads them all alike. */
const asText = (value: unknown): unknown => (typeof value === "number" ? String(value) : value);

/** @throws what `refuse` makes for what is no transaction of a library */
export function executorOf(tx: object, refuse: Refuse): SqlExecutor {
  const library = libraries.find(({ members }) => members.every((member) => has(tx, member)));
  if (library === undefined) throw refuse("nothing here runs statements: this is no transaction");
  // It has the members by which this library is recognised.
  const why = library.closed?.(tx);
  if (why !== undefined) throw refuse(why);
  const run = library.run(tx);
  return { query: async (text, values) => ({ rows: rowsOf(await run(text, values.map(asText))) }) };
}
