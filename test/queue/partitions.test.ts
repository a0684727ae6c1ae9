/** Bodies by day: made ahead, moved, dropped without what is still needed; and what no partition takes along. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { removeOrphans, START } from "../../runtime/queue/postgres/tidy.js";
import type { Job, Queue } from "../../runtime/queue/types.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 3, 18, 12);
const postgres = await sharedPostgres();
let database: PostgresDatabase;
let queue: Queue;
const clock = { at: NOW };

test.before.each(async () => {
  clock.at = NOW;
  database = await openPostgres({ url: await postgres.database(), connections: 6 });
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
  assert.match(
    (await queue.alarms(clock.at, 30)).join(),
    /adbind_job_bodies and adbind_activity.*adbind db partitions/,
  );
  const { made, dropped } = await keep();
  const days = (table: string, ...names: string[]) => names.map((day) => `${table}_${day}`);
  assert.equal(made, [
    ...days("adbind_job_bodies", "20260418", "20260419", "20260420"),
    ...days("adbind_activity", "20260518", "20260519", "20260520"),
  ]);
  assert.equal(dropped, []);
  assert.equal(await keep(), { made: [], dropped: [], left: [] });
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

test("a day that was detached by hand keeps no other from being made or dropped, and what it has is taken back", async () => {
  await keep();
  await add("kept");
  const day = "adbind_job_bodies_20260418";
  await database.execute(`alter table adbind_job_bodies detach partition ${day}`, []);
  clock.at += DAY;
  const { made, left } = await keep();
  assert.equal(made, ["adbind_job_bodies_20260421", "adbind_activity_20260521"]);
  assert.equal(left, [], "a day that nobody writes to any more is none to be made");
  clock.at -= DAY;
  const [told, ...others] = (await keep()).left;
  assert.equal([told!.name, others], [day, []]);
  assert.match(
    told!.why,
    /no partition of adbind_job_bodies: it was detached by hand.*insert into adbind_job_bodies select/,
  );
  await database.execute(/take it back \((.*?)\)/.exec(told!.why)![1]!, []);
  await database.execute(`drop table ${day}`, []);
  assert.equal((await keep()).made, [day]);
  assert.is(textOf((await take())[0]), "body of kept");
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

/** What others do meanwhile, in a transaction that is left open. */
async function opened(...texts: string[]) {
  const client = await database.pool.connect();
  await client.query("begin");
  for (const text of texts) await client.query(text);
  return {
    ask: (text: string) => client.query(text),
    async commit(): Promise<void> {
      await client.query("commit");
      client.release();
    },
  };
}
const isThere = async (name: string): Promise<boolean> => {
  const [row] = await database.query((q) =>
    q.rows<{ there: boolean }>("select to_regclass(?) is not null as there", [name]),
  );
  return row!.there;
};
/** Whether somebody waits for a lock of a table. */
const isAwaited = async (table: string): Promise<boolean> => {
  const text = `select count(*) as n from pg_locks where relation = '${table}'::regclass and not granted`;
  const [row] = await database.query((q) => q.rows<{ n: number }>(text));
  return row!.n > 0;
};
const count = async (table: string): Promise<number> => {
  const [row] = await database.query((q) => q.rows<{ n: number }>(`select count(*) as n from ${table}`));
  return row!.n;
};
/** A day on which events were stored, of which some are still there. */
async function pastDay(stored: number, needed: number): Promise<string> {
  await keep();
  const day = `adbind_job_bodies_${new Date(clock.at).toISOString().slice(0, 10).replaceAll("-", "")}`;
  const columns = "topic, key, random, endpoint, state, due, created_at, body_at";
  await database.write(function* (q) {
    yield* q.run(
      `insert into adbind_jobs (${columns}) select 't', 'k' || n, true, 'dead', 'dead', 0, ${clock.at}, ${clock.at} + n
        from generate_series(1, ${stored}) n`,
    );
    yield* q.run(
      `insert into adbind_job_bodies (at, job, meta, body)
        select body_at, id, '{}', convert_to(key, 'UTF8') from adbind_jobs`,
    );
    yield* q.run("delete from adbind_jobs where substr(key, 2)::int > ?", [needed]);
  });
  clock.at += 3 * DAY;
  return day;
}
const bodyOf = async (id: number): Promise<string> => Buffer.from((await queue.get(id))!.body).toString();
const listed = async (): Promise<string[]> =>
  Promise.all(
    (await queue.list({ state: "dead", limit: 10 })).map(async ({ id, key }) => `${key} ${await bodyOf(id)}`),
  );

test("whoever keeps a day that is over waiting keeps nobody from storing and leasing", async () => {
  const old = await pastDay(10, 5);
  // As a keyspace that arrives, or whoever seals bodies anew.
  const other = await opened(`lock table ${old} in row exclusive mode`);
  const kept = keep();
  await until(() => isAwaited(old));
  assert.ok(await isThere("adbind_job_bodies_20260421"));
  await add("meanwhile");
  assert.equal((await take()).map(textOf), ["body of meanwhile"]);
  await other.commit();
  const { dropped, left } = await kept;
  assert.equal([dropped, left], [[old], []]);
  assert.equal(await listed(), ["k1 k1", "k2 k2", "k3 k3", "k4 k4", "k5 k5"]);
});

test("making a day gives way to a transaction that is left open, and is tried again", async () => {
  await add("early");
  const application = await opened("insert into adbind_job_bodies values (1, 1, '', '')");
  const kept = keep();
  await until(() => isAwaited("adbind_job_bodies"));
  // Whoever came after it goes on.
  await until(async () => !(await isAwaited("adbind_job_bodies")));
  await add("meanwhile");
  await application.commit();
  assert.is((await kept).made[0], "adbind_job_bodies_20260418");
  assert.equal(await bodies("adbind_job_bodies_20260418"), ['"early"', '"meanwhile"']);
});

test("a backlog keeps its own bodies on disk only, and what changed while they were copied is not lost", async () => {
  const [stored, needed] = [8_000, 3_000];
  const old = await pastDay(stored, needed);
  const other = await opened(`lock table ${old} in row exclusive mode`);
  const kept = keep();
  const copied = `${old}_copy`;
  await until(async () => (await isThere(copied)) && (await count(copied)) === needed && (await isAwaited(old)));
  // A body is sealed anew, and a keyspace arrives.
  await other.ask(`update adbind_job_bodies set body = 'sealed anew' where meta = '{}' and body = 'k2'`);
  await other.ask(
    `with job as (insert into adbind_jobs (topic, key, random, endpoint, state, due, created_at, body_at)
        select topic, 'moved', random, endpoint, state, due, created_at, body_at from adbind_jobs where key = 'k1'
        returning id, body_at)
      insert into adbind_job_bodies (at, job, meta, body) select body_at, id, '{}', 'arrived' from job`,
  );
  await other.commit();
  const { dropped, left } = await kept;
  assert.equal(dropped, [old]);
  assert.equal(left, [
    {
      name: `${old}_kept`,
      why: "events wait, or are kept, with 3,000 of its 8,000 bodies; the rest of it is gone",
    },
  ]);
  assert.equal((await listed()).slice(0, 3), ["k1 k1", "k2 sealed anew", "k3 k3"]);
  const [moved] = await queue.list({ after: needed, limit: 1_000 });
  assert.is(await bodyOf(moved!.id), "arrived");
  assert.is(await count(`${old}_kept`), needed + 1);
  assert.is(await isThere(copied), false);
  // Nothing would be gained by doing it again; and no alarm is raised of what is as it is to be.
  assert.equal(await keep(), {
    made: [],
    dropped: [],
    left: [{ name: `${old}_kept`, why: "events wait, or are kept, with 3,001 of its 3,001 bodies" }],
  });
  clock.at += DAY;
  await keep();
  assert.equal(await queue.alarms(clock.at, 30), []);
  await database.write((q) => q.run("delete from adbind_jobs where key <> 'k7'"));
  assert.equal((await keep()).dropped, [`${old}_kept`]);
  assert.equal(await listed(), ["k7 k7"]);
  assert.is(await count("adbind_job_bodies"), 1);
});

test("a large default partition is not looked through while others wait: days ahead are made, the next two are not", async () => {
  await database.write((q) =>
    q.run(
      `insert into adbind_job_bodies select ${NOW - 5 * DAY} + n, n, repeat('x', 1900), '' from generate_series(1, 40000) n`,
    ),
  );
  const { made, left } = await database.partitions({ now: clock.at, days: 3, activityDays: 30 });
  const ofBodies = (names: readonly string[]) => names.filter((name) => name.startsWith("adbind_job_bodies"));
  assert.equal(ofBodies(made), ["adbind_job_bodies_20260420", "adbind_job_bodies_20260421"]);
  assert.equal(ofBodies(left.map(({ name }) => name)), ["adbind_job_bodies_20260418", "adbind_job_bodies_20260419"]);
  await add("of today");
  assert.is(await count("adbind_job_bodies_default"), 40_001);
  const constraints =
    "select conname from pg_constraint where conrelid = 'adbind_job_bodies_default'::regclass and contype = 'c'";
  assert.equal(await database.query((q) => q.rows(constraints)), []);
});

test.run();
