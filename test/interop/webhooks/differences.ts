/** Where the two sides differ, and what the published text says of it. */
import type { Release } from "../../../runtime/contract/index.js";

interface Difference {
  readonly what: RegExp;
  readonly fault: RegExp;
  /** Only where the release's own files show it. */
  readonly holds?: (release: Release) => boolean;
  readonly because: string;
}

const differences: readonly Difference[] = [];

/** @returns why a fault is none of ours; undefined where it is not explained */
export const differenceOf = (release: Release, what: string, fault: string): string | undefined =>
  differences.find((one) => one.what.test(what) && one.fault.test(fault) && (one.holds?.(release) ?? true))?.because;
