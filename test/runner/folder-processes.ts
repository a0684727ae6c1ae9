/**
 * The processes of a folder: those that work in it. A PostgreSQL's own leave their parent's group and session, and outlive
 * it where it is killed; where they work they all keep.
 */
import { readdirSync, readlinkSync } from "node:fs";

/** @param folder absolute, without links @returns process ids; none on a system that does not say */
export function processesIn(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && worksIn(name, folder))
    .map(Number);
}

function worksIn(pid: string, folder: string): boolean {
  try {
    const at = readlinkSync(`/proc/${pid}/cwd`);
    return at === folder || at.startsWith(`${folder}/`);
  } catch {
    // It has ended, or is somebody else's.
    return false;
  }
}

/** Signals all of them, those too that begin meanwhile. @returns how many there were in the last look */
export function signalIn(folder: string, signal: NodeJS.Signals): number {
  const done = new Set<number>();
  for (;;) {
    const fresh = processesIn(folder).filter((pid) => !done.has(pid));
    if (fresh.length === 0) return done.size;
    for (const pid of fresh) {
      done.add(pid);
      try {
        process.kill(pid, signal);
      } catch {
        // Ended by itself.
      }
    }
  }
}
