/** How a connection is asked, ours or somebody else's. */
import type pg from "pg";
import { postgres } from "./driver.js";
import { isNameFault, isStale, knownName } from "./kept.js";

/** Whether connections keep statements under names. */
export interface Keeping {
  on: boolean;
}

/** A connection that adbind has made: it can be given up, and keeps statements. */
export interface OwnClient extends pg.ClientBase {
  deadline: { readonly ms: number };
  keeping: Keeping;
  overdue: boolean;
  end(): Promise<void>;
  replan(): Promise<void>;
}

const own = new WeakSet<object>();

/** Says of a connection that it is ours. */
export const claimClient = (client: OwnClient): unknown => own.add(client);

/** Is a connection ours? */
const isOwnClient = (client: pg.ClientBase): client is OwnClient => own.has(client);

const broke = new WeakSet<Error>();

/** Says what a connection of ours broke by. */
export const noteBroken = (error: Error): unknown => broke.add(error);

/** Has a connection of ours broken by an error? The system's words alone may be those of an application's own connection. */
export const hasBroken = (error: Error): boolean => broke.has(error);

/** Of a connection whose statements may take as long as they take. */
export const UNLIMITED = { ms: Number.POSITIVE_INFINITY };

/** PostgreSQL's 64-bit integer. */
const INT8_OID = 20;

/**
 * Our 64-bit columns are milliseconds, counts and ids: a number carries them exactly. Given with each statement, so that it
 * makes no difference how a connection of somebody else's reads them.
 */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8_OID ? Number : postgres.load().types.getTypeParser(oid, format as "text"),
};

/**
 * Ends a connection whose answer does not come. The server's own timeouts hold while it can be reached; a network that
 * swallows packets would keep a statement, and its connection, for as long as the system retries.
 * @returns stops it
 */
export function deadlineOf(client: pg.ClientBase): () => void {
  if (!isOwnClient(client) || !Number.isFinite(client.deadline.ms)) return () => undefined;
  const timer = setTimeout(() => {
    client.overdue = true;
    client.end().catch(() => undefined);
  }, client.deadline.ms);
  return () => clearTimeout(timer);
}

/** Of the transaction's statements and, from PostgreSQL 17 on, of all of it: a server may have such a limit by default. */
const NO_LIMIT = `select set_config(name, '0', true) from unnest(array['statement_timeout', 'transaction_timeout']) as name
  where current_setting(name, true) is not null`;

/** Within a transaction: runs work whose statements may take as long as they take, to the end of the transaction. */
export async function unlimited<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await ask(client, NO_LIMIT);
  if (!isOwnClient(client)) return work();
  const { deadline } = client;
  client.deadline = UNLIMITED;
  try {
    return await work();
  } finally {
    client.deadline = deadline;
  }
}

/** Runs one statement on a connection, ours or somebody else's. */
export async function ask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<Row>> {
  const answered = deadlineOf(client);
  const name = isOwnClient(client) && client.keeping.on ? knownName(text) : undefined;
  const statement = { text, values: values as unknown[], types };
  try {
    if (name === undefined) return await client.query<Row>(statement);
    try {
      await (client as OwnClient).replan();
      return await client.query<Row>({ ...statement, name });
    } catch (error) {
      // A pooler after all, which passes on how connections are made; or a migration, which the next connection knows of.
      if (isNameFault(error)) (client as OwnClient).keeping.on = false;
      else if (isStale(error)) (client as OwnClient).keeping = { on: false };
      else throw error;
      // Within a transaction the server undoes all of it.
      if (client.getTransactionStatus() !== "I") throw error;
      return await client.query<Row>(statement);
    }
  } finally {
    answered();
  }
}
