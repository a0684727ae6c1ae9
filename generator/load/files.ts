/** Where a release is read from: a folder, an archive of one, the path of its manifest, or the official bundle of either kind. */
import { existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../runtime/errors.js";
import { readVerified } from "./checksum.js";
import { type FoundManifests, findManifests, isHidden, join, manifestKindOf, type Tree } from "./find.js";

export interface ReleaseFiles {
  /** As the user named it. */
  readonly label: string;
  /** Content of a file by its path in the release (`/` separated), undefined when there is none. */
  read(file: string): Buffer | undefined;
  /** Every JSON file of the release but the manifest and those under `bundled/` and `mcp/`, which repeat the others; sorted. */
  list(): string[];
  /** Manifests of the copies under `mcp/`, which list tools in the form of that transport; sorted. */
  projections(): string[];
}

export interface OpenOptions {
  /** SHA-256 of the archive, hex: refused when it has another. */
  readonly sha256?: string;
}

const remedy =
  "name a release: a folder with its manifest.json and schemas, the path of that manifest.json, or a .tgz as it is published";

/** Copies of the schemas in other forms, at the top of a release. What a tool or a schema refers to is read all the same. */
const isProjection = (file: string): boolean => file.startsWith("bundled/") || file.startsWith("mcp/");

const isProjectionManifest = (file: string): boolean => /^mcp\/(?:[^/]+\/)+manifest\.json$/.test(file);

const isJsonName = (file: string): boolean => file.endsWith(".json");

const isListed = (file: string): boolean =>
  isJsonName(file) && file !== "manifest.json" && !isProjection(file) && !file.split("/").some(isHidden);

/** Bytes one file may have, 64 MiB; the largest published schema has 1 MB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What is there, links followed; undefined for nothing, for a link that leads round in a circle, and for a name no disk has. */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (["ELOOP", "ENAMETOOLONG"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

const isFile = (file: string): boolean => statOf(file)?.isFile() ?? false;

/** Names end in what tar archives end in; what is in one is looked at when it is opened. */
const isArchiveName = (name: string): boolean => /\.(tgz|tar|tar\.gz)$/.test(name);

/** Bytes of a file below a root; undefined when there is none there. */
function readBelow(root: string, file: string): Buffer | undefined {
  if (file.includes("\0")) return undefined;
  const full = path.join(root, file);
  // A reference must not lead out of the release, whatever its `..` say.
  if (full !== root && !full.startsWith(root + path.sep)) return undefined;
  const stat = statOf(full);
  if (stat === undefined || !stat.isFile()) return undefined;
  if (stat.size > MAX_FILE_BYTES)
    throw new AdbindError("release_unreadable", `the file has more than ${MAX_FILE_BYTES} bytes`, {
      where: full,
      remedy: "no manifest and no schema is that large: name the release's own folder, or shorten the file",
    });
  return readFileSync(full);
}

const folderTree = (label: string): Tree => {
  const root = path.resolve(label);
  return {
    label,
    read: (file) => readBelow(root, file),
    folders: (at) =>
      readdirSync(path.join(root, at), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isFolder(path.join(root, at, entry.name))))
        .map(({ name }) => name),
  };
};

const isFolder = (file: string): boolean => statOf(file)?.isDirectory() ?? false;

/**
 * Files below a folder, links followed: a folder is not entered from within itself, and what a link leads to that is no
 * file is not there.
 */
function* filesBelow(root: string, at = "", above: readonly string[] = []): Generator<string> {
  const own = realpathSync(path.join(root, at));
  if (above.includes(own)) return;
  for (const entry of readdirSync(own, { withFileTypes: true })) {
    const name = join(at, entry.name);
    const found = entry.isSymbolicLink() ? statOf(path.join(own, entry.name)) : entry;
    if (found?.isFile()) yield name;
    else if (found?.isDirectory() && !isHidden(entry.name)) yield* filesBelow(root, name, [...above, own]);
  }
}

function filesOfFolder(label: string, folder: string): ReleaseFiles {
  const root = path.resolve(folder);
  let names: string[] | undefined;
  const below = (): string[] => {
    names ??= [...filesBelow(root)].sort();
    return names;
  };
  return {
    label,
    read: (file) => readBelow(root, file),
    list: () => below().filter(isListed),
    projections: () => below().filter(isProjectionManifest),
  };
}

/** An archive's names as a tree. */
function archiveTree(label: string, files: ReadonlyMap<string, Buffer | undefined>): Tree {
  const inside = new Map<string, Set<string>>();
  for (const name of files.keys()) {
    const segments = name.split("/").slice(0, -1);
    segments.forEach((segment, index) => {
      const at = segments.slice(0, index).join("/");
      inside.set(at, (inside.get(at) ?? new Set()).add(segment));
    });
  }
  return { label, read: (file) => files.get(file), folders: (at) => [...(inside.get(at) ?? [])] };
}

interface Opened {
  label: string;
  bytes: Buffer;
  files: Map<string, Buffer | undefined>;
  found: FoundManifests;
}

/** Copies of schemas are most of an archive and nearly never asked for: they wait in it until one is. */
const isLate = (name: string): boolean => /(^|\/)(bundled|mcp)\//.test(name);

/** @throws AdbindError release_unreadable */
async function readBundle(label: string, { sha256 }: OpenOptions): Promise<Opened> {
  const bytes = readVerified(label, sha256);
  const { readArchive } = await import("./archive.js");
  const files = readArchive(label, bytes, (name) => isJsonName(name) && !isLate(name));
  return { label, bytes, files, found: findManifests(archiveTree(label, files)) };
}

async function openArchive(label: string, options: OpenOptions): Promise<ReleaseFiles> {
  const { bytes, files, found } = await readBundle(label, options);
  const root = join(theOne(label, found, "unpack it and name one of them"), "");
  const { readArchive } = await import("./archive.js");
  const readLate = (): Map<string, Buffer | undefined> =>
    readArchive(label, bytes, (name) => name.startsWith(root) && isJsonName(name) && isLate(name));
  let late: Map<string, Buffer | undefined> | undefined;
  const below = (): string[] =>
    [...files.keys()]
      .filter((file) => file.startsWith(root))
      .map((file) => file.slice(root.length))
      .sort();
  return {
    label,
    read(file) {
      const name = root + path.posix.normalize(file);
      if (!files.has(name) || !isLate(name)) return files.get(name);
      late ??= readLate();
      return late.get(name);
    },
    list: () => below().filter(isListed),
    projections: () => below().filter(isProjectionManifest),
  };
}

/** The one release of a place. @throws AdbindError release_ambiguous, release_unreadable */
function theOne(label: string, { releases, others }: FoundManifests, choose: string): string {
  const [only, ...more] = releases;
  if (only !== undefined && more.length === 0) return only;
  if (only !== undefined) {
    throw new AdbindError("release_ambiguous", `there are ${releases.length} releases`, {
      where: label,
      remedy: `${choose}: ${releases.join(", ")}`,
    });
  }
  throw new AdbindError("release_unreadable", others.length === 0 ? "no release's manifest.json" : noneOf(others), {
    where: label,
    remedy,
  });
}

const noneOf = (others: readonly string[]): string =>
  `${others.join(", ")} ${others.length === 1 ? "is no release's manifest: it has" : "are no release's manifests: they have"} neither tools nor error_codes`;

const noSuch = (label: string): AdbindError =>
  new AdbindError("release_unreadable", "no such file or folder", { where: label, remedy });

/** Archives that lie in a folder, and whether each holds a release. @throws AdbindError release_unreadable */
async function archivesIn(label: string): Promise<FoundReleases> {
  const all: FoundReleases = { releases: [], passedOver: [] };
  for (const name of readdirSync(label).filter(isArchiveName).sort()) {
    const file = path.join(label, name);
    if (!isFile(file)) continue;
    // One that cannot be read or has another checksum is no archive of something else: it is refused.
    const { found } = await readBundle(file, {});
    if (found.releases.length > 0) all.releases.push(file);
    else all.passedOver.push({ path: file, why: "no release's manifest.json in it" });
  }
  return all;
}

export interface FoundReleases {
  /** Paths, each of which `openRelease` takes. */
  releases: string[];
  /** What looked like one, and is none. */
  passedOver: { path: string; why: string }[];
}

/** The release is the folder itself, or its `schemas/`. */
const isWhole = ({ releases: [first, ...more] }: FoundManifests): boolean =>
  more.length === 0 && (first === "" || first === "schemas");

/**
 * The releases a path names: one, or those of a folder of them.
 * @param label path of a release, or of a folder of releases, bundles among them
 * @throws AdbindError release_unreadable, release_ambiguous
 */
export async function findReleases(label: string): Promise<FoundReleases> {
  if (!existsSync(label)) throw noSuch(label);
  if (isFile(label)) return { releases: [label], passedOver: [] };
  // A pipe, such as a shell's `<(...)`, is read once; a release is looked into more often.
  if (!isFolder(label))
    throw new AdbindError("release_unreadable", "neither a file nor a folder", { where: label, remedy });
  const found = findManifests(folderTree(label));
  // Archives inside a release are its own business.
  const archives = isWhole(found) ? { releases: [], passedOver: [] } : await archivesIn(label);
  const releases = [...found.releases.map((at) => path.join(label, at)), ...archives.releases];
  if (releases.length === 0) theOne(label, { releases, others: found.others }, "");
  const others = found.others.map((other) => ({ path: path.join(label, other), why: noneOf([path.basename(other)]) }));
  return { releases, passedOver: [...others, ...archives.passedOver] };
}

/** What a path that is no archive names: a folder, or a manifest.json in one. @throws AdbindError release_unreadable */
async function folderOf(label: string): Promise<string> {
  if (!isFile(label)) return theOne(label, { releases: (await findReleases(label)).releases, others: [] }, chooseOne);
  if (path.basename(label) !== "manifest.json")
    throw new AdbindError("release_unreadable", "the file is no manifest.json", { where: label, remedy });
  const folder = path.dirname(label);
  // A bundle's list of contents stands for the bundle; a manifest for itself, whatever else is there.
  if (manifestKindOf(readBelow(path.resolve(folder), "manifest.json")) !== "other") return folder;
  return theOne(label, { releases: (await findReleases(folder)).releases, others: [] }, chooseOne);
}

const chooseOne = "name one of them";

/**
 * Opens one release for reading.
 * @param label path of a folder, of a manifest.json, or of a .tgz / .tar / .tar.gz
 * @throws AdbindError release_unreadable; release_ambiguous, with the list, when the path holds several
 */
export async function openRelease(label: string, options: OpenOptions = {}): Promise<ReleaseFiles> {
  if (!existsSync(label)) throw noSuch(label);
  if (isFile(label) && !isJsonName(label)) return openArchive(label, options);
  if (options.sha256 !== undefined)
    throw new AdbindError("release_unreadable", "a checksum is of an archive, and this is none", {
      where: label,
      remedy: "name the .tgz, or leave the checksum out",
    });
  const one = await folderOf(label);
  return isFile(one) ? openArchive(one, options) : filesOfFolder(label, one);
}
