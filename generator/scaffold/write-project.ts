/** A new project on disk: all of it, or nothing. */
import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../runtime/errors.js";
import { assertFolder, told } from "../emit/disk-faults.js";
import { makeFolder, removeMade } from "../emit/disk-swap.js";
import { generate } from "../run.js";
import type { ProjectUpdate } from "./update.js";
import { SCAFFOLD_FILE, type ScaffoldRecord, writeRecord } from "./written.js";

const BINDINGS = "bindings";

/** @throws AdbindError `release_invalid`, and those of `generate` */
export async function generateBindings(
  folder: string,
  sources: readonly string[],
  options: { readonly partial: boolean; readonly force: boolean },
): Promise<void> {
  const { ok } = await generate(sources, { out: path.join(folder, BINDINGS), ...options });
  if (!ok) throw new AdbindError("release_invalid", "the release breaks rules", { where: sources[0]! });
}

interface NewProject {
  /** Path -> text. */
  readonly files: ReadonlyMap<string, string>;
  /** Writes the bindings. */
  bind(): Promise<void>;
  /** Of a project that is brought up to date later. */
  readonly record?: Pick<ScaffoldRecord, "name" | "also">;
}

/**
 * Writes a project where there is none. What fails on the way leaves the folder as it was, so that the same command
 * can be given again.
 * @throws AdbindError `usage` where files stand in the way, `output_unusable`, and those of the bindings
 */
export async function writeProject(folder: string, { files, bind, record }: NewProject): Promise<ProjectUpdate> {
  assertFolder(folder);
  const names = [...files.keys()];
  const present = names.filter((file) => existsSync(path.join(folder, file)));
  if (present.length > 0)
    throw new AdbindError("usage", "the folder holds files the project would replace", {
      where: present.join(", "),
      remedy: "give an empty or a new folder",
    });
  const ours = [...names, SCAFFOLD_FILE, BINDINGS].filter((name) => !existsSync(path.join(folder, name)));
  let made: string | undefined;
  try {
    made = makeFolder(folder);
    await bind();
    for (const [file, text] of files) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    }
    if (record !== undefined)
      writeRecord(folder, { ...record, files: new Map([...files].filter(([file]) => file !== "package.json")) });
  } catch (error) {
    for (const name of ours) takeBack(folder, name);
    removeMade(folder, made);
    throw told(folder, error);
  }
  return { files: names.sort(), byHand: [], kept: [] };
}

/** Removes what was written, and the folders in it that are empty then. */
function takeBack(folder: string, name: string): void {
  try {
    rmSync(path.join(folder, name), { recursive: true, force: true });
    for (let at = path.dirname(name); at !== "."; at = path.dirname(at)) rmdirSync(path.join(folder, at));
  } catch {
    // Something else is in it, or stands in its place: then it stays.
  }
}
