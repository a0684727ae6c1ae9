/** Functions that change tasks on PostgreSQL: what they read, however large the tables are, and how a database comes to them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { eventRelease } from "../support/event-release.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { FakeNetwork, listening, NOW, optionsFor } from "./fixture.js";
import { drained, HOOK, push, start } from "./sender-suite.js";

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

/** Tables of the size at which reading them as a whole seems cheap to a planner that takes one task for a hundred. */
const FILL = `
  insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires)
    select 'old-' || n, 'p', 't', 'working', '', '{}', 9e15::bigint from generate_series(1, 10000) n;
  insert into adbind_dedup (task_id, dedup_key, digest, keys, expires)
    select 'old-' || n, 'key', '', '[]', 9e15::bigint from generate_series(1, 10000) n;
  analyze adbind_sent_tasks, adbind_dedup`;

const READ = `select relname as name, seq_scan::int as scans from pg_stat_xact_user_tables
  where relname in ('adbind_sent_tasks', 'adbind_dedup', 'adbind_jobs') order by relname`;

test("a change reads its own rows, not tables of ten thousand as a whole, known here or not", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const options = { ...optionsFor(clock, new FakeNetwork(clock)), store: { database } };
  const [knowing, unknowing] = [await createSender(options), await createSender(options)];
  const application = new pg.Client(url);
  await application.connect();
  try {
    await knowing.tasks.register(start({ taskId: "a" }), { push });
    await application.query(FILL);
    const untouched = ["adbind_dedup", "adbind_jobs", "adbind_sent_tasks"].map((name) => ({ name, scans: 0 }));
    // Often enough that a session has settled on its plans.
    for (const [turn, sender] of Array.from({ length: 16 }, (_, n) => [n, n % 2 ? unknowing : knowing] as const)) {
      await application.query("begin");
      const { keys } = await sender.tasks.update("a", { status: "working" }, { tx: application, dedupKey: `${turn}` });
      assert.is(keys.length, 1);
      assert.equal((await application.query(READ)).rows, untouched, `turn ${turn}`);
      await application.query("commit");
    }
  } finally {
    await application.end();
    for (const sender of [knowing, unknowing]) await sender.stop();
    await database.close();
  }
});

/** A backlog of others'. */
const BACKLOG = `
  insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
    select 'webhooks', 'old-' || n, true, 'e' || n % 50, 'task:old-' || n, 'ready', 1, 1, 1 from generate_series(1, 10000) n;
  analyze adbind_jobs`;

const READ_JOBS = `select seq_scan::int as scans, idx_tup_fetch::int as rows from pg_stat_xact_user_tables
  where relname = 'adbind_jobs'`;

const OTHER_SESSIONS = `select count(*)::int from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** What sessions read is counted when they end, and they end after who closed them has gone on. */
async function scansOfJobs(of: pg.Client): Promise<unknown> {
  await until(async () => (await of.query<{ count: number }>(OTHER_SESSIONS)).rows[0]?.count === 0);
  await of.query("select pg_stat_force_next_flush()");
  return (await of.query("select seq_scan::int from pg_stat_user_tables where relname = 'adbind_jobs'")).rows;
}

test("whatever an application does in its transaction reads no backlog of others", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  network.react = listening;
  const own = { release: eventRelease, agentUrl: "https://seller.example/agent", authorized: () => true };
  const options = { ...optionsFor(clock, network), ...own, store: { database } };
  const sender = await createSender(options);
  const application = new pg.Client(url);
  application.on("error", () => undefined);
  await application.connect();
  const buy = { mediaBuyId: "mb", principal: "buyer-1" };
  const list = { resource: "l", principal: "buyer-1" };
  const all = { subscriber_id: "s", url: HOOK, event_types: ["account.status_changed"], all_authorized_accounts: true };
  const tx = application;
  const steps: Readonly<Record<string, () => unknown>> = {
    "a task": () => sender.tasks.register(start(), { push }, { tx }),
    "a task's own channel": () => sender.tasks.attach(start(), { url: HOOK }, { tx }),
    "a change": () => sender.tasks.update("task-1", { status: "working" }, { tx }),
    "its own channel anew": () => sender.tasks.attach(start(), { url: `${HOOK}2` }, { tx }),
    "a buy": () => sender.channels.open(buy, { events: push }, { tx }),
    "an impairment": () =>
      sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} }, { tx }),
    "a buy anew": () => sender.channels.open(buy, { events: { ...push, url: `${HOOK}2` } }, { tx }),
    "its end": () => sender.channels.close("mb", { tx }),
    "a list": () => sender.channels.subscribe("list_change", list, { url: HOOK }, { tx }),
    "a list anew": () => sender.channels.subscribe("list_change", list, { url: `${HOOK}2` }, { tx }),
    "what an agent is told": () =>
      sender.notifications.notify({ kind: "account.status_changed", account: "a", body: { status: "active" } }, { tx }),
  };
  try {
    assert.ok((await sender.notifications.sync({ principal: "buyer-1" }, [all])).ok);
    await application.query(BACKLOG);
    for (const [name, step] of Object.entries(steps)) {
      await application.query("begin");
      await step();
      const [read] = (await application.query<{ scans: number; rows: number }>(READ_JOBS)).rows;
      assert.is(read?.scans ?? 0, 0, name);
      assert.ok((read?.rows ?? 0) < 100, `${name} read ${read?.rows} jobs`);
      await application.query("commit");
    }
  } finally {
    await sender.stop();
    await database.close();
  }
  const before = await scansOfJobs(application);
  const reading = await openPostgres({ url, connections: 1 });
  const reader = await createSender({ ...options, store: { database: reading } });
  await reader.activity({ principal: "buyer-1", subject: "task-1" });
  await reader.stop();
  await reading.close();
  assert.equal(await scansOfJobs(application), before);
  await application.end();
});

/** A backlog of one task's: it fills an index of its own, whether its events were attempted or not. */
const BACKLOG_OF_ONE = `
  insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at, attempts)
    select 'webhooks', 'one-' || n, true, 'e', 'task:task-1', 'ready', 1, 1, 1, n % 2 from generate_series(1, 60000) n;
  insert into adbind_job_bodies (at, job, meta, body) select body_at, id, '{}', '' from adbind_jobs;
  analyze adbind_jobs, adbind_job_bodies`;

test("who asks for the activity of a task has no backlog of it read as a whole", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const options = optionsFor({ at: NOW }, new FakeNetwork({ at: NOW }));
  const application = new pg.Client(url);
  application.on("error", () => undefined);
  await application.connect();
  await application.query(BACKLOG_OF_ONE);
  const fetched = async (): Promise<number> => {
    await scansOfJobs(application);
    const text = "select idx_tup_fetch::int as n from pg_stat_user_tables where relname = 'adbind_jobs'";
    return (await application.query<{ n: number }>(text)).rows[0]!.n;
  };
  const sender = await createSender({ ...options, store: { database } });
  assert.equal(await sender.activity({ principal: "buyer-1", subject: "task-1" }), []);
  await sender.stop();
  await database.close();
  const rows = await fetched();
  await application.end();
  assert.ok(rows > 0 && rows <= 12_000, `${rows} jobs were read`);
});

/** What a tenant leaves who takes back the configs he gave, again and again. */
const REMOVED = `
  insert into adbind_channels (resource, kind, subscriber, principal, config, closed, closed_at, endpoint)
    select 'agents', 'agent', '["other","' || n || '"]', 'other', 'null', 2, 9e15::bigint, null
    from generate_series(1, 10000) n`;

const READ_CHANNELS = `select seq_scan::int as scans, idx_tup_fetch::int as rows from pg_stat_xact_user_tables
  where relname = 'adbind_channels'`;

/** Of sessions that have ended: what one reads outside a transaction is counted then. */
const readBefore = async (client: pg.Client): Promise<{ scans: number; rows: number }> =>
  (
    await client.query<{ scans: number; rows: number }>(
      "select seq_scan::int as scans, idx_tup_fetch::int as rows from pg_stat_user_tables where relname = 'adbind_channels'",
    )
  ).rows[0]!;

test("configs that another has removed are not read by who is told, nor by who changes or lists his own", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 1 });
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  network.react = listening;
  const own = { release: eventRelease, agentUrl: "https://seller.example/agent", authorized: () => true };
  const sender = await createSender({ ...optionsFor(clock, network), ...own, store: { database } });
  const filler = new pg.Client(url);
  await filler.connect();
  const scope = { principal: "buyer-1" };
  const config = { subscriber_id: "s", url: HOOK, event_types: ["capabilities.changed"] };
  const event = { kind: "capabilities.changed", body: { agent_url: "https://seller.example/agent" } };
  const paused = { ...config, subscriber_id: "t", active: false };
  const prepared = await sender.notifications.prepare(scope, [config]);
  assert.ok(prepared.ok && (await prepared.store()).ok);
  const steps: Readonly<Record<string, (tx: pg.Client) => unknown>> = {
    "everybody is told": (tx) => sender.notifications.notify(event, { tx }),
    "one is told": (tx) => sender.notifications.notify({ ...event, ...scope }, { tx }),
    "a set is stored": async (tx) => {
      const next = await sender.notifications.prepare(scope, [config, paused]);
      assert.ok(next.ok && (await next.store({ tx })).ok);
    },
  };
  try {
    // By what the planner knows from before, and from after.
    for (const known of [REMOVED, "analyze adbind_channels"]) {
      await filler.query(known);
      for (const [name, step] of Object.entries(steps)) {
        // In a session of its own: what another has read is counted with a delay.
        const application = new pg.Client(url);
        await application.connect();
        await application.query("begin");
        await step(application);
        const [read] = (await application.query<{ scans: number; rows: number }>(READ_CHANNELS)).rows;
        await application.query("rollback");
        await application.end();
        assert.is(read?.scans ?? 0, 0, name);
        assert.ok((read?.rows ?? 0) < 30, `${name} read ${read?.rows} channels`);
      }
    }
    const before = await readBefore(filler);
    const reading = await openPostgres({ url, connections: 1 });
    const reader = await createSender({ ...optionsFor(clock, network), ...own, store: { database: reading } });
    assert.is((await reader.notifications.list(scope)).length, 1);
    assert.ok((await reader.notifications.sync(scope, [config, paused])).ok);
    assert.is((await reader.notifications.list(scope)).length, 2);
    await reader.stop();
    await reading.close();
    const after = await readBefore(filler);
    assert.is(after.scans, before.scans);
    assert.ok(after.rows - before.rows < 100, `read ${after.rows - before.rows} channels`);
  } finally {
    await filler.end();
    await sender.stop();
    await database.close();
  }
});

const CHANGED = `select n_tup_upd::int as changed, n_tup_hot_upd::int as alone from pg_stat_xact_user_tables
  where relname = 'adbind_sent_tasks'`;

test("tasks that were stored together change together without an entry in an index", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store: { database } });
  const application = new pg.Client(url);
  await application.connect();
  try {
    const ids = Array.from({ length: 200 }, (_, at) => `task-${at}`);
    await Promise.all(ids.map((taskId) => sender.tasks.register(start({ taskId }), { push })));
    await application.query("begin");
    const changes = ids.map((taskId) => ({ taskId, status: "working" as const }));
    await sender.tasks.updateAll(changes, { tx: application });
    assert.equal((await application.query(CHANGED)).rows, [{ changed: ids.length, alone: ids.length }]);
    await application.query("commit");
  } finally {
    await application.end();
    await sender.stop();
    await database.close();
  }
});

/** Functions are all that the step adds: without them and its row a database is as the step before left it. */
const UNDONE = `
  drop function adbind_change_tasks; drop function adbind_add_jobs; drop function adbind_lease_jobs;
  drop function adbind_ack_jobs;
  delete from adbind_migrations where name = 'functions'`;

test("a database of before the functions, with tasks and events in it, is brought to them and goes on", async () => {
  const url = await postgres.database();
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const open = async (migrate: boolean) => {
    const database = await openPostgres({ url, connections: 2, migrate });
    return { database, sender: await createSender({ ...optionsFor(clock, network), store: { database } }) };
  };
  const before = await open(true);
  await before.sender.tasks.register(start({ taskId: "a" }), { push });
  await before.sender.tasks.update("a", { status: "working" });
  await before.sender.stop();
  await before.database.execute(UNDONE);
  await before.database.close();
  const refused = await open(false).catch((error: Error) => error.message);
  assert.match(String(refused), /17 functions/);
  const after = await open(true);
  await after.sender.tasks.update("a", { status: "canceled" });
  after.sender.start();
  await until(() => drained(after.sender));
  await after.sender.stop();
  await after.database.close();
  assert.equal(
    network.sent.map(({ body }) => body.status),
    ["working", "canceled"],
  );
});

test.run();
