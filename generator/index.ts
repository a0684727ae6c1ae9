/** `adbind`: the generator as a library. */
export type { Finding, Level } from "./finding.js";
export { formatFinding } from "./finding.js";
export { lintRelease, rules } from "./lint/release.js";
export type { ReleasePart } from "./load/part.js";
export type { GenerateResult, ReleaseOutcome, ReleaseResult } from "./result.js";
export { type GenerateOptions, generate } from "./run.js";
