/** What a user, or a program that asked for JSON, is told of a failure, and the exit code that goes with it. */
import { AdbindError, type ErrorCode } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { printJson } from "./output.js";

/**
 * 0: done, and nothing is wrong. 1: it failed, or found what it was asked to look for. 2: the command line is wrong.
 * 130 and 143: interrupted, by the numbers shells give SIGINT and SIGTERM.
 */
export const exitCodes = { ok: 0, failed: 1, usage: 2, SIGINT: 130, SIGTERM: 143 } as const;

/** Codes of failures that are no AdbindError: the system's, a database's, a signal, and what nobody thought of. */
type OtherCode = "system" | "database" | "interrupted" | "unexpected";

export interface CommandFailure {
  readonly code: ErrorCode | OtherCode;
  /** What, where and what to do, on one line. */
  readonly message: string;
  readonly where?: string;
  readonly remedy?: string;
  /** What the system or a library said of it. */
  readonly cause?: string;
}

/** Thrown where a signal ended the work in good order. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  constructor(readonly signal: "SIGINT" | "SIGTERM") {
    super(`interrupted (${signal}): nothing was written`);
  }
}

interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly dest?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Code of the system -> what it means to whoever typed the command, and what to do. */
const systemFaults: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOENT: ["there is no such file or folder", "check the path"],
  ENOTDIR: ["a file stands where a folder should be", "check the path"],
  EISDIR: ["it is a folder, and a file is wanted", "give a file"],
  EEXIST: ["it is there already", "give another name, or move it away"],
  EACCES: ["permission is denied", "check its owner and mode, and those of its folder"],
  EPERM: ["permission is denied", "check its owner and mode, and those of its folder"],
  EROFS: ["the file system is read-only", "give a place that can be written"],
  ENOSPC: ["the disk is full", "make room, then run it again"],
  EDQUOT: ["the disk quota is used up", "make room, then run it again"],
  EMFILE: ["too many files are open", "raise the limit (ulimit -n), then run it again"],
  ENAMETOOLONG: ["the path is too long", "give a shorter one"],
  EIO: ["the disk fails", "look at the system's log"],
  ECONNREFUSED: ["nothing answers there", "check the address, and that it runs"],
  ECONNRESET: ["the other end broke off", "run it again"],
  ENOTFOUND: ["there is no such host", "check its name"],
  ETIMEDOUT: ["no answer came in time", "check the address, and that it runs"],
};

const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, "; ").trim();

/** An error's own words; one that stands for several (a host with two addresses) has none, they have. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  if (error.message !== "") return oneLine(error.message);
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(wordsOf).join("; ");
  return String((error as Partial<SystemError>).code ?? error.name);
}

const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && typeof (error as Partial<SystemError>).code === "string" && "syscall" in error;

/** SqliteError of better-sqlite3, DatabaseError of pg. */
const isDatabaseError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error &&
  (/^SQLITE_/.test((error as Partial<SystemError>).code ?? "") || ("severity" in error && "routine" in error));

const withDetail = (what: string, where: string | undefined, remedy: string): string =>
  `${what}${where === undefined ? "" : ` (${where})`}: ${remedy}`;

function systemFailure(error: SystemError): CommandFailure {
  const known = Object.hasOwn(systemFaults, error.code) ? systemFaults[error.code] : undefined;
  const [what, remedy] = known ?? [wordsOf(error), "see what the system says of it"];
  const place = error.address === undefined ? undefined : `${error.address}:${error.port ?? ""}`;
  const where = error.dest ?? error.path ?? place;
  return {
    code: "system",
    message: withDetail(what, where, remedy),
    ...(where !== undefined && { where }),
    remedy,
    cause: wordsOf(error),
  };
}

function databaseFailure(error: Error & { code: string }): CommandFailure {
  const busy = error.code.startsWith("SQLITE_BUSY");
  const what = busy ? "another process holds the database" : `the database refuses: ${wordsOf(error)}`;
  const remedy = busy ? "run it again when that is done" : "check --store, and what the database says in its log";
  return { code: "database", message: `${what}: ${remedy}`, remedy, cause: `${error.code}: ${wordsOf(error)}` };
}

const BUG_REMEDY = "run it again with ADBIND_DEBUG=1 and report what it prints";

/** What Node throws because of a flag somebody gave it: it names its flag, and not the place. */
interface RefusedByNode extends Error {
  readonly code?: string;
  /** Of the permission model: what is missing, and for what. */
  readonly permission?: string;
  readonly resource?: string;
}

/** An EvalError is thrown by nothing else of Node: text was to become code. */
const isRefusedByNode = (error: unknown): error is RefusedByNode =>
  error instanceof Error && ((error as RefusedByNode).code === "ERR_ACCESS_DENIED" || error.name === "EvalError");

/** Permission of Node's model -> the flag that gives it. */
const permissionFlags: Readonly<Record<string, string>> = {
  FileSystemRead: "--allow-fs-read",
  FileSystemWrite: "--allow-fs-write",
  ChildProcess: "--allow-child-process",
  WorkerThreads: "--allow-worker",
  Net: "--allow-net",
};

function flagFailure(error: RefusedByNode): CommandFailure {
  const { permission = "", resource = "" } = error;
  const where = resource === "" ? undefined : resource;
  const flag = Object.hasOwn(permissionFlags, permission) ? permissionFlags[permission] : undefined;
  const [what, remedy] =
    error.name === "EvalError"
      ? ["Node may make no code of text here", "run it without --disallow-code-generation-from-strings"]
      : ["Node's permissions forbid it", flag === undefined ? "run it without --permission" : `give it by ${flag}`];
  const message = withDetail(what, where, remedy);
  return { code: "system", message, ...(where !== undefined && { where }), remedy, cause: wordsOf(error) };
}

/** Every error there is, in the one shape. */
export function commandFailureOf(error: unknown): CommandFailure {
  if (error instanceof AdbindError) {
    const { code, where, remedy, cause } = error;
    // Where the message says already what is behind it, it is not said twice.
    const behind = cause === undefined || error.message.includes(wordsOf(cause)) ? undefined : wordsOf(cause);
    return {
      code,
      message: oneLine(error.message),
      ...(where !== undefined && { where }),
      ...(remedy !== undefined && { remedy }),
      ...(behind !== undefined && { cause: behind }),
    };
  }
  if (error instanceof Interrupted) return { code: "interrupted", message: error.message };
  if (isDatabaseError(error)) return databaseFailure(error);
  if (isSystemError(error)) return systemFailure(error);
  if (isRefusedByNode(error)) return flagFailure(error);
  // A host with several addresses, none of which answers.
  if (error instanceof AggregateError && isSystemError(error.errors[0])) return systemFailure(error.errors[0]);
  return { code: "unexpected", message: `unexpected: ${wordsOf(error)}: ${BUG_REMEDY}`, remedy: BUG_REMEDY };
}

/** What the words of the command line, or the environment in their place, are enough to tell. */
const ofCommandLine: ReadonlySet<string> = new Set<ErrorCode>([
  "usage",
  "release_ambiguous",
  "registry_option_invalid",
]);

function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return exitCodes[error.signal];
  return error instanceof AdbindError && ofCommandLine.has(error.code) ? exitCodes.usage : exitCodes.failed;
}

/** The system's own words are added where ours stand for several things that may be behind them. */
const lineOf = ({ code, message, cause }: CommandFailure): string =>
  `adbind: ${message}${cause === undefined || code === "system" ? "" : ` [${cause}]`}`;

/** The stack of whatever went wrong, and of what was behind it: for whoever mends adbind, so only when asked for. */
function printStacks(error: unknown): void {
  for (let one = error; one instanceof Error; one = one.cause) console.error(one.stack ?? String(one));
}

/** Says on stderr what went wrong, and with `json` on stdout too; the exit code is set. */
export function reportFailure(error: unknown, json: boolean): void {
  const failure = commandFailureOf(error);
  // A server, a registry or a file may have written part of it.
  console.error(printable(lineOf(failure)));
  if (process.env.ADBIND_DEBUG) printStacks(error);
  if (json) printJson({ ok: false, error: failure });
  process.exitCode = exitCodeOf(error);
}
