/** What is temporary goes with whoever made it, and with it the processes that work there. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { processesIn } from "../runner/folder-processes.js";
import { fromSource } from "../runner/from-source.js";
import { guard } from "../runner/guard.js";
import { until } from "./until.js";

const isLinux = process.platform === "linux";
if (!isLinux) console.log("# skipped: only Linux says where a process works");

test("what works in a folder is killed with whoever made it, though it is frozen or has a session of its own", async () => {
  if (!isLinux) return;
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "adbind-guard-")));
  const program = `
    import { spawn } from "node:child_process";
    import { guard } from ${JSON.stringify(path.join(import.meta.dirname, "../runner/guard.ts"))};
    const folder = ${JSON.stringify(folder)};
    guard(folder, "processes");
    const made = [1, 2].map(() => spawn("sleep", ["600"], { cwd: folder, detached: true, stdio: "ignore" }));
    made[1].kill("SIGSTOP");
    setInterval(() => undefined, 1_000);`;
  const owner = spawn(process.execPath, [...fromSource, "--input-type=module", "--eval", program], { stdio: "ignore" });
  await until(() => processesIn(folder).length === 2, "both have begun");
  owner.kill("SIGKILL");
  await until(() => processesIn(folder).length === 0, "they are gone");
  await until(() => !existsSync(folder), "so is the folder");
  assert.not.ok(existsSync(folder));
});

test("the folder of a server that was only just beginning goes too", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-guard-"));
  mkdirSync(path.join(folder, "data"));
  // As PostgreSQL makes it, before it has written its number.
  writeFileSync(path.join(folder, "data/postmaster.pid"), "");
  guard(folder)();
  await until(() => !existsSync(folder), "it is gone");
});

test.run();
