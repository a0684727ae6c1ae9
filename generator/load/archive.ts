/**
 * The files of a .tgz, read in memory: nothing is unpacked to disk. An archive that names a place outside itself, holds
 * links, or names a file twice is refused whole, because whoever unpacks it would be misled.
 */
import { Parser, type ReadEntry } from "tar";
import { AdbindError } from "../../runtime/errors.js";

const MIB = 1024 * 1024;

export interface ArchiveLimits {
  /** Files and folders; published ones have 2,000 to 6,000. */
  readonly entries: number;
  /** Bytes after decompression; published ones have up to 100 MB. Gzip expands a thousandfold at most. */
  readonly expandedBytes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
}

export const archiveLimits: ArchiveLimits = {
  entries: 50_000,
  expandedBytes: 512 * MIB,
  fileBytes: 64 * MIB,
};

/** Compressed bytes handed to the parser at once: a thousand times that is what may come before anybody looks again. */
const STEP_BYTES = 2 * 1024;

/** Compressed bytes that may follow the end mark: tar's padding is nothing but zeros, and gzip ends in a checksum. */
const MAX_TAIL_BYTES = 4 * 1024;

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Forms people pack in that are not read, by how they begin. */
const OTHER_FORMS: readonly [form: string, start: string][] = [
  ["a zip", "PK\u0003\u0004"],
  ["packed by bzip2", "BZh91AY&SY"],
  ["packed by xz", "\u00fd7zXZ"],
  ["packed by zstd", "(\u00b5/\u00fd"],
];

function otherForm(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 10)).toString("latin1");
  return OTHER_FORMS.find(([, begins]) => start.startsWith(begins))?.[0];
}

const unreadable = (where: string, what: string, remedy: string, cause?: unknown): AdbindError =>
  new AdbindError("release_unreadable", what, { where, remedy, cause });

const another = "get the archive again from whoever publishes it";

/** The name of an entry in one spelling; undefined when it leads out of the archive. */
function safeName(name: string): string | undefined {
  if (name.includes("\0") || name.includes("\\") || /^([/]|[A-Za-z]:)/.test(name)) return undefined;
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.includes("..") ? undefined : segments.join("/");
}

/** What is wrong with an entry by its header alone. */
function entryFault(entry: ReadEntry, name: string | undefined, limits: ArchiveLimits): string | undefined {
  if (name === undefined) return "leads out of the archive";
  if (entry.type === "Link" || entry.type === "SymbolicLink") return `is a link to ${JSON.stringify(entry.linkpath)}`;
  if (!["File", "OldFile", "ContiguousFile", "Directory", "GNUDumpDir"].includes(entry.type))
    return `is neither file nor folder but ${entry.type}`;
  if (entry.size > limits.fileBytes) return `has ${entry.size} bytes, more than ${limits.fileBytes}`;
  return undefined;
}

const isFolder = ({ type }: ReadEntry): boolean => type === "Directory" || type === "GNUDumpDir";

/** One pass over an archive, collecting what is wanted and the first thing that is wrong. */
class Reading {
  readonly files = new Map<string, Buffer | undefined>();
  fault: unknown;
  private entries = 0;
  private expanded = 0;

  constructor(
    private readonly label: string,
    private readonly wanted: (name: string) => boolean,
    private readonly limits: ArchiveLimits,
  ) {}

  refuse(what: string, remedy = another): void {
    this.fault ??= unreadable(this.label, what, remedy);
  }

  /** Counts an entry by its header, before its bytes come. */
  count({ size }: ReadEntry): void {
    this.entries += 1;
    this.expanded += size;
    if (this.entries > this.limits.entries) this.refuse(`the archive holds more than ${this.limits.entries} files`);
    if (this.expanded > this.limits.expandedBytes)
      this.refuse(`the archive expands to more than ${this.limits.expandedBytes} bytes`);
  }

  entry(entry: ReadEntry): void {
    const name = safeName(entry.path);
    const fault = entryFault(entry, name, this.limits);
    const shown = JSON.stringify(entry.path.slice(0, 200));
    if (fault !== undefined) this.refuse(`${shown} in the archive ${fault}`);
    this.count(entry);
    if (this.fault !== undefined || name === undefined || isFolder(entry)) return void entry.resume();
    if (this.files.has(name)) this.refuse(`the archive holds ${shown} twice`);
    this.files.set(name, undefined);
    if (!this.wanted(name)) return void entry.resume();
    const chunks: Buffer[] = [];
    entry.on("data", (chunk: Buffer) => void chunks.push(chunk));
    entry.on("end", () => void this.files.set(name, Buffer.concat(chunks)));
  }
}

/**
 * Reads an archive.
 * @param wanted names whose bytes are kept; of the others only the name
 * @returns name -> bytes, `/` separated
 * @throws AdbindError release_unreadable
 */
export function readArchive(
  label: string,
  bytes: Uint8Array,
  wanted: (name: string) => boolean,
  limits: ArchiveLimits = archiveLimits,
): Map<string, Buffer | undefined> {
  const form = otherForm(bytes);
  if (form !== undefined)
    throw unreadable(
      label,
      `the archive is ${form}, which is not read`,
      "unpack it and name the folder, or name a .tgz",
    );
  const reading = new Reading(label, wanted, limits);
  const parser = new Parser({ strict: true, onReadEntry: (entry) => reading.entry(entry) });
  let ended = false;
  parser.on("eof", () => {
    ended = true;
  });
  // Headers of headers: their bytes are skipped, and count all the same.
  parser.on("ignoredEntry", (entry: ReadEntry) => reading.count(entry));
  parser.on("error", (cause: unknown) => {
    const text = (cause as Error).message;
    reading.fault ??= /ratio/i.test(text)
      ? unreadable(label, "the archive expands more than a thousandfold", another, cause)
      : unreadable(label, `the archive cannot be read: ${text}`, "name a .tgz of a release, whole", cause);
  });
  for (let at = 0; at < bytes.length && reading.fault === undefined; at += STEP_BYTES) {
    if (ended && !isGzip(bytes)) break;
    if (ended && bytes.length - at > MAX_TAIL_BYTES) reading.refuse("the archive goes on after its end");
    else parser.write(Buffer.from(bytes.subarray(at, at + STEP_BYTES)));
  }
  if (reading.fault === undefined) parser.end();
  if (reading.fault !== undefined) throw reading.fault;
  return reading.files;
}
