/** What `<release>` means, in every command that takes one: a path, or `word@version`. */
import { existsSync, statSync } from "node:fs";
import type { Command } from "commander";
import semver from "semver";
import { readVerified } from "../../generator/load/checksum.js";
import { findReleases } from "../../generator/load/files.js";
import { identifyRelease } from "../../generator/load/load.js";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";
import { cached, cacheFolder } from "./cache.js";
import { nameIn, pathOfName } from "./name.js";
import { packageManifests } from "./sources.js";

/** For help texts. */
export const releaseHelp = "a folder, manifest.json or bundle (.tgz), or word@version";

/** For help texts of commands that meet others: what is taken where nothing is given. */
export const peersRelease = "default: the newest of the config or bindings here, or in the cache";

/** Options of commands that take releases. */
export interface ReleaseOptions {
  source?: string;
  sha256?: string;
}

/** Declares what goes with releases on a command. */
export const withReleaseOptions = (command: Command): Command =>
  command
    .option(
      "--source <place>",
      "where word@version is looked up: a folder of releases, a table, or a URL with {version}",
    )
    .option("--sha256 <hex>", "SHA-256 the bundle must have; a .sha256 beside it is heeded without");

/** @throws AdbindError usage */
function assertHex(sha256: string | undefined): void {
  if (sha256 === undefined || /^[0-9a-f]{64}$/i.test(sha256)) return;
  throw new AdbindError("usage", "--sha256 is no SHA-256", { where: sha256, remedy: "give 64 hexadecimal digits" });
}

const tell = (line: string): void => console.error(line);

/**
 * The path of what a user calls a release: it may hold several.
 * @throws AdbindError usage, release_unreadable
 */
export async function resolveReleases(given: string, options: ReleaseOptions = {}): Promise<string> {
  assertHex(options.sha256);
  const place = userPath(given);
  const name = nameIn(given);
  // A path that is there is meant, however it is called.
  if (name !== undefined && !existsSync(place))
    return verified(await pathOfName(name, { source: options.source, sha256: options.sha256, tell }), options);
  if (!existsSync(place) && semver.valid(given) !== null)
    throw new AdbindError("usage", "a version alone names no release", {
      where: given,
      remedy: `give a path, or word@version: ${(await ownNames()).join(", ")} come with adbind`,
    });
  return verified(place, options);
}

/** Holds an archive against the checksum that was given, before anything reads it. @throws AdbindError release_unreadable */
function verified(place: string, { sha256 }: ReleaseOptions): string {
  if (sha256 === undefined || !existsSync(place)) return place;
  if (statSync(place).isDirectory())
    throw new AdbindError("usage", "a checksum is of an archive, and this is a folder", {
      where: place,
      remedy: "name the .tgz, or leave --sha256 out",
    });
  readVerified(place, sha256);
  return place;
}

/** Names of the releases that come with the package. */
async function ownNames(): Promise<string[]> {
  const { releases } = await findReleases(packageManifests());
  const own = await Promise.all(releases.map((one) => identifyRelease(one)));
  return own.map(({ word, version }) => `${word}@${version}`);
}

/** The newest release that comes with the package. */
async function newestOwn(): Promise<string> {
  const { releases } = await findReleases(packageManifests());
  const [newest] = releases.sort((a, b) => semver.rcompare(a.split(/[/\\]/).at(-1)!, b.split(/[/\\]/).at(-1)!));
  return newest!;
}

/**
 * The path of the one release a user means; the newest that comes with the package where none is given.
 * @throws AdbindError usage, release_unreadable
 */
export const resolveRelease = (given: string | undefined, options: ReleaseOptions = {}): Promise<string> =>
  given === undefined ? newestOwn() : resolveReleases(given, options);

/**
 * The release that something new is made of: the one that is given, else the newest in the cache. Those that come with the package
 * are taken where they are asked for: they are for trying out, and no market speaks them.
 * @throws AdbindError usage, release_unreadable
 */
export async function resolveForNew(given: string | undefined, options: ReleaseOptions = {}): Promise<string> {
  if (given !== undefined) return resolveReleases(given, options);
  const atHand = cached(cacheFolder()).filter(({ version }) => semver.valid(version) !== null);
  const words = [...new Set(atHand.map(({ word }) => word))];
  const name = (one: { word: string; version: string }): string => `${one.word}@${one.version}`;
  if (words.length > 1)
    throw new AdbindError("usage", "no release was given, and those in the cache are of several protocols", {
      where: "--release",
      remedy: `give one of ${atHand.map(name).join(", ")}`,
    });
  const stable = atHand.filter(({ version }) => semver.prerelease(version) === null);
  const [newest] = (stable.length > 0 ? stable : atHand).sort((a, b) => semver.rcompare(a.version, b.version));
  if (newest === undefined)
    throw new AdbindError("usage", "no release was given, and none is in the cache", {
      where: "--release",
      remedy: `give a folder, a bundle (.tgz) or word@version, which is fetched and kept; to try it out, ${(await ownNames()).at(-1)}`,
    });
  tell(`${name(newest)} is the newest release in the cache`);
  return newest.file;
}
