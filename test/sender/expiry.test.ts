/** What is over by the thousand goes a part a turn, on both engines; days of activity on PostgreSQL are left to be dropped. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import { MORE } from "../../runtime/queue/periodic.js";
import { activityRow } from "../../runtime/sender/activity.js";
import { createSender } from "../../runtime/sender/index.js";
import { OUTBOX_TOPIC } from "../../runtime/sender/outbox.js";
import { retentionOf, retentionSteps } from "../../runtime/sender/retention.js";
import { expiringSteps } from "../../runtime/sender/upkeep.js";
import { openStore } from "../../runtime/store/index.js";
import { senderTables } from "../../runtime/store/sender-tables.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";

const DAY = 86_400_000;
/** Rows one kind of which may go in a turn. */
const TURN_ROWS = 2_000;
const ROWS = 5_000;

const postgres = await sharedPostgres();
const urls = { sqlite: async () => `sqlite:${tempFolder()}/expiry.db`, postgres: () => postgres.database() };

/** What a test has opened, newest last. */
const opened: (() => Promise<unknown>)[] = [];
const closeAll = async (): Promise<void> => {
  for (const close of opened.splice(0).reverse()) await close();
};

async function open(url: string) {
  const store = await openStore(url);
  opened.push(() => store.close());
  const { database } = store;
  const clock = { at: NOW };
  const queue = await openQueue(database, OUTBOX_TOPIC, { now: () => clock.at });
  const tables = senderTables(database);
  const parts = { queue, tables, now: () => clock.at };
  const rows = async (of: string): Promise<number> => {
    const [row] = await queue.read((q) => q.rows<{ n: number }>(`select count(*) as n from ${of}`));
    return Number(row!.n);
  };
  const sender = async () => {
    const made = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store } as never);
    opened.push(() => made.stop());
    return made;
  };
  opened.push(() => queue.close());
  return { database, clock, queue, tables, parts, rows, sender };
}

/** Attempts as they are written down at a time. */
const attempts = (count: number, at: number) =>
  Array.from({ length: count }, (_, n) => {
    const job = { key: `k-${n}`, attempts: 0, startedAt: at } as never;
    const report = { status: "failed", httpStatus: 503, responseMs: 41, error: "HTTP 503", bytes: 812 } as never;
    const meta = { principal: "buyer-1", subject: "task-1", type: "create_media_buy" } as never;
    return activityRow(job, { report, url: "https://buyer.example/hooks/a", meta }, at, 30);
  });

for (const [engine, url] of Object.entries(urls)) {
  const test = suite(`expiry on ${engine}`);
  test.after.each(closeAll);

  test("of what has expired a bounded part goes in a turn, and the step says that there is more", async () => {
    const { queue, tables, parts, clock, rows } = await open(await url());
    await queue.transact((tx) => tables.log(tx, attempts(ROWS, NOW)));
    clock.at = NOW + 31 * DAY;
    const step = expiringSteps(parts).find(({ name }) => name === "remove old webhook activity")!;
    const run = () => step.run(new AbortController().signal);
    assert.is(await run(), MORE);
    assert.is(await rows("adbind_activity"), ROWS - TURN_ROWS);
    assert.is(await run(), MORE);
    assert.is(await run(), undefined);
    assert.is(await rows("adbind_activity"), 0);
  });

  test("of activity beyond its rows a bounded part goes in a turn, and the next does not wait", async () => {
    const { queue, tables, parts, rows } = await open(await url());
    await queue.transact((tx) => tables.log(tx, attempts(ROWS, NOW)));
    const steps = retentionSteps(parts, retentionOf({ activityRows: 100 }));
    const step = steps.find(({ name }) => name === "remove activity beyond its rows")!;
    const run = () => step.run(new AbortController().signal);
    assert.is(await run(), MORE);
    assert.is(await rows("adbind_activity"), ROWS - TURN_ROWS);
    assert.is(await run(), MORE);
    assert.is(await run(), undefined);
    assert.is(await rows("adbind_activity"), 100);
  });

  test("an endpoint of which nothing is left is forgotten a day later, unless an operator stopped it", async () => {
    const { queue, parts, clock, rows } = await open(await url());
    const names = ["failed", "late", "rests", "stopped", "waits", "kept"].map((name) => `https://e.example/ ${name}`);
    const [failed, late, rests, stopped, waits, kept] = names as [string, string, string, string, string, string];
    const fails = (endpoint: string, at: number, until = at + 60_000) =>
      queue.pause(endpoint, { pausedUntil: until, failingSince: at, began: at });
    for (const endpoint of [failed, stopped, waits, kept]) await fails(endpoint, NOW);
    await fails(rests, NOW, NOW + 9 * DAY);
    await fails(late, NOW + DAY);
    await queue.stop(stopped, NOW);
    for (const endpoint of [waits, kept])
      await queue.transact((tx) =>
        queue.add(tx, [{ key: endpoint, random: true, endpoint, meta: "{}", body: new Uint8Array() }]),
      );
    await queue.transact((tx) => tx.run("update adbind_jobs set state = 'dead' where endpoint = ?", [kept]));
    const noted = async () => {
      const found = await queue.read((q) => q.rows<{ endpoint: string }>("select endpoint from adbind_endpoints"));
      return found.map(({ endpoint }) => endpoint).sort();
    };
    const run = async () => {
      const steps = retentionSteps(parts, retentionOf());
      const step = steps.find(({ name }) => name === "remove endpoints that nothing waits for")!;
      assert.is(await step.run(new AbortController().signal), undefined);
    };
    clock.at = NOW + DAY;
    await run();
    assert.equal(await noted(), [...names].sort());
    clock.at = NOW + DAY + 120_000;
    await run();
    assert.equal(await noted(), names.filter((name) => name !== failed).sort());
    await queue.transact((tx) => tx.run("delete from adbind_jobs"));
    clock.at = NOW + 20 * DAY;
    await run();
    assert.equal(await noted(), [stopped]);
    assert.is(await rows("adbind_jobs"), 0);
  });

  test("of many endpoints a part is looked at in a turn, and then the rest", async () => {
    const { queue, parts, clock, rows } = await open(await url());
    const stop = Array.from({ length: TURN_ROWS + 1 }, (_, at) => `a-${at}`);
    const columns = [
      ["topic", "text"],
      ["endpoint", "text"],
      ...(url === urls.sqlite ? ([["ready_at", "bigint"]] as const) : []),
      ["stopped_at", "bigint"],
    ] as const;
    const given = (endpoint: string, stoppedAt: number | null) =>
      columns.map(([name]) => ({ topic: OUTBOX_TOPIC, endpoint, ready_at: 0, stopped_at: stoppedAt })[name]);
    const all = [...stop.map((name) => given(name, 1)), given("z", null)];
    await queue.transact((tx) => tx.insert("adbind_endpoints", columns, all));
    clock.at = NOW + 9 * DAY;
    const steps = retentionSteps(parts, retentionOf());
    const step = steps.find(({ name }) => name === "remove endpoints that nothing waits for")!;
    assert.is(await step.run(new AbortController().signal), MORE);
    assert.is(await rows("adbind_endpoints"), TURN_ROWS + 2);
    assert.is(await step.run(new AbortController().signal), undefined);
    assert.is(await rows("adbind_endpoints"), TURN_ROWS + 1);
  });

  test("tasks whose events wait are kept beyond their time, and hold up none of the others", async () => {
    const { queue, tables, parts, clock, rows } = await open(await url());
    const ids = Array.from({ length: 1_200 }, (_, at) => `t-${at}`);
    const row = { principal: "p", tool: "t", status: "working", instant: "", details: "{}", revision: 0 };
    const places = { push_endpoint: null, a2a_endpoint: null };
    // Those that are kept come first.
    await queue.transact((tx) =>
      tables.addTasks(
        tx,
        ids.map((task_id, at) => ({ ...row, ...places, task_id, expires: NOW + at })),
      ),
    );
    const job = (orderingKey: string) => ({
      ...{ key: orderingKey, random: true, endpoint: "e", orderingKey, meta: "{}", body: new Uint8Array() },
    });
    const waiting = ids.slice(0, 600);
    const jobs = waiting.map((id, at) => job(`${at % 2 ? "task" : "a2a"}:${id}`));
    await queue.transact((tx) => queue.add(tx, [...jobs, job("task:t-700")]));
    await queue.transact((tx) => tx.run("update adbind_jobs set attempts = 1 where id % 3 = 0"));
    await queue.transact((tx) => tx.run("update adbind_jobs set state = 'dead' where key = 'task:t-700'"));
    const step = () => expiringSteps(parts).find(({ name }) => name === "remove expired tasks")!;
    clock.at = NOW + DAY;
    await step().run(new AbortController().signal);
    assert.is(await rows("adbind_sent_tasks"), 600);
    await queue.transact((tx) => tx.run("delete from adbind_jobs"));
    await step().run(new AbortController().signal);
    assert.is(await rows("adbind_sent_tasks"), 600, "they are looked at again later");
    clock.at += DAY;
    await step().run(new AbortController().signal);
    assert.is(await rows("adbind_sent_tasks"), 0);
  });

  test("activity that has expired is not listed, though its rows still stand there", async () => {
    const { queue, tables, clock, rows, sender: make } = await open(await url());
    const sender = await make();
    const listed = async () => (await sender.activity({ principal: "buyer-1", subject: "task-1" })).length;
    await queue.transact((tx) => tables.log(tx, attempts(3, NOW)));
    clock.at = NOW + 30 * DAY;
    assert.is(await listed(), 3);
    clock.at = NOW + 31 * DAY;
    assert.is(await listed(), 0);
    assert.is(await rows("adbind_activity"), 3);
  });
  test.run();
}

const test = suite("days of activity on postgres");
test.after.each(closeAll);

test("a running sender deletes no row of a day, and the day is dropped as soon as all in it has expired", async () => {
  const { database, queue, tables, clock, rows, sender } = await open(await urls.postgres());
  await database.partitions({ now: NOW, days: 1, activityDays: 30 });
  const [day, missed] = ["adbind_activity_20260518", "adbind_activity_default"];
  await queue.transact((tx) => tables.log(tx, [...attempts(10, NOW), ...attempts(10, NOW - 20 * DAY)]));
  assert.equal([await rows(day), await rows(missed)], [10, 10]);
  // The first moment at which what was written then has been kept for 30 days and the rest of its day.
  clock.at = Math.floor(NOW / DAY) * DAY + 31 * DAY - 1;
  const running = await sender();
  const drop = async () => (await database.partitions({ now: clock.at, days: 1, activityDays: 30 })).dropped;
  assert.equal(
    (await drop()).filter((name) => name.startsWith("adbind_activity")),
    [],
  );
  clock.at += 1;
  running.start();
  await until(async () => (await rows(missed)) === 0);
  assert.is(await rows(day), 10);
  assert.ok((await drop()).includes(day));
  assert.is(await rows("adbind_activity"), 0);
});

test("an alarm names days that are over and not dropped, until they are", async () => {
  const { database, queue } = await open(await urls.postgres());
  const keep = (now: number) => database.partitions({ now, days: 7, activityDays: 30 });
  await keep(NOW);
  const alarms = async (now: number) => (await queue.alarms(now, 30)).join("\n");
  assert.not.match(await alarms(NOW + 2 * DAY), /over/);
  const later = NOW + 33 * DAY;
  assert.match(
    await alarms(later),
    /adbind_job_bodies \(the oldest is 2026-04-18\) and adbind_activity \(the oldest is 2026-05-18\): days that are over/,
  );
  await keep(later);
  assert.is(await alarms(later), "");
});

test("the alarm judges activity by the day it expires on, however long it is kept", async () => {
  const { database, queue } = await open(await urls.postgres());
  const keep = (activityDays: number) => database.partitions({ now: NOW, days: 1, activityDays });
  await keep(30);
  assert.equal(await queue.alarms(NOW, 30), []);
  assert.match((await queue.alarms(NOW, 60)).join(), /^adbind_activity: no partition.*partitions --activity-days 60`/);
  await keep(60);
  assert.equal(await queue.alarms(NOW, 60), []);
});

test.after(() => postgres.stop());
test.run();
