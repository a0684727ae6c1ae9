/** `adbind db copy`: a file is copied whole while it is written, and a copy for a rehearsal tells nobody. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/db.js";
import { tellingTables } from "../../cli/db-copy.js";
import { createSender } from "../../runtime/sender/index.js";
import { openStore } from "../../runtime/store/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { drained, push, start } from "../sender/sender-suite.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const { at, remove } = commandFolder();
const EVENTS = 40;
const store = ["--store", "sqlite:outbox.db"];

/** Events that a sender on a file has to tell, and has told. */
async function told(file: string): Promise<number> {
  const clock = { at: Date.now() };
  const network = new FakeNetwork(clock);
  const opened = await openStore(`sqlite:${at(file)}`);
  const sender = await createSender({ ...optionsFor(clock, network), store: opened } as never);
  try {
    sender.start();
    await until(() => drained(sender));
    return network.sent.length;
  } finally {
    await sender.stop();
    await opened.close();
  }
}

test("a file that is written meanwhile is copied whole, for its owner alone, over nothing", async () => {
  const opened = await openStore(`sqlite:${at("outbox.db")}`);
  const clock = { at: Date.now() };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store: opened } as never);
  for (let n = 0; n < EVENTS; n++) {
    await sender.tasks.register(start({ taskId: `task-${n}` }), { push });
    await sender.tasks.update(`task-${n}`, { status: "working" });
  }
  // What was written last stands in the log beside the file, which is open.
  for (const more of [[], ["--untold"]]) {
    const name = more.length === 0 ? "copy.db" : "untold.db";
    const ran = await runCommand(register, ["copy", name, ...store, ...more]);
    assert.is(ran.code, 0, ran.err);
    assert.match(ran.out, "is a whole copy");
    assert.is(statSync(at(name)).mode & 0o777, 0o600);
  }
  await sender.stop();
  await opened.close();
  const kept = readFileSync(at("copy.db"));
  const again = await runCommand(register, ["copy", "copy.db", ...store]);
  assert.is(again.code, 2);
  assert.match(again.err, "there is a file of that name");
  assert.ok(readFileSync(at("copy.db")).equals(kept));
  assert.is(await told("copy.db"), EVENTS);
  assert.is(await told("untold.db"), 0);
});

test("a copy that cannot be made leaves nothing, and says why", async () => {
  writeFileSync(at("file"), "");
  const inFile = await runCommand(register, ["copy", "file/copy.db", ...store]);
  assert.is(inFile.code, 1);
  assert.match(inFile.err, "copy.db");
  const nowhere = await runCommand(register, ["copy", "missing/copy.db", ...store]);
  assert.is(nowhere.code, 1);
});

test("a copy on PostgreSQL is emptied of the same tables by the statement of the runbook", () => {
  const runbook = readFileSync(path.resolve(import.meta.dirname, "../../docs/runbook.md"), "utf8");
  const [, listed = ""] = /`truncate ([^`]+)`/.exec(runbook) ?? [];
  assert.equal(listed.split(", "), [...tellingTables]);
});

test.after(remove);
test.run();
