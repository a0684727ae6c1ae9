/**
 * Transactions of the application on PostgreSQL. A library is recognised by what its transactions look like and never
 * imported; that one is open is then asked of the server, unless the client knows.
 */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { type Coroutine, wait } from "../coroutine.js";
import type { Query } from "../types.js";
import { foreignAsk, type SqlExecutor } from "./foreign.js";
import { executorOf } from "./libraries.js";
import { PostgresQuery } from "./query.js";

const refused = (what: string, cause?: unknown): AdbindError =>
  new AdbindError("transaction_invalid", `${what}: the event would be stored though the rest is not`, {
    where: "tx",
    remedy: "give what your library hands to the work of a transaction, and leave tx out for a transaction of its own",
    ...(cause !== undefined && { cause }),
  });

type Client = pg.ClientBase & { getTransactionStatus?(): string | null };

const isClient = (tx: object): tx is Client => "escapeIdentifier" in tx && "query" in tx && "connection" in tx;

/** In a transaction block, as the server said with its last answer (pg 8.16 and newer). */
const OPEN = "T";

/**
 * Statements in an application's transaction.
 * @throws AdbindError `transaction_invalid` for a pool, a client that has begun nothing, or was released
 */
export function* joined(tx: unknown): Coroutine<Query> {
  if (tx instanceof PostgresQuery) return tx;
  if ((typeof tx !== "object" && typeof tx !== "function") || tx === null) throw refused("this is no transaction");
  const client = isClient(tx) ? tx : undefined;
  const status = client?.getTransactionStatus?.();
  if (status != null) {
    if (status !== OPEN) throw refused("the client has no transaction open, or one that has failed");
    return new PostgresQuery(foreignAsk(client!));
  }
  const executor = client ?? executorOf(tx, refused);
  yield* refuseUnlessOpen(executor);
  return new PostgresQuery(foreignAsk(executor));
}

const NO_PARAMETERS: unknown[] = [];

/**
 * Asks the server. A transaction that has written has an id, which no statement by itself has before it writes: one small
 * statement, and the usual case. Where nothing was written yet, a savepoint is sure: outside a transaction block the server
 * refuses it.
 */
function* refuseUnlessOpen(tx: pg.ClientBase | SqlExecutor): Coroutine<void> {
  const ask = foreignAsk(tx);
  let written: boolean;
  try {
    const { rows } = yield* wait(ask("select pg_current_xact_id_if_assigned() is not null as written", NO_PARAMETERS));
    written = (rows[0] as { written: boolean }).written;
    if (written) return;
    yield* wait(ask("savepoint adbind_join", NO_PARAMETERS));
  } catch (cause) {
    throw refused("this is no open transaction, or one that has failed", cause);
  }
  yield* wait(ask("release savepoint adbind_join", NO_PARAMETERS));
}

interface Ready {
  /** `I`: in no transaction. */
  readonly status?: string;
}

interface Wire {
  on(event: "readyForQuery", listener: (message: Ready) => void): unknown;
  off(event: "readyForQuery", listener: (message: Ready) => void): unknown;
}

/** @param endMs since the server's last answer in the transaction, in milliseconds: its end took no longer */
type TransactionEnd = (endMs: number) => void;

/** Connections whose transactions are waited for, with all who wait. */
const waiting = new WeakMap<Wire, Set<TransactionEnd>>();

/**
 * Calls `listener` when an application's transaction has ended, committed or not: a client of `pg` hears it from the server.
 * @returns false where a library's transaction does not tell
 */
export function onTransactionEnd(tx: unknown, listener: TransactionEnd): boolean {
  const wire = (tx as { connection?: Wire } | null)?.connection;
  if (typeof wire?.on !== "function" || typeof wire.off !== "function") return false;
  const known = waiting.get(wire);
  if (known !== undefined) {
    known.add(listener);
    return true;
  }
  const listeners = new Set([listener]);
  waiting.set(wire, listeners);
  let answered = performance.now();
  const ready = ({ status }: Ready): void => {
    const now = performance.now();
    if (status !== "I") {
      answered = now;
      return;
    }
    wire.off("readyForQuery", ready);
    waiting.delete(wire);
    for (const told of listeners) told(now - answered);
  };
  wire.on("readyForQuery", ready);
  return true;
}
