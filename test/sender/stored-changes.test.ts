/** Changes of tasks that applications in any language store by SQL, and what a sender makes of them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { endpointOf, ownerOf } from "../../runtime/sender/endpoint-names.js";
import { createSender } from "../../runtime/sender/index.js";
import { digest } from "../../runtime/sender/outbox.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { type BesideApplication, closeBeside, openBeside, registerTasks } from "./beside-application.js";
import { NOW, optionsFor } from "./fixture.js";
import { drained, holds, push, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
const clock = { at: NOW };
let { url, database, network, sender, application } = {} as BesideApplication;

test.before.each(async () => {
  ({ url, database, network, sender, application } = await openBeside(postgres, clock));
});
test.after.each(() => closeBeside({ url, database, network, sender, application }));
test.after(() => postgres.stop());

const registered = (...taskIds: string[]): Promise<void> => registerTasks(sender, taskIds);

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

const enqueued = async (taskId: string, status = "working"): Promise<number> =>
  Number((await application.query("select adbind_enqueue($1, $2) as id", [taskId, status])).rows[0].id);

test("a change is told whatever its dedup key is, once under each", async () => {
  await registered("task-1");
  const text = "select adbind_enqueue('task-1', 'working', message => $1, dedup_key => $2) as id";
  const store = async (message: string, key: string): Promise<string> =>
    (await application.query<{ id: string }>(text, [message, key])).rows[0]!.id;
  const keys = { none: "", long: "order ".repeat(50), longer: `${"order ".repeat(50)}2` };
  for (const [message, key] of Object.entries(keys)) assert.is(await store(message, key), await store(message, key));
  sender.start();
  await until(() => drained(sender));
  assert.equal(
    network.sent.map(({ body }) => body.message),
    Object.keys(keys),
  );
  assert.equal(await sender.outbox.list(), []);
});

test("changes of each principal's tasks are an endpoint of their own, and those of unknown tasks another", async () => {
  await registered("task-1", "task-2");
  await sender.tasks.register(start({ taskId: "other", principal: "ä/+" }), { push });
  for (const taskId of ["task-1", "task-2", "other", "nobody"]) await enqueued(taskId);
  const changes = (principal: string) => `changes ${digest(principal)}.`;
  const found = (await sender.outbox.endpoints()).map(({ endpoint, waiting }) => `${endpoint} ${waiting}`);
  assert.equal(found.toSorted(), ["changes 1", `${changes("buyer-1")} 2`, `${changes("ä/+")} 1`].toSorted());
  // It counts against what the principal may have under way, as its events do.
  assert.is(
    ownerOf(changes("buyer-1")).principal,
    ownerOf(endpointOf({ principal: "buyer-1", url: push.url })).principal,
  );
  assert.is((await sender.outbox.list({ principal: "buyer-1" })).length, 2);
});

test("changes beyond the cap are those of the principal who has so many, and another's are made", async () => {
  await registered("flood");
  await sender.tasks.register(start({ taskId: "quiet", principal: "buyer-2" }), { push });
  await sender.stop();
  const numbers = "select adbind_enqueue('flood', 'working') as id from generate_series(1, 200)";
  const { rows } = await application.query<{ id: string }>(numbers);
  await enqueued("quiet");
  sender = await createSender({ ...optionsFor(clock, network), store: { database }, maxWaiting: 150 });
  const endpoints = (await sender.outbox.endpoints()).map(({ endpoint }) => endpoint);
  // Nothing is made of them while they are counted.
  for (const endpoint of endpoints) await sender.outbox.pause(endpoint);
  sender.start();
  await until(async () => (await sender.outbox.counts()).expired === 50);
  assert.equal(
    (await sender.outbox.list({ state: "expired" })).map(({ id }) => id),
    rows.slice(0, 50).map(({ id }) => Number(id)),
  );
  for (const endpoint of endpoints) await sender.outbox.resume(endpoint);
  await until(() => drained(sender));
  assert.is(network.sent.filter(({ body }) => body.task_id === "quiet").length, 1);
});

test("a change that fails for a day is given up with its reason, and is made when it is replayed", async () => {
  await registered("task-1", "task-2");
  const broken =
    "update adbind_sent_tasks set revision = revision + 1, details = $1 || details where task_id = 'task-1'";
  await application.query(broken, ["?"]);
  const id = await enqueued("task-1");
  await enqueued("task-2");
  sender.start();
  const tried = async () => (await sender.outbox.show(id))!;
  await until(async () => (await tried()).attempts > 0);
  await until(() => network.sent.length === 1);
  const { firstAt } = await tried();
  clock.at = firstAt! + 86_400_000;
  await until(async () => (await tried()).state === "dead");
  assert.match((await tried()).error!, /^task_unreadable: /);
  await application.query(
    "update adbind_sent_tasks set revision = revision + 1, details = substr(details, 2) where task_id = 'task-1'",
  );
  assert.ok(await sender.outbox.replay(id));
  await until(() => drained(sender));
  assert.equal(
    network.sent.map(({ body }) => body.task_id),
    ["task-2", "task-1"],
  );
});

test("changes of a task that a transaction holds wait for it in their order, and others' are made", async () => {
  await registered("held", "free");
  await sender.stop();
  const impatient = await openPostgres({ url, connections: 5, lockTimeoutMs: 200 });
  sender = await createSender({ ...optionsFor(clock, network), store: { database: impatient } });
  const other = new pg.Client(url);
  await other.connect();
  await other.query("begin; select 1 from adbind_sent_tasks where task_id = 'held' for update");
  const first = await enqueued("held", "working");
  await enqueued("held", "canceled");
  await enqueued("free");
  sender.start();
  // It was tried, and given back.
  await until(async () => (await sender.outbox.show(first))!.due === clock.at + 5_000);
  await until(() => network.sent.length === 1);
  assert.is((await sender.outbox.show(first))!.attempts, 0);
  await other.query("commit");
  await other.end();
  clock.at += 5_000;
  await until(() => drained(sender));
  assert.equal(
    network.sent.map(({ body }) => [body.task_id, body.status]),
    [
      ["free", "working"],
      ["held", "working"],
      ["held", "canceled"],
    ],
  );
  await sender.stop();
  await impatient.close();
});

test("a change that was applied, and whose job came back, is one event", async () => {
  await registered("task-1");
  await application.query("select adbind_enqueue('task-1', 'working')");
  const [job] = (await application.query("select * from adbind_jobs join adbind_job_bodies on job = id")).rows;
  sender.start();
  await until(() => network.sent.length === 1);
  await until(() => drained(sender));
  await application.query(
    "with added as (insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at) " +
      "values ('webhooks', $1, true, $2, $3, 'ready', 0, 0, 0) returning id) " +
      "insert into adbind_job_bodies (job, at, meta, body) select id, 0, $4, $5 from added",
    [job.key, job.endpoint, job.ordering_key, job.meta, job.body],
  );
  await until(() => drained(sender));
  assert.is(network.sent.length, 1);
});

test.run();
