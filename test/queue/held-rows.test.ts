/** Attempts that end while a transaction of the application's holds rows of the queue. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type Query } from "../../runtime/db/index.js";
import { Acks } from "../../runtime/queue/acks.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { Ack, Job, NewJob } from "../../runtime/queue/types.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

interface Held {
  readonly jobs: readonly NewJob[];
  /** What the application holds while all attempts end, as a statement. */
  readonly holds: string;
  readonly effect?: (query: Query, acked: readonly Ack[]) => Coroutine<void>;
}

/** @returns which attempts could be written while it held that, whether all could be in the end, and what was said meanwhile */
async function writtenWhileHeld({ jobs, holds, effect }: Held) {
  const url = await postgres.database();
  // Far longer than a test waits.
  const database = await openPostgres({ url, connections: 4, lockTimeoutMs: 60_000 });
  const queue = openQueue(database, "test");
  const client = new pg.Client(url);
  await client.connect();
  const faults: string[] = [];
  const acks = new Acks({
    ...{ queue, effect, gatherMs: 0, now: Date.now },
    moreToCome: () => false,
    written: () => undefined,
    onFault: (error) => faults.push((error as Error).message.split(": ")[0]!),
  });
  const written: string[] = [];
  const leased = () => queue.take({ now: Date.now(), limit: 100, room: () => 100 });
  const attempted = async (of: Job): Promise<boolean> => {
    const own = await acks.push({ job: of, outcome: { kind: "done" } });
    written.push(of.key);
    return own;
  };
  try {
    await put(queue, ...jobs);
    const first = await leased();
    await client.query("begin");
    await client.query(holds);
    const ended = first.map(attempted);
    await until(() => faults.length > 0, "it is told of");
    // Others go on meanwhile.
    await put(queue, job({ key: "other", endpoint: "other" }));
    await Promise.all((await leased()).map(attempted));
    const meanwhile = [...written].sort();
    await client.query("commit");
    const own = await Promise.all(ended);
    return { leased: first.length, meanwhile, own: own.every(Boolean), faults };
  } finally {
    acks.giveUp();
    await client.end();
    await queue.close();
    await database.close();
  }
}

const named = (count: number): NewJob[] =>
  Array.from({ length: count }, (_, n) => job({ key: `free ${n}`, endpoint: `e${n % 7}` }));
const keysOf = (jobs: readonly NewJob[]): string[] => [...jobs.map(({ key }) => key), "other"].sort();
const told = (count: number): string => `another transaction holds what ${count} attempts have to be written to`;

test("rows of some jobs are held: the others' attempts are written, and those once they are free", async () => {
  const free = named(60);
  const jobs = [
    ...free.slice(0, 20),
    ...["a", "b", "c", "d", "e", "f"].map((key) => job({ key: `held ${key}` })),
    ...free.slice(20),
  ];
  const result = await writtenWhileHeld({ jobs, holds: "select from adbind_jobs where key like 'held%' for update" });
  assert.equal(result, { leased: 66, meanwhile: keysOf(free), own: true, faults: [told(6)] });
});

test("the row of what waits behind one of them is held", async () => {
  const free = named(20);
  const jobs = [...free, job({ key: "before", orderingKey: "o" }), job({ key: "held", orderingKey: "o" })];
  const result = await writtenWhileHeld({ jobs, holds: "select from adbind_jobs where key = 'held' for update" });
  assert.equal(result, { leased: 21, meanwhile: keysOf(free), own: true, faults: [told(1)] });
});

test("a row that is written with one of them is held", async () => {
  const free = named(20);
  const result = await writtenWhileHeld({
    jobs: [...free, job({ key: "written with it" })],
    holds: "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held')",
    *effect(query, acked) {
      if (acked.some((ack) => ack.job.key === "written with it"))
        yield* query.run(
          "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held') on conflict do nothing",
          [],
        );
    },
  });
  assert.equal(result, { leased: 21, meanwhile: keysOf(free), own: true, faults: [told(1)] });
});

test.run();
