/** Paths of releases -> what the explorer shows of them, the oldest first. */
import semver from "semver";
import { checkNames } from "../../generator/emit/names.js";
import type { ExplorerRelease } from "../../generator/explorer/book.js";
import { formatFinding } from "../../generator/finding.js";
import { checkRelease } from "../../generator/lint/check.js";
import { findReleases } from "../../generator/load/files.js";
import { loadRelease } from "../../generator/load/load.js";
import { buildAtlas } from "../../generator/model/atlas.js";
import { AdbindError } from "../../runtime/errors.js";
import { judgeOf } from "../diff/validators.js";

export interface LoadedReleases {
  readonly releases: readonly ExplorerRelease[];
  /** What looked like a release and cannot be shown, with the reason. */
  readonly passedOver: readonly { readonly path: string; readonly why: string }[];
}

/** @throws AdbindError release_unreadable for one that breaks a rule; tools whose files are missing are left out */
async function loadOne(source: string): Promise<ExplorerRelease> {
  const release = await loadRelease(source);
  const { findings, broken } = await checkRelease(release, { checkNames, partial: true, levels: ["error"] });
  const [first] = findings.filter(({ level }) => level === "error");
  if (first !== undefined)
    throw new AdbindError("release_unreadable", `the release breaks a rule: ${formatFinding(first)}`, {
      where: source,
      remedy: `adbind lint ${source} lists what is wrong with it`,
    });
  const atlas = await buildAtlas(release, broken);
  return { atlas, judge: judgeOf(atlas.model) };
}

const versionsOf = (a: string, b: string): number =>
  semver.valid(a) !== null && semver.valid(b) !== null ? semver.compare(a, b) : a < b ? -1 : 1;

/** Words apart, each in the order of its versions. */
const byAge = (one: ExplorerRelease, two: ExplorerRelease): number => {
  const [a, b] = [one.atlas.model, two.atlas.model];
  return a.word === b.word ? versionsOf(a.version, b.version) : a.word < b.word ? -1 : 1;
};

/** The same release given twice is one. @throws AdbindError output_conflict for two of one version that differ */
function distinct(given: readonly ExplorerRelease[]): ExplorerRelease[] {
  const kept = new Map<string, ExplorerRelease>();
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
  const releases: ExplorerRelease[] = [];
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
