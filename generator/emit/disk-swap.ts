/**
 * Plans to disk, so that a run that dies at any moment leaves the trees that stood there.
 *
 * Everything is first written to a folder of the run's own in `out`; then each tree is moved aside and the new one takes
 * its name. No file system offers both moves as one: who dies between them leaves the tree aside, and the next run moves
 * it back before it does anything else.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { readOwned } from "./disk.js";
import { assertFolder, codeOf, told, unusable } from "./disk-faults.js";
import type { Plan } from "./plan-files.js";

/** A run's own folder: `.adbind-<process id>-<random>-<host>`. */
const STAGING = /^\.adbind-(\d+)-[0-9a-f]+(?:-([0-9a-f]+))?$/;

/** A run of another machine on a shared disk cannot be asked whether it lives; none takes so long, in milliseconds. */
const STALE_MS = 60 * 60 * 1000;

/** Files written before the event loop has its turn: some 10 milliseconds. */
const FILES_A_TURN = 64;

/** Runs that swap the same tree at once take turns by trying again; nobody meets more others than this. */
const MAX_SWAPS = 10;

const hostTag = (): string => createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Whether the run that made a folder is over, so that nobody else will clean up after it. */
function isStale(folder: string, [, pid, host]: RegExpExecArray): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined) return false;
  if (Date.now() - made > STALE_MS) return true;
  if (host !== undefined && host !== hostTag()) return false;
  // A process that had our number before us, as the first of a container often has.
  if (Number(pid) === process.pid) return made < Date.now() - process.uptime() * 1000;
  return !isAlive(Number(pid));
}

/**
 * Cleans up after runs that were killed: a tree that had been moved aside goes back to its name, the rest is removed.
 * Runs that are under way are left alone.
 * @throws AdbindError output_unusable
 */
export function recover(out: string): void {
  assertFolder(out);
  if (!existsSync(out)) return;
  try {
    for (const name of readdirSync(out)) {
      const match = STAGING.exec(name);
      if (match === null || !isStale(path.join(out, name), match)) continue;
      const claimed = path.join(out, stagingName());
      // Of several runs that find it, the one whose rename succeeds sees to it.
      if (!moved(path.join(out, name), claimed)) continue;
      // A rename keeps the time: others must not take this for stale as well.
      utimesSync(claimed, new Date(), new Date());
      putBack(path.join(claimed, "old"), out);
      rmSync(claimed, { recursive: true, force: true });
    }
  } catch (error) {
    throw told(out, error);
  }
}

const stagingName = (): string => `.adbind-${process.pid}-${randomBytes(4).toString("hex")}-${hostTag()}`;

/** Renames; false when what was to be moved is gone, or its new name is taken. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

function putBack(old: string, out: string): void {
  if (!existsSync(old)) return;
  for (const name of readdirSync(old))
    if (!existsSync(path.join(out, name))) moved(path.join(old, name), path.join(out, name));
}

export interface WriteOptions {
  /** Gives up, as if nothing had been begun. Once trees are being swapped it is too late. */
  readonly signal?: AbortSignal | undefined;
}

/** Trees of one folder that are replaced. */
interface Place {
  readonly folder: string;
  readonly plans: Map<string, Plan>;
  readonly staging: string;
  /** The first folder that had to be made. */
  made?: string | undefined;
}

/** What is kept in a tree under its own name, where that is not `name`. */
function ownerByName(tree: string, name: string): string | undefined {
  const version = readOwned(tree)?.version;
  return version !== name && version === path.basename(tree) ? version : undefined;
}

/**
 * Plans by the folder that holds what they replace: a symbolic link to a tree stays, and the tree it leads to is replaced
 * where it is, since a rename does not cross disks.
 * @throws AdbindError output_unusable where a link leads to another's tree
 */
function byPlace(out: string, plans: ReadonlyMap<string, Plan>): Place[] {
  const places = new Map<string, Place>();
  const trees = new Map<string, string>();
  for (const [name, plan] of plans) {
    const target = path.join(out, name);
    const tree = existsSync(target) ? realpathSync(target) : target;
    const linked = tree !== target && lstatSync(target).isSymbolicLink();
    const other = trees.get(tree) ?? (linked ? ownerByName(tree, name) : undefined);
    if (other !== undefined)
      throw unusable(target, `a link has ${other} and ${name} in one folder, where each would replace the other`);
    trees.set(tree, name);
    const folder = linked ? path.dirname(tree) : out;
    const place = places.get(folder) ?? { folder, plans: new Map(), staging: path.join(folder, stagingName()) };
    places.set(folder, place);
    place.plans.set(linked ? path.basename(tree) : name, plan);
  }
  return [...places.values()];
}

/**
 * Writes plans to `<out>/<name>`: all of them to folders beside first, then each swapped in by rename.
 * @throws AdbindError output_unusable; whatever the signal was aborted with
 */
export async function writePlans(
  out: string,
  plans: ReadonlyMap<string, Plan>,
  { signal }: WriteOptions = {},
): Promise<void> {
  const places = byPlace(out, plans);
  for (const { folder } of places) if (folder !== out) recover(folder);
  let at = out;
  try {
    for (const place of places) {
      at = place.folder;
      await stageTrees(place, signal);
    }
    for (const place of places) {
      at = place.folder;
      swapTrees(place);
    }
    // From here on what is aside is no longer wanted back.
    for (const { staging } of places) renameSync(path.join(staging, "old"), path.join(staging, "replaced"));
  } catch (error) {
    for (const { folder, staging, made } of places) {
      // Whatever is not back at its name stays aside, for the next run.
      putBack(path.join(staging, "old"), folder);
      rmSync(staging, { recursive: true, force: true });
      removeMade(folder, made);
    }
    throw told(at, error);
  }
  for (const { staging } of places) rmSync(staging, { recursive: true, force: true });
}

async function stageTrees(place: Place, signal: AbortSignal | undefined): Promise<void> {
  const { folder, plans, staging } = place;
  place.made = makeFolder(path.resolve(folder));
  for (const [name, plan] of plans) await stage(path.join(staging, "new", name), plan, signal);
  mkdirSync(path.join(staging, "old"), { recursive: true });
}

function swapTrees({ folder, plans, staging }: Place): void {
  const at = (part: string, name: string): string => path.join(staging, part, name);
  for (const name of plans.keys()) swap(at("new", name), path.join(folder, name), at("old", name));
}

/**
 * Makes a folder and those above it. @returns the first that was made
 * One by one: of a place where nothing can be made (`/proc`), Node's own recursion never returns, and of a disk that is
 * read-only it says that there is no such folder.
 */
export function makeFolder(folder: string): string | undefined {
  if (existsSync(folder)) return undefined;
  const first = makeFolder(path.dirname(folder));
  // Another run may have made it meanwhile; what else stands there, the first file to be written tells.
  mkdirOrFound(folder);
  return first ?? folder;
}

function mkdirOrFound(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Takes away the empty folders that this run made, down from the first of them. */
export function removeMade(out: string, made: string | undefined): void {
  if (made === undefined) return;
  try {
    for (let folder = path.resolve(out); folder.startsWith(path.resolve(made)); folder = path.dirname(folder))
      rmdirSync(folder);
  } catch {
    // Something is in it: then it stays.
  }
}

async function stage(folder: string, plan: Plan, signal: AbortSignal | undefined): Promise<void> {
  const folders = new Set([...plan.keys()].map((file) => path.dirname(file)));
  for (const inner of folders) makeFolder(path.join(folder, inner));
  let written = 0;
  for (const [file, text] of plan) {
    // Waiting for each of a thousand small files takes a fifth of a run; now and then is enough to hear of an interrupt.
    if (written++ % FILES_A_TURN === 0) await setImmediate();
    signal?.throwIfAborted();
    writeFileSync(path.join(folder, file), text);
  }
  await setImmediate();
  signal?.throwIfAborted();
}

/** The new tree takes the target's name; what had it is in `old` afterwards. Other runs may be doing the same. */
function swap(fresh: string, target: string, old: string): void {
  for (let tries = 0; tries < MAX_SWAPS; tries += 1) {
    rmSync(old, { recursive: true, force: true });
    moved(target, old);
    // Not when another run has put its tree there meanwhile: that one is moved aside in the next turn.
    if (moved(fresh, target)) return;
  }
  throw unusable(target, "other runs keep writing the folder");
}
