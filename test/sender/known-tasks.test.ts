import { test } from "uvu";
import * as assert from "uvu/assert";
import { KnownTasks } from "../../runtime/sender/known-tasks.js";
import type { SentTaskRow } from "../../runtime/store/sent-tasks.js";

const row = (id: number | string, details = "{}"): SentTaskRow => ({
  ...{ task_id: String(id), principal: "p", tool: "create_media_buy", status: "working" },
  ...{ instant: "2026-01-01T00:00:00.000Z", details, expires: 0, revision: 0 },
});

test("tasks are remembered by what they take, not by their number: the oldest go first", () => {
  const [small, large] = [new KnownTasks(), new KnownTasks()];
  for (let id = 0; id < 100_000; id++) {
    small.note(row(id));
    large.note(row(id, JSON.stringify("x".repeat(3_000))));
  }
  const kept = (tasks: KnownTasks): number =>
    Array.from({ length: 100_000 }, (_, id) => id).filter((id) => tasks.all([String(id)]) !== undefined).length;
  assert.ok(kept(small) > 30_000 && kept(small) < 67_000, String(kept(small)));
  assert.ok(kept(large) > 5_000 && kept(large) < 12_000, String(kept(large)));
  assert.ok(small.all(["99999"]));
  assert.is(small.all(["0"]), undefined);
  assert.is(small.all(["99999", "0"]), undefined);
});

test("a task noted again counts once, and one with details that are too long is not kept as it was", () => {
  const tasks = new KnownTasks();
  tasks.note(row("first"));
  for (let turn = 0; turn < 100_000; turn++) tasks.note(row("again"));
  assert.ok(tasks.all(["first", "again"]));
  tasks.note(row("again", "x".repeat(5_000)));
  assert.is(tasks.all(["again"]), undefined);
  tasks.forget("first");
  tasks.forget("first");
  assert.is(tasks.all(["first"]), undefined);
});

test("of a task of both generations the newer row is known, and once it is forgotten none", () => {
  const tasks = new KnownTasks();
  tasks.note({ ...row("task"), revision: 1 });
  for (let id = 0; id < 40_000; id++) tasks.note(row(id));
  assert.is(tasks.all(["task"])?.[0]?.revision, 1);
  tasks.note({ ...row("task"), revision: 2 });
  assert.is(tasks.all(["task"])?.[0]?.revision, 2);
  tasks.forget("task");
  assert.is(tasks.all(["task"]), undefined);
});

test.run();
