/** `word@version` -> a path: in a folder of releases, with the package, in the cache, or from the network into the cache. */
import semver from "semver";
import { findReleases } from "../../generator/load/files.js";
import { identifyRelease, loadRelease } from "../../generator/load/load.js";
import { AdbindError } from "../../runtime/errors.js";
import { cached, cacheFolder, keepBundle } from "./cache.js";
import type { ClosingFetcher } from "./fetch.js";
import { packageManifests, type Source, type Sources, sourcesFor, urlOf } from "./sources.js";

export interface Name {
  readonly word: string;
  /** A version, the beginning of one (`3.2`), or `latest`. */
  readonly version: string;
}

export interface NameOptions {
  /** Where to look instead of the table: a folder of releases, a table of sources, or the URL of bundles. */
  readonly source?: string | undefined;
  /** SHA-256 of the bundle, hex. */
  readonly sha256?: string | undefined;
  /** Told what is worth a line: what was chosen, what is fetched. */
  readonly tell?: (line: string) => void;
  /** The fetch for a URL; `given` when the user gave its source. Default the guarded one. */
  readonly fetcherFor?: (url: string, given: boolean) => ClosingFetcher;
}

/** A release that can be had without asking anybody. */
interface AtHand {
  readonly version: string;
  readonly path: string;
  readonly url?: string;
}

/** The parts of `word@version`; undefined when it is none. */
export function nameIn(text: string): Name | undefined {
  const [, word, version] = /^([a-z][a-z0-9_-]*)@([^@/\\]*)$/.exec(text) ?? [];
  return word === undefined || version === undefined ? undefined : { word, version };
}

const usage = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

const textOf = ({ word, version }: Name): string => `${word}@${version}`;

const newestFirst = (versions: readonly string[]): string[] =>
  semver.rsort(versions.filter((one) => semver.valid(one)));

/** As many versions as a message may list. */
const FEW = 12;

const listed = (versions: readonly string[]): string => {
  const shown = newestFirst([...new Set(versions)]);
  return shown.slice(0, FEW).join(", ") + (shown.length > FEW ? ` and ${shown.length - FEW} older` : "");
};

/** Releases of a word in a folder of them. */
async function inFolder(folder: string, word: string): Promise<AtHand[]> {
  const found: AtHand[] = [];
  for (const path of (await findReleases(folder)).releases) {
    const release = await identifyRelease(path);
    if (release.word === word) found.push({ version: release.version, path });
  }
  return found;
}

/** What can be had offline: what comes with the package, and what is cached. */
async function atHand(word: string): Promise<AtHand[]> {
  const kept = cached(cacheFolder(), word).map(({ version, file, url }) => ({ version, path: file, url }));
  return [...(await inFolder(packageManifests(), word)), ...kept];
}

/** The newest version a range names. Pre-releases are named by their whole version only. */
function choose(name: Name, versions: readonly string[], where: string): string {
  const range = name.version === "latest" ? "*" : name.version;
  const chosen = semver.maxSatisfying(
    versions.filter((one) => semver.valid(one)),
    range,
  );
  if (chosen !== null) return chosen;
  const what = `no release of ${name.word} in ${where} is ${name.version === "latest" ? "stable" : name.version}`;
  throw usage(textOf(name), what, `give one of ${listed(versions)}`);
}

const isRange = (version: string): boolean => version === "latest" || /^\d+(\.\d+)?$/.test(version);

const isVersion = (version: string): boolean => semver.valid(version) === version;

function assertVersion(name: Name): void {
  if (isRange(name.version) || isVersion(name.version)) return;
  throw usage(
    textOf(name),
    "that names no version",
    `give e.g. ${name.word}@3.1.0, ${name.word}@3.1 or ${name.word}@latest`,
  );
}

async function fromFolder(name: Name, folder: string): Promise<AtHand> {
  const found = await inFolder(folder, name.word);
  const versions = found.map(({ version }) => version);
  if (versions.length === 0)
    throw usage(textOf(name), `no release of ${name.word} in ${folder}`, "name another --source");
  const version = isRange(name.version) ? choose(name, versions, folder) : name.version;
  const release = found.find((one) => one.version === version);
  if (release === undefined) throw usage(textOf(name), `it is not in ${folder}`, `give one of ${listed(versions)}`);
  return release;
}

type Table = Extract<Sources, { kind: "table" }>;

const sourceOf = ({ words, any }: Table, word: string): Source | undefined =>
  Object.hasOwn(words, word) ? words[word] : any;

/** The version a range stands for: by the source's index, or else by what is at hand. */
async function versionFor(name: Name, table: Table, found: readonly AtHand[], options: NameOptions): Promise<string> {
  const source = sourceOf(table, name.word);
  if (source?.index !== undefined) {
    const { fetcherFor, fetchIndex } = await import("./fetch.js");
    const fetch = (options.fetcherFor ?? fetcherFor)(source.index, table.given);
    try {
      const version = choose(
        name,
        await fetchIndex(fetch, name.word, source.index),
        urlOf(source.index, name.word, ""),
      );
      options.tell?.(`${textOf(name)} is ${version}, by the index of its source`);
      return version;
    } finally {
      await fetch.close();
    }
  }
  if (found.length === 0) {
    throw usage(
      textOf(name),
      `which version that is nobody says: the source of ${name.word} has no index, and no release of it is cached`,
      `give a whole version, e.g. ${name.word}@3.1.0, or --source with a folder of releases`,
    );
  }
  const version = choose(
    name,
    found.map((one) => one.version),
    "the cache",
  );
  options.tell?.(`${textOf(name)} is ${version}, the newest at hand: its source has no index`);
  return version;
}

/** Fetches a release into the cache, and looks whether it is the one that was asked for before it stays there. */
async function fetchNamed(name: Name, source: Source, given: boolean, options: NameOptions): Promise<string> {
  const { fetchBundle, fetcherFor } = await import("./fetch.js");
  const url = urlOf(source.bundle, name.word, name.version);
  options.tell?.(`fetching ${url}`);
  const fetch = (options.fetcherFor ?? fetcherFor)(url, given);
  try {
    const bundle = await fetchBundle(fetch, { ...name, source, sha256: options.sha256 });
    const kept = await keepBundle(cacheFolder(), bundle, async (file) => {
      const release = await loadRelease(file);
      if (release.word === name.word && release.version === name.version) return;
      throw new AdbindError(
        "release_unreadable",
        `the bundle is release ${release.version} of ${release.word || "no word"}`,
        {
          where: url,
          remedy: "correct the source",
        },
      );
    });
    return kept.file;
  } finally {
    await fetch.close();
  }
}

/**
 * The path of a release by its name.
 * @throws AdbindError usage for a name that stands for nothing, release_unreadable when it cannot be fetched
 */
export async function pathOfName(name: Name, options: NameOptions): Promise<string> {
  assertVersion(name);
  const sources = sourcesFor(options.source);
  if (sources.kind === "folder") return (await fromFolder(name, sources.folder)).path;
  const found = await atHand(name.word);
  const version = isRange(name.version) ? await versionFor(name, sources, found, options) : name.version;
  const source = sourceOf(sources, name.word);
  const url = source === undefined ? undefined : urlOf(source.bundle, name.word, version);
  // What another source gave is not what this one means; what comes with the package has no source.
  const hit = found.find(
    (one) => one.version === version && (one.url === undefined || url === undefined || one.url === url),
  );
  if (hit !== undefined) return hit.path;
  if (source === undefined) {
    const known = [...new Set([...Object.keys(sources.words), ...(found.length > 0 ? [name.word] : [])])].join(", ");
    const have = found.length > 0 ? `; at hand are ${listed(found.map((one) => one.version))}` : "";
    throw usage(
      textOf({ ...name, version }),
      `no source has releases of ${name.word}${have}`,
      `give a path, or --source; words with a source: ${known || "none"}`,
    );
  }
  return fetchNamed({ word: name.word, version }, source, sources.given, options);
}
