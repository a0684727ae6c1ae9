/** Why a SQLite file cannot be used, in words, with what to do about it. */
import { AdbindError } from "../../errors.js";

const reasons: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOENT: ["there is no such file, or no such folder", "check the path; a folder must be there first"],
  EACCES: ["permission denied", "give this user write access to the file and its folder"],
  EROFS: ["its disk is read-only", "give a path on a disk that can be written"],
  EISDIR: ["it is a folder", "give the path of a file"],
  ENOSPC: ["the disk is full", "make room on it"],
  SQLITE_NOTADB: ["it is another kind of file", "give the path of a SQLite database, or of a new file"],
  SQLITE_CORRUPT: ["the file is damaged", "restore it from a backup; `sqlite3 FILE .recover` saves what can be read"],
  SQLITE_BUSY: ["another process holds it", "end the long transaction on the file (a shell, a backup), and try again"],
};

/** @param cause what the system or SQLite threw */
export function unreachable(path: string, cause: unknown): AdbindError {
  const { code = "", message } = cause as Error & { code?: string };
  const [what, remedy] = reasons[code] ?? [message, undefined];
  return new AdbindError("database_unreachable", `the database file cannot be opened: ${what}`, {
    where: path,
    ...(remedy === undefined ? {} : { remedy }),
    cause,
  });
}

const passing = /^SQLITE_(BUSY\w*|IOERR\w*|FULL)$/;

/** Is an error SQLite's, and likely gone when asked again? */
export function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (typeof code === "string" && passing.test(code)) || message === "The database connection is not open";
}
