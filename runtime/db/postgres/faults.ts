/** Why PostgreSQL cannot be used, in words, with what to do about it. */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { hasBroken } from "./client.js";
import { isDatabaseError } from "./driver.js";
import { optionsRefused } from "./dropped-options.js";

type Reason = readonly [what: string, remedy: string];

const CHECK_LOGIN = "check the user and the password of the URL";
const MAKE_ROOM = "make room on it, where the server's tables, its temporary files and its log (pg_wal) are";
const START_IT = "start it, or correct the host and port of the URL";

/** By SQLSTATE, and by the system's name of a fault. */
const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: ["nothing listens there", START_IT],
  ENOTFOUND: ["no such host", "correct the host of the URL"],
  EAI_AGAIN: ["the host's name could not be looked up now", "try again, or check the name service"],
  ETIMEDOUT: ["it did not answer in time", START_IT],
  EHOSTUNREACH: ["no route to the host", "check the network and the host of the URL"],
  ECONNRESET: [
    "it closed the connection",
    "check that PostgreSQL listens there, and whether it wants TLS (?sslmode=require)",
  ],
  "28P01": ["the password was refused", CHECK_LOGIN],
  "28000": ["the login was refused", "check the user of the URL, and the server's pg_hba.conf"],
  "3D000": ["there is no such database", "create it, or correct the name in the URL"],
  "57P03": ["it is starting up", "try again in a moment"],
  "53300": ["it has too many connections", "raise max_connections, put a pooler in front, or lower `connections`"],
  // Of a new connection, which writes a file of its own as it begins.
  "53100": ["its disk is full", MAKE_ROOM],
  "25006": [
    "it takes no writes",
    "name all servers of the database in the URL, with ?target_session_attrs=read-write; if it is the primary, take default_transaction_read_only off its configuration, the database or the role",
  ],
  "3F000": [
    "its search_path names no schema that is there, and that the role may use",
    "create the schema, grant usage on it, or name another (?options=-c%20search_path%3DNAME)",
  ],
};

const inWords = (error: Error & { code?: string; severity?: string }): Reason | undefined => {
  // Of a statement the server says itself what may not be done.
  if (error.code === NOT_PERMITTED && error.severity === "FATAL")
    return ["the role may not connect to it", "grant connect on the database to the role of the URL"];
  const known = reasons[error.code ?? ""] ?? optionsRefused(error);
  if (known !== undefined) return known;
  if (/password must be a string/.test(error.message)) return ["it wants a password", CHECK_LOGIN];
  if (/timeout expired|Connection terminated due to connection timeout/.test(error.message)) return reasons.ETIMEDOUT;
  if (/certificate/.test(error.message)) {
    return [error.message, "give its authority with ?sslrootcert=FILE, or a host that the certificate names"];
  }
  return undefined;
};

/** @param where host, port and database; never credentials */
export function unreachable(where: string, cause: unknown): AdbindError {
  if (cause instanceof AdbindError) return cause;
  const error = cause as Error & { code?: string };
  const [what, remedy] = inWords(error) ?? [error.message, undefined];
  const detail = remedy === undefined ? { where, cause } : { where, remedy, cause };
  return new AdbindError("database_unreachable", `the database cannot be opened: ${what}`, detail);
}

const LOCK_NOT_AVAILABLE = "55P03";
const READ_ONLY = "25006";
const NOT_PERMITTED = "42501";

/** What the driver says, and its pool, of an answer and of a connection that were waited for in vain. */
const SILENCE: readonly (readonly [said: RegExp, reason: Reason])[] = [
  [
    /^Connection terminated$/,
    [
      "it did not answer a statement in time, and the connection was given up",
      "look whether it runs, and whether its network passes anything on; what was being committed may be stored",
    ],
  ],
  [
    /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/,
    [
      "no connection to it was free in time, or could be made",
      "look whether it answers and what its connections do (pg_stat_activity), or raise `connections`",
    ],
  ],
];

const silenceIn = (error: unknown): Reason | undefined =>
  error instanceof Error ? SILENCE.find(([said]) => said.test(error.message))?.[1] : undefined;

/** Did a statement, or who asked for a connection, wait in vain for the server's answer? */
export const isUnanswered = (error: unknown): boolean =>
  silenceIn(error instanceof AdbindError ? error.cause : error) !== undefined;

/** One that was open. An application's own errors come by here too: only what is the driver's, or its server's, is told. */
const LOST: Reason = [
  "its connection was ended",
  "the next call makes another: look whether the server runs, and what its log says; what was being committed may be stored",
];

/** Of a table or function of ours. */
const NOT_FOUND: Reason = [
  "adbind's tables are not found",
  "look whether the role's search_path names their schema, and whether it may use it (grant usage on schema NAME to ROLE); `adbind db status` says what is there",
];

const NOT_PERMITTED_REMEDY =
  "grant the role of the URL select, insert, update and delete on adbind's tables, usage and select on its sequences, usage on their schema and execute on its functions; where row level security refuses, give it a policy or disable that";

const NOT_THERE = /^(42P01|42883)$/;
/** Also of statements of an application's in a transaction of ours: its own tables are its own. */
const OURS = /\badbind_/;

function runningReason(error: unknown): Reason | undefined {
  if (isDemoted(error)) return reasons[READ_ONLY];
  if (!isDatabaseError(error)) {
    if (!(error instanceof Error) || error instanceof AdbindError) return silenceIn(error);
    if (hasBroken(error)) return [`${LOST[0]} (${error.message})`, LOST[1]];
    return lostText.test(error.message) ? LOST : silenceIn(error);
  }
  if (isDisconnected(error)) return [`${LOST[0]} (${error.message})`, LOST[1]];
  if (!OURS.test(error.message)) return undefined;
  if (NOT_THERE.test(error.code ?? "")) return [`${NOT_FOUND[0]} (${error.message})`, NOT_FOUND[1]];
  return error.code === NOT_PERMITTED ? [`the role lacks a right (${error.message})`, NOT_PERMITTED_REMEDY] : undefined;
}

/** What the server has run out of, or met on its disk, by class or SQLSTATE; nothing of the transaction was kept. */
const FAILING: readonly (readonly [code: RegExp, what: string, remedy: string])[] = [
  [/^53100$/, "its disk is full", `${MAKE_ROOM}; what was not written is asked for again`],
  [
    /^53[24]00$/,
    "it has run out of something",
    "look into the server's log; the message names what (memory, or a limit such as temp_file_limit)",
  ],
  [
    /^(58...|XX00[12])$/,
    "its disk failed, or is damaged",
    "look into the server's log; fail over, or restore a backup",
  ],
];

function failing(error: unknown, where: string): AdbindError | undefined {
  if (!isDatabaseError(error) || !isUsable(error)) return undefined;
  const row = FAILING.find(([code]) => code.test(error.code ?? ""));
  if (row === undefined) return undefined;
  const [, what, remedy] = row;
  const detail = { where, remedy, cause: error };
  return new AdbindError("database_failed", `the database failed: ${what} (${error.message})`, detail);
}

const unusable = ([what, remedy]: Reason, where: string, cause: unknown): AdbindError =>
  new AdbindError("database_unreachable", `the database cannot be used: ${what}`, { where, remedy, cause });

/** What kept a connection from being made while this runs; what is waited for in vain is told by whoever waited. */
export function toldConnecting(error: unknown, where: string): unknown {
  if (!(error instanceof Error) || error instanceof AdbindError || silenceIn(error) !== undefined) return error;
  // Of a connection that never was nothing can have been committed.
  const refused: Reason | undefined = isDatabaseError(error)
    ? [
        `it takes no connection (${error.message})`,
        "nothing was sent; look into the log of the server, or of the pooler before it",
      ]
    : undefined;
  const reason = inWords(error) ?? refused;
  return reason === undefined ? error : unusable(reason, where, error);
}

/**
 * What work failed with, told where it was kept waiting, by another or by a server that is silent, where that takes no writes, ended the
 * connection, or no longer lets the role at what is ours.
 */
export function toldFault(error: unknown, where: string, lockTimeoutMs: number): unknown {
  const reason = runningReason(error);
  if (reason !== undefined) return unusable(reason, where, error);
  const failed = failing(error, where);
  if (failed !== undefined) return failed;
  if (!isDatabaseError(error) || error.code !== LOCK_NOT_AVAILABLE) return error;
  return rowKept(where, lockTimeoutMs, error);
}

/** The server says which row it was; where a table is locked, or several wait for one row, it says nothing. */
const toldRow = (cause: unknown): boolean => isDatabaseError(cause) && /\(\d+,\d+\)/.test(cause.where ?? "");

/** @param waitedMs how long it was waited for, in milliseconds */
export const rowKept = (where: string | undefined, waitedMs: number, cause: unknown): AdbindError =>
  new AdbindError(
    "database_busy",
    `another transaction kept a row${toldRow(cause) ? "" : ", or a whole table,"} for ${waitedMs} ms`,
    {
      ...(where !== undefined && { where }),
      remedy: `nothing was written; try again, and look for a transaction left open (pg_stat_activity, idle in transaction)${toldRow(cause) ? "" : " or a command that locks tables (lock table, alter table, vacuum full)"}`,
      cause,
    },
  );

/** Did a statement fail because another transaction kept a row? */
export const isRowKept = (error: unknown): boolean => error instanceof AdbindError && error.code === "database_busy";

/** Did the server answer that a statement failed, so that nothing of it was kept? */
export function isStatementRefused(error: unknown): boolean {
  const isFailed = error instanceof AdbindError && error.code === "database_failed";
  return (
    isFailed || isRowKept(error) || isNotPermitted(error) || (isDatabaseError(error) && error.severity === "ERROR")
  );
}

const DEADLOCK = "40P01";

/** Did a transaction give way to another one that waited for it? */
export const isDeadlock = (error: unknown): boolean => isDatabaseError(error) && error.code === DEADLOCK;

/** Was a transaction undone because it was in another one's way, so that it has only to be done again? */
export const hasGivenWay = (error: unknown): boolean => isRowKept(error) || isDeadlock(error);

/** Does the role lack a right? */
export const isNotPermitted = (error: unknown): boolean => serverError(error)?.code === NOT_PERMITTED;

/** What the server said, also where that was told in words of ours. */
function serverError(error: unknown): pg.DatabaseError | undefined {
  const said = error instanceof AdbindError ? error.cause : error;
  return isDatabaseError(said) ? said : undefined;
}

/** An exception that code in the database has raised: of what we run, an event trigger's. */
const RAISED = "P0001";

function toldRaised(error: unknown, what: string, where: string): unknown {
  if (serverError(error)?.code !== RAISED) return error;
  return new AdbindError("store_schema", `code in the database refuses ${what}: ${serverError(error)!.message}`, {
    where,
    remedy:
      "nothing was changed; it is most likely an event trigger of an administrator's (select evtname, evtowner::regrole from pg_event_trigger): ask for leave, or have who may run it do so",
    cause: error,
  });
}

/** Making tables was refused: who may is somebody else. */
export function toldMigration(error: unknown, where: string): unknown {
  if (!isNotPermitted(error)) return toldRaised(error, "to change adbind's tables", where);
  return new AdbindError("store_schema", `this role may not create adbind's tables: ${serverError(error)!.message}`, {
    where,
    remedy:
      "run `adbind db migrate` as their owner, who has to have create on their schema (grant create on schema NAME to ROLE), or apply what `adbind db schema --sql --engine postgres` prints",
    cause: error,
  });
}

/** Making days, or dropping them, was refused. */
export function toldPartitions(error: unknown, where: string): unknown {
  if (!isNotPermitted(error)) return toldRaised(error, "to make or drop partitions", where);
  return new AdbindError("store_schema", `this role may not make or drop partitions: ${serverError(error)!.message}`, {
    where,
    remedy: "run `adbind db partitions` as the owner of adbind's tables, who may create in their schema",
    cause: error,
  });
}

/** A connection that answered so can be used on; any other fault may have left it half way through. */
export const isUsable = (error: unknown): boolean =>
  isDatabaseError(error) && error.severity !== "FATAL" && error.severity !== "PANIC";

/** The server takes no writes: it was the primary when the connection was made, and is none now. */
export const isDemoted = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === READ_ONLY;

/** What the driver says when the connection is lost, or is found to be; of one that we gave up it says no "unexpectedly". */
const lostText = /connection terminated unexpectedly|is not queryable/i;

/** The connection is gone, and with it what had not been committed. */
export function isDisconnected(given: unknown): boolean {
  const error = given instanceof AdbindError ? given.cause : given;
  if (isDatabaseError(error)) return !isUsable(error) && passing.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  return lostText.test(error.message) || /^E(CONNRESET|PIPE)$/.test(String((error as { code?: unknown }).code));
}

/** The driver knew that the connection is gone before it sent anything. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof AdbindError) && /is not queryable/.test(error.message);

/** Connection, resources, shut down or demoted, a statement or a lock that took too long; and what the system says. */
const passing =
  /^(08...|53...|57P0.|57014|58...|55P03|25P0[34]|25006|40001|40P01|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/;
/** What the driver says when nobody answers; and a server that has no numbers for transactions, by the code of what is too large. */
const passingText =
  /connection terminated|is not queryable|timeout expired|timeout exceeded when trying to connect|pool after calling end|to avoid wraparound data loss/i;

/** Is an error PostgreSQL's, and likely gone when asked again? */
export function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (typeof code === "string" && passing.test(code)) || (typeof message === "string" && passingText.test(message));
}

/** Data exceptions, constraints, and what is larger than a row or an index takes. */
const ofValues = /^(22|23|54)...$/;

/** Is an error PostgreSQL's, about the values it was given? */
export const isOfValues = (error: unknown): boolean =>
  isDatabaseError(error) && ofValues.test(error.code ?? "") && !isPassing(error);
