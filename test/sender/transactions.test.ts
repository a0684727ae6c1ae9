/** Open transactions of the application on PostgreSQL: whom they keep waiting, and what other languages store in them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { startPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { drained, holds, push, start } from "./sender-suite.js";

const postgres = await startPostgres({ fsync: "off" });
const clock = { at: NOW };
let url: string;
let database: PostgresDatabase;
let network: FakeNetwork;
let sender: Sender;
let application: pg.Client;

test.before.each(async () => {
  url = await postgres.database();
  database = await openPostgres({ url, connections: 5 });
  network = new FakeNetwork(clock);
  sender = await createSender({ ...optionsFor(clock, network), store: { database } });
  application = new pg.Client(url);
  await application.connect();
});
test.after.each(async () => {
  await application.end();
  await sender.stop();
  await database.close();
});
test.after(() => postgres.stop());

const registered = async (...taskIds: string[]): Promise<void> => {
  for (const taskId of taskIds) await sender.tasks.register(start({ taskId }), { push });
};

test("an open transaction keeps nobody waiting but for its own task, and may ask for activity", async () => {
  const others = Array.from({ length: 20 }, (_, at) => `other-${at}`);
  await registered("held", ...others);
  const order: string[] = [];
  const update = (taskId: string, status: "working" | "canceled" = "working") =>
    Promise.resolve(sender.tasks.update(taskId, { status })).then(() => order.push(taskId));
  sender.start();
  await application.query("begin");
  await sender.tasks.update("held", { status: "working" }, { tx: application });
  const waiting = update("held", "canceled");
  for (let round = 0; round < 3; round++) await Promise.all(others.map((taskId) => update(taskId)));
  await registered("new");
  await update("new");
  // Asked inside the transaction: it waits for nothing that waits for it.
  assert.equal(await sender.activity({ principal: "buyer-1", subject: "held" }), []);
  await until(() => network.sent.length === 3 * others.length + 1);
  assert.is(order.length, 3 * others.length + 1);
  assert.not.ok(order.includes("held"));
  order.push("commit");
  await application.query("commit");
  await waiting;
  assert.equal(order.slice(-2), ["commit", "held"]);
  await until(() => drained(sender));
  assert.equal(
    network.sent.filter(({ body }) => body.task_id === "held").map(({ body }) => body.status),
    ["working", "canceled"],
  );
});

test("a task that an open transaction has registered keeps only who registers it too", async () => {
  await registered("a");
  await application.query("begin");
  await sender.tasks.register(start({ taskId: "twice" }), { push }, { tx: application });
  let second = false;
  const again = Promise.resolve(sender.tasks.register(start({ taskId: "twice" }), { push })).then(() => {
    second = true;
  });
  for (let n = 0; n < 5; n++) await sender.tasks.update("a", { status: "working" });
  await registered("b", "c");
  assert.not.ok(second);
  await application.query("commit");
  await again;
});

test("adbind_enqueue stores a change in any language's transaction; a sender makes the event of it", async () => {
  await registered("task-1", "task-2");
  const enqueue = "select adbind_enqueue($1, $2, $3::json, message => $4, dedup_key => $5) as id";
  const change = (...values: unknown[]) =>
    application.query<{ id: string }>(enqueue, values).then(({ rows }) => rows[0]!.id);
  await application.query("begin");
  await change("task-2", "working", null, "undone", null);
  await application.query("rollback");
  await application.query("begin");
  const result = '{"total_steps": 2, "percentage": 40}';
  const id = await change("task-1", "working", result, "soon", "k");
  assert.is(await change("task-1", "working", '{"percentage": 40, "total_steps": 2}', "soon", "k"), id);
  await application.query("commit");
  assert.is(await change("task-1", "working", result, "soon", "k"), id);
  const conflict = await change("task-1", "working", result, "later", "k").catch((error: pg.DatabaseError) => error);
  assert.is((conflict as pg.DatabaseError).code, "23505");
  await change("task-1", "nonsense", null, null, null);
  await change("task-1", "working", '{"percentage": 400}', null, null);
  await change("nobody", "working", null, null, null);
  await change("task-1", "canceled", null, null, null);
  sender.start();
  await until(() => drained(sender));
  assert.equal(
    network.sent.map(({ body }) => [body.task_id, body.status, body.message, body.result]),
    [
      ["task-1", "working", "soon", { total_steps: 2, percentage: 40 }],
      ["task-1", "canceled", undefined, undefined],
    ],
  );
  const aside = await sender.outbox.list();
  assert.equal(
    aside.map(({ state, type, subject, url }) => [state, type, subject, url]),
    [
      ["refused", "change", "task-1", ""],
      ["refused", "change", "task-1", ""],
    ],
  );
  assert.match(aside[0]!.error!, /^transition_refused: /);
  assert.match(aside[1]!.error!, /^event_invalid: .*percentage/);
  assert.equal(await sender.outbox.counts(), holds({ refused: 2 }));
});

test("a change that was applied, and whose job came back, is one event", async () => {
  await registered("task-1");
  await application.query("select adbind_enqueue('task-1', 'working')");
  const [job] = (await application.query("select * from adbind_jobs")).rows;
  sender.start();
  await until(() => network.sent.length === 1);
  await until(() => drained(sender));
  await application.query(
    "insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, meta, body) " +
      "values ('webhooks', $1, true, $2, $3, 'ready', 0, 0, $4, $5)",
    [job.key, job.endpoint, job.ordering_key, job.meta, job.body],
  );
  await until(() => drained(sender));
  assert.is(network.sent.length, 1);
});

test.run();
