/** What a run of the generator tells of each release. */
import type { Difference } from "./emit/disk.js";
import type { Finding } from "./finding.js";

export interface LeftOut {
  tool: string;
  because: string[];
}

/**
 * `written`: the files stand on disk. `unchanged`: they stood there already. `same` and `different`: how `check` found
 * them. `refused`: the release breaks a rule. `withheld`: it is fine, and another one was refused, so nothing was written.
 */
export type ReleaseOutcome = "written" | "unchanged" | "same" | "different" | "refused" | "withheld";

/** What became of one release: its files, its findings, how long it took in milliseconds. */
export interface ReleaseResult {
  /** As the user named it; in a folder of releases, the path of this one. */
  source: string;
  /** Other sources that gave this very release: it is generated once. */
  alsoFrom: string[];
  word: string;
  version: string;
  digest: string;
  outcome: ReleaseOutcome;
  tools: number;
  codes: number;
  specialisms: number;
  files: number;
  /** Tools that `partial` left out, with the reasons. */
  leftOut: LeftOut[];
  findings: Finding[];
  /** With `check`: what differs from what the release gives. */
  differences: Difference[];
  /** Milliseconds. */
  took: number;
}

/** What became of a run: every release, and what was passed over. */
export interface GenerateResult {
  /** Nothing was refused, and with `check` nothing differs. */
  ok: boolean;
  releases: ReleaseResult[];
  /** What looked like a release in a folder of them, and is none. */
  passedOver: { path: string; why: string }[];
}
