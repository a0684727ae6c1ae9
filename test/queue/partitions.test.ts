/** Bodies by day: made ahead, moved, dropped without what is still needed; and what no partition takes along. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { removeOrphans, START } from "../../runtime/queue/postgres/tidy.js";
import type { Job, Queue } from "../../runtime/queue/types.js";
import { sharedPostgres } from "../support/postgres.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 3, 18, 12);
const postgres = await sharedPostgres();
let database: PostgresDatabase;
let queue: Queue;
const clock = { at: NOW };

test.before.each(async () => {
  clock.at = NOW;
  database = await openPostgres({ url: await postgres.database(), connections: 3 });
  queue = openQueue(database, "t", { now: () => clock.at });
});
test.after.each(async () => {
  await queue.close();
  await database.close();
});
test.after(() => postgres.stop());

const add = (...keys: string[]) =>
  queue.transact((q) =>
    queue.add(
      q,
      keys.map((key) => ({ key, random: true, endpoint: "e", meta: `"${key}"`, body: Buffer.from(`body of ${key}`) })),
    ),
  );
const take = () => queue.take({ now: clock.at, limit: 10, room: () => 10 });
const done = (jobs: readonly Job[]) =>
  queue.ack(
    jobs.map((job) => ({ job, outcome: { kind: "done" } })),
    clock.at,
  );
const keep = () => database.partitions({ now: clock.at, days: 2, activityDays: 30 });
const bodies = async (of = "adbind_job_bodies"): Promise<string[]> =>
  (await database.query((q) => q.rows<{ meta: string }>(`select meta from ${of} order by meta`))).map(
    ({ meta }) => meta,
  );
const textOf = (job: Job | undefined) => Buffer.from(job!.body).toString();

test("what came early is moved, days are dropped, and what is needed still outlives them", async () => {
  await add("early", "late");
  assert.match((await queue.alarms(clock.at, 30)).join(), /adbind_job_bodies and adbind_activity.*adbind db partitions/);
  const { made, dropped } = await keep();
  const days = (table: string, ...names: string[]) => names.map((day) => `${table}_${day}`);
  assert.equal(made, [
    ...days("adbind_job_bodies", "20260418", "20260419", "20260420"),
    ...days("adbind_activity", "20260518", "20260519", "20260520"),
  ]);
  assert.equal(dropped, []);
  assert.equal(await keep(), { made: [], dropped: [] });
  assert.equal(await queue.alarms(clock.at, 30), []);
  assert.equal(await bodies("adbind_job_bodies_20260418"), ['"early"', '"late"']);
  const expires = Date.UTC(2026, 4, 19);
  await database.write((q) =>
    q.run("insert into adbind_activity (principal, subject, record, expires) values ('p', 's', '{}', ?)", [expires]),
  );
  const kept = await database.query((q) => q.rows<{ id: number }>("select id from adbind_activity_20260519"));
  assert.equal(
    kept.map(({ id }) => typeof id),
    ["number"],
  );
  const [early, late] = await take();
  assert.equal([textOf(early), textOf(late)], ["body of early", "body of late"]);
  await done([early!]);
  await queue.ack([{ job: late!, outcome: { kind: "later", due: NOW + 3 * DAY, error: "no" } }], clock.at);
  clock.at = NOW + 3 * DAY;
  assert.is.not((await queue.alarms(clock.at, 30)).length, 0);
  const later = await keep();
  assert.equal(later.dropped, ["adbind_job_bodies_20260418"]);
  assert.equal(await bodies("adbind_job_bodies_default"), ['"late"']);
  assert.is(textOf((await take())[0]), "body of late");
  clock.at = NOW + 40 * DAY;
  assert.equal((await keep()).dropped.filter((name) => name.startsWith("adbind_activity")).length, 6);
});

test("without partitions, bodies of jobs that are gone go a few at a time", async () => {
  await add("gone", "kept", "dropped");
  const jobs = await take();
  await done(jobs.filter(({ meta }) => meta === '"gone"'));
  await queue.drop(jobs.find(({ meta }) => meta === '"dropped"')!.id, clock.at);
  assert.equal(await bodies(), ['"gone"', '"kept"']);
  const tidy = (now: number) => database.query((q) => removeOrphans(q, START, now));
  assert.equal(await tidy(clock.at), { gone: 0, next: START });
  assert.equal(await tidy(clock.at + DAY), { gone: 1, next: START });
  assert.equal(await bodies(), ['"kept"']);
});

test.run();
