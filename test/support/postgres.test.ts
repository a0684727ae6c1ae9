/** The one PostgreSQL of a run: started when it is needed, once, and gone with whoever started it. */
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";
import { PostgresOfRun } from "../runner/postgres-of-run.js";
import { runScript } from "./judged.js";
import { sharedPostgres, type TestPostgres } from "./postgres.js";
import { until } from "./until.js";

const answers = async (url: string): Promise<boolean> => {
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
};

/** As the runner sees a test file. */
class FakeFile extends EventEmitter {
  readonly connected = true;
  readonly told: unknown[] = [];
  readonly send = (message: unknown): void => void this.told.push(message);
}

test("nothing is started for files that need none, and one server for all that do", async () => {
  let [starts, stops] = [0, 0];
  const stop = async (): Promise<void> => {
    stops += 1;
  };
  const server = { url: "postgres://here", stop } as TestPostgres;
  const start = async (): Promise<TestPostgres> => {
    starts += 1;
    return server;
  };
  const idle = new PostgresOfRun(start);
  const quiet = new FakeFile();
  idle.serve(quiet as never);
  quiet.emit("message", { of: "something else" });
  await idle.stop();
  assert.equal([starts, stops], [0, 0]);
  const busy = new PostgresOfRun(start);
  const files = [new FakeFile(), new FakeFile()];
  for (const file of files) busy.serve(file as never);
  for (const file of files) file.emit("message", { adbind: "postgres" });
  await until(() => files.every(({ told }) => told.length === 1));
  await busy.stop();
  assert.equal([starts, stops], [1, 1]);
  for (const { told } of files) assert.equal(told, [{ adbind: "postgres", url: "postgres://here" }]);
});

test("a server that does not start is told to the file that asked", async () => {
  const run = new PostgresOfRun(() => Promise.reject(new Error("no room")));
  const file = new FakeFile();
  run.serve(file as never);
  file.emit("message", { adbind: "postgres" });
  await until(() => file.told.length === 1);
  assert.equal(file.told, [{ adbind: "postgres", error: "Error: no room" }]);
  await run.stop();
});

test("databases are apart, and go when the file that took them ends", async () => {
  const postgres = await sharedPostgres();
  const other = await sharedPostgres();
  const urls = [await postgres.database(), await postgres.database(), await other.database()];
  assert.is(new Set(urls).size, 3);
  for (const url of urls) assert.ok(await answers(url));
  await postgres.stop();
  assert.equal(await Promise.all(urls.map(answers)), [false, false, true]);
  await other.stop();
});

test("a process that had a server ends with the exit code it has set", async () => {
  const module = JSON.stringify(path.join(import.meta.dirname, "postgres.ts"));
  const program = `import { startPostgres } from ${module}; await (await startPostgres()).stop(); process.exitCode = 3;`;
  const { code, all } = await runScript(["--input-type=module", "--eval", program]);
  assert.is(code, 3, all);
});

test("a server goes with the process that started it, killed or not", async () => {
  const program = path.join(import.meta.dirname, "postgres-child.ts");
  const child = spawn(process.execPath, [...fromSource, program], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes("\n")) break;
  }
  const { url, folder } = JSON.parse(said) as { url: string; folder: string };
  assert.ok(await answers(url));
  assert.ok(existsSync(folder));
  child.kill("SIGKILL");
  await until(async () => !(await answers(url)), "the server stops");
  await until(() => !existsSync(folder), "its folder is removed");
});

test.run();
