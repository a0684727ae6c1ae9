/** Changes of a project that are right whatever it does: its bindings, where it imports them from, and arms that it lacks. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Project } from "ts-morph";
import type { Model } from "../../generator/model/model.js";
import { generate } from "../../generator/run.js";
import { addArms, isScaffoldedSeller, newSeller } from "../../generator/scaffold/index.js";
import { AdbindError } from "../../runtime/errors.js";
import type { Mentions } from "../diff/mentions.js";
import type { UpgradedProject } from "./project.js";

export interface AppliedUpgrade {
  /** Files changed, relative to the project. */
  readonly files: readonly string[];
  /** What could not be changed safely, `<file>: <what>`. */
  readonly byHand: readonly string[];
}

export interface UpgradeTarget {
  /** Path of the newer release. */
  readonly release: string;
  readonly model: Model;
}

/** Files beside the sources that name the bindings. */
const SETTINGS = ["package.json", "tsconfig.json", "adbind.config.json"];

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

async function regenerate({ bindings }: UpgradedProject, { release }: UpgradeTarget): Promise<void> {
  const { standalone = false, open = false, partial = false, importExtension = "js" } = bindings.options;
  const result = await generate([release], { out: bindings.out, standalone, open, partial, importExtension });
  if (!result.ok)
    throw new AdbindError("release_invalid", "the release breaks rules", {
      where: release,
      remedy: "adbind lint tells which",
    });
}

/** `generated/3.0.26/index.js` as `generated/3.1.19/index.js`, in texts that name that folder. */
function pointed(text: string, { bindings }: UpgradedProject, version: string): string {
  const folder = escaped(path.basename(bindings.out));
  return text.replace(
    new RegExp(`(["'\`][^"'\`\\n]*\\b${folder}/)${escaped(bindings.version)}(?=[/"'\`])`, "g"),
    `$1${version}`,
  );
}

/** The release that the project's settings name, by its path or its name. */
const renamed = (text: string, { bindings }: UpgradedProject, version: string): string =>
  text.replace(new RegExp(`("[^"\\n]*[/@])${escaped(bindings.version)}(?=(?:\\.tgz)?")`, "g"), `$1${version}`);

/** @returns whether the file changed */
function edit(file: string, change: (text: string) => string): boolean {
  if (!existsSync(file)) return false;
  const before = readFileSync(file, "utf8");
  const after = change(before);
  if (after !== before) writeFileSync(file, after);
  return after !== before;
}

function editSources(project: UpgradedProject, mentions: Mentions, model: Model): AppliedUpgrade {
  const files: string[] = [];
  const byHand: string[] = [];
  const sources = new Project({ skipAddingFilesFromTsConfig: true, skipFileDependencyResolution: true });
  for (const file of mentions.files) {
    const place = path.join(project.folder, file);
    const before = readFileSync(place, "utf8");
    const source = sources.createSourceFile(place, pointed(before, project, model.version), { overwrite: true });
    if (/\bhandle[A-Z]/.test(before)) byHand.push(...addArms(source, model).map((what) => `${file}: ${what}`));
    const after = source.getFullText();
    if (after === before) continue;
    writeFileSync(place, after);
    files.push(file);
  }
  return { files, byHand };
}

/** What a seller that \`adbind new\` made needs at the release, in its own files. */
async function bringSeller({ folder, bindings }: UpgradedProject, { release }: UpgradeTarget): Promise<AppliedUpgrade> {
  const isOwn = bindings.out === path.join(folder, "bindings") && isScaffoldedSeller(folder);
  if (!isOwn) return { files: [], byHand: [] };
  const { partial = false } = bindings.options;
  try {
    const { files, byHand, kept, awaited } = await newSeller({ folder, release, specialisms: [], partial });
    const beside = kept.map(
      ({ file, beside }) =>
        `${file}: it was changed; what it would be now is ${beside ?? `not written, for ${file}.new is yours`}`,
    );
    const open = awaited.map((tool) => `src/seller.ts: a handler of ${tool} in tools; it starts once it is there`);
    return { files, byHand: [...byHand, ...beside, ...open] };
  } catch (error) {
    // What it claims is not in the release, say: the rest of the project is brought there all the same.
    if (!(error instanceof AdbindError) || error.code !== "usage") throw error;
    return { files: [], byHand: [`src/seller.ts: ${error.message}`] };
  }
}

/** @throws AdbindError release_invalid, output_edited */
export async function applyUpgrade(
  project: UpgradedProject,
  target: UpgradeTarget,
  mentions: Mentions,
): Promise<AppliedUpgrade> {
  const { version } = target.model;
  const { folder } = project;
  const brought = await bringSeller(project, target);
  // After it: bindings of the project's own settings are the ones that stay.
  await regenerate(project, target);
  const { files, byHand } = editSources(project, mentions, target.model);
  const settings = SETTINGS.filter((name) =>
    edit(path.join(folder, name), (text) => {
      const moved = pointed(text, project, version);
      return name === "adbind.config.json" ? renamed(moved, project, version) : moved;
    }),
  );
  const out = path.relative(folder, project.bindings.out).split(path.sep).join("/");
  const changed = new Set([...brought.files, ...files, ...settings, `${out}/${version}`]);
  return { files: [...changed], byHand: [...brought.byHand, ...byHand] };
}
