/** What leasing and acknowledging cost PostgreSQL, and what is written with an acknowledgement. */
import fc from "fast-check";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { Leasing } from "../../runtime/queue/postgres/leasing.js";
import type { Ack, AckEffect, Queue } from "../../runtime/queue/types.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

interface Opened {
  readonly url: string;
  readonly database: PostgresDatabase;
  readonly queue: Queue;
}

async function withQueue(work: (opened: Opened) => Promise<void>): Promise<void> {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 4 });
  const queue = openQueue(database, "test");
  try {
    await work({ url, database, queue });
  } finally {
    await queue.close();
    await database.close();
  }
}

const room = (): number => 100;

/** A database that counts what it is asked. */
function counting(database: PostgresDatabase): { readonly query: PostgresDatabase["query"]; statements: number } {
  const counted = {
    statements: 0,
    query: ((work) => {
      counted.statements += 1;
      return database.query(work);
    }) as PostgresDatabase["query"],
  };
  return counted;
}

test("a lease touches no index, and reads no table of ten thousand rows as a whole", () =>
  withQueue(async ({ url, queue }) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      await client.query(`
        insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires)
          select n::text, 'p', 't', 'working', '', '{}', 9e15::bigint from generate_series(1, 10000) n`);
      const jobs = Array.from({ length: 10_000 }, (_, n) => job({ endpoint: `e${n % 50}`, orderingKey: `task:${n}` }));
      for (let at = 0; at < jobs.length; at += 500) await put(queue, ...jobs.slice(at, at + 500));
      await client.query("analyze");
      const endpoints = Array.from({ length: 50 }, (_, n) => `e${n}`);
      // Often enough that the session has settled on its plans.
      for (let turn = 0; turn < 12; turn++) {
        await client.query("begin");
        const { rows } = await client.query<{ key: string; ordering_key: string; task_id: string | null }>(
          "select * from adbind_lease_jobs('test', $1, $2, 40, $3, 'token', 10000)",
          [endpoints, endpoints.map(() => 1), Date.now()],
        );
        assert.is(rows.length, 40);
        // Tasks begin at 1, and jobs at 0.
        for (const row of rows) assert.is(`task:${row.task_id ?? 0}`, row.ordering_key);
        const read = await client.query<{ name: string; scans: number; cold: number }>(`
          select relname as name, seq_scan::int as scans, (n_tup_upd - n_tup_hot_upd)::int as cold
          from pg_stat_xact_user_tables where relname in ('adbind_sent_tasks', 'adbind_jobs') order by relname`);
        assert.equal(
          read.rows,
          ["adbind_jobs", "adbind_sent_tasks"].map((name) => ({ name, scans: 0, cold: 0 })),
          `turn ${turn}`,
        );
        await client.query("commit");
      }
    } finally {
      await client.end();
    }
  }));

test("a job of an endpoint that had one lately is leased in one statement, and others have their turn all the same", () =>
  withQueue(async ({ database, queue }) => {
    const counted = counting(database);
    const { query } = counted;
    let guesses = 0;
    const queryWoken: PostgresDatabase["queryWoken"] = (work) => {
      guesses += 1;
      return query(work);
    };
    const leasing = new Leasing({ query, queryWoken }, "test", 10_000);
    const taken = async (): Promise<readonly [endpoints: readonly string[], statements: number]> => {
      counted.statements = 0;
      const jobs = await leasing.take({ now: Date.now(), limit: 10, room, likely: room });
      return [jobs.map(({ endpoint }) => endpoint), counted.statements];
    };
    for (let time = 0; time < 2; time++) {
      await put(queue, job({ endpoint: "known" }));
      assert.equal(await taken(), [["known"], 2]);
      assert.equal(await taken(), [[], 1]);
    }
    await put(queue, job({ endpoint: "known" }), job({ endpoint: "other" }));
    assert.equal(await taken(), [["known"], 1]);
    assert.equal(await taken(), [["other"], 2]);
    assert.equal(await taken(), [[], 1]);
    // Who found only others does not guess the next time.
    await put(queue, job({ endpoint: "new" }));
    assert.equal(await taken(), [["new"], 2]);
    assert.equal(await taken(), [[], 1]);
    await put(queue, job({ endpoint: "newer" }));
    assert.equal(await taken(), [["newer"], 2]);
    await put(queue, job({ endpoint: "known" }));
    await queue.stop("known", Date.now());
    assert.equal((await taken())[0], []);
    assert.is(guesses, 1);
  }));

test("of a backlog endpoints are leased from in turn without a look for each, and one that is new has its turn once it is told of", () =>
  withQueue(async ({ database, queue }) => {
    const counted = counting(database);
    const { query } = counted;
    let clock = 0;
    const leasing = new Leasing({ query, queryWoken: query }, "test", 10_000, () => clock);
    const two = (): number => 2;
    const taken = async (): Promise<readonly [endpoints: string, statements: number]> => {
      counted.statements = 0;
      const jobs = await leasing.take({ now: Date.now(), limit: 3, room: two, likely: two });
      return [jobs.map(({ endpoint }) => endpoint).join(""), counted.statements];
    };
    const store = (endpoint: string, count: number): Promise<void> =>
      put(queue, ...Array.from({ length: count }, () => job({ endpoint })));
    await store("b", 9);
    await store("c", 3);
    await store("d", 9);
    assert.equal(await taken(), ["bbc", 2]);
    // Of the last one there was no room for all that is due.
    assert.equal(await taken(), ["bdd", 1]);
    assert.equal(await taken(), ["ccd", 1]);
    await store("a", 1);
    assert.equal(await taken(), ["bbd", 1]);
    leasing.added();
    // Behind the one that came last by the last look.
    assert.equal(await taken(), ["dd", 2]);
    // A look that did not come round knows nothing of the others.
    assert.equal(await taken(), ["bba", 2]);
    assert.equal(await taken(), ["bdd", 1]);
    assert.equal(await taken(), ["bd", 1]);
    assert.equal((await taken())[0], "");
    await store("b", 9);
    assert.equal((await taken())[0], "bb");
    assert.equal(await taken(), ["bb", 2]);
    clock += 100;
    assert.equal(await taken(), ["bb", 1]);
    clock += 1;
    assert.equal(await taken(), ["bb", 2]);
  }));

test("whoever has a backlog looks for others as soon as jobs are added", () =>
  withQueue(async ({ queue }) => {
    let woken = false;
    queue.onWake(() => (woken = true));
    const two = (): number => 2;
    const taken = async (): Promise<string> => {
      const jobs = await queue.take({ now: Date.now(), limit: 10, room: two, likely: two });
      return jobs.map(({ endpoint }) => endpoint).join("");
    };
    await put(queue, ...Array.from({ length: 9 }, () => job({ endpoint: "b" })));
    await until(() => woken);
    assert.is(await taken(), "bb");
    woken = false;
    await put(queue, job({ endpoint: "c" }));
    await until(() => woken);
    assert.is(await taken(), "bbc");
  }));

test("a head whose row somebody holds costs few statements, and what is behind it goes once it is free", () =>
  withQueue(async ({ url, database, queue }) => {
    await put(queue, ...["first", "second"].map((key) => job({ key, orderingKey: "t" })));
    const [head] = await queue.list();
    const holder = new pg.Client(url);
    await holder.connect();
    await holder.query("begin");
    await holder.query("select from adbind_jobs where id = $1 for update", [head!.id]);
    const counted = counting(database);
    const leasing = new Leasing({ query: counted.query, queryWoken: counted.query }, "test", 60_000);
    const take = () => leasing.take({ now: Date.now(), limit: 100, room });
    assert.equal(await take(), []);
    assert.ok(counted.statements <= 6, `${counted.statements} statements`);
    await holder.query("commit");
    await holder.end();
    assert.equal(
      (await take()).map(({ key }) => key),
      ["first"],
    );
  }));

test("a body comes back byte by byte, whatever is in it", () =>
  withQueue(async ({ queue }) => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const texts = ["", "\\", "\\\\101", '{"a":"\\u0041\\""}', "äö\u{1f600}", "\0"].map((text) => Buffer.from(text));
    const random = fc.sample(fc.uint8Array({ maxLength: 80 }), 200);
    // What is all ASCII is added in another way.
    const padded = texts.map((text) => Buffer.concat([Buffer.from("a".repeat(400)), text, Buffer.from("101")]));
    // Long enough to be stored compressed.
    const long = ["x", "\\é"].map((text) => Buffer.from(text.repeat(40_000)));
    const plain = [every, every.toReversed(), ...texts, ...padded, ...long, ...random].map((bytes) =>
      Buffer.from(bytes),
    );
    // What may be JSON is leased in another way, if it is all ASCII.
    const asBytes = [...plain, ...plain.map((bytes) => Buffer.concat([Buffer.from("{"), bytes]))];
    const bodies = [...asBytes, ...[...texts, ...padded, ...long].map(String), "{\\", '{"a":"\u007f"}'];
    for (const [at, body] of bodies.entries()) await put(queue, job({ key: String(at), body }));
    const jobs = await queue.take({ now: Date.now(), limit: 1_000, room: () => 1_000 });
    assert.is(jobs.length, bodies.length);
    for (const { key, body } of jobs)
      assert.is(Buffer.from(body).toString("hex"), Buffer.from(bodies[Number(key)] as string).toString("hex"));
  }));

test("an instance with nothing to do looks again within a second while another has leases, and finds what is behind them", () =>
  withQueue(async ({ database, queue }) => {
    await put(queue, job({ key: "leased" }));
    const now = Date.now();
    assert.is((await queue.take({ now, limit: 10, room })).length, 1);
    const leasing = new Leasing(database, "test", 10_000);
    assert.equal(await leasing.take({ now, limit: 10, room }), []);
    assert.ok(leasing.quietMs(now) > 0 && leasing.quietMs(now) <= 1_000, `${leasing.quietMs(now)} ms`);
    await put(queue, job({ key: "later", due: now + 300 }), job({ key: "now", due: now - 1 }));
    const found = await leasing.take({ now, limit: 10, room });
    assert.equal(
      found.map(({ key }) => key),
      ["now"],
    );
    assert.equal(await leasing.take({ now, limit: 10, room }), []);
    assert.is(leasing.quietMs(now), 300);
  }));

test("activity is kept of acknowledgements that take effect, in their statement, and of no other", () =>
  withQueue(async ({ database, queue }) => {
    await put(queue, job({ key: "a" }), job({ key: "b" }), job({ key: "c" }));
    const [a, b, c] = await queue.take({ now: Date.now(), limit: 10, room });
    const acks: Ack[] = [
      { job: a!, outcome: { kind: "done" }, note: { said: "a" } },
      { job: { ...b!, token: "another's" }, outcome: { kind: "done" }, note: { said: "b" } },
      { job: c!, outcome: { kind: "later", due: Date.now() + 60_000, error: "HTTP 500" } },
    ];
    let ran = 0;
    const effect: AckEffect = Object.assign(
      // biome-ignore lint/correctness/useYield: it has nothing to ask
      function* (): Coroutine<void> {
        ran += 1;
      },
      {
        activity: (all: readonly Ack[]) =>
          all.map(({ note }) =>
            note === undefined
              ? undefined
              : { principal: "p", subject: "s", record: JSON.stringify(note), expires: 9e15 },
          ),
      },
    );
    assert.equal(await queue.ack(acks, Date.now(), effect), [true, false, true]);
    assert.is(ran, 0);
    const kept = await database.query((q) => q.rows<{ record: string }>("select record from adbind_activity"));
    assert.equal(kept, [{ record: '{"said":"a"}' }]);
    const left = await queue.list({ state: "ready" });
    assert.equal(
      left.map(({ key, attempts, error }) => [key, attempts, error]),
      [
        ["b", 0, null],
        ["c", 1, "HTTP 500"],
      ],
    );
  }));

test.run();
