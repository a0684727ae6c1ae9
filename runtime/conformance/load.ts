/** A suite as published: a folder, or the bundle of a release; read whole, once. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { list as listArchive } from "tar";
import { parse } from "yaml";
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { isStoryboard, readStoryboard, type Storyboard } from "./document.js";

/** A published suite holds about 500 files of 5 MiB: what is much larger is something else. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface SuiteSpecialism {
  readonly id: string;
  readonly protocol?: string;
  readonly path?: string;
  readonly required_tools?: readonly string[];
}

export interface SuiteIndex {
  readonly published_version?: string;
  readonly universal?: readonly string[];
  readonly protocols?: readonly { readonly id: string; readonly has_baseline?: boolean; readonly path?: string }[];
  readonly specialisms?: readonly SuiteSpecialism[];
}

/** The storyboards and vectors published with a release. */
export interface Suite {
  /** Where it was read. */
  readonly place: string;
  /** Version that its index or the bundle's manifest gives; undefined where there is neither. */
  readonly version: string | undefined;
  readonly index: SuiteIndex | undefined;
  /** In the order of their paths. */
  readonly storyboards: readonly Storyboard[];
  /** Text of every file, by path. */
  readonly files: ReadonlyMap<string, string>;
}

const isText = (name: string): boolean => /\.(ya?ml|json)$/.test(name);

function readFolder(root: string): Map<string, string> {
  const files = new Map<string, string>();
  let bytes = 0;
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !isText(entry.name)) continue;
    const full = path.join(entry.parentPath, entry.name);
    bytes += statSync(full).size;
    if (bytes > MAX_BYTES) throw unreadable(root, "it holds more than 64 MiB of YAML and JSON");
    files.set(path.relative(root, full).split(path.sep).join("/"), readFileSync(full, "utf8"));
  }
  return files;
}

async function readBundle(file: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  let bytes = 0;
  await listArchive({
    file,
    onReadEntry: (entry) => {
      if (entry.type !== "File" || !isText(entry.path)) return entry.resume();
      const chunks: Buffer[] = [];
      entry.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_BYTES) chunks.push(chunk);
      });
      entry.on("end", () => files.set(entry.path.replace(/^\.\//, ""), Buffer.concat(chunks).toString("utf8")));
    },
  });
  if (bytes > MAX_BYTES) throw unreadable(file, "it holds more than 64 MiB of YAML and JSON");
  return files;
}

const unreadable = (where: string, what: string): AdbindError =>
  new AdbindError("suite_unreadable", `the suite cannot be read: ${what}`, {
    where,
    remedy: "give the compliance/ folder of a release, or the release's bundle",
  });

/** Folders whose parent is the root of a suite. */
const MARKS = /^(.*?)(universal|protocols|specialisms)\//;

/** In a bundle the suite stands below `<name>/compliance/`; the shortest path with a folder of storyboards is its root. */
function rootOf(files: ReadonlyMap<string, string>): string {
  const roots = [...files.keys()].flatMap((name) => {
    const root = MARKS.exec(name)?.[1];
    return root === undefined || /(^|\/)(schemas|docs|skills)\//.test(root) ? [] : [root];
  });
  return roots.sort((a, b) => a.length - b.length)[0] ?? "";
}

const objectOf = (files: ReadonlyMap<string, string>, name: string): JsonObject | undefined => {
  const content = files.get(name);
  if (content === undefined) return undefined;
  const value: unknown = JSON.parse(content);
  return isJsonObject(value) ? value : undefined;
};

function versionOf(files: ReadonlyMap<string, string>, root: string): string | undefined {
  const above = [...files.keys()].filter((name) => /(^|\/)bundle-manifest\.json$/.test(name));
  for (const name of [`${root}index.json`, ...above]) {
    const version = objectOf(files, name)?.published_version;
    if (typeof version === "string") return version;
  }
  return undefined;
}

/** `domains/` is a copy of `protocols/`, kept for old readers. */
const isStoryboardFile = (name: string): boolean => /\.ya?ml$/.test(name) && !/^(domains|test-kits)\//.test(name);

function storyboardsOf(files: ReadonlyMap<string, string>, place: string): Storyboard[] {
  const found: Storyboard[] = [];
  for (const name of [...files.keys()].filter(isStoryboardFile).sort()) {
    try {
      const value: unknown = parse(files.get(name)!, { maxAliasCount: 100 });
      if (isStoryboard(value)) found.push(readStoryboard(name, value));
    } catch (error) {
      throw unreadable(place, error instanceof Error ? `${name}: ${error.message.split("\n")[0]}` : String(error));
    }
  }
  return found;
}

/**
 * Reads a suite.
 * @param place folder of a suite, folder or bundle (`.tgz`) of a release that has one
 * @throws AdbindError `suite_unreadable`
 */
export async function loadSuite(place: string): Promise<Suite> {
  if (!existsSync(place)) throw unreadable(place, "there is nothing");
  const all = statSync(place).isDirectory() ? readFolder(place) : await readBundle(place);
  const root = rootOf(all);
  const files = new Map(
    [...all].flatMap(([name, content]) => (name.startsWith(root) ? [[name.slice(root.length), content] as const] : [])),
  );
  const storyboards = storyboardsOf(files, place);
  if (storyboards.length === 0) throw unreadable(place, "no file in it is a storyboard");
  const index = objectOf(files, "index.json") as SuiteIndex | undefined;
  return { place, version: versionOf(all, root), index, storyboards, files };
}

/** A YAML or JSON file of a suite, parsed; undefined where it is not there. */
export function suiteFile(suite: Suite, name: string): JsonObject | undefined {
  const content = suite.files.get(name);
  if (content === undefined) return undefined;
  const value: unknown = name.endsWith(".json") ? JSON.parse(content) : parse(content);
  return isJsonObject(value) ? value : undefined;
}
