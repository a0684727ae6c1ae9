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
import type { Plan } from "./emit/plan.js";
import { type Finding, sortFindings } from "./finding.js";
import { checkRelease } from "./lint/check.js";
import { findReleases } from "./load/files.js";
import { type LoadedRelease, loadRelease } from "./load/load.js";
import { assertTaken, type Part, partFlags, partOf } from "./load/part.js";

export interface GenerateOptions {
  /** Folder that gets one folder per release. */
  out: string;
  /** Compare instead of writing. */
  check?: boolean;
  /** Emit precompiled validators too. */
  standalone?: boolean;
  /** Leave out the tools that missing or dangling files break, instead of refusing the release. */
  partial?: boolean;
  /** Write even when nothing changed. */
  force?: boolean;
  /** Generate these tools only; the whole release by default. */
  part?: Part;
  /** SHA-256 of the archive, hex, where one archive is given. */
  sha256?: string;
  /** Told of each release as it is done. */
  onProgress?: (result: ReleaseResult) => void;
}

export interface ReleaseResult {
  /** As the user named it; in a folder of releases, the path of this one. */
  source: string;
  /** Other sources that gave this very release: it is generated once. */
  alsoFrom: string[];
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
  /** What looked like a release in a folder of them, and is none. */
  passedOver: { path: string; why: string }[];
}

const emptyResult = (release: LoadedRelease, started: number): ReleaseResult => ({
  source: release.source.label,
  alsoFrom: [],
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

/** The result of the same release given before, if any. @throws AdbindError output_conflict for another of its version */
function givenBefore(release: LoadedRelease, results: readonly ReleaseResult[]): ReleaseResult | undefined {
  const before = results.find(({ version }) => version !== "" && version === release.version);
  if (before === undefined || (before.digest === release.digest && before.word === release.word)) return before;
  const told = ({ word, digest }: Pick<ReleaseResult, "word" | "digest">): string =>
    `${word}, digest ${digest.slice(0, 12)}`;
  throw new AdbindError(
    "output_conflict",
    `${before.source} (${told(before)}) and ${release.source.label} (${told(release)}) are both release ${release.version}, and differ`,
    { remedy: "generate them in two runs with an --out of their own" },
  );
}

/** Every release the sources name, folders of them opened. */
async function sourcesOf(sources: readonly string[], { sha256 }: GenerateOptions) {
  const found = [];
  for (const source of sources) found.push(await findReleases(source));
  const releases = found.flatMap((one) => one.releases);
  if (sha256 !== undefined && releases.length !== 1)
    throw new AdbindError("usage", `a checksum is of one archive, and ${releases.length} releases are given`, {
      remedy: "give one archive with it",
    });
  return { releases, passedOver: found.flatMap((one) => one.passedOver) };
}

/**
 * Generates bindings for releases: all are read and checked before anything is written.
 * @param sources paths of releases, or of folders of them
 * @throws AdbindError release_unreadable, output_conflict; usage for a part that none of the releases has
 */
export async function generate(sources: readonly string[], options: GenerateOptions): Promise<GenerateResult> {
  const part = options.part ?? {};
  const shared = {
    generator: generatorName(),
    options: { standalone: options.standalone ?? false, partial: options.partial ?? false, ...partFlags(part) },
  };
  const plans = new Map<string, Plan>();
  const results: ReleaseResult[] = [];
  const taken: Parameters<typeof assertTaken>[0][number][] = [];
  const found = await sourcesOf(sources, options);
  for (const source of found.releases) {
    const started = performance.now();
    const whole = await loadRelease(source, options.sha256 === undefined ? {} : { sha256: options.sha256 });
    const before = givenBefore(whole, results);
    if (before !== undefined) {
      before.alsoFrom.push(source);
      continue;
    }
    const { release, unknown, empty } = partOf(whole, part);
    taken.push({ source, unknown, empty });
    if (empty) continue;
    const result = await handle(release, options, shared, plans, started);
    result.took = performance.now() - started;
    results.push(result);
    if (result.outcome !== "written") options.onProgress?.(result);
  }
  assertTaken(taken);
  const refused = results.some(({ outcome }) => outcome === "refused");
  if (!refused && plans.size > 0) {
    for (const version of plans.keys()) assertReplaceable(path.join(options.out, version));
    writePlans(options.out, plans);
  }
  for (const result of results.filter(({ outcome }) => outcome === "written")) {
    if (refused) result.outcome = "unchanged";
    else options.onProgress?.(result);
  }
  return {
    ok: !refused && results.every(({ outcome }) => outcome !== "different"),
    releases: results,
    passedOver: found.passedOver,
  };
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
  const { findings, broken } = await checkRelease(release, { partial: options.partial ?? false, levels: ["error"] });
  result.findings = sortFindings(findings);
  if (findings.some(({ level }) => level === "error")) return result;

  const [{ buildModel }, { planRelease }] = await Promise.all([import("./model/build.js"), import("./emit/plan.js")]);
  const model = buildModel(release, broken);
  const plan = await planRelease(model, { standalone: shared.options.standalone ?? false });
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
