/**
 * Outlives whoever made a folder: when that process is gone, by kill -9 too, its end of our stdin closes, and the folder is
 * removed; where a cluster stands in it, its server is stopped first, and servers that left `NAME.pid` there are killed. Run by Node itself, without a loader: `node guard-process.ts FOLDER`.
 */
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 100;
/** A server that is not gone by then is killed. */
const STOP_LIMIT_MS = 10_000;
/** A folder that cannot be removed by then stays. */
const REMOVE_LIMIT_MS = 60_000;

const folder = process.argv[2]!;
const data = path.join(folder, "data");

/** The server's process, while there is one: its number may have become another's, so its command is looked at. */
function postmaster(): number | undefined {
  try {
    const pid = Number(readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    process.kill(pid, 0);
    const command = `/proc/${pid}/cmdline`;
    return !existsSync(command) || readFileSync(command, "utf8").includes(data) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Other servers whose files are here. */
function killServers(): void {
  for (const file of globSync(path.join(folder, "*.pid"))) {
    try {
      const pid = Number(readFileSync(file, "utf8"));
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)) process.kill(pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  }
}

async function end(): Promise<void> {
  killServers();
  // Whoever stopped it in order has removed its folder.
  for (let waited = 0; existsSync(folder) && postmaster() !== undefined; waited += STEP_MS) {
    process.kill(postmaster()!, waited < STOP_LIMIT_MS ? "SIGQUIT" : "SIGKILL");
    await sleep(STEP_MS);
  }
  // Processes that outlived their parent may still write in it.
  for (let waited = 0; existsSync(folder) && waited < REMOVE_LIMIT_MS; waited += STEP_MS) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      await sleep(STEP_MS);
    }
  }
}

for await (const _ of process.stdin);
await end();
