/** `adbind new seller`: a release and specialisms -> a project on disk, or what an existing one lacks. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import semver from "semver";
import { AdbindError } from "../../runtime/errors.js";
import { generatorName } from "../emit/disk.js";
import { checkRelease } from "../lint/check.js";
import { loadRelease } from "../load/load.js";
import { buildModel } from "../model/build.js";
import type { Model } from "../model/model.js";
import { answeredSpecialisms, CLAIMS_FILE } from "./claimed.js";
import {
  type LibraryAreas,
  libraryChoice,
  type ProjectPlan,
  type ProjectRequest,
  planLibraryProject,
} from "./library-plan.js";
import { readProjectTemplates } from "./template-files.js";
import {
  claimsIn,
  isPlannedAnew,
  type ProjectUpdate,
  type SellerClaims,
  updateProject,
  versionThere,
} from "./update.js";
import { generateBindings, writeProject } from "./write-project.js";
import { type KeptFile, readRecord, type ScaffoldRecord } from "./written.js";

export interface NewSellerOptions {
  /** Folder of the project; made when missing. */
  readonly folder: string;
  /** Folder or archive of the release. */
  readonly release: string;
  /** The same of further releases that are served, in any order: the newest of all is the one that the project is of. */
  readonly releases?: readonly string[];
  /** Ids of specialisms, snake or kebab case; those the project claims already where it exists. */
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism, such as `financials`. */
  readonly with?: readonly string[];
  /** For people; the folder's name by default. */
  readonly name?: string;
  /** What the project installs adbind from: a path or a version range; by default this version, or what it has where it exists. */
  readonly adbind?: string;
  /** The same of adbind-cli, which its tests and its upgrades take. */
  readonly cli?: string;
  /** Leave out tools that missing or dangling files of the release break, instead of refusing it. */
  readonly partial?: boolean;
  /** Write over bindings that were edited by hand; of other files none that was changed is ever written over. */
  readonly force?: boolean;
}

export interface NewSellerResult {
  readonly folder: string;
  readonly created: boolean;
  /** The newest release that is served. */
  readonly version: string;
  /** Versions of the further ones, newest first. */
  readonly also: readonly string[];
  readonly specialisms: readonly string[];
  readonly tools: readonly string[];
  /** Tools that the specialisms name and nobody answers yet. */
  readonly open: readonly string[];
  /** Those of them without which the seller does not start: entry points of what it claims. */
  readonly awaited: readonly string[];
  /** Files written or added to, bindings left out. */
  readonly files: readonly string[];
  /** Files that were changed and stay as they are, where there is something new, and where that is. */
  readonly kept: readonly KeptFile[];
  /** What could not be added without touching a line of the user's, for the user to add. */
  readonly byHand: readonly string[];
}

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

/**
 * Makes a seller's project, or adds to an existing one what a release needs.
 * @throws AdbindError `usage` for an unknown specialism, a folder that holds something else, or a release before the project's own, `release_invalid`,
 * `output_edited` for bindings that were edited by hand
 */
export async function newSeller(options: NewSellerOptions): Promise<NewSellerResult> {
  const folder = path.resolve(options.folder);
  const created = !existsSync(path.join(folder, "package.json"));
  const partial = options.partial ?? false;
  const [newest, ...further] = await servedModels([options.release, ...(options.releases ?? [])], partial);
  const { model } = newest;
  const record = created ? undefined : readRecord(folder);
  const also = alsoServed(folder, [newest, ...further], record);
  const claimed = created ? { specialisms: [], areas: [] } : claimedThere(folder);
  if (!created) goesOn(folder, model.version);
  const specialisms = answeredSpecialisms(model, claimed.specialisms, options.specialisms);
  const areas = [...new Set([...claimed.areas, ...(options.with ?? [])])];
  if (specialisms.length + areas.length === 0)
    throw usage(
      "no specialism was given",
      "--specialism",
      `give some of ${model.specialisms.map(({ id }) => id).join(", ")}`,
    );
  const name = options.name ?? record?.name ?? path.basename(folder);
  const request: ProjectRequest = {
    name,
    packageName: packageNameOf(name),
    adbind: options.adbind ?? thisVersion(),
    cli: options.cli ?? thisVersion(),
    specialisms,
    ...(also.length > 0 && { also }),
    ...(areas.length > 0 && { with: areas }),
  };
  const anew = planFor(model, request);
  const whole = created || (record !== undefined && isPlannedAnew(folder, anew, record));
  const plan = whole ? anew : planFor(model, { ...request, before: sellerIn(folder) });
  const sources = [newest, ...further].map(({ source }) => source);
  const bind = () => generateBindings(folder, sources, { partial, force: options.force ?? false });
  let done: ProjectUpdate;
  if (created) {
    done = await writeProject(folder, { files: plan.files, bind, record: { name, also } });
  } else {
    await bind();
    const from = { adbind: options.adbind, cli: options.cli };
    const added = missingIn(claimed.specialisms, specialisms);
    done = updateProject(folder, plan, { model, name, also, added, whole, from });
  }
  return {
    folder,
    created,
    version: model.version,
    also,
    specialisms,
    tools: plan.tools,
    ...openIn(plan),
    ...done,
  };
}

/** The project in a folder was made by `newSeller`, which can bring it to another release. */
export const isScaffoldedSeller = (folder: string): boolean =>
  readRecord(folder) !== undefined && claimsIn(folder) !== undefined;

const sellerIn = (folder: string): string => readFileSync(path.join(folder, CLAIMS_FILE), "utf8");

/** Versions that are served beside the newest: those given, and those the project had, whose bindings are there still. */
function alsoServed(folder: string, given: readonly SourceModel[], record: ScaffoldRecord | undefined): string[] {
  const versions = given.map(({ model }) => model.version);
  const lines = new Set(versions.map(lineOf));
  const before = (record?.also ?? []).filter(
    (one) => !lines.has(lineOf(one)) && existsSync(path.join(folder, "bindings", one)),
  );
  return [...versions.slice(1), ...before].sort(semver.rcompare);
}

/** @throws AdbindError `usage` for a release before the one that the project is of: nobody goes back by mistake */
function goesOn(folder: string, version: string): void {
  const there = versionThere(folder);
  if (there === undefined || semver.gte(version, there)) return;
  throw usage(
    `the project is of release ${there}, and ${version} is older`,
    "--release",
    `give both to serve callers of either; to go back for good, remove bindings/${there} first`,
  );
}

const missingIn = (has: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((id) => !has.includes(id));

/** What an existing project claims. @throws AdbindError `usage` where it is none of a seller */
function claimedThere(folder: string): SellerClaims {
  const claimed = claimsIn(folder);
  if (claimed !== undefined) return claimed;
  throw usage(
    "the project that is there has no src/seller.ts that opens a seller of adbind/behaviours",
    folder,
    "give a new folder; `adbind upgrade` brings another project's bindings to a newer release",
  );
}

const openIn = ({ open, awaited }: ProjectPlan) => ({ open, awaited });

/** @throws AdbindError `usage` for an area that there is not, and where nothing of what is claimed is answered */
function planFor(model: Model, request: ProjectRequest): ProjectPlan {
  const files = readProjectTemplates();
  const areas = JSON.parse(files.get("areas.json")!) as LibraryAreas;
  const unknown = (request.with ?? []).find((area) => !Object.hasOwn(areas, area));
  if (unknown !== undefined)
    throw usage(`there is no area ${unknown}`, "--with", `give some of ${Object.keys(areas).join(", ")}`);
  const choice = libraryChoice(model, areas, request);
  if (choice.areas.size > 0) return planLibraryProject(model, files, request, choice);
  throw usage(
    `adbind answers none of the tools of ${request.specialisms.join(", ")}: ${choice.open.join(", ")}`,
    "--specialism",
    "answer them yourself: createSeller of adbind/seller takes a handler for each",
  );
}

interface SourceModel {
  readonly source: string;
  readonly model: Model;
}

/** A pin names a release by this. */
const lineOf = (version: string): string => version.replace(/^(\d+\.\d+)\.\d+/, "$1");

/** The releases that a project speaks, newest first. */
async function servedModels(sources: readonly string[], partial: boolean): Promise<[SourceModel, ...SourceModel[]]> {
  const all: SourceModel[] = [];
  for (const source of sources) all.push({ source, model: await modelOf(source, partial) });
  all.sort((a, b) => semver.rcompare(a.model.version, b.model.version));
  for (const [at, { model }] of all.entries()) {
    const before = all[at - 1]?.model;
    if (before === undefined) continue;
    if (before.word !== model.word)
      throw usage(`${before.word} and ${model.word} are two protocols`, "--release", "make a project of each");
    if (lineOf(before.version) === lineOf(model.version))
      throw usage(
        `callers pin ${before.version} and ${model.version} by the same name`,
        "--release",
        "give one of them",
      );
  }
  return all as [SourceModel, ...SourceModel[]];
}

export async function modelOf(source: string, partial: boolean): Promise<Model> {
  const release = await loadRelease(source);
  const { findings, broken } = await checkRelease(release, { partial, levels: ["error"] });
  const errors = findings.filter(({ level }) => level === "error");
  if (errors.length > 0)
    throw new AdbindError("release_invalid", `the release breaks ${errors.length} rules`, {
      where: source,
      remedy: "adbind lint tells which",
    });
  return buildModel(release, broken);
}

/** The range of this version. */
export const thisVersion = (): string => `^${generatorName().split(" ")[1]!}`;

/** A name npm takes. */
export const packageNameOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[-._]+|-+$/g, "") || "seller";
