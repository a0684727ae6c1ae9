/** Paths of releases -> what the explorer shows of them, the oldest first. */
import semver from "semver";
import type { ExplorerRelease } from "../../generator/explorer/book.js";
import { findReleases } from "../../generator/load/files.js";
import { buildAtlas } from "../../generator/model/atlas.js";
import { AdbindError } from "../../runtime/errors.js";
import { judgeOf } from "../diff/validators.js";
import { soundRelease } from "../release/sound.js";

export interface ReadRelease extends ExplorerRelease {
  /** Where it was read. */
  readonly source: string;
}

export interface LoadedReleases {
  readonly releases: readonly ReadRelease[];
  /** What looked like a release and cannot be shown, with the reason. */
  readonly passedOver: readonly { readonly path: string; readonly why: string }[];
}

/** @throws AdbindError release_unreadable for one that breaks a rule; tools whose files are missing are left out */
export async function loadOne(source: string): Promise<ReadRelease> {
  const { release, broken } = await soundRelease(source, { partial: true });
  const atlas = await buildAtlas(release, broken);
  return { atlas, judge: judgeOf(atlas.model), source };
}

const versionsOf = (a: string, b: string): number =>
  semver.valid(a) !== null && semver.valid(b) !== null ? semver.compare(a, b) : a < b ? -1 : 1;

/** Words apart, each in the order of its versions. */
const byAge = (one: ExplorerRelease, two: ExplorerRelease): number => {
  const [a, b] = [one.atlas.model, two.atlas.model];
  return a.word === b.word ? versionsOf(a.version, b.version) : a.word < b.word ? -1 : 1;
};

/** The same release given twice is one. @throws AdbindError output_conflict for two of one version that differ */
function distinct(given: readonly ReadRelease[]): ReadRelease[] {
  const kept = new Map<string, ReadRelease>();
  for (const one of given) {
    const { word, version, digest } = one.atlas.model;
    const known = kept.get(`${word}@${version}`);
    if (known !== undefined && known.atlas.model.digest !== digest)
      throw new AdbindError("output_conflict", `two of the releases are ${word} ${version}, and differ`, {
        remedy: "show them in two sites, or adbind diff one with the other",
      });
    kept.set(`${word}@${version}`, one);
  }
  return [...kept.values()].sort(byAge);
}

/**
 * Reads every release that the paths name, folders of them opened.
 * @param lenient pass over a release that cannot be shown, instead of failing
 * @throws AdbindError release_unreadable, output_conflict
 */
export async function loadReleases(
  paths: readonly string[],
  { lenient = false, tell = () => undefined }: { lenient?: boolean; tell?: (line: string) => void } = {},
): Promise<LoadedReleases> {
  const releases: ReadRelease[] = [];
  const passedOver: { path: string; why: string }[] = [];
  for (const path of paths) {
    const found = await findReleases(path);
    passedOver.push(...found.passedOver);
    for (const source of found.releases) {
      tell(`reading ${source}`);
      try {
        releases.push(await loadOne(source));
      } catch (error) {
        if (!lenient || !(error instanceof AdbindError)) throw error;
        passedOver.push({ path: source, why: error.message });
      }
    }
  }
  return { releases: distinct(releases), passedOver };
}
