/** An application in Python stores a change by `adbind_enqueue`; a sender of ours makes the event of it. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { drained, push, start } from "../sender/sender-suite.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";

const folder = path.resolve(import.meta.dirname, "../../.cache/psycopg");
const python = path.join(folder, "bin", "python");

/** Makes the folder with psycopg in it, once. @returns why there is none */
function prepare(): string | undefined {
  if (existsSync(python) && spawnSync(python, ["-c", "import psycopg"]).status === 0) return undefined;
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", folder]],
    [python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "psycopg[binary]==3.*"]],
  ];
  for (const [command, given] of steps) {
    const { status, error } = spawnSync(command, given, { stdio: "ignore", timeout: 180_000 });
    if (status !== 0) return `${command} ${given[1]} ${error?.message ?? `ended with ${status}`}`;
  }
  return undefined;
}

const missing = prepare();
if (missing !== undefined) console.log(`# skipped: no psycopg (${missing})`);
else
  test("Python stores a change with its own write, or neither; it becomes a signed event", async () => {
    const postgres = await sharedPostgres();
    const url = await postgres.database();
    const database = await openPostgres({ url });
    const clock = { at: NOW };
    const network = new FakeNetwork(clock);
    const sender = await createSender({ ...optionsFor(clock, network), now: Date.now, store: { database } });
    await database.query((q) => q.run("create table application (id text)"));
    for (const taskId of ["kept", "undone"]) {
      await sender.tasks.register(start({ taskId }), { push });
      const file = path.join(import.meta.dirname, "outbox", "enqueue.py");
      const { status, stderr } = spawnSync(python, [file, url, taskId, taskId], { encoding: "utf8" });
      assert.is(status, 0, stderr);
    }
    sender.start();
    await until(async () => network.sent.length > 0 && (await drained(sender)));
    assert.equal(
      network.sent.map(({ body }) => [body.task_id, body.status, body.message, body.result]),
      [["kept", "working", "from Python", { percentage: 40 }]],
    );
    assert.equal(await database.query((q) => q.rows("select id from application")), [{ id: "kept" }]);
    await sender.stop();
    await database.close();
    await postgres.stop();
  });

test.run();
