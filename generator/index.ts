/** `adbind`: the generator as a library. */
export type { Finding, Level } from "./finding.js";
export { formatFinding } from "./finding.js";
export { lintRelease, rules } from "./lint/release.js";
export type { Part } from "./load/part.js";
export { type GenerateOptions, type GenerateResult, generate, type ReleaseResult } from "./run.js";
