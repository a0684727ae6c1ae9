/** Everything a release is judged by, in order: a later rule is asked only where the earlier ones leave it a meaning. */
import type { Finding, Level } from "../finding.js";
import { SchemaFacts } from "../load/facts.js";
import type { LoadedRelease } from "../load/load.js";
import { checkManifest } from "../load/manifest.js";
import { checkSchemas } from "../load/meta-schema.js";
import { isMap } from "../load/walk.js";
import { lint } from "./checks.js";

export interface Judged {
  findings: Finding[];
  /** Tools that missing or dangling files break, with the reasons; empty unless `partial`. */
  broken: Map<string, string[]>;
  /** The table of checks was asked: the manifest is one that it can be asked of. */
  asked: boolean;
}

/** Faults that `partial` may leave a tool out for. */
const isMissing = ({ rule }: Finding): boolean => rule === "schema-missing" || rule === "ref-dangling";

/** Faults of each tool's files, and of the paths the manifest gives for it. */
function faultsByTool(release: LoadedRelease): Map<string, Finding[]> {
  const faults = new Map<string, Finding[]>();
  const tools = isMap(release.manifest.tools) ? Object.keys(release.manifest.tools) : [];
  for (const tool of tools) {
    const named = release.findings.filter((finding) => isMissing(finding) && finding.pointer.split("/")[2] === tool);
    const inFiles = [...release.reach(tool)].flatMap((path) => release.schemas.get(path)?.findings ?? []);
    if (named.length + inFiles.length > 0) faults.set(tool, [...named, ...inFiles]);
  }
  return faults;
}

/**
 * Judges a release.
 * @param options `partial`: take missing and dangling files for tools left out, not for errors; `levels`: rules to ask
 */
export async function checkRelease(
  release: LoadedRelease,
  { partial = false, levels = ["error", "warning"] }: { partial?: boolean; levels?: readonly Level[] } = {},
): Promise<Judged> {
  const broken = new Map<string, string[]>();
  if (release.word === "") return { findings: release.findings, broken, asked: false };
  const faults = faultsByTool(release);
  const all = new Set([...release.findings, ...[...release.schemas.values()].flatMap(({ findings }) => findings)]);
  const excused = new Set<Finding>();
  if (partial) {
    for (const [tool, found] of faults) {
      if (!found.every(isMissing)) continue;
      for (const finding of found) excused.add(finding);
      broken.set(
        tool,
        [...new Set(found.map(({ file, pointer, message }) => `${file}#${pointer}: ${message}`))].sort(),
      );
    }
  }
  const findings = [...all].filter((finding) => !excused.has(finding));
  findings.push(...(await checkManifest(release.source, release.manifest, release.word)));
  findings.push(...(await checkSchemas(release)));
  if (faults.size > 0 && broken.size === Object.keys(release.manifest.tools as object).length)
    findings.push(nothingLeft);
  // The rules below read fields that the manifest's schema vouches for.
  const asked = !findings.some(({ rule }) => rule.startsWith("manifest-") || rule === "json");
  return {
    findings: asked ? [...findings, ...lint(release, new SchemaFacts(release.schemas), levels)] : findings,
    broken,
    asked,
  };
}

const nothingLeft: Finding = {
  level: "error",
  rule: "schema-missing",
  file: "manifest.json",
  pointer: "/tools",
  message: "every tool needs a file that is not there",
  remedy: "Add the files.",
};
