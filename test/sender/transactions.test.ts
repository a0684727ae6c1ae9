/** Open transactions of the application on PostgreSQL: whom they keep waiting, and how few statements they take. */
import type pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { PostgresClient } from "../../runtime/db/postgres/own-client.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { startPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { type BesideApplication, closeBeside, openBeside, registerTasks } from "./beside-application.js";
import { NOW, optionsFor } from "./fixture.js";
import { drained, push, start } from "./sender-suite.js";
import { statementLengths, statementsOf } from "./statements-of.js";

const postgres = await startPostgres({ fsync: "off" });
const clock = { at: NOW };
let { url, database, network, sender, application } = {} as BesideApplication;

test.before.each(async () => {
  ({ url, database, network, sender, application } = await openBeside(postgres, clock, { reports: () => deliveries }));
});
test.after.each(() => closeBeside({ url, database, network, sender, application }));
test.after(() => postgres.stop());

const deliveries = { currency: "EUR", media_buy_deliveries: [] };

const registered = (...taskIds: string[]): Promise<void> => registerTasks(sender, taskIds);

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

test("a media buy and a task that a transaction holds keep waiting only what is for them, in its order", async () => {
  await registered("free", "held");
  const buy = { mediaBuyId: "mb-1", principal: "buyer-1" };
  const reporting = { ...push, reporting_frequency: "daily" } as const;
  assert.equal(await sender.channels.open(buy, { events: push, reporting }), { ok: true });
  const order: string[] = [];
  const asked = (what: string, call: () => unknown) => Promise.resolve(call()).then(() => order.push(what));
  const report = { ...deliveries, period: { start: NOW - 3_600_000, end: NOW } };
  await application.query("begin");
  await application.query("select 1 from adbind_channels for update");
  await application.query("select 1 from adbind_sent_tasks where task_id = 'held' for update");
  const held: Promise<unknown>[] = [];
  // Were the lane kept for a row's sake, each of these rounds would take a tenth of a second, and all of them four.
  const freed = Promise.withResolvers<void>();
  const late = setTimeout(freed.resolve, 3_900);
  const released = freed.promise.then(() => {
    clearTimeout(late);
    order.push("released");
    return application.query("commit");
  });
  for (let round = 0; round < 40; round++) {
    held.push(asked(`report ${round}`, () => sender.channels.adjusted("mb-1", report)));
    if (round % 10 === 0) {
      held.push(asked("buy", () => sender.channels.open(buy, { events: push })));
      held.push(asked("attach", () => sender.tasks.attach(start({ taskId: "held" }), null)));
      held.push(asked("all", () => sender.tasks.updateAll([{ taskId: "held", status: "working" }])));
    }
    await asked("free", () => sender.tasks.update("free", { status: "working" }));
  }
  assert.equal([...new Set(order)], ["free"]);
  freed.resolve();
  await released;
  await Promise.all(held);
  assert.equal(order.slice(0, 41), [...Array.from({ length: 40 }, () => "free"), "released"]);
  assert.equal(
    order.filter((what) => what.startsWith("report")),
    Array.from({ length: 40 }, (_, round) => `report ${round}`),
  );
});

test("from a change of status to its attempt at most two transactions write, beside the notification of other instances", async () => {
  await registered("a");
  sender.start();
  const next = async (): Promise<number> =>
    Number((await application.query("select pg_snapshot_xmax(pg_current_snapshot())::text as at")).rows[0].at);
  const written: number[] = [];
  // What is due now and then writes beside it at times. A notification takes a number as a write does.
  for (let round = 0; round < 6; round++) {
    const before = await next();
    const { promise: attempted, resolve } = Promise.withResolvers<number>();
    network.react = async () => {
      resolve(await next());
      return 200;
    };
    await sender.tasks.update("a", { status: "working" });
    written.push((await attempted) - before);
    await until(() => drained(sender));
  }
  assert.ok(Math.min(...written) <= 2 + 1, `${written}`);
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

test("changes take one statement, two where another process was there before; by themselves no transaction", async () => {
  const ids = Array.from({ length: 300 }, (_, at) => `task-${at}`);
  await registered(...ids);
  const other = await createSender({ ...optionsFor(clock, network), store: { database } });
  const working = (dedupKey?: string) => ids.map((taskId) => ({ taskId, status: "working" as const, dedupKey }));
  const counted = (by: Sender, dedupKey?: string) =>
    statementsOf(application, () => by.tasks.updateAll(working(dedupKey), { tx: application }));
  await application.query("begin");
  // A connection is asked once where it is.
  assert.equal([await counted(sender), await counted(sender, "once"), await counted(sender)], [2, 1, 1]);
  assert.is(
    await statementsOf(application, () => sender.tasks.update("task-1", { status: "working" }, { tx: application })),
    1,
  );
  await application.query("commit");
  await application.query("begin");
  // Nothing known, then known, then changed by the other.
  assert.equal([await counted(other), await counted(other), await counted(sender)], [2, 1, 2]);
  assert.equal([await counted(sender, "again"), await counted(other, "again")], [1, 1]);
  await application.query("commit");
  assert.is((await sender.outbox.counts()).waiting, 300 * 7 + 1);
  const asked: string[] = [];
  const { query } = PostgresClient.prototype;
  PostgresClient.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    asked.push(typeof given[0] === "string" ? given[0] : (given[0] as { text: string }).text);
    return (query as (...values: unknown[]) => unknown).apply(this, given);
  } as never;
  await sender.tasks.update("task-2", { status: "working" });
  PostgresClient.prototype.query = query;
  assert.is(asked.filter((text) => !text.includes("pg_notify")).length, 1, asked.join());
  await other.stop();
});

test("two instances change the same tasks at a time, and each change is made from the one before", async () => {
  await registered("a", "b");
  const other = await createSender({ ...optionsFor(clock, network), store: { database } });
  const each = Array.from({ length: 12 }, (_, at) => at);
  await Promise.all(
    each.flatMap((at) =>
      [sender, other].map((one) =>
        one.tasks.updateAll([
          { taskId: "b", status: "working", dedupKey: `k${at}` },
          { taskId: "a", status: "working" },
        ]),
      ),
    ),
  );
  sender.start();
  await until(() => drained(sender));
  const times = (taskId: string) =>
    network.sent.filter(({ body }) => body.task_id === taskId).map(({ body }) => body.timestamp);
  // Under a dedup key the two asked for one event.
  assert.is(times("b").length, 12);
  assert.is(new Set(times("a")).size, 24);
  assert.equal(times("a"), times("a").toSorted());
  await other.stop();
});

test("changes of a hundred megabytes go in statements that a server takes, all of them or none, and in their order", async () => {
  const messages = Array.from({ length: 100 }, (_, at) => String(at).padEnd(1_000_000, "x"));
  await registered("task-1");
  const changes = messages.map((message) => ({ taskId: "task-1", status: "working", message }) as const);
  const end = { taskId: "task-1", status: "canceled" } as const;
  await application.query("begin");
  const lengths = await statementLengths(application, () =>
    sender.tasks.updateAll([...changes, end], { tx: application }),
  );
  await application.query("rollback");
  assert.ok(Math.max(...lengths) < 34_000_000, String(lengths));
  assert.is((await sender.outbox.counts()).waiting, 0);
  await sender.tasks.updateAll([...changes, end]);
  const { rows } = await application.query<{ n: string }>(
    "select substr(convert_from(body, 'UTF8')::json ->> 'message', 1, 3) as n from adbind_job_bodies order by job",
  );
  assert.equal(
    rows.map(({ n }) => n?.replaceAll("x", "")),
    [...messages.map((_, at) => String(at)), undefined],
  );
});

test.run();
