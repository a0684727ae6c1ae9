/** Which releases the folder that a user stands in is about: those of its config, or of the bindings around. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import semver from "semver";
import { findReleases } from "../generator/load/files.js";
import { identifyRelease } from "../generator/load/load.js";
import { readJson } from "../generator/load/read-json.js";
import { isMap } from "../generator/load/walk.js";
import { AdbindError } from "../runtime/errors.js";
import { readGenerateConfig } from "./config.js";
import { userPath } from "./output.js";
import { cached, cacheFolder } from "./release/cache.js";
import { isExplorerSite } from "./release/explorer-site.js";
import { type ReleaseOptions, resolveRelease, resolveReleases } from "./release/resolve.js";

/** A release that a folder is about. */
export interface ReleaseHere {
  readonly word: string;
  /** Absent where bindings do not say it. */
  readonly version?: string;
  /** Where the release is: a path, or its name. */
  readonly place?: string;
}

/** Folders below which bindings are looked for: `<out>/<version>` is two levels down. */
const LEVELS = 2;

/** What a folder and those a little below it were generated of: generated folders say what they were made from. */
function bindingsBelow(folder: string, levels = LEVELS): ReleaseHere[] {
  if (!existsSync(folder)) return [];
  const own = path.join(folder, "owned.json");
  if (existsSync(own)) {
    const { value } = readJson(readFileSync(own), own);
    if (!isMap(value) || typeof value.word !== "string" || value.word === "" || isExplorerSite(value)) return [];
    const { word, version } = value;
    return [{ word, ...(typeof version === "string" && { version, place: `${word}@${version}` }) }];
  }
  if (levels === 0) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .flatMap(({ name }) => bindingsBelow(path.join(folder, name), levels - 1));
}

/** The releases a config names; where it names none, those of the bindings it places. */
async function releasesOfConfig(): Promise<ReleaseHere[]> {
  const { releases = [], out, source } = await readGenerateConfig(undefined);
  const found: ReleaseHere[] = [];
  for (const given of releases) {
    const folder = await resolveReleases(given, source === undefined ? {} : { source });
    for (const place of (await findReleases(folder)).releases) found.push({ ...(await identifyRelease(place)), place });
  }
  return found.length > 0 || out === undefined ? found : bindingsBelow(out);
}

/** What the config or the bindings around say. */
export async function releasesHere(): Promise<ReleaseHere[]> {
  const configured = await releasesOfConfig();
  return configured.length > 0 ? configured : bindingsBelow(userPath("."));
}

/** What is named by its place, newest first; those before a release behind all that are stable. */
const newestFirst = (found: readonly ReleaseHere[]): ReleaseHere[] =>
  found
    .filter(({ version = "", place }) => place !== undefined && semver.valid(version) !== null)
    .sort(
      (a, b) =>
        Number(semver.prerelease(a.version!) !== null) - Number(semver.prerelease(b.version!) !== null) ||
        semver.rcompare(a.version!, b.version!),
    );

const nameOf = ({ word, version }: ReleaseHere): string => `${word}@${version}`;

const tell = (line: string): void => console.error(line);

/**
 * The one release that others are met with, agents and receivers, where a command may be told it: the one that is given, else the
 * newest of the folder's config or bindings, else the newest in the cache. What comes with adbind no market speaks, so it is taken
 * last, and that is told.
 * @throws AdbindError usage where several protocols are at hand, release_unreadable
 */
export async function resolveForPeers(given: string | undefined, options: ReleaseOptions = {}): Promise<string> {
  if (given !== undefined) return resolveRelease(given, options);
  const here = newestFirst(await releasesHere());
  const atHand =
    here.length > 0 ? here : newestFirst(cached(cacheFolder()).map((one) => ({ ...one, place: one.file })));
  const [newest, ...others] = atHand;
  if (newest === undefined) {
    const own = await resolveRelease(undefined, options);
    tell(
      `${nameOf(await identifyRelease(own))} is taken, which comes with adbind to try it out: --release names another`,
    );
    return own;
  }
  if (others.some(({ word }) => word !== newest.word))
    throw new AdbindError("usage", "no release was given, and those at hand are of several protocols", {
      where: "--release",
      remedy: `give one of ${atHand.map(nameOf).join(", ")}`,
    });
  tell(`${nameOf(newest)} is the newest release ${here.length > 0 ? "of this folder" : "in the cache"}`);
  return resolveReleases(newest.place!, options);
}
