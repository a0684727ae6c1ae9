/** Attempts that end while a transaction of the application's holds rows of the queue. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type Query } from "../../runtime/db/index.js";
import { Acks } from "../../runtime/queue/acks.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { Ack, Job, NewJob } from "../../runtime/queue/types.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { codeOf, thrownBy } from "../support/thrown.js";
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
  /** What is told of before it lets them go; anything by default. */
  readonly until?: (faults: readonly string[]) => boolean;
  readonly effect?: (query: Query, acked: readonly Ack[]) => Coroutine<void>;
}

/** @returns which attempts could be written while it held that, whether all could be in the end, and what was said meanwhile */
async function writtenWhileHeld({ jobs, holds, until: enough = () => true, effect }: Held) {
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
    await until(() => faults.length > 0 && enough(faults), "it is told of");
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

test("it is told how many attempts wait for rows that are held, as they become more and fewer", async () => {
  const [ends, faults]: [boolean[], string[]] = [[], []];
  let free = 0;
  const acks = new Acks({
    queue: {
      // As the queue answers where somebody holds all rows but some.
      ack: async (given) => given.map(() => (free > 0 ? free-- > 0 : "busy")),
      health: async () => ({ pausedUntil: 0, failingSince: null }),
    },
    ...{ gatherMs: 0, now: Date.now, moreToCome: () => false, written: () => undefined },
    onFault: (error) => faults.push((error as Error).message.split(": ")[0]!),
  });
  const end = (count: number): void => {
    for (const leased of named(count))
      acks.push({ job: leased as unknown as Job, outcome: { kind: "done" } }).then((own) => ends.push(own));
  };
  end(1);
  await until(() => faults.length === 1);
  end(5);
  await until(() => faults.length === 2);
  end(1);
  free = 5;
  await until(() => ends.length === 5 && faults.length === 3);
  free = 2;
  await until(() => ends.length === 7);
  assert.equal(faults, [1, 6, 2].map(told));
  acks.giveUp();
});

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

test("the rows of what waits behind many of them are held", async () => {
  const keys = Array.from({ length: 30 }, (_, n) => `o${n}`);
  const behind = (name: string): NewJob[] =>
    keys.map((orderingKey) => job({ key: `${name} ${orderingKey}`, orderingKey, endpoint: orderingKey }));
  const free = named(20);
  const jobs = [...free, ...behind("before"), ...behind("held")];
  const result = await writtenWhileHeld({ jobs, holds: "select from adbind_jobs where key like 'held%' for update" });
  assert.equal(result, { leased: 50, meanwhile: keysOf(free), own: true, faults: [told(30)] });
});

test("what cannot be written by its own fault is told of, though another's row is held", async () => {
  const result = await writtenWhileHeld({
    jobs: [job({ key: "held" }), ...named(1), job({ key: "broken" })],
    holds: "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held')",
    until: (faults) => faults.includes("ours"),
    *effect(query, acked) {
      if (acked.some((ack) => ack.job.key === "broken")) throw new Error("ours");
      if (acked.some((ack) => ack.job.key === "held"))
        yield* query.run(
          "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held') on conflict do nothing",
          [],
        );
    },
  });
  assert.equal(result.meanwhile, keysOf(named(1)));
  assert.equal(new Set(result.faults), new Set([told(1), "ours"]));
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

/** While the application holds what a statement locks. */
async function whileHeld<T>(
  url: string,
  holds: string,
  work: (release: () => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("begin");
    await client.query(holds);
    return await work(() => client.query("commit"));
  } finally {
    await client.end();
  }
}

test("one whose row is held for long takes no more of the slots than its share", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 6, lockTimeoutMs: 60_000 });
  const queue = openQueue(database, "test");
  await put(queue, ...Array.from({ length: 200 }, (_, n) => job({ key: `a${n}`, endpoint: "https://a.example a.1" })));
  const sent: string[] = [];
  const worker = createWorker({
    queue,
    ...{ concurrency: 32, perPrincipal: 16, perHost: 16, perEndpoint: 16, longestDelayMs: 4_000_000, pollMs: 20 },
    ownerOf: (endpoint) => ({ host: endpoint, principal: endpoint }),
    *effect(query, acked) {
      if (acked.some((ack) => ack.job.key.startsWith("a")))
        yield* query.run(
          "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held') on conflict do nothing",
          [],
        );
    },
    handle: async ({ key }) => {
      sent.push(key);
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  await whileHeld(url, "insert into adbind_endpoints (topic, endpoint) values ('ours', 'held')", async (release) => {
    worker.start();
    await until(() => sent.length > 0);
    for (let n = 0; n < 8; n++) {
      await put(queue, job({ key: `b${n}`, endpoint: "https://b.example b.1" }));
      await until(
        async () => (await queue.list({ endpoint: "https://b.example b.1" })).length === 0,
        `b${n} is written`,
      );
    }
    assert.ok(sent.length <= 8 + 16, `${sent.length} sent`);
    await release();
  });
  await until(async () => (await queue.counts()).ready === 0);
  await worker.stop();
  assert.is(sent.length, 208);
  await queue.close();
  await database.close();
});

test("what is learnt of an endpoint waits for nobody's row", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2, lockTimeoutMs: 60_000 });
  const queue = openQueue(database, "test");
  const note = { pausedUntil: Date.now() + 60_000, failingSince: Date.now(), began: Date.now() };
  await queue.pause("a", note);
  await whileHeld(url, "select from adbind_endpoints for update", async () => {
    const waited = (await thrownBy(() => queue.pause("a", note))).message.match(/kept a row for (\d+) ms/)?.[1];
    assert.ok(Number(waited) < 10_000, `it says that it waited for ${waited} ms`);
    assert.is(await codeOf(() => queue.recover("a", { until: 0, now: Date.now() })), "database_busy");
  });
  await queue.recover("a", { until: 0, now: Date.now() });
  assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
  await queue.close();
  await database.close();
});

test.run();
