/** Whether the file that is open is the one its path names. */
import { statSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../errors.js";

/** Where the system does not say. */
const UNKNOWN = "unknown";

/** Which file a path names; undefined where it names none. */
function identityOf(name: string): string | undefined {
  try {
    const found = statSync(name, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  } catch {
    return UNKNOWN;
  }
}

export class NamedFile {
  readonly #path: string;
  readonly #opened: string | undefined;

  /** @param where its path, as it was opened */
  constructor(readonly where: string) {
    // An application may go to another folder.
    this.#path = path.resolve(where);
    this.#opened = identityOf(this.#path);
  }

  /**
   * SQLite goes on in a file that has no name any more: what is written there is gone with the last process that has it open.
   * @throws AdbindError `database_unreachable`
   */
  check(): void {
    const now = identityOf(this.#path);
    if (now === this.#opened || now === UNKNOWN || this.#opened === UNKNOWN) return;
    throw new AdbindError("database_unreachable", "the database file was removed or replaced while it was open", {
      where: this.where,
      remedy:
        "nothing was written; put it back with its -wal, or stop every process that has it open and start them on what is there",
    });
  }
}
