/** The generator, as a list of stages: read it and you know what happens between a release and its bindings. */
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";
import {
  assertReplaceable,
  compareFolder,
  type Difference,
  generatorName,
  hashOf,
  isUnchanged,
  type Owned,
  ownedText,
  writePlans,
} from "./emit/disk.js";
import { checkNames } from "./emit/names.js";
import type { Plan } from "./emit/plan.js";
import { type Finding, sortFindings } from "./finding.js";
import { checkRelease } from "./lint/check.js";
import { type LoadedRelease, loadRelease } from "./load/load.js";

export interface GenerateOptions {
  /** Folder that gets one folder per release. */
  out: string;
  /** Compare instead of writing. */
  check?: boolean;
  /** Emit precompiled validators too. */
  standalone?: boolean;
  /** Give objects that a schema does not close an index signature: a name that nothing declares compiles then. */
  open?: boolean;
  /** Leave out the tools that missing or dangling files break, instead of refusing the release. */
  partial?: boolean;
  /** Write even when nothing changed. */
  force?: boolean;
  /** Told of each release as it is done. */
  onProgress?: (result: ReleaseResult) => void;
}

export interface ReleaseResult {
  /** As the user named it. */
  source: string;
  word: string;
  version: string;
  digest: string;
  outcome: "written" | "unchanged" | "same" | "different" | "refused";
  tools: number;
  codes: number;
  specialisms: number;
  files: number;
  /** Tools that `partial` left out, with the reasons. */
  leftOut: { tool: string; because: string[] }[];
  findings: Finding[];
  /** With `check`: what differs from what the release gives. */
  differences: Difference[];
  /** Milliseconds. */
  took: number;
}

export interface GenerateResult {
  /** Nothing was refused, and with `check` nothing differs. */
  ok: boolean;
  releases: ReleaseResult[];
}

const emptyResult = (release: LoadedRelease, started: number): ReleaseResult => ({
  source: release.source.label,
  word: release.word,
  version: release.version,
  digest: release.digest,
  outcome: "refused",
  tools: 0,
  codes: 0,
  specialisms: 0,
  files: 0,
  leftOut: [],
  findings: [],
  differences: [],
  took: performance.now() - started,
});

const ownedOf = (
  release: LoadedRelease,
  plan: Plan,
  leftOut: string[],
  shared: Pick<Owned, "generator" | "options">,
): Owned => ({
  ...shared,
  word: release.word,
  version: release.version,
  digest: release.digest,
  leftOut,
  files: Object.fromEntries([...plan].map(([file, text]) => [file, hashOf(text)])),
});

/** Two releases of one version would share a folder. */
function assertDistinct(releases: readonly LoadedRelease[]): void {
  for (const [version, group] of Map.groupBy(releases, (release) => release.version)) {
    if (group.length === 1) continue;
    throw new AdbindError(
      "output_conflict",
      `${group.map(({ source }) => source.label).join(" and ")} are both release ${version}`,
      {
        remedy: "generate them in two runs with an --out of their own",
      },
    );
  }
}

/**
 * Generates bindings for releases: all are read and checked before anything is written.
 * @param sources folders, or .tgz files of them
 * @throws AdbindError release_unreadable, output_conflict
 */
export async function generate(sources: readonly string[], options: GenerateOptions): Promise<GenerateResult> {
  const shared = {
    generator: generatorName(),
    options: {
      standalone: options.standalone ?? false,
      partial: options.partial ?? false,
      open: options.open ?? false,
    },
  };
  const plans = new Map<string, Plan>();
  const results: ReleaseResult[] = [];
  const loaded: LoadedRelease[] = [];
  for (const source of sources) {
    const started = performance.now();
    const release = await loadRelease(source);
    loaded.push(release);
    const result = await handle(release, options, shared, plans, started);
    result.took = performance.now() - started;
    results.push(result);
    if (result.outcome !== "written") options.onProgress?.(result);
  }
  assertDistinct(loaded.filter(({ version }) => version !== ""));
  const refused = results.some(({ outcome }) => outcome === "refused");
  if (!refused && plans.size > 0) {
    for (const version of plans.keys()) assertReplaceable(path.join(options.out, version));
    writePlans(options.out, plans);
  }
  for (const result of results.filter(({ outcome }) => outcome === "written")) {
    if (refused) result.outcome = "unchanged";
    else options.onProgress?.(result);
  }
  return { ok: !refused && results.every(({ outcome }) => outcome !== "different"), releases: results };
}

/** One release through the stages: unchanged? -> check -> model -> plan -> compare, or leave it for writing. */
async function handle(
  release: LoadedRelease,
  options: GenerateOptions,
  shared: Pick<Owned, "generator" | "options">,
  plans: Map<string, Plan>,
  started: number,
): Promise<ReleaseResult> {
  const result = emptyResult(release, started);
  const folder = path.join(options.out, release.version);
  if (
    !options.check &&
    !options.force &&
    release.version !== "" &&
    isUnchanged(folder, { ...shared, digest: release.digest })
  ) {
    return { ...result, outcome: "unchanged" };
  }
  const { findings, broken } = await checkRelease(release, {
    checkNames,
    partial: options.partial ?? false,
    levels: ["error"],
  });
  result.findings = sortFindings(findings);
  if (findings.some(({ level }) => level === "error")) return result;

  const [{ buildModel }, { planRelease }] = await Promise.all([import("./model/build.js"), import("./emit/plan.js")]);
  const model = buildModel(release, broken);
  const plan = await planRelease(model, {
    standalone: shared.options.standalone ?? false,
    open: shared.options.open ?? false,
  });
  const leftOut = model.leftOut.map(({ tool }) => tool);
  plan.set("owned.json", ownedText(ownedOf(release, plan, leftOut, shared)));
  Object.assign(result, {
    tools: model.tools.length,
    codes: model.codes.length,
    specialisms: model.specialisms.length,
    files: plan.size,
    leftOut: model.leftOut,
  });
  if (options.check) {
    const differences = compareFolder(folder, plan);
    return { ...result, differences, outcome: differences.length === 0 ? "same" : "different" };
  }
  plans.set(release.version, plan);
  return { ...result, outcome: "written" };
}
