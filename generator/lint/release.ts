/** A release judged, and the whole table it is judged by. */
import { type Finding, type Level, sortFindings } from "../finding.js";
import { loadRelease } from "../load/load.js";
import { checkRelease } from "./check.js";
import { lintChecks } from "./checks.js";

/** Rules that reading a release applies before the table of checks has its turn. */
const readingRules: readonly { id: string; level: Level; rule: string }[] = [
  {
    id: "json",
    level: "error",
    rule: "every file is JSON that names no key twice, with numbers and texts that can be told as they stand",
  },
  { id: "protocol-word", level: "error", rule: "the manifest has exactly one <word>_version field" },
  {
    id: "manifest-schema",
    level: "error",
    rule: "the manifest keeps its schema: the release's own, and adbind's",
  },
  { id: "manifest-unknown-field", level: "error", rule: "the manifest has no field that neither schema declares" },
  { id: "manifest-schema-unusable", level: "error", rule: "the manifest.schema.json a release ships compiles" },
  { id: "schema-missing", level: "error", rule: "every path and reference names a file of the release" },
  { id: "ref-dangling", level: "error", rule: "every reference points at a schema" },
  { id: "file-name", level: "error", rule: "no schema file has # in its name" },
  { id: "schema-type", level: "error", rule: "a schema is an object or a boolean" },
  { id: "schema-draft", level: "error", rule: "what a schema of a later draft demands can be said in draft-07" },
  { id: "schema-invalid", level: "error", rule: "a schema is one by the meta-schema of draft-07" },
];

/** Every rule by its id. */
export const rules = [...readingRules, ...lintChecks.map(({ id, level, rule }) => ({ id, level, rule }))];

export interface Linted {
  word: string;
  version: string;
  findings: Finding[];
  /** Rules that could not be asked of a manifest that is none. */
  notAsked: string[];
}

/**
 * Judges a release by every rule.
 * @param source folder, or a .tgz of one
 * @throws AdbindError release_unreadable
 */
export async function lintRelease(source: string): Promise<Linted> {
  const release = await loadRelease(source);
  const { findings, asked } = await checkRelease(release);
  const notAsked = asked ? [] : lintChecks.map(({ id }) => id);
  return { word: release.word, version: release.version, findings: sortFindings(findings), notAsked };
}
