/** What a suite of published vectors is made of. */
import type { Release } from "../../runtime/contract/index.js";

/** One published case; `run` says what is wrong, and nothing where it passes. */
export interface Case {
  readonly name: string;
  run(word: string): Promise<string | undefined>;
}

export interface VectorGroup {
  /** Release line the vectors were published with. */
  readonly release: string;
  readonly suite: string;
  readonly group: string;
  readonly cases: readonly Case[];
}

/** What a maker of groups gets: the vectors' folder, and the release they belong to. */
export interface Folder {
  readonly at: string;
  readonly label: string;
  readonly release: Release;
}
