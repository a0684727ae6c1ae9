/** Releases at hand, by their manifests alone: which was the first to have something, and which the last. */
import path from "node:path";
import semver from "semver";
import { findReleases, openRelease } from "../../generator/load/files.js";
import { cached, cacheFolder } from "../release/cache.js";
import { packageManifests } from "../release/sources.js";

interface Listed {
  readonly version: string;
  readonly tools: ReadonlySet<string>;
  readonly codes: ReadonlySet<string>;
  readonly specialisms: ReadonlySet<string>;
}

const keys = (value: unknown): Set<string> => new Set(Object.keys((value ?? {}) as object));

async function read(place: string, word: string): Promise<Listed | undefined> {
  try {
    const manifest = JSON.parse((await openRelease(place)).read("manifest.json")!.toString()) as Record<
      string,
      unknown
    >;
    const version = manifest[`${word}_version`];
    if (typeof version !== "string" || semver.valid(version) === null) return undefined;
    const { tools, error_codes, specialisms } = manifest;
    return { version, tools: keys(tools), codes: keys(error_codes), specialisms: keys(specialisms) };
  } catch {
    // What lies beside a release and is none says nothing.
    return undefined;
  }
}

/**
 * Releases of the word, the oldest first: those of the cache, of the package, and beside the one given.
 * @param given a path
 */
export async function releasesAtHand(given: string, word: string): Promise<Listed[]> {
  const beside = await findReleases(path.dirname(given)).catch(() => ({ releases: [] }));
  const own = await findReleases(packageManifests());
  const places = [...beside.releases, ...own.releases, ...cached(cacheFolder()).map(({ file }) => file)];
  const found = new Map<string, Listed>();
  for (const place of [given, ...places]) {
    const one = await read(place, word);
    if (one !== undefined) found.set(one.version, one);
  }
  return [...found.values()].sort((a, b) => semver.compare(a.version, b.version));
}

export function span(
  releases: readonly Listed[],
  table: "tools" | "codes" | "specialisms",
  name: string,
): { first?: string; last?: string } {
  const having = releases.filter((one) => one[table].has(name)).map(({ version }) => version);
  const [first, last] = [having[0], having.at(-1)];
  return first === undefined || last === undefined ? {} : { first, last };
}
