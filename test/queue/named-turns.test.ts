/** Endpoints that are told of by name while others are looked at, on PostgreSQL: what a guess at them does not bring is found. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { Leasing } from "../../runtime/queue/postgres/leasing.js";
import type { Queue } from "../../runtime/queue/types.js";
import { sharedPostgres } from "../support/postgres.js";
import { hostAndPrincipal, putFar } from "./many-endpoints.js";
import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

interface Looking {
  readonly queue: Queue;
  readonly leasing: Leasing;
  /** What has room, the database that guesses are put to, and what happens before each look; to be changed. */
  readonly now: { room: (endpoint: string) => number; guess: PostgresDatabase["query"]; look: () => void };
  /** @returns endpoints of what was leased */
  take(at?: number): Promise<string[]>;
}

/** @param far endpoints of which nothing is due for long */
async function looking(far: number, work: (of: Looking) => Promise<void>): Promise<void> {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  await putFar(database, far);
  const now: Looking["now"] = { room: () => 1, guess: database.query, look: () => undefined };
  const query: PostgresDatabase["query"] = (ask) => {
    now.look();
    return database.query(ask);
  };
  const leasing = new Leasing({ query, queryWoken: (ask) => now.guess(ask) }, "test", 60_000);
  const room = (endpoint: string): number => now.room(endpoint);
  const take = async (at = Date.now()): Promise<string[]> => {
    const jobs = await leasing.take({ now: at, limit: 4, room, likely: room, ownerOf: hostAndPrincipal });
    return jobs.map(({ endpoint }) => endpoint);
  };
  try {
    await work({ queue, leasing, now, take });
  } finally {
    await queue.close();
    await database.close();
  }
}

/** Takes until it is known for how long nothing is due. @returns what was leased */
async function untilQuiet({ leasing, take }: Looking): Promise<string[]> {
  const had: string[] = [];
  for (let n = 0; n < 40 && leasing.quietMs(Date.now()) === 0; n++) had.push(...(await take()));
  return had;
}

/** More than one take looks at. */
const MANY = 8_200;

test("what is told of behind a look that goes on, and is due later, is not slept over", () =>
  looking(MANY, async (of) => {
    assert.equal(await of.take(), []);
    await put(of.queue, job({ endpoint: "a", due: Date.now() + 60_000 }));
    of.leasing.added(["a"]);
    assert.equal(await untilQuiet(of), []);
    assert.ok(of.leasing.quietMs(Date.now()) <= 60_000, `${of.leasing.quietMs(Date.now())} ms`);
  }));

test("what is told of while it has no room is not slept over", () =>
  looking(MANY, async (of) => {
    assert.equal(await of.take(), []);
    await put(of.queue, job({ endpoint: "a" }));
    of.leasing.added(["a"]);
    of.now.room = () => 0;
    assert.equal(await of.take(), []);
    of.now.room = () => 1;
    assert.equal(await untilQuiet(of), ["a"]);
  }));

test("of more that is told of than there are slots nothing is slept over", () =>
  looking(MANY, async (of) => {
    assert.equal(await of.take(), []);
    const names = Array.from({ length: 10 }, (_, n) => `a${n}`);
    await put(of.queue, ...names.map((endpoint) => job({ endpoint })));
    of.leasing.added(names);
    const had = await of.take();
    assert.is(had.length, 4);
    had.push(...(await untilQuiet(of)));
    assert.equal(had.sort(), names);
  }));

test("what is told of is had after a guess that could not be made", () =>
  looking(MANY, async (of) => {
    assert.equal(await of.take(), []);
    await put(of.queue, job({ endpoint: "a" }));
    of.leasing.added(["a"]);
    const { guess } = of.now;
    of.now.guess = () => Promise.reject(new Error("no connection"));
    const failed = await of.take().catch(({ message }: Error) => message);
    assert.is(failed, "no connection");
    of.now.guess = guess;
    assert.equal(await of.take(), ["a"]);
  }));

test("names that lead to nothing do not end a look", () =>
  looking(2_000, async (of) => {
    // Behind all others; nobody tells of it.
    await put(of.queue, job({ endpoint: "k" }));
    of.now.room = (endpoint) => (endpoint === "k" ? 1 : 0);
    of.now.look = () => of.leasing.added(["a"]);
    const had = await of.take();
    for (let takes = 1; had.length === 0; takes++) {
      assert.ok(of.leasing.goesOn, `it rests after ${takes} takes`);
      had.push(...(await of.take()));
    }
    assert.equal(had, ["k"]);
  }));

test("whoever is told of at hundreds of endpoints keeps nobody from being had without a look", () =>
  looking(0, async (of) => {
    await put(of.queue, ...Array.from({ length: 2_000 }, (_, n) => job({ endpoint: `h${n} many.${n}` })));
    of.now.room = (endpoint) => (endpoint.includes("many") ? 0 : 1);
    for (let n = 0; n < 10; n++) {
      const names = [...Array.from({ length: 300 }, (_, m) => `b busy.${m}`), `v${n} few.1`];
      await put(of.queue, ...names.map((endpoint) => job({ endpoint })));
      of.leasing.added(names.slice(0, 200));
      of.leasing.added(names.slice(200));
      // One is looked for in turn at most, and one is a guess.
      const had = [...(await of.take()), ...(await of.take())];
      assert.ok(had.includes(`v${n} few.1`), had.join());
    }
  }));

test("who added jobs of hundreds of endpoints in one transaction knows of which", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  let looks = 0;
  const counted: PostgresDatabase = Object.assign(Object.create(database) as PostgresDatabase, {
    query: (ask: Parameters<typeof database.query>[0]) => {
      looks += 1;
      return database.query(ask);
    },
  });
  const queue = openQueue(counted, "test");
  const forget = queue.onWake(() => undefined);
  await put(queue, ...Array.from({ length: 2_000 }, (_, n) => job({ endpoint: `h many.${n}` })));
  const room = (endpoint: string): number => (endpoint.includes("many") ? 0 : 1);
  const take = () => queue.take({ now: Date.now(), limit: 256, room, likely: room, ownerOf: hostAndPrincipal });
  while ((await take()).length > 0);
  await put(queue, ...Array.from({ length: 40 }, (_, n) => job({ endpoint: `h few.${n}` })));
  looks = 0;
  const had: string[] = [];
  while (had.length < 40) {
    had.push(...(await take()).map(({ endpoint }) => endpoint));
    assert.ok(looks <= 3, `${looks} looks`);
  }
  forget();
  await queue.close();
  await database.close();
});

test.run();
