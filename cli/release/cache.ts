/**
 * Bundles that were fetched, whole, each with its checksum, in a folder of the user's: `<word>/<version>/`. A folder is
 * there or it is not: it is filled beside its place and renamed.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { releaseCache } from "../../runtime/conformance/cache-place.js";

/** A staging folder this old, in milliseconds, was left by a process that died. */
const ABANDONED_MS = 60 * 60 * 1000;

const STAGING = ".staging-";

export interface Cached {
  readonly word: string;
  readonly version: string;
  /** The bundle; its `.sha256` lies beside it. */
  readonly file: string;
  /** Where it was fetched from. */
  readonly url: string;
}

/** The user's cache folder. */
export const cacheFolder = (env: NodeJS.ProcessEnv = process.env): string => releaseCache(env);

const bundleName = (word: string, version: string): string => `${word}-${version}.tgz`;

function readEntry(cache: string, word: string, version: string): Cached | undefined {
  const folder = path.join(cache, word, version);
  const file = path.join(folder, bundleName(word, version));
  if (!existsSync(file) || !existsSync(`${file}.sha256`)) return undefined;
  const from = path.join(folder, "from.txt");
  return { word, version, file, url: existsSync(from) ? readFileSync(from, "utf8").trim() : "" };
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name)
        .sort()
    : [];

/** Everything that is cached, of one word or of all. */
export const cached = (cache: string, word?: string): Cached[] =>
  (word === undefined ? foldersIn(cache) : [word])
    .flatMap((one) => foldersIn(path.join(cache, one)).map((version) => readEntry(cache, one, version)))
    .filter((entry) => entry !== undefined);

/** Removes what processes that died have left. */
function sweep(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const full = path.join(folder, name);
    const age = name.startsWith(STAGING) ? now - (statSync(full, { throwIfNoEntry: false })?.mtimeMs ?? now) : 0;
    if (age > ABANDONED_MS) rmSync(full, { recursive: true, force: true });
  }
}

export interface NewBundle {
  readonly word: string;
  readonly version: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  readonly url: string;
}

/**
 * Keeps a bundle.
 * @param check looks at the file before it gets its place, and throws when it is not what was asked for
 */
export async function keepBundle(
  cache: string,
  bundle: NewBundle,
  check: (file: string) => Promise<void>,
): Promise<Cached> {
  const { word, version, bytes, sha256, url } = bundle;
  const folder = path.join(cache, word);
  mkdirSync(folder, { recursive: true });
  sweep(folder, Date.now());
  const staging = path.join(folder, `${STAGING}${process.pid}-${randomBytes(4).toString("hex")}`);
  const place = path.join(folder, version);
  try {
    const name = bundleName(word, version);
    mkdirSync(path.join(staging, "new"), { recursive: true });
    writeFileSync(path.join(staging, "new", name), bytes);
    writeFileSync(path.join(staging, "new", `${name}.sha256`), `${sha256}  ${name}\n`);
    writeFileSync(path.join(staging, "new", "from.txt"), `${url}\n`);
    await check(path.join(staging, "new", name));
    if (existsSync(place)) renameSync(place, path.join(staging, "old"));
    renameSync(path.join(staging, "new"), place);
  } catch (error) {
    // Two that fetch one release at once keep the same bytes: whoever comes second has nothing to do.
    const other = readEntry(cache, word, version);
    const raced = ["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (other === undefined || !raced) throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return readEntry(cache, word, version)!;
}
