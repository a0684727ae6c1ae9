/** Sees to it that what is temporary does not outlive the process that made it. */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import path from "node:path";

/**
 * Removes a folder when this process is gone, however it ends, and first stops the PostgreSQL server whose cluster is its `data`.
 * @param what `processes`: kills instead whatever works in the folder (Linux only)
 * @returns to be called when both are gone
 */
export function guard(folder: string, what: "server" | "processes" = "server"): () => void {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "guard-process.ts"), folder, what], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    // Neither a coverage run's hooks nor a loader's.
    env: {},
  });
  child.unref();
  (child.stdin as Socket).unref();
  return () => void child.stdin!.end();
}
