/** The site as a server has it: comparisons are made elsewhere, when they are asked for. */
import { comparisonName, folderOf } from "../../generator/explorer/book.js";
import type { Comparer } from "./comparer.js";
import type { ReadRelease } from "./load.js";
import { pairsOf, planExplorer, type Reports, reportKey } from "./plan.js";
import type { ServedSite } from "./serve.js";

interface Options {
  readonly title?: string;
  /** Reads the releases, the oldest first. */
  readonly load: () => Promise<readonly ReadRelease[]>;
}

const named = ({ atlas }: ReadRelease): { folder: string } => ({ folder: folderOf(atlas.model) });

/** @returns what makes the site, again after each change; what was compared before is kept while its releases are shown */
export function servedSite(comparer: Comparer, { title, load }: Options): () => Promise<ServedSite> {
  const reports: Reports = new Map();
  return async () => {
    const releases = await load();
    const pairs = pairsOf(releases, "all");
    const shown = new Set(pairs.map(([older, newer]) => reportKey(older, newer)));
    for (const key of [...reports.keys()]) if (!shown.has(key)) reports.delete(key);
    const files = new Map(
      pairs.flatMap((pair) => {
        const name = comparisonName(named(pair[0]), named(pair[1]));
        return ["js", "json"].map((ending) => [`compare/${name}.${ending}`, pair] as [string, typeof pair]);
      }),
    );
    const prepare = (file: string): Promise<void> | undefined => {
      const pair = files.get(file);
      if (pair === undefined || reports.has(reportKey(...pair))) return undefined;
      return comparer.compare(...pair).then((report) => void reports.set(reportKey(...pair), report));
    };
    return {
      site: planExplorer(releases, { compare: "all", ...(title !== undefined && { title }), reports }),
      prepare,
    };
  };
}
