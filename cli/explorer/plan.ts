/** Releases -> the site, with the comparisons that were asked for. */
import { createHash } from "node:crypto";
import { diffReleases } from "../../generator/diff/diff.js";
import type { DiffReport } from "../../generator/diff/finding.js";
import { sideOf } from "../../generator/diff/side.js";
import { explorerAssets } from "../../generator/emit/render.js";
import type { ExplorerRelease } from "../../generator/explorer/book.js";
import { type Comparison, planSite, type Site } from "../../generator/explorer/site.js";

/** Which releases are compared: every two, each with the next, or none. */
export const comparing = ["all", "neighbours", "none"] as const;
export type ComparedReleases = (typeof comparing)[number];

/** Reports by the digests of their releases: what was compared once is not compared again. */
export type Reports = Map<string, DiffReport>;

function pairsOf(releases: readonly ExplorerRelease[], which: ComparedReleases): [ExplorerRelease, ExplorerRelease][] {
  const pairs = releases.flatMap((newer, index) => {
    const older = releases.slice(0, index).filter(({ atlas }) => atlas.model.word === newer.atlas.model.word);
    const wanted = { all: older, neighbours: older.slice(-1), none: [] }[which];
    return wanted.map((one): [ExplorerRelease, ExplorerRelease] => [one, newer]);
  });
  return pairs;
}

export interface PlanOptions {
  readonly compare: ComparedReleases;
  readonly title?: string;
  readonly reports?: Reports;
  /** Told before each comparison. */
  readonly tell?: (line: string) => void;
}

/** Plans the site; nothing of it is printed, and nothing compared, until a file is asked for. */
export function planExplorer(
  releases: readonly ExplorerRelease[],
  { compare, title, reports = new Map(), tell = () => undefined }: PlanOptions,
): Site {
  const comparisons = pairsOf(releases, compare).map(([older, newer]): Comparison => {
    const [a, b] = [older.atlas.model, newer.atlas.model];
    const key = `${a.digest} ${b.digest}`;
    const report = (): DiffReport => {
      const known = reports.get(key);
      if (known !== undefined) return known;
      tell(`comparing ${a.version} with ${b.version}`);
      const made = diffReleases(sideOf(a, older.judge), sideOf(b, newer.judge));
      reports.set(key, made);
      return made;
    };
    return { older, newer, report };
  });
  const assets = explorerAssets();
  return planSite({ releases, comparisons, assets, ...(title !== undefined && { title }) });
}

/** Hash of all that decides what a site is. */
export const siteDigest = (releases: readonly ExplorerRelease[], options: readonly string[]): string =>
  createHash("sha256")
    .update(JSON.stringify([releases.map(({ atlas }) => atlas.model.digest), options, [...explorerAssets()]]))
    .digest("hex");
