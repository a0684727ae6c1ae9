/**
 * The generator, as a list of stages: find -> load -> check -> model -> plan -> (write | compare). Each takes what the one
 * before gives and says what it found; all releases are planned before any is written.
 */
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";
import { assertReplaceable, compareFolder, generatorName, type Owned, unchangedSince, withOwned } from "./emit/disk.js";
import { assertFolder } from "./emit/disk-faults.js";
import { recover, writePlans } from "./emit/disk-swap.js";
import type { ImportExtension } from "./emit/import-extension.js";
import type { EmitOptions } from "./emit/plan.js";
import type { Plan } from "./emit/plan-files.js";
import { sortFindings } from "./finding.js";
import { checkRelease } from "./lint/check.js";
import { findReleases } from "./load/files.js";
import { type LoadedRelease, loadRelease } from "./load/load.js";
import { assertTaken, partFlags, partOfRelease, type ReleasePart } from "./load/part.js";
import type { GenerateResult, ReleaseOutcome, ReleaseResult } from "./result.js";

/** What to generate and where; the options of `adbind generate`. */
export interface GenerateOptions {
  /** Folder that gets one folder per release. */
  out: string;
  /** What of each release is generated; all of it by default. */
  part?: ReleasePart;
  /** SHA-256 of the one archive that is given, hex; checked before anything is read of it. */
  sha256?: string;
  /** Compare instead of writing. */
  check?: boolean;
  /** Emit precompiled validators too. */
  standalone?: boolean;
  /** Give objects that a schema does not close an index signature: a name that nothing declares compiles then. */
  open?: boolean;
  /** What emitted imports end in; `js` by default. */
  importExtension?: ImportExtension;
  /** Leave out the tools that missing or dangling files break, instead of refusing the release. */
  partial?: boolean;
  /** Write even when nothing changed, and over generated files that were edited by hand. */
  force?: boolean;
  /** Told of each release as it is done. */
  onProgress?: (result: ReleaseResult) => void;
  /** Told of each step before it is taken. */
  onStep?: (step: GenerateStep) => void;
  /** Gives up, with nothing written; heeded from the step `write` on, until the new trees take their names. */
  signal?: AbortSignal;
}

/** What a release goes through, in order; `write` is of all of them at once. */
export const steps = ["read", "check", "model", "emit", "write"] as const;

export interface GenerateStep {
  readonly step: (typeof steps)[number];
  /** As the user named it; empty for `write`. */
  readonly source: string;
}

/** The options with every default in, and what of them decides what is emitted. */
interface Settings extends Pick<GenerateOptions, "out" | "sha256"> {
  readonly mode: "write" | "compare";
  readonly force: boolean;
  readonly partial: boolean;
  readonly part: ReleasePart;
  readonly emit: EmitOptions;
  /** What a folder must say of itself to be taken for this run's. */
  readonly made: Pick<Owned, "generator" | "options">;
  readonly signal: AbortSignal | undefined;
  step(step: GenerateStep["step"], source: string): void;
}

function settingsOf(options: GenerateOptions): Settings {
  const { standalone = false, open = false, importExtension = "js", partial = false, part = {} } = options;
  return {
    out: options.out,
    ...(options.sha256 !== undefined && { sha256: options.sha256 }),
    mode: options.check ? "compare" : "write",
    force: options.force ?? false,
    partial,
    part,
    emit: { standalone, open, importExtension },
    made: { generator: generatorName(), options: { standalone, open, importExtension, partial, ...partFlags(part) } },
    signal: options.signal,
    step: (step, source) => options.onStep?.({ step, source }),
  };
}

/** find: every release the sources name, folders of them opened. */
async function find(sources: readonly string[], { sha256 }: Settings) {
  const found = [];
  for (const source of sources) found.push(await findReleases(source));
  const releases = found.flatMap((one) => one.releases);
  if (sha256 !== undefined && releases.length !== 1)
    throw new AdbindError("usage", `a checksum is of one archive, and ${releases.length} releases are given`, {
      remedy: "give one archive with it",
    });
  return { releases, passedOver: found.flatMap((one) => one.passedOver) };
}

const folderOf = ({ out }: Settings, { version }: Pick<LoadedRelease, "version">): string => path.join(out, version);

/** A release as far as it came: what is told of it, and what is to be written. */
interface Prepared {
  readonly result: ReleaseResult;
  /** Only of a release that is to be written. */
  readonly plan?: Plan;
}

const blank = (release: LoadedRelease, outcome: ReleaseOutcome): ReleaseResult => ({
  source: release.source.label,
  alsoFrom: [],
  word: release.word,
  version: release.version,
  digest: release.digest,
  outcome,
  tools: 0,
  codes: 0,
  specialisms: 0,
  files: 0,
  leftOut: [],
  findings: [],
  differences: [],
  took: 0,
});

/** What an unchanged release gave when it was written; `owned.json` itself is one of its files. */
const summaryOf = ({ counts, leftOut, files }: Owned) => ({ ...counts, leftOut, files: Object.keys(files).length + 1 });

/** check -> model -> plan -> compare, for one release; what is to be written is left for the end. */
async function prepare(release: LoadedRelease, settings: Settings): Promise<Prepared> {
  const folder = folderOf(settings, release);
  if (settings.mode === "write" && !settings.force && release.version !== "") {
    const owned = unchangedSince(folder, { ...settings.made, digest: release.digest });
    if (owned !== undefined) return { result: { ...blank(release, "unchanged"), ...summaryOf(owned) } };
  }
  const step = (name: GenerateStep["step"]): void => settings.step(name, release.source.label);
  step("check");
  const { findings, broken } = await checkRelease(release, {
    partial: settings.partial,
    levels: ["error"],
  });
  const refused: ReleaseResult = { ...blank(release, "refused"), findings: sortFindings(findings) };
  if (findings.some(({ level }) => level === "error")) return { result: refused };

  step("model");
  // What emitting needs is loaded only once a release is to be emitted.
  const [{ buildModel }, { planRelease }] = await Promise.all([import("./model/build.js"), import("./emit/plan.js")]);
  const model = buildModel(release, broken);
  const { word, version, digest } = release;
  const { leftOut } = model;
  const counts = { tools: model.tools.length, codes: model.codes.length, specialisms: model.specialisms.length };
  step("emit");
  const made = { ...settings.made, word, version, digest, counts, leftOut };
  const plan = withOwned(await planRelease(model, settings.emit), made);
  const planned: ReleaseResult = { ...refused, outcome: "withheld", ...counts, files: plan.size, leftOut };
  if (settings.mode === "write") return { result: planned, plan };
  const differences = compareFolder(folder, plan);
  return { result: { ...planned, differences, outcome: differences.length === 0 ? "same" : "different" } };
}

/** The same release given before, if any. @throws AdbindError output_conflict for another of its version */
function givenBefore(release: LoadedRelease, prepared: readonly Prepared[]): ReleaseResult | undefined {
  const before = prepared.map(({ result }) => result).find(({ version }) => version === release.version);
  if (before === undefined || release.version === "") return undefined;
  if (before.digest === release.digest && before.word === release.word) return before;
  const told = ({ word, digest }: Pick<ReleaseResult, "word" | "digest">): string =>
    `${word}, digest ${digest.slice(0, 12)}`;
  throw new AdbindError(
    "output_conflict",
    `${before.source} (${told(before)}) and ${release.source.label} (${told(release)}) are both release ${release.version}, and differ`,
    { remedy: "generate them in two runs with an --out of their own" },
  );
}

/** load -> check -> model -> plan, release by release. */
async function prepareAll(sources: readonly string[], settings: Settings, tell: (result: ReleaseResult) => void) {
  const prepared: Prepared[] = [];
  const taken: Parameters<typeof assertTaken>[0][number][] = [];
  for (const source of sources) {
    const started = performance.now();
    settings.step("read", source);
    const whole = await loadRelease(source, settings.sha256 === undefined ? {} : { sha256: settings.sha256 });
    const before = givenBefore(whole, prepared);
    if (before !== undefined) {
      before.alsoFrom.push(source);
      continue;
    }
    const { release, unknown, empty } = partOfRelease(whole, settings.part);
    taken.push({ source, unknown, empty });
    if (empty) continue;
    const one = await prepare(release, settings);
    one.result.took = performance.now() - started;
    prepared.push(one);
    if (one.plan === undefined) tell(one.result);
  }
  assertTaken(taken);
  return prepared;
}

/** write: all planned releases, or, where one cannot be, none. */
async function write({ out, force, signal, step }: Settings, plans: ReadonlyMap<string, Plan>): Promise<void> {
  if (plans.size === 0) return;
  assertReplaceable(out, plans, force);
  step("write", "");
  await writePlans(out, plans, { signal });
}

/**
 * Generates bindings for releases: all are read and checked before anything is written.
 * @param sources paths of releases, or of folders of them
 * @throws AdbindError release_unreadable, output_conflict, output_edited, output_unusable; usage for a part that none of the
 *   releases has; what `signal` was aborted with
 */
export async function generate(sources: readonly string[], options: GenerateOptions): Promise<GenerateResult> {
  const settings = settingsOf(options);
  const tell = (result: ReleaseResult): void => options.onProgress?.(result);
  if (settings.mode === "compare") assertFolder(settings.out);
  else recover(settings.out);
  const { releases: found, passedOver } = await find(sources, settings);
  const prepared = await prepareAll(found, settings, tell);
  const refused = prepared.some(({ result }) => result.outcome === "refused");
  const planned = prepared.flatMap(({ result, plan }) => (plan === undefined ? [] : [{ result, plan }]));
  if (!refused) await write(settings, new Map(planned.map(({ result, plan }) => [result.version, plan])));
  for (const { result } of planned) {
    if (!refused) result.outcome = "written";
    tell(result);
  }
  const releases = prepared.map(({ result }) => result);
  return { ok: !refused && releases.every(({ outcome }) => outcome !== "different"), releases, passedOver };
}
