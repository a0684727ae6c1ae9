/** Why a SQLite file cannot be used, in words, with what to do about it. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { AdbindError } from "../../errors.js";
import { isSqliteError } from "./driver.js";

type Reason = readonly [what: string, remedy: string];

const DYING = "look into the system's log; restore the file elsewhere if the disk is dying";
/** The file beside it that readers share is made as it is opened, and SQLite does not say why it cannot be. */
const BESIDE: Reason = [
  "there is no room for the file beside it (-shm), or its disk failed",
  `make room on it; where there is some, ${DYING}`,
];

const reasons: Readonly<Record<string, Reason>> = {
  ENOENT: ["there is no such file, or no such folder", "check the path; a folder must be there first"],
  EACCES: ["permission denied", "give this user write access to the file and its folder"],
  EROFS: ["its disk is read-only", "give a path on a disk that can be written"],
  EISDIR: ["it is a folder", "give the path of a file"],
  ENOSPC: ["the disk is full", "make room on it"],
  SQLITE_FULL: ["the disk is full", "make room on it"],
  SQLITE_IOERR_SHMSIZE: BESIDE,
  SQLITE_IOERR: ["its disk failed", DYING],
  SQLITE_NOTADB: ["it is another kind of file", "give the path of a SQLite database, or of a new file"],
  SQLITE_CORRUPT: ["the file is damaged", "restore it from a backup; `sqlite3 FILE .recover` saves what can be read"],
  SQLITE_BUSY: ["another process holds it", "end the long transaction on the file (a shell, a backup), and try again"],
};

/** What a database that was open meets, by the first part of SQLite's code. */
const met: readonly (readonly [code: string, what: string, remedy: string])[] = [
  [
    "SQLITE_READONLY",
    "it cannot be written",
    "see that its disk is mounted for writing, and that this user may write it",
  ],
  ["SQLITE_CORRUPT", "a page of it is damaged", reasons.SQLITE_CORRUPT![1]],
  ["SQLITE_NOTADB", "its beginning is damaged", reasons.SQLITE_CORRUPT![1]],
  ["SQLITE_FULL", "the disk is full", "make room on it; what was not written is asked for again"],
  ["SQLITE_IOERR_SHMSIZE", ...BESIDE],
  ["SQLITE_IOERR", "its disk failed", DYING],
  [
    "SQLITE_CANTOPEN",
    "a file beside it cannot be opened",
    "see that this user may write its folder, and how many files are open",
  ],
];

/** Why a file that is there cannot be opened: SQLite does not say. */
function systemReason(path: string): string | undefined {
  for (const one of [path, dirname(path)]) {
    try {
      accessSync(one, constants.R_OK | constants.W_OK);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  }
  return undefined;
}

const vague = /^SQLITE_(CANTOPEN|READONLY)/;

/** @param cause what the system or SQLite threw */
export function unreachable(path: string, cause: unknown): AdbindError {
  const { code: given = "", message } = cause as Error & { code?: string };
  const code = (vague.test(given) ? systemReason(path) : undefined) ?? given;
  const short = Object.keys(reasons).find((name) => code === name || code.startsWith(`${name}_`)) ?? "";
  const [what, remedy] = reasons[short] ?? [message, undefined];
  return new AdbindError("database_unreachable", `the database file cannot be opened: ${what}`, {
    where: path,
    ...(remedy === undefined ? {} : { remedy }),
    cause,
  });
}

/**
 * What an open file met, with cause and remedy where the disk or the file itself is the matter; any other error as it is.
 * @param path the file's
 */
export function explained(error: unknown, path: string): unknown {
  const code = isSqliteError(error) ? error.code : "";
  const row = met.find(([name]) => code.startsWith(name));
  if (row === undefined) return error;
  const [, what, remedy] = row;
  return new AdbindError("database_failed", `the database file failed: ${what}`, { where: path, remedy, cause: error });
}

const passing = /^SQLITE_(BUSY\w*|IOERR\w*|FULL|READONLY\w*|CANTOPEN\w*)$/;

/** Is an error SQLite's, and likely gone when asked again? */
export function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (typeof code === "string" && passing.test(code)) || message === "The database connection is not open";
}

/** Is an error SQLite's, about the values it was given? */
export const isOfValues = (error: unknown): boolean =>
  isSqliteError(error) && /^SQLITE_(CONSTRAINT\w*|MISMATCH|RANGE|TOOBIG)$/.test(error.code);
