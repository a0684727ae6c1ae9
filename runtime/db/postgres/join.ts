/**
 * Transactions of the application on PostgreSQL. A library is recognised by what its transactions look like and never
 * imported; that one is open is then asked of the server, unless the client knows.
 */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { type Coroutine, wait } from "../coroutine.js";
import type { Query } from "../types.js";
import { isDemoted, isDisconnected } from "./faults.js";
import { foreignAsk, type SqlExecutor } from "./foreign.js";
import { executorOf } from "./libraries.js";
import { type OwnPlace, PLACE, refuseElsewhere, type SessionPlace } from "./place.js";
import { type Ask, PostgresQuery } from "./query.js";

const refused = (what: string, cause?: unknown): AdbindError =>
  new AdbindError("transaction_invalid", `${what}: it would be stored though the rest is not`, {
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
 * @param own where it has to be; undefined for anywhere
 * @throws AdbindError `transaction_invalid` for a pool, a client that has begun nothing, or was released, and for a
 * transaction somewhere else
 */
export function* joined(tx: unknown, own: OwnPlace | undefined): Coroutine<Query> {
  if (tx instanceof PostgresQuery) return tx;
  if ((typeof tx !== "object" && typeof tx !== "function") || tx === null) throw refused("this is no transaction");
  const client = isClient(tx) ? tx : undefined;
  const status = client?.getTransactionStatus?.();
  if (status != null) {
    if (status !== OPEN) throw refused("the client has no transaction open, or one that has failed");
    const asked = told(foreignAsk(client!));
    if (own !== undefined) yield* refuseElsewhere(own, client!, () => askedPlace(asked));
    return new PostgresQuery(asked);
  }
  const executor = client ?? executorOf(tx, refused);
  yield* refuseUnlessOpen(executor, own);
  return new PostgresQuery(told(foreignAsk(executor)));
}

/**
 * Tells of a transaction that takes no writes, and of one that is gone with its connection. What else a statement meets is the
 * application's, who may begin it again.
 */
const told =
  (ask: Ask): Ask =>
  (text, values) =>
    ask(text, values).catch((cause: unknown) => {
      if (isDemoted(cause)) throw readOnly(cause);
      throw isEnded(cause) ? ended(cause) : cause;
    });

const readOnly = (cause: unknown): AdbindError =>
  new AdbindError("transaction_invalid", "the transaction takes no writes", {
    where: "tx",
    remedy: "begin it without `read only`, and on the primary",
    cause,
  });

const ended = (cause: unknown): AdbindError =>
  new AdbindError(
    "transaction_invalid",
    "the transaction is no more: its connection was ended, by the server or on the way",
    {
      where: "tx",
      remedy:
        "nothing of it was stored: begin it again; the server's log says why, and where it took too long look at transaction_timeout and idle_in_transaction_session_timeout",
      cause,
    },
  );

/** Libraries give errors of a driver as causes of their own. */
const isEnded = (error: unknown): boolean =>
  isDisconnected(error) || (error instanceof Error && error.cause !== undefined && isDisconnected(error.cause));

const NO_PARAMETERS: unknown[] = [];

/** @param ask of any connection, ours or an application's */
export const askedPlace = async (ask: Ask): Promise<SessionPlace> =>
  (await ask(`select ${PLACE}`, NO_PARAMETERS)).rows[0] as SessionPlace;

const WRITTEN = `select pg_current_xact_id_if_assigned() is not null as written, ${PLACE}`;

/**
 * Asks the server. A transaction that has written has an id, which no statement by itself has before it writes: one small
 * statement, and the usual case, which tells where it is too. Where nothing was written yet, a savepoint is sure: outside a
 * transaction block the server refuses it.
 */
function* refuseUnlessOpen(tx: pg.ClientBase | SqlExecutor, own: OwnPlace | undefined): Coroutine<void> {
  const ask = foreignAsk(tx);
  const open = function* <T>(statement: Promise<T>): Coroutine<T> {
    try {
      return yield* wait(statement);
    } catch (cause) {
      throw refused("this is no open transaction, or one that has failed", cause);
    }
  };
  const { rows } = yield* open(ask(WRITTEN, NO_PARAMETERS));
  const [found] = rows as (SessionPlace & { readonly written: boolean })[];
  if (found === undefined) throw refused("this is no open transaction: a statement in it answers nothing");
  if (own !== undefined) yield* own.refuseOther(found);
  if (found.written) return;
  yield* open(ask("savepoint adbind_join", NO_PARAMETERS));
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
