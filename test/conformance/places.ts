/** What is run: suites and the releases they are of, and the sellers that each is asked of. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { WholeRelease } from "../../cli/check/release-value.js";
import { loadSuite, type Suite } from "../../runtime/conformance/index.js";
import { corpus } from "../support/corpus.js";
import { wholeReleaseIn } from "../support/whole-release.js";

/** What a run is narrowed to, and what its sellers are made with. */
export interface Narrowed {
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly with: readonly string[];
  /** These and no others; each step of them has to be run. */
  readonly storyboards: readonly string[];
}

export interface Place extends WholeRelease, Narrowed {
  readonly suite: Suite;
  readonly source: string;
}

const whole: Narrowed = { specialisms: [], with: [], storyboards: [] };

const judgedManifests = { with: ["manifests"], storyboards: ["canonical_format_validate_input"] };

/**
 * A run without options: whole suites, and of the newest release what is published of its suite. Storyboards of areas that stand in
 * no specialism are asked of sellers that serve those.
 */
const DEFAULT: readonly (Partial<Narrowed> & { readonly version: string })[] = [
  { version: "3.0.26" },
  { version: "3.1.19" },
  { version: "3.2.0-beta.4" },
  { version: "3.1.19", specialisms: ["creative_template"], ...judgedManifests },
  { version: "3.2.0-beta.4", specialisms: ["sales_guaranteed"], ...judgedManifests },
  { version: "3.2.4", specialisms: ["sales_guaranteed"], with: ["reporting"], storyboards: ["reporting_core"] },
];

async function placeOf(suite: string, release: string, narrowed: Narrowed): Promise<Place> {
  return { suite: await loadSuite(suite), source: release, ...(await wholeReleaseIn(release)), ...narrowed };
}

export interface Wanted extends Narrowed {
  /** Folders. */
  readonly suite: string | undefined;
  readonly release: string | undefined;
}

/** @throws AdbindError `release_unreadable`, `suite_invalid` */
export async function places({ suite, release, ...narrowed }: Wanted): Promise<Place[]> {
  if (suite !== undefined) {
    const { version } = await loadSuite(suite);
    return [await placeOf(suite, release ?? path.join(corpus, "releases", version ?? ""), narrowed)];
  }
  if (release !== undefined) {
    const { release: found } = await wholeReleaseIn(release);
    const cached = path.join(corpus, "compliance", found.version);
    return [await placeOf(existsSync(cached) ? cached : release, release, narrowed)];
  }
  const asked = narrowed.with.length + narrowed.storyboards.length > 0;
  return Promise.all(
    DEFAULT.filter(({ version }) => existsSync(path.join(corpus, "compliance", version)))
      // Who says what is to be run says it of whole suites.
      .filter(({ storyboards }) => storyboards === undefined || (!asked && narrowed.specialisms.length === 0))
      .map(({ version, ...own }) =>
        placeOf(path.join(corpus, "compliance", version), path.join(corpus, "releases", version), {
          ...whole,
          ...narrowed,
          ...own,
        }),
      ),
  );
}

export const snake = (id: string): string => id.replaceAll("-", "_");

/** Specialisms of those who answer tools, that the suite has storyboards of. */
export function specialismsOf({ release, suite }: Place): string[] {
  const tested = new Set(
    suite.storyboards.flatMap(({ file }) => /^specialisms\/([^/]+)\//.exec(file)?.[1] ?? []).map(snake),
  );
  return Object.keys(release.specialisms).filter((id) => {
    const role = release.facts.roles[id]?.value ?? "seller";
    return role !== "buyer" && role !== "orchestrator" && (tested.size === 0 || tested.has(snake(id)));
  });
}
