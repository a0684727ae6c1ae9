/** A new project on disk: all of it, or nothing. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
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
  /** Folders, each with the first above it that was made. */
  const made: [folder: string, first: string | undefined][] = [];
  const make = (one: string): void => void made.push([one, makeFolder(one)]);
  try {
    make(folder);
    await bind();
    for (const [file, text] of files) {
      make(path.dirname(path.join(folder, file)));
      writeFileSync(path.join(folder, file), text);
    }
    if (record !== undefined)
      writeRecord(folder, { ...record, files: new Map([...files].filter(([file]) => file !== "package.json")) });
  } catch (error) {
    for (const name of ours) takeBack(path.join(folder, name));
    for (const [one, first] of made.reverse()) removeMade(one, first);
    throw told(folder, error);
  }
  return { files: names.sort(), byHand: [], kept: [] };
}

/** Removes what was written. */
function takeBack(place: string): void {
  try {
    rmSync(place, { recursive: true, force: true });
  } catch {
    // Something else stands in its way: then it stays.
  }
}
