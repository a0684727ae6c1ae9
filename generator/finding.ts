/** What is wrong with a release, in the form every room reports it and the command prints it. */

export type Level = "error" | "warning";

/** One thing that is wrong in a release, or noteworthy: where, by which rule, and what to do about it. */
export interface Finding {
  level: Level;
  /** Id of the rule that was broken, e.g. `ref-dangling`. */
  rule: string;
  /** File in the release. */
  file: string;
  /** JSON pointer into the file; empty for the whole of it. */
  pointer: string;
  /** The same in findings that are alike. */
  message: string;
  /** What sets a finding apart from others alike, e.g. the name it is about. */
  detail?: string;
  remedy: string;
}

/** What a check finds; its level and rule are the check's. */
export type Found = Omit<Finding, "level" | "rule">;

/** Escapes one token of a JSON pointer (RFC 6901, section 3). */
export const pointerToken = (key: string | number): string => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

export const pointer = (...keys: (string | number)[]): string => keys.map((key) => `/${pointerToken(key)}`).join("");

/** What a check finds in the manifest. */
export const inManifest = (at: string, message: string, remedy: string, detail?: string): Found => ({
  file: "manifest.json",
  pointer: at,
  message,
  ...(detail !== undefined && { detail }),
  remedy,
});

const placeOf = ({ file, pointer }: Finding): string => `${file}${pointer === "" ? "" : `#${pointer}`}`;

const detailOf = ({ detail }: Finding): string => (detail === undefined ? "" : ` (${detail})`);

/** `file#/pointer: message (detail) [rule]. remedy` */
export const formatFinding = (finding: Finding): string =>
  `${placeOf(finding)}: ${finding.message}${detailOf(finding)} [${finding.rule}]. ${finding.remedy}`;

/** Findings that say the same, with where each stands. */
export interface AlikeFindings {
  first: Finding;
  /** `file#/pointer (detail)` of each. */
  places: string[];
}

/** Findings put together that differ in their places only, in the order of the first of each. */
export const foldFindings = (findings: readonly Finding[]): AlikeFindings[] =>
  [...Map.groupBy(findings, ({ level, rule, message, remedy }) => JSON.stringify([level, rule, message, remedy]))].map(
    ([, alike]) => ({ first: alike[0]!, places: alike.map((one) => placeOf(one) + detailOf(one)) }),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Errors first, then by file and pointer, so that two runs print the same. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort(
    (a, b) =>
      compare(a.level, b.level) ||
      compare(a.file, b.file) ||
      compare(a.pointer, b.pointer) ||
      compare(a.rule, b.rule) ||
      compare(a.message, b.message) ||
      compare(a.detail ?? "", b.detail ?? ""),
  );
