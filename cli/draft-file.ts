/** Files with secrets in them are only ever replaced as a whole: a full disk, or a kill, leaves the one there was. */
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";

/** Read and write for the owner alone: whoever reads such a file can sign, or open, for us. */
const PRIVATE_MODE = 0o600;

/**
 * A new file, each write to which is on the disk when it returns: Node's permission model forbids fsync. On Windows there is no
 * such flag, and fsync it is.
 */
const { O_WRONLY, O_CREAT, O_EXCL, O_SYNC } = constants as Omit<typeof constants, "O_SYNC"> & {
  readonly O_SYNC?: number;
};
const NEW_AND_DURABLE = O_WRONLY | O_CREAT | O_EXCL | (O_SYNC ?? 0);

export interface Draft {
  /** Gives the draft its name. */
  place(draft: string): void;
  /** @returns what is thrown of a file that cannot be written */
  unusable(file: string, what: string, remedy: string, cause: unknown): AdbindError;
}

function writeDurably(handle: number, text: string): void {
  // The umask only ever takes away; this also holds where a default ACL would add. Asked for where it changes something: Node's
  // permission model forbids it altogether.
  if ((fstatSync(handle).mode & 0o777) !== PRIVATE_MODE) fchmodSync(handle, PRIVATE_MODE);
  const bytes = Buffer.from(text);
  // A disk that is nearly full takes a part.
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
  if (O_SYNC === undefined) fsyncSync(handle);
}

/**
 * Writes beside the real file, in one that is also the lock: who makes it may read the old content and put the new one
 * in its place, and nobody else meanwhile.
 */
export function withDraft(file: string, text: () => string, { place, unusable }: Draft): void {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  let handle: number;
  try {
    handle = openSync(draft, NEW_AND_DURABLE, PRIVATE_MODE);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") {
      const remedy = `wait, or remove ${draft} when nothing else is running`;
      throw unusable(file, "The file is being changed", remedy, cause);
    }
    throw unusable(file, "The file cannot be written", "check the folder and its permissions", cause);
  }
  try {
    try {
      writeDurably(handle, text());
    } finally {
      closeSync(handle);
    }
    place(draft);
  } catch (cause) {
    if (cause instanceof AdbindError) throw cause;
    throw unusable(file, "The file cannot be written", "it is as it was; look whether the disk is full", cause);
  } finally {
    rmSync(draft, { force: true });
  }
}
