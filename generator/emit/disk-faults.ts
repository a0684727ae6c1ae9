/** What the system says of an output folder, in words. */
import { type Stats, statSync } from "node:fs";
import { AdbindError } from "../../runtime/errors.js";

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export const unusable = (out: string, what: string, cause?: unknown): AdbindError =>
  new AdbindError("output_unusable", what, { where: out, remedy: "mend that, or choose another folder", cause });

const faults: Readonly<Record<string, string>> = {
  EACCES: "permission to the output folder is denied",
  EPERM: "permission to the output folder is denied",
  EROFS: "the output folder is on a read-only file system",
  ENOSPC: "the disk of the output folder is full",
  EDQUOT: "the disk quota of the output folder is used up",
  ENOTDIR: "a file stands where the output folder, or one above it, should be",
  EEXIST: "a file stands where the output folder, or one above it, should be",
  ENAMETOOLONG: "the path of the output folder is too long",
  ENOENT: "the output folder cannot be made there",
  EFBIG: "a file would be larger than the disk of the output folder, or a limit of this process (ulimit -f), allows",
  EIO: "the disk of the output folder fails",
};

/** The system's own faults by name; anything else as it is. */
export function told(out: string, error: unknown): unknown {
  const what = Object.hasOwn(faults, codeOf(error) ?? "") ? faults[codeOf(error)!] : undefined;
  return what === undefined || error instanceof AdbindError ? error : unusable(out, what, error);
}

/** @throws AdbindError output_unusable when something else than a folder stands there, or it cannot be looked at */
export function assertFolder(out: string): void {
  let found: Stats | undefined;
  try {
    found = statSync(out, { throwIfNoEntry: false });
  } catch (error) {
    throw told(out, error);
  }
  if (found !== undefined && !found.isDirectory()) throw unusable(out, "the output is a file, not a folder");
}
