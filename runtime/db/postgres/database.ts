/** An open PostgreSQL database. What loads this has loaded the driver. */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { missingStore } from "../access.js";
import { type Coroutine, inJoined, runAsync } from "../coroutine.js";
import { assertComplete, missingSteps, refuseMissing, statusOf } from "../schema.js";
import type { Database, Query, Statements } from "../types.js";
import { ask, unlimited } from "./client.js";
import { type Connections, openConnections } from "./connections.js";
import { each, type Question } from "./each.js";
import { isNotPermitted, toldMigration, toldPartitions, unreachable } from "./faults.js";
import { foreignAsk, type SqlExecutor } from "./foreign.js";
import { askedPlace, joined, onTransactionEnd } from "./join.js";
import { isNameFault, nameOf, numberedText } from "./kept.js";
import { PostgresListener } from "./listener.js";
import { appliedSteps, isStore, migrate } from "./migrate.js";
import type { PostgresOptions } from "./options.js";
import { OwnPlace, PLACE, type SessionPlace } from "./place.js";
import { dialect, PostgresQuery } from "./query.js";
import { refuseHidden, refuseLacking } from "./rights.js";
import { schema as ours } from "./schema/index.js";

/** What a transaction is: a client of `pg` that has begun one, ours or an application's. */
export type PostgresTx = pg.ClientBase;

/** `pool` is open to an application that keeps its tables beside ours. */
export interface PostgresDatabase extends Database<PostgresTx> {
  readonly engine: "postgres";
  readonly pool: pg.Pool;
  /** A pooler hands out connections by the transaction: nothing of a session outlives one. */
  readonly pooled: boolean;
  /** Longest wait for a row that another transaction holds, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** Whether what other instances notify now is heard of here. */
  readonly listening: boolean;
  /**
   * As `query`, for a small statement after a notification: on the connection that listens, if there is one. Its server's
   * process was woken just now, and no pooler stands before it.
   */
  queryWoken<T>(work: (query: Query) => Coroutine<T>): Promise<T>;
  /**
   * Calls `listener` when a transaction of the application's has ended, with the milliseconds since the server's last answer in it.
   * @returns false where its library does not tell
   */
  onTransactionEnd(tx: unknown, listener: (endMs: number) => void): boolean;
  /** As `within`, on whatever else runs a statement in an open transaction: another library's, or one made of it. */
  withinOther<T>(tx: SqlExecutor, work: (query: Query) => Coroutine<T>): Promise<T>;
  /**
   * One transaction of statements that are PostgreSQL's own.
   * @param lockTimeoutMs longest wait for a row that another transaction holds; `lockTimeoutMs` of the options by default
   */
  transaction<T>(work: (tx: pg.ClientBase) => Promise<T>, lockTimeoutMs?: number): Promise<T>;
  /** One statement by itself, with `$1`, `$2` ... for values. */
  ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult>;
}

/**
 * Opens a PostgreSQL database and brings its schema to this version; instances that start together take turns.
 * @throws AdbindError `database_unreachable` that says why, `store_schema` when the database is not usable
 */
export async function connectPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const connections = await openConnections(options);
  const place = new OwnPlace(connections.where, () =>
    connections.use((client) => askedPlace((text, values) => ask(client, text, values))),
  );
  const database = databaseOn(connections, place, options);
  try {
    if (options.migrate !== "skip") {
      await bringUp(database, options);
      // Now, while connections are free: later all of them may be in transactions of the application's that wait for it.
      if (options.access !== "read") await place.look();
    }
  } catch (error) {
    await database.close();
    throw unreachable(connections.where, error);
  }
  return database;
}

/** A database that lacks nothing is only looked at: its role need not be one that may create. */
async function bringUp(
  database: PostgresDatabase,
  { schema = ours, access = "create", migrate: may }: PostgresOptions,
) {
  const { where } = database;
  const refuse = (cause?: unknown) => database.transaction((tx) => refuseLacking(tx, where, cause));
  const [there, applied] = await database
    .transaction(async (tx) => {
      await refuseHidden(tx, where);
      return [await isStore(tx), await appliedSteps(tx)] as const;
    })
    .catch(async (error: unknown) => {
      if (isNotPermitted(error)) await refuse(error);
      throw error;
    });
  // Tables in a schema that the role may not use are as if they were not there.
  if (!there) await refuse();
  if (access !== "create" && !there) throw missingStore("the database holds no store of adbind", where);
  const missing = missingSteps(schema, applied, where);
  if (missing.length === 0) return;
  if (access === "read") assertComplete(missing, where);
  else if (may === false) refuseMissing(missing, "postgres", where);
  else await database.migrate();
}

function listenerOn(connections: Connections, { url, listenUrl }: PostgresOptions): PostgresListener {
  const direct = listenUrl ?? (connections.pooled ? undefined : url);
  const finds = listenUrl === undefined ? undefined : (client: pg.Client) => findsOurs(connections, client);
  return new PostgresListener(direct === undefined ? undefined : connections.configOf(direct), undefined, finds);
}

const SESSION = `select current_user::text as role, ${PLACE}`;

/**
 * Does a session find the tables that those of the pool find, as the same role? A second URL may have another search_path, or lead to
 * another database: what is leased there is another store's, and would be sent as ours.
 */
async function findsOurs(connections: Connections, client: pg.Client): Promise<boolean> {
  const asked = (one: pg.ClientBase) => ask<SessionPlace & { readonly role: string }>(one, SESSION);
  const [theirs, own] = await Promise.all([asked(client), connections.use(asked)]);
  return theirs.rows[0]!.place === own.rows[0]!.place && theirs.rows[0]!.role === own.rows[0]!.role;
}

function copiedByItself(where: string): never {
  throw new AdbindError("usage", "a database of a server is copied by the server's own tools", {
    where,
    remedy: "use pg_dump, or a base backup",
  });
}

function databaseOn(connections: Connections, place: OwnPlace, options: PostgresOptions): PostgresDatabase {
  const { where, pool, pooled, lockTimeoutMs } = connections;
  const { schema = ours } = options;
  const statements = (tx: PostgresTx | SqlExecutor): Query => new PostgresQuery(foreignAsk(tx));
  const alone = statementsOn(connections);
  const listener = listenerOn(connections, options);
  const woken = new PostgresQuery((text, values) =>
    connections.use((client) => ask(client, text, values), listener.asked),
  );
  const transaction = <T>(work: (tx: pg.ClientBase) => Promise<T>, lockTimeoutMs?: number): Promise<T> =>
    connections.transaction(work, { lockTimeoutMs });
  const told = <T>(change: Promise<T>, tell: typeof toldMigration): Promise<T> =>
    change.catch((error: unknown) => {
      throw tell(error, where);
    });
  let closing: Promise<void> | undefined;
  return {
    engine: "postgres",
    where,
    dialect,
    shared: true,
    pool,
    pooled,
    lockTimeoutMs,
    get listening() {
      return listener.client !== undefined;
    },
    transaction,
    ask: (text, values) => connections.use((client) => ask(client, text, values)),
    read: (work) => connections.snapshot((tx) => runAsync(work(onClient(tx)))),
    query: (work) => runAsync(work(alone)),
    queryWoken: (work) => runAsync(work(woken)),
    execute: (text, values) => runAsync(alone.rows(text, values)),
    write: (work) => transaction((tx) => runAsync(work(onClient(tx), tx))),
    within: (tx, work) => runAsync(inJoined(joined(tx, place), work)),
    withinOther: (tx, work) => runAsync(inJoined(joined(tx, place), work)),
    statements,
    join: (tx, anywhere = false) => joined(tx, anywhere ? undefined : place),
    onTransactionEnd,
    onNotify: (channel, given) => listener.on(channel, given),
    migrate: () =>
      told(
        transaction((tx) => unlimited(tx, () => migrate(tx, schema, where))),
        toldMigration,
      ),
    // Of a command that is run once a day: whoever opens a database need not load it.
    partitions: (request) =>
      told(
        import("./partitions.js").then(({ keepPartitions }) => keepPartitions(transaction, request)),
        toldPartitions,
      ),
    status: async () => statusOf(schema, await transaction((tx) => appliedSteps(tx)), where),
    sole: async () => () => undefined,
    copy: async () => copiedByItself(where),
    async close() {
      closing ??= listener.close().then(() => pool.end());
      await closing;
    },
  };
}

const onClient = (client: pg.ClientBase): PostgresQuery =>
  new PostgresQuery((text, values) => ask(client, text, values));

/** Each on whichever connection is free. */
function statementsOn(connections: Connections): Statements {
  let named = !connections.pooled;
  const once = <Row>(question: Question<Row>, name?: string): Promise<void> =>
    connections.use((client) => each(client, question, name));
  const askEach = async <Row>(question: Question<Row>): Promise<void> => {
    if (!named) return once(question);
    try {
      await once(question, nameOf(question.text));
    } catch (error) {
      if (!isNameFault(error)) throw error;
      // A pooler after all, which passes on how connections are made.
      named = false;
      await once(question);
    }
  };
  const single = new PostgresQuery((text, values) => connections.use((client) => ask(client, text, values)));
  return Object.assign(single, {
    *each<Row>(text: string, values: readonly unknown[], take: (row: Row) => void): Coroutine<void> {
      yield askEach({ text: numberedText(text), values, take });
    },
  });
}
