/** What PostgreSQL reads for operators' looks at jobs, and to remove some, whatever its planner has seen of them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type PostgresDatabase, type Query } from "../../runtime/db/index.js";
import { removeKept } from "../../runtime/queue/evicting.js";
import { BEHIND_DUE_MS } from "../../runtime/queue/jobs.js";
import { oldJobs } from "../../runtime/queue/oldest.js";
import { dropJob, listEndpoints } from "../../runtime/queue/postgres/kept-jobs.js";
import { sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();
let database: PostgresDatabase;

test.before.each(async () => {
  database = await openPostgres({ url: await postgres.database(), connections: 2 });
});
test.after.each(() => database.close());
test.after(() => postgres.stop());

/** Jobs under one ordering key that have all ended since the planner looked: it takes them for none. */
const fill = async (): Promise<void> => {
  for (const text of [
    `insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
      select 'test', 'k' || n, true, 'e', 'task:1', 'ready', 1, 1, 1 from generate_series(1, 3000) n`,
    "analyze adbind_jobs",
    "update adbind_jobs set state = 'dead', due = 5 where id <= (select max(id) from adbind_jobs) - 1000",
  ])
    await database.query((q) => q.run(text));
};

/** What this session has read, and is not counted for all yet. */
function* read(q: Query): Coroutine<number> {
  const [row] = yield* q.rows<{ rows: number }>(
    "select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'adbind_jobs'",
  );
  return row?.rows ?? 0;
}

/** Rows of jobs that are read meanwhile. */
const rowsRead = (work: (q: Query) => Coroutine<unknown>): Promise<number> =>
  database.write(function* (q) {
    const before = yield* read(q);
    yield* work(q);
    return (yield* read(q)) - before;
  });

test("what ended since the planner looked is removed without being looked through for each of it", async () => {
  await fill();
  const key = ["at", "job"] as const;
  const removed: number[] = [];
  const remove = (what: Parameters<typeof removeKept>[2]) =>
    rowsRead(function* (q) {
      removed.push(yield* removeKept(q, "test", what, key));
    });
  const pruning = await remove({ kind: "prune", before: 10, limit: 100 });
  assert.ok(pruning < 6_000, `read ${pruning} rows`);
  const evicting = await remove({ kind: "evict", keep: 1_800, limit: 100, ownerOf: (endpoint) => endpoint });
  assert.ok(evicting < 12_000, `read ${evicting} rows`);
  assert.equal(removed, [100, 100]);
});

test("to drop what has ended takes no look at what waits under its ordering key", async () => {
  await fill();
  const [first] = await database.query((q) => q.rows<{ id: number }>("select min(id) as id from adbind_jobs"));
  const reading = await rowsRead(function* (q) {
    assert.ok(yield* dropJob(q, first!.id, { topic: "test" }, 10));
  });
  assert.ok(reading < 100, `read ${reading} rows`);
});

const run = (text: string): Promise<number> => database.query((q) => q.run(text));

test("a page of endpoints reads what waits once, and not again for each of them", async () => {
  const waiting = (key: string, endpoint: string): string =>
    `insert into adbind_jobs (topic, key, random, endpoint, state, due, created_at, body_at)
      select 'test', ${key}, true, ${endpoint}, 'ready', 1, 1, 1 from generate_series(1, `;
  await run(`${waiting("'m' || n", "'many'")}5000) n`);
  // So it knows of one endpoint, and of nobody who came after.
  await run("analyze adbind_jobs");
  await run(`${waiting("'f' || n", "'few' || n")}50) n`);
  let listed = 0;
  const reading = await rowsRead(function* (q) {
    listed = (yield* listEndpoints(q, "test", "", 50)).length;
  });
  assert.is(listed, 50);
  assert.ok(reading < 11_000, `read ${reading} rows`);
});

test("dropping the first under an ordering key looks through none of what waits behind it", async () => {
  await run(
    `insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
      select 'test', 'k' || n, true, 'e', 'task:1', 'ready', case n when 1 then 1 else ${BEHIND_DUE_MS} end, 1, 1
      from generate_series(1, 3000) n`,
  );
  await run("analyze adbind_jobs");
  const [first] = await database.query((q) => q.rows<{ id: number }>("select min(id) as id from adbind_jobs"));
  const reading = await rowsRead(function* (q) {
    assert.ok(yield* dropJob(q, first!.id, { topic: "test" }, 10));
  });
  assert.ok(reading < 100, `read ${reading} rows`);
  const [next] = await database.query((q) => q.rows<{ id: number }>("select id from adbind_jobs where due = 10"));
  assert.is(next?.id, first!.id + 1);
});

test("whether what waits at endpoints is old is read from their own jobs, and no further than to the first that is", async () => {
  const names = "case when n <= 20000 then 'big' else 'small' || n % 20 end";
  for (const text of [
    `insert into adbind_jobs (topic, key, random, endpoint, state, due, created_at, body_at)
      select 'test', 'k' || n, true, ${names}, 'ready', n, 100 + n, 1 from generate_series(1, 22000) n`,
    "analyze adbind_jobs",
  ])
    await database.query((q) => q.run(text));
  const found: boolean[] = [];
  const ask = (before: number, ...endpoints: string[]) =>
    rowsRead(function* (q) {
      const old = yield* oldJobs(q, "test", { endpoints, before });
      found.push(...endpoints.map((endpoint) => old.get(endpoint)!.added));
    });
  const young = await ask(100, "small1", "small2", "small3", "small4");
  assert.ok(young <= 2 * 400, `read ${young} rows`);
  const old = await ask(30_000, "small1", "small2");
  assert.ok(old <= 300, `read ${old} rows`);
  assert.equal(found, [false, false, false, false, true, true]);
});

test.run();
