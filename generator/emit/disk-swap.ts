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

/**
 * Plans by the folder that holds what they replace: a symbolic link to a tree stays, and the tree it leads to is replaced
 * where it is, since a rename does not cross disks.
 */
function byPlace(out: string, plans: ReadonlyMap<string, Plan>): Map<string, Map<string, Plan>> {
  const places = new Map<string, Map<string, Plan>>();
  for (const [name, plan] of plans) {
    const target = path.join(out, name);
    const linked = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true && existsSync(target);
    const tree = linked ? realpathSync(target) : target;
    const folder = linked ? path.dirname(tree) : out;
    places.set(folder, (places.get(folder) ?? new Map<string, Plan>()).set(path.basename(tree), plan));
  }
  return places;
}

/**
 * Writes plans to `<out>/<name>`: all of them to a folder beside first, then each swapped in by rename.
 * @throws AdbindError output_unusable; whatever the signal was aborted with
 */
export async function writePlans(
  out: string,
  plans: ReadonlyMap<string, Plan>,
  options: WriteOptions = {},
): Promise<void> {
  for (const [folder, here] of byPlace(out, plans)) {
    if (folder !== out) recover(folder);
    await writeTrees(folder, here, options);
  }
}

async function writeTrees(out: string, plans: ReadonlyMap<string, Plan>, { signal }: WriteOptions): Promise<void> {
  let made: string | undefined;
  const staging = path.join(out, stagingName());
  const at = (part: string, name: string): string => path.join(staging, part, name);
  try {
    made = makeFolder(path.resolve(out));
    for (const [name, plan] of plans) await stage(at("new", name), plan, signal);
    mkdirSync(path.join(staging, "old"), { recursive: true });
    for (const name of plans.keys()) swap(at("new", name), path.join(out, name), at("old", name));
    // From here on what is aside is no longer wanted back.
    renameSync(path.join(staging, "old"), path.join(staging, "replaced"));
  } catch (error) {
    // Whatever is not back at its name stays aside, for the next run.
    putBack(path.join(staging, "old"), out);
    rmSync(staging, { recursive: true, force: true });
    removeMade(out, made);
    throw told(out, error);
  }
  rmSync(staging, { recursive: true, force: true });
}

/**
 * Makes a folder and those above it. @returns the first that was made
 * One by one: of a place where nothing can be made (`/proc`), Node's own recursion never returns.
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
function removeMade(out: string, made: string | undefined): void {
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
  for (const inner of folders) mkdirSync(path.join(folder, inner), { recursive: true });
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
