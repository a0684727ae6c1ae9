/**
 * The generator, as a list of stages: load -> check -> model -> plan -> (write | compare). Each takes what the one before
 * gives and says what it found; all releases are planned before any is written.
 */
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";
import {
  assertReplaceable,
  compareFolder,
  type Difference,
  generatorName,
  isUnchanged,
  type Owned,
  withOwned,
  writePlans,
} from "./emit/disk.js";
import type { ImportExtension } from "./emit/import-extension.js";
import type { EmitOptions, Plan } from "./emit/plan.js";
import { type Finding, sortFindings } from "./finding.js";
import { checkRelease } from "./lint/check.js";
import { type LoadedRelease, loadRelease } from "./load/load.js";
import type { Model } from "./model/model.js";
import type { GenerateResult, ReleaseOutcome, ReleaseResult } from "./result.js";

export interface GenerateOptions {
  /** Folder that gets one folder per release. */
  out: string;
  /** Compare instead of writing. */
  check?: boolean;
  /** Emit precompiled validators too. */
  standalone?: boolean;
  /** What emitted imports end in; `js` by default. */
  importExtension?: ImportExtension;
  /** Leave out the tools that missing or dangling files break, instead of refusing the release. */
  partial?: boolean;
  /** Write even when nothing changed. */
  force?: boolean;
  /** Told of each release as it is done. */
  onProgress?: (result: ReleaseResult) => void;
}

/** The options with every default in, and what of them decides what is emitted. */
interface Settings extends Pick<GenerateOptions, "out"> {
  readonly mode: "write" | "compare";
  readonly force: boolean;
  readonly partial: boolean;
  readonly emit: EmitOptions;
  /** What a folder must say of itself to be taken for this run's. */
  readonly made: Pick<Owned, "generator" | "options">;
}

function settingsOf(options: GenerateOptions): Settings {
  const { standalone = false, importExtension = "js", partial = false } = options;
  return {
    out: options.out,
    mode: options.check ? "compare" : "write",
    force: options.force ?? false,
    partial,
    emit: { standalone, importExtension },
    made: { generator: generatorName(), options: { standalone, importExtension, partial } },
  };
}

/** A release that passed, and what would be written of it. */
interface Planned {
  readonly stage: "planned";
  readonly release: LoadedRelease;
  readonly findings: readonly Finding[];
  readonly model: Model;
  readonly plan: Plan;
}

/** How far a release came. */
type Prepared =
  | Planned
  /** Its folder holds what it would give. */
  | { readonly stage: "standing"; readonly release: LoadedRelease }
  | { readonly stage: "refused"; readonly release: LoadedRelease; readonly findings: readonly Finding[] };

const folderOf = ({ out }: Settings, { version }: LoadedRelease): string => path.join(out, version);

/** check: the findings, and the tools that `partial` leaves out for some of them. */
async function check(
  release: LoadedRelease,
  { partial }: Settings,
): Promise<{ findings: Finding[]; broken: Map<string, string[]>; passed: boolean }> {
  const { findings, broken } = await checkRelease(release, { partial, levels: ["error"] });
  return { findings: sortFindings(findings), broken, passed: findings.every(({ level }) => level !== "error") };
}

/** model, plan: what they need is loaded only once a release is to be emitted. */
async function emit(
  release: LoadedRelease,
  broken: Map<string, string[]>,
  settings: Settings,
): Promise<Pick<Planned, "model" | "plan">> {
  const [{ buildModel }, { planRelease }] = await Promise.all([import("./model/build.js"), import("./emit/plan.js")]);
  const model = buildModel(release, broken);
  const plan = await planRelease(model, settings.emit);
  const { word, version, digest } = release;
  return { model, plan: withOwned(plan, { ...settings.made, word, version, digest, leftOut: model.leftOut }) };
}

/** load -> check -> model -> plan, for one release. */
async function prepare(source: string, settings: Settings): Promise<Prepared> {
  const release = await loadRelease(source);
  if (settings.mode === "write" && !settings.force && release.version !== "") {
    const expected = { ...settings.made, digest: release.digest };
    if (isUnchanged(folderOf(settings, release), expected)) return { stage: "standing", release };
  }
  const { findings, broken, passed } = await check(release, settings);
  if (!passed) return { stage: "refused", release, findings };
  return { stage: "planned", release, findings, ...(await emit(release, broken, settings)) };
}

/** Two releases of one version would share a folder. */
function assertDistinct(releases: readonly LoadedRelease[]): void {
  for (const [version, group] of Map.groupBy(releases, (release) => release.version)) {
    if (group.length === 1 || version === "") continue;
    const labels = group.map(({ source }) => source.label).join(" and ");
    throw new AdbindError("output_conflict", `${labels} are both release ${version}`, {
      remedy: "generate them in two runs with an --out of their own",
    });
  }
}

/** compare: each planned release against its folder. */
const compare = (settings: Settings, { release, plan }: Planned): Difference[] =>
  compareFolder(folderOf(settings, release), plan);

/** write: all planned releases, or, where one cannot be, none. */
function write(settings: Settings, planned: readonly Planned[]): void {
  if (planned.length === 0) return;
  for (const { release } of planned) assertReplaceable(folderOf(settings, release));
  writePlans(settings.out, new Map(planned.map(({ release, plan }) => [release.version, plan])));
}

interface Ended {
  readonly outcome: ReleaseOutcome;
  readonly differences?: Difference[];
}

function resultOf(prepared: Prepared, took: number, { outcome, differences = [] }: Ended): ReleaseResult {
  const { source, word, version, digest } = prepared.release;
  const model = prepared.stage === "planned" ? prepared.model : undefined;
  return {
    ...{ source: source.label, word, version, digest, outcome },
    tools: model?.tools.length ?? 0,
    codes: model?.codes.length ?? 0,
    specialisms: model?.specialisms.length ?? 0,
    files: prepared.stage === "planned" ? prepared.plan.size : 0,
    leftOut: model?.leftOut ?? [],
    findings: prepared.stage === "standing" ? [] : [...prepared.findings],
    differences,
    took,
  };
}

/** What became of a release without anything being written; undefined where that is still to be seen. */
function endOf(prepared: Prepared, settings: Settings): Ended | undefined {
  if (prepared.stage === "standing") return { outcome: "unchanged" };
  if (prepared.stage === "refused") return { outcome: "refused" };
  if (settings.mode === "write") return undefined;
  const differences = compare(settings, prepared);
  return { outcome: differences.length === 0 ? "same" : "different", differences };
}

/**
 * Generates bindings for releases: all are read and checked before anything is written.
 * @param sources folders, or .tgz files of them
 * @throws AdbindError release_unreadable, output_conflict
 */
export async function generate(sources: readonly string[], options: GenerateOptions): Promise<GenerateResult> {
  const settings = settingsOf(options);
  const rows: { prepared: Prepared; took: number; result: ReleaseResult | undefined }[] = [];
  for (const source of sources) {
    const started = performance.now();
    const prepared = await prepare(source, settings);
    const ended = endOf(prepared, settings);
    const took = performance.now() - started;
    const result = ended && resultOf(prepared, took, ended);
    if (result !== undefined) options.onProgress?.(result);
    rows.push({ prepared, took, result });
  }
  assertDistinct(rows.map(({ prepared }) => prepared.release));
  const refused = rows.some(({ prepared }) => prepared.stage === "refused");
  const planned = rows.map(({ prepared }) => prepared).filter((one) => one.stage === "planned");
  if (settings.mode === "write" && !refused) write(settings, planned);
  const releases = rows.map(({ prepared, took, result }) => {
    if (result !== undefined) return result;
    const late = resultOf(prepared, took, { outcome: refused ? "withheld" : "written" });
    options.onProgress?.(late);
    return late;
  });
  return { ok: !refused && releases.every(({ outcome }) => outcome !== "different"), releases };
}
