/** Whether an archive is the one that was published: by the checksum beside it, and by one that is given. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../runtime/errors.js";

/** Bytes an archive may have, 128 MiB; published ones have 2 to 10 MB. */
export const MAX_ARCHIVE_BYTES = 128 * 1024 * 1024;

const unreadable = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("release_unreadable", what, { where, remedy });

const another = "get the archive again from whoever publishes it";

/** Hex digest of a file's bytes. */
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The digest a checksum file gives for a file: `<hex>`, or `<hex>  <name>` a line, as sha256sum writes it. */
export function checksumIn(text: string, name: string): string | undefined {
  const rows = text.split(/\r?\n/).map((line) => /^([0-9a-f]{64})(?:\s+\*?(\S.*))?$/i.exec(line.trim()));
  const row = rows.find((one) => one !== null && (one[2] === undefined || path.basename(one[2]) === name));
  return row?.[1]?.toLowerCase();
}

/** What the `.sha256` beside an archive says of it; undefined when there is none. */
function checksumBeside(file: string): string | undefined {
  const beside = `${file}.sha256`;
  if (!existsSync(beside)) return undefined;
  const stated = checksumIn(readFileSync(beside, "utf8"), path.basename(file));
  if (stated !== undefined) return stated;
  throw unreadable(beside, `the checksum file says nothing of ${path.basename(file)}`, "get it again, or remove it");
}

/**
 * The bytes of an archive, checked against the `.sha256` beside it and against a given digest before anything looks inside.
 * @param given SHA-256, hex
 * @throws AdbindError release_unreadable
 */
export function readVerified(file: string, given: string | undefined, maxBytes = MAX_ARCHIVE_BYTES): Buffer {
  const { size } = statSync(file);
  if (size > maxBytes)
    throw unreadable(file, `the archive has ${size} bytes, more than ${maxBytes}`, "name the release's own");
  const bytes = readFileSync(file);
  const beside = checksumBeside(file);
  const stated: [by: string, hex: string | undefined][] = [
    [`${path.basename(file)}.sha256 beside it`, beside],
    ["--sha256", given?.toLowerCase()],
  ];
  const own = sha256(bytes);
  for (const [by, hex] of stated) {
    if (hex === undefined || hex === own) continue;
    throw unreadable(file, `the archive has SHA-256 ${own}; ${by} says ${hex}`, `it is not the file meant: ${another}`);
  }
  return bytes;
}
