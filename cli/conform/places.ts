/** Which suite and which release a run is made with, by what was given and what is at hand. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import semver from "semver";
import { identifyRelease } from "../../generator/load/load.js";
import { loadSuite, type Suite } from "../../runtime/conformance/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { type WholeRelease, wholeReleaseAt } from "../check/release-value.js";
import { userPath } from "../output.js";
import { cached, cacheFolder } from "../release/cache.js";
import { type ReleaseOptions, resolveRelease } from "../release/resolve.js";

export interface PlaceOptions extends ReleaseOptions {
  readonly release?: string;
  readonly suite?: string;
}

export interface RunPlaces extends WholeRelease {
  readonly suite: Suite;
  /** What the user should know of the choice. */
  readonly warnings: readonly string[];
}

/** A folder of releases and suites, one folder a version in each. */
const corpus = (): string | undefined => process.env.ADBIND_CORPUS || undefined;

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

const REMEDY =
  "give --suite with the compliance/ folder or the bundle of a release, or keep suites in $ADBIND_CORPUS/compliance/<version>";

const notThere: ReadonlySet<string> = new Set(["suite_unreadable", "release_unreadable"]);

/** What the command line names and is not there is the command line's fault: no step has failed. */
async function named<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof AdbindError) || !notThere.has(error.code)) throw error;
    throw new AdbindError("usage", error.message, { cause: error.cause ?? error });
  }
}

function ofCorpus(kind: "compliance" | "releases", version: string): string | undefined {
  const root = corpus();
  const place = root === undefined ? undefined : path.join(root, kind, version);
  return place !== undefined && existsSync(place) ? place : undefined;
}

/** What `--release` names: a version of the corpus, or whatever every command takes. */
const sourceOf = async (given: string, options: ReleaseOptions): Promise<string> =>
  ofCorpus("releases", given) ?? (await resolveRelease(given, options));

/** Whether a place is a release of that version; one that is none is no fault, since it was not called one. */
async function isRelease(place: string, version: string): Promise<boolean> {
  if (!existsSync(place)) return false;
  try {
    return (await identifyRelease(place)).version === version;
  } catch (error) {
    if (error instanceof AdbindError) return false;
    throw error;
  }
}

/**
 * Where a version's release is: in the corpus, in the suite's own bundle, or in the cache.
 * @param suite where the suite is, where that was given
 */
async function releaseFor(version: string, suite?: string): Promise<WholeRelease> {
  const inCorpus = ofCorpus("releases", version);
  if (inCorpus !== undefined) return wholeReleaseAt(inCorpus);
  // A bundle holds both; unpacked, the release stands beside the folder of its suite.
  const own = suite === undefined ? [] : suite.endsWith(".tgz") ? [suite] : [suite, path.dirname(suite)];
  const kept = cached(cacheFolder()).filter((one) => one.version === version);
  for (const place of [...own, ...kept.map(({ file }) => file)])
    if (await isRelease(place, version)) return wholeReleaseAt(place);
  throw usage(
    `the release ${version} of the suite is not at hand`,
    "give it with --release, as a folder, a bundle or word@version",
  );
}

/** The suite that comes with a release: in its own folder or bundle, or in the corpus under its version. */
async function suiteFor(source: string, version: string): Promise<Suite> {
  const inside = source.endsWith(".tgz") ? source : path.join(source, "compliance");
  for (const place of [inside, ofCorpus("compliance", version)]) {
    if (place === undefined || !existsSync(place)) continue;
    try {
      return await loadSuite(place);
    } catch (error) {
      // A release has schemas under compliance/ too: they are no storyboards.
      if (!(error instanceof AdbindError) || error.code !== "suite_unreadable") throw error;
    }
  }
  throw usage(`no suite of release ${version} is at hand`, REMEDY);
}

/** Versions that a release is at hand of, and a suite where one is wanted; newest first. */
function versionsAtHand(kind: "compliance" | "releases" = "compliance"): string[] {
  const root = corpus();
  const folder = root === undefined ? undefined : path.join(root, kind);
  if (folder === undefined || !existsSync(folder)) return [];
  const found = readdirSync(folder).filter(
    (version) => semver.valid(version) !== null && ofCorpus("releases", version),
  );
  return found.sort(semver.rcompare);
}

/** What is at hand; where that is nothing, why: a folder that is not there is no agent's fault. */
function atHandWords(atHand: readonly string[]): string {
  const root = corpus();
  if (atHand.length > 0) return `there are ${atHand.join(", ")}`;
  if (root === undefined) return "$ADBIND_CORPUS is not set";
  const folder = path.join(root, "compliance");
  return existsSync(folder)
    ? `no folder of ${folder} is named by a version that ${path.join(root, "releases")} holds too`
    : `${folder} of $ADBIND_CORPUS is not there`;
}

/** `3.1` and `3.2-beta.5` as agents list what they speak. */
const speaks = (line: string, version: string): boolean => {
  const [numbers = "", tail] = version.split(/-(.*)/s);
  const short = numbers.split(".").slice(0, 2).join(".") + (tail ? `-${tail}` : "");
  return line === version || line === short;
};

/**
 * Suite and release of a run.
 * @param supported versions that the agent lists, asked only where neither is given
 * @throws AdbindError `usage` where one of the two is not at hand
 */
export async function placesOf(options: PlaceOptions, supported: () => Promise<readonly string[]>): Promise<RunPlaces> {
  const { release, suite: given } = options;
  if (given !== undefined) {
    const place = userPath(given);
    const suite = await named(() => loadSuite(place));
    if (release === undefined) {
      if (suite.version === undefined)
        throw usage("the suite does not say of which release it is", "give the release with --release");
      return { ...(await releaseFor(suite.version, place)), suite, warnings: [] };
    }
    const whole = await named(async () => wholeReleaseAt(await sourceOf(release, options)));
    const { version } = whole.release;
    const differ = suite.version !== undefined && suite.version !== version;
    const warning = `the suite is of release ${suite.version}, and its answers are judged by ${version}`;
    return { ...whole, suite, warnings: differ ? [warning] : [] };
  }
  if (release !== undefined) {
    const source = await sourceOf(release, options);
    const whole = await named(() => wholeReleaseAt(source));
    return { ...whole, suite: await suiteFor(source, whole.release.version), warnings: [] };
  }
  const listed = await supported();
  const atHand = versionsAtHand();
  const version = atHand.find((one) => listed.some((line) => speaks(line, one)));
  if (version === undefined)
    throw usage(
      `no suite is at hand of a release that the agent lists (${listed.join(", ") || "it lists none"}); ${atHandWords(atHand)}`,
      REMEDY,
    );
  const whole = await releaseFor(version);
  return { ...whole, suite: await suiteFor(ofCorpus("releases", version)!, version), warnings: [] };
}

/** The release that a buyer is talked to in, and a suite where one is given. @throws AdbindError `usage` */
export async function buyerPlacesOf(
  options: PlaceOptions,
): Promise<WholeRelease & { suite: Suite | undefined; warnings: readonly string[] }> {
  const { release, suite } = options;
  if (suite !== undefined) return placesOf(options, async () => []);
  const [newest] = versionsAtHand("releases");
  const chosen = release ?? newest;
  if (chosen === undefined)
    throw usage(
      "no release is at hand that the seller could speak",
      "give --release, or keep releases in $ADBIND_CORPUS",
    );
  const whole = await named(async () => wholeReleaseAt(await sourceOf(chosen, options)));
  return { ...whole, suite: undefined, warnings: [] };
}
