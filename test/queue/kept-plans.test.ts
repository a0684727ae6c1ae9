/** What PostgreSQL reads to remove what is kept of jobs, whatever its planner has seen of them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type PostgresDatabase, type Query } from "../../runtime/db/index.js";
import { removeKept } from "../../runtime/queue/evicting.js";
import { dropJob } from "../../runtime/queue/postgres/kept-jobs.js";
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

test.run();
