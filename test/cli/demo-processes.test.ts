/** Processes of the demo and the soak end with the process that started them, however that ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { keepAlone } from "../../cli/demo/alone.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { tempFolder } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";
import { until } from "../support/until.js";

const root = path.resolve(import.meta.dirname, "../..");
const processes = path.join(root, "cli/demo/processes.ts");

/** Dead, and asked after by nobody: where the first process of a container asks after none, orphans stay. */
const isZombie = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

for (const signal of ["SIGKILL", "SIGTERM", "SIGINT"] as const)
  test(`a child is gone after its parent alone was ended by ${signal}`, async () => {
    const folder = tempFolder();
    const [child, parent] = [path.join(folder, "child.ts"), path.join(folder, "parent.ts")];
    writeFileSync(child, 'console.log("ready", process.pid);\nsetInterval(() => undefined, 1_000);\n');
    writeFileSync(
      parent,
      `import { start } from ${JSON.stringify(processes)};
       const { line } = await start(${JSON.stringify(child)}, [], { ready: /^ready/ });
       console.log(line);
       setInterval(() => undefined, 1_000);\n`,
    );
    const running = spawn(process.execPath, [...fromSource, parent], { stdio: ["ignore", "pipe", "inherit"] });
    const [chunk] = (await once(running.stdout, "data")) as [Buffer];
    const pid = Number(/^ready (\d+)/.exec(String(chunk))?.[1]);
    assert.ok(isAlive(pid), String(chunk));
    running.kill(signal);
    await once(running, "exit");
    try {
      await until(() => !isAlive(pid), "the child is gone", { limitMs: 30_000 });
    } finally {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    }
  });

test("a second market at the same ports is told so before it takes away the folder of the first", async () => {
  const port = await freePort();
  await keepAlone(port, "wait for its end");
  const { code, message } = await thrownBy(() => keepAlone(port, "wait for its end"));
  assert.is(code, "address_unusable");
  assert.match(message, `127.0.0.1:${port} is taken: wait for its end`);
});

test.run();
