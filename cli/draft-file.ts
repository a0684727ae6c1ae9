/** Files with secrets in them are only ever replaced as a whole: a full disk, or a kill, leaves the one there was. */
import { closeSync, fchmodSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";

/** Read and write for the owner alone: whoever reads such a file can sign, or open, for us. */
const PRIVATE_MODE = 0o600;

export interface Draft {
  /** Gives the draft its name. */
  place(draft: string): void;
  /** @returns what is thrown of a file that cannot be written */
  unusable(file: string, what: string, remedy: string, cause: unknown): AdbindError;
}

function writeDurably(handle: number, text: string): void {
  // The umask only ever takes away; this also holds where a default ACL would add.
  fchmodSync(handle, PRIVATE_MODE);
  const bytes = Buffer.from(text);
  // A disk that is nearly full takes a part.
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
  fsyncSync(handle);
}

/**
 * Writes beside the real file, in one that is also the lock: who makes it may read the old content and put the new one
 * in its place, and nobody else meanwhile.
 */
export function withDraft(file: string, text: () => string, { place, unusable }: Draft): void {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  let handle: number;
  try {
    handle = openSync(draft, "wx", PRIVATE_MODE);
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
