/**
 * What was written of a project, so that the next run knows which files are as they were: those are brought up to date, and
 * what somebody changed stays as it is, with what it would be now beside it.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { generatorName, hashOf, isEdited } from "../emit/disk.js";

/** Committed with the project: whoever updates it next is somebody else. */
export const SCAFFOLD_FILE = "adbind.scaffold.json";

/** Ends the name of what a changed file would be now. No tool of a project reads such files. */
const BESIDE = ".new";

export interface ScaffoldRecord {
  readonly generator: string;
  /** For people. */
  readonly name: string;
  /** Versions of the further releases, newest first. */
  readonly also: readonly string[];
  /** Path -> SHA-256, hex, of what was written, or offered beside it, last. */
  readonly files: Readonly<Record<string, string>>;
}

/** A file of the project's owner that is not as it would be written now. */
export interface KeptFile {
  readonly file: string;
  /** What it would be; null where a file of that name is the owner's too. */
  readonly beside: string | null;
}

/** Undefined where there is none, or none that can be read: then every file is its owner's. */
export function readRecord(folder: string): ScaffoldRecord | undefined {
  const file = path.join(folder, SCAFFOLD_FILE);
  if (!existsSync(file)) return undefined;
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as Partial<ScaffoldRecord> | null;
    const { name, also, files } = record ?? {};
    if (typeof name !== "string" || !Array.isArray(also) || typeof files !== "object" || files === null)
      return undefined;
    return record as ScaffoldRecord;
  } catch {
    return undefined;
  }
}

/** @param files as they were written or offered, path -> text */
export function writeRecord(
  folder: string,
  {
    name,
    also,
    files,
  }: { readonly name: string; readonly also: readonly string[]; readonly files: ReadonlyMap<string, string> },
  before: ScaffoldRecord | undefined = undefined,
): void {
  const hashes = { ...before?.files, ...Object.fromEntries([...files].map(([file, text]) => [file, hashOf(text)])) };
  const sorted = Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const record: ScaffoldRecord = { generator: generatorName(), name, also, files: sorted };
  writeFileSync(path.join(folder, SCAFFOLD_FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** The file is there, and as it was written. */
export function isUntouched(folder: string, file: string, record: ScaffoldRecord | undefined): boolean {
  const hash = record?.files[file];
  return hash !== undefined && isFile(folder, file) && !isEdited(readFileSync(path.join(folder, file)), hash);
}

const isFile = (folder: string, file: string): boolean => {
  const target = path.join(folder, file);
  return existsSync(target) && statSync(target).isFile();
};

const isText = (folder: string, file: string, text: string): boolean =>
  isFile(folder, file) && !isEdited(readFileSync(path.join(folder, file)), hashOf(text));

function put(folder: string, file: string, text: string): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** What came of writing the files of a project that is there. */
export interface WrittenUnchanged {
  readonly written: readonly string[];
  readonly kept: readonly KeptFile[];
  /** What stands in the project, or was offered beside what does, path -> text: to be recorded. */
  readonly known: ReadonlyMap<string, string>;
}

/**
 * Writes what is missing and what nobody changed since it was written; what was changed stays as it is.
 * @param files as they would be written now, path -> text
 */
export function writeUnchanged(
  folder: string,
  files: ReadonlyMap<string, string>,
  record: ScaffoldRecord | undefined,
): WrittenUnchanged {
  const written: string[] = [];
  const kept: KeptFile[] = [];
  const known = new Map<string, string>();
  for (const [file, text] of files) {
    // Nothing new, whatever was made of it; or taken over by hand already.
    if (existsSync(path.join(folder, file)) && (record?.files[file] === hashOf(text) || isText(folder, file, text))) {
      known.set(file, text);
      continue;
    }
    if (!existsSync(path.join(folder, file)) || isUntouched(folder, file, record)) {
      put(folder, file, text);
      written.push(file);
      known.set(file, text);
      continue;
    }
    const beside = `${file}${BESIDE}`;
    if (existsSync(path.join(folder, beside)) && !isUntouched(folder, beside, record)) {
      kept.push({ file, beside: null });
      continue;
    }
    put(folder, beside, text);
    kept.push({ file, beside });
    known.set(file, text).set(beside, text);
  }
  return { written, kept, known };
}
