/**
 * Outlives whoever made a folder: when that process is gone, by kill -9 too, its end of our stdin closes, and the folder is
 * removed; where a cluster stands in it, its server is stopped first, and with `processes` whatever works in it is killed.
 * Run by Node itself, without a loader: `node guard-process.ts FOLDER [server|processes]`.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 100;
/** A server that is not gone by then is killed. */
const STOP_LIMIT_MS = 10_000;
/** A folder that cannot be removed by then stays. */
const REMOVE_LIMIT_MS = 60_000;

const folder = process.argv[2]!;
const what = process.argv[3] ?? "server";
const data = path.join(folder, "data");

/** The server's process, while there is one: its number may have become another's, so its command is looked at. */
function postmaster(): number | undefined {
  try {
    const pid = Number(readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    // It makes the file before it writes its number, and 0 is whoever asks.
    if (!(pid > 0)) return undefined;
    process.kill(pid, 0);
    const command = `/proc/${pid}/cmdline`;
    return !existsSync(command) || readFileSync(command, "utf8").includes(data) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** One that has ended since it was looked at is what is wanted. */
function signalled(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is looked at again.
  }
}

/** Without a loader a file has its own name. */
const load = async () =>
  (await import(new URL("folder-processes.ts", import.meta.url).href)) as typeof import("./folder-processes.js");

async function end(): Promise<void> {
  const { signalIn } = what === "processes" ? await load() : { signalIn: () => 0 };
  // Again until none is left: what was being started has begun meanwhile.
  while (signalIn(folder, "SIGKILL") > 0) await sleep(STEP_MS);
  // Whoever stopped it in order has removed its folder.
  for (let waited = 0; existsSync(folder); waited += STEP_MS) {
    const pid = postmaster();
    if (pid === undefined) break;
    signalled(pid, waited < STOP_LIMIT_MS ? "SIGQUIT" : "SIGKILL");
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
