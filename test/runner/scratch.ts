/** Where the temporary files of a run stand: generated trees and databases are most of what a run asks of a disk. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import path from "node:path";
import { guard } from "./guard.js";

const IN_MEMORY = "/dev/shm";
const GIB = 1024 ** 3;
/** A run's files take 1 to 2 GiB; a container's default is 64 MiB. */
const ROOM_BYTES = 6 * GIB;
/** What the tests themselves want beside them. */
const MEMORY_BYTES = 12 * GIB;
/** Anybody may make files here, as in any folder for temporary ones: a cluster runs as a user of its own. */
const MODE = 0o1777;

function hasRoom(): boolean {
  if (!existsSync(IN_MEMORY)) return false;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= ROOM_BYTES && freemem() >= MEMORY_BYTES;
}

/** Makes the folder in which `os.tmpdir()` of this process and its children lies from now on. @returns removes it */
export function scratch(): () => void {
  const folder = mkdtempSync(path.join(hasRoom() ? IN_MEMORY : tmpdir(), "adbind-run-"));
  chmodSync(folder, MODE);
  const release = guard(folder);
  process.env.TMPDIR = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    release();
  };
}
