/** Whose turn it is among the endpoints of many on PostgreSQL. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { Endpoints } from "../../runtime/queue/endpoints.js";
import { openQueue } from "../../runtime/queue/index.js";
import { KnownDue } from "../../runtime/queue/postgres/known-due.js";
import { Leasing } from "../../runtime/queue/postgres/leasing.js";
import { workerSettingsOf } from "../../runtime/queue/worker-options.js";
import { sharedPostgres } from "../support/postgres.js";
import { hostAndPrincipal, putFar } from "./many-endpoints.js";
import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();

for (const [hosts, bigs, takes] of [
  [1, ["many"], 2],
  [3_000, ["many"], 7],
  [1, ["many", "more"], 2],
  [100, ["lots", "many", "more"], 7],
] as const)
  test(`${bigs.length} with thousands of endpoints at ${hosts} hosts keep nobody from his turn`, async () => {
    const database = await openPostgres({ url: await postgres.database(), connections: 4 });
    const queue = openQueue(database, "test");
    const few = ["h0 few.1", "z few.2"];
    const their = Array.from({ length: 3_000 }, (_, n) => `h${n % hosts} ${bigs[n % bigs.length]}.${n}`);
    await put(queue, ...[...their, ...few].map((endpoint) => job({ endpoint })));
    let clock = 0;
    const leasing = new Leasing({ query: database.query, queryWoken: database.query }, "test", 60_000, () => clock);
    const taken: string[] = [];
    for (let n = 0; n < takes; n++) {
      const jobs = await leasing.take({ now: Date.now(), limit: 256, room: () => 1, ownerOf: hostAndPrincipal });
      // Who found nobody else looks again a moment later.
      clock += 250;
      taken.push(...jobs.map(({ endpoint }) => endpoint).filter((endpoint) => few.includes(endpoint)));
      assert.ok(jobs.length > 128, `${jobs.length} at a time`);
    }
    assert.equal(taken.sort(), few);
    await queue.close();
    await database.close();
  });

test("what a look has found is leased from for the longer the longer it took, half a second at most", () => {
  let clock = 0;
  const known = new KnownDue(() => clock);
  const request = { now: 0, limit: 256, room: () => 1, likely: () => 1 };
  for (const [tookMs, lastsMs] of [
    [0, 100],
    [1, 100],
    [6, 300],
    [60, 500],
  ] as const) {
    known.looked([["a", 1]], true, tookMs);
    clock += lastsMs;
    assert.equal(known.rooms(request), [["a", 1]]);
    clock += 1;
    assert.equal(known.rooms(request), []);
  }
});

test("of endpoints that had something lately the next one's job is had without a look, however long ago that was", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  const sharing = new Endpoints(
    workerSettingsOf({ queue, handle: undefined as never, longestDelayMs: 1, ownerOf: hostAndPrincipal }),
  );
  let looks = 0;
  const query: PostgresDatabase["query"] = (work) => {
    looks += 1;
    return database.query(work);
  };
  const leasing = new Leasing({ query, queryWoken: database.query }, "test", 60_000);
  const names = Array.from({ length: 16 }, (_, n) => `h p.${n}`);
  for (const name of [...Array(64)].flatMap(() => names)) {
    sharing.started(name, 0);
    sharing.succeeded(name, 0);
  }
  const take = async (): Promise<number> => {
    const now = Date.now();
    const [room, likely] = [sharing.plan(1_024, now, 256), sharing.plan(1_024, now, 256)];
    const jobs = await leasing.take({ now, limit: 256, room, likely, ownerOf: hostAndPrincipal });
    await queue.ack(
      jobs.map((leased) => ({ job: leased, outcome: { kind: "done" } })),
      now,
    );
    return jobs.length;
  };
  for (const round of ["looked for", "known", "guessed"])
    for (const endpoint of names) {
      await put(queue, job({ endpoint }));
      leasing.added();
      looks = 0;
      assert.is(await take(), 1);
      if (round === "guessed") assert.is(looks, 0, endpoint);
      while ((await take()) > 0);
    }
  await queue.close();
  await database.close();
});

test("looks that found nobody with room cost nobody his turn", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  const names = Array.from({ length: 600 }, (_, n) => `h${n} p${n}.1`);
  const put600 = (): Promise<void> => put(queue, ...names.map((endpoint) => job({ endpoint })));
  for (let n = 0; n < 3; n++) await put600();
  const leasing = new Leasing({ query: database.query, queryWoken: database.query }, "test", 60_000);
  const taken = new Map(names.map((name) => [name, 0]));
  /** @param slots for all of them, one for each */
  const take = async (slots: number): Promise<void> => {
    const given = new Map<string, number>();
    const room = (endpoint: string): number => {
      if (!given.has(endpoint)) given.set(endpoint, given.size < slots ? 1 : 0);
      return given.get(endpoint)!;
    };
    const jobs = await leasing.take({ now: Date.now(), limit: 256, room, ownerOf: hostAndPrincipal });
    for (const { endpoint } of jobs) taken.set(endpoint, taken.get(endpoint)! + 1);
  };
  for (let n = 0; n < 1_200 / 25; n++) {
    await take(0);
    await take(25);
  }
  assert.equal(new Set(taken.values()), new Set([2]));
  await queue.close();
  await database.close();
});

for (const limit of [1, 3, 8])
  test(`with ${limit} free at a time endpoints of many owners have as much of it as each other`, async () => {
    const database = await openPostgres({ url: await postgres.database(), connections: 4 });
    const queue = openQueue(database, "test");
    const names = Array.from({ length: 40 }, (_, n) => `h${n} p${n}.1`);
    await put(queue, ...[...Array(20)].flatMap(() => names.map((endpoint) => job({ endpoint }))));
    const leasing = new Leasing({ query: database.query, queryWoken: database.query }, "test", 60_000);
    const taken = new Map(names.map((name) => [name, 0]));
    for (let n = 0; n < 240; n += limit) {
      // It is looked each time.
      leasing.added();
      const jobs = await leasing.take({ now: Date.now(), limit, room: () => 1, ownerOf: hostAndPrincipal });
      for (const { endpoint } of jobs) taken.set(endpoint, taken.get(endpoint)! + 1);
    }
    const counts = [...taken.values()];
    assert.ok(Math.min(...counts) >= 4 && Math.max(...counts) <= 8, counts.join());
    await queue.close();
    await database.close();
  });

test("what is added behind a look that goes on in the next take is not slept over", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  await putFar(database, 8_200);
  const leasing = new Leasing({ query: database.query, queryWoken: database.query }, "test", 60_000);
  const take = async (): Promise<number> =>
    (await leasing.take({ now: Date.now(), limit: 256, room: () => 1, likely: () => 1, ownerOf: hostAndPrincipal }))
      .length;
  assert.is(await take(), 0);
  await put(queue, job({ endpoint: "a" }));
  leasing.added();
  const found = (await take()) + (leasing.quietMs(Date.now()) === 0 ? await take() : 0);
  assert.is(found, 1);
  while ((await take()) > 0);
  assert.is(await take(), 0);
  assert.ok(leasing.quietMs(Date.now()) > 0, "the whole round found nothing due");
  await queue.close();
  await database.close();
});

test("a job that is told of by name is had before all others have been looked at, and the look goes on", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  await putFar(database, 3_000);
  let looks = 0;
  const query: PostgresDatabase["query"] = (work) => {
    looks += 1;
    return database.query(work);
  };
  const leasing = new Leasing({ query, queryWoken: database.query }, "test", 60_000);
  const take = async (): Promise<string[]> => {
    const jobs = await leasing.take({
      now: Date.now(),
      limit: 256,
      room: () => 1,
      likely: () => 1,
      ownerOf: hostAndPrincipal,
    });
    return jobs.map(({ endpoint }) => endpoint);
  };
  for (let n = 0; n < 40; n++) {
    const endpoint = `z${n}`;
    await put(queue, job({ endpoint }));
    leasing.added([endpoint]);
    assert.equal(await take(), [endpoint]);
  }
  assert.ok(looks < 100, `${looks} looks`);
  // Nobody tells of this one.
  await put(queue, job({ endpoint: "h2" }));
  const found: string[] = [];
  for (let n = 0; n < 20; n++) {
    await put(queue, job({ endpoint: `y${n}` }));
    leasing.added([`y${n}`]);
    found.push(...(await take()));
  }
  assert.ok(found.includes("h2"), found.join());
  await queue.close();
  await database.close();
});

test("beside thousands that are due and have no room, a job that is told of by name is had without a look at them", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const queue = openQueue(database, "test");
  await put(queue, ...Array.from({ length: 2_000 }, (_, n) => job({ endpoint: `h many.${n}` })));
  let looks = 0;
  const query: PostgresDatabase["query"] = (work) => {
    looks += 1;
    return database.query(work);
  };
  const leasing = new Leasing({ query, queryWoken: database.query }, "test", 60_000);
  let open = "z";
  const room = (endpoint: string): number => (endpoint.startsWith(open) ? 1 : 0);
  const take = async (): Promise<string[]> => {
    const jobs = await leasing.take({ now: Date.now(), limit: 256, room, likely: room, ownerOf: hostAndPrincipal });
    return jobs.map(({ endpoint }) => endpoint);
  };
  for (let n = 0; n < 40; n++) {
    // More than one instance tells of by name.
    const names = [`z${n} few.1`, `z${n} few.2`, `z${n} few.3`];
    await put(queue, ...names.map((endpoint) => job({ endpoint })));
    leasing.added(names);
    looks = 0;
    const had = await take();
    assert.equal((had.length < 3 ? [...had, ...(await take())] : had).sort(), names);
    // One that leases, and one in turn at most: others are looked at between.
    assert.ok(looks <= 4, `${looks} looks`);
  }
  // Nobody tells of it any more, and it is behind those who have no room.
  await put(queue, job({ endpoint: "k few.1" }));
  open = "k";
  const found: string[] = [];
  for (let n = 0; n < 20 && found.length === 0; n++) {
    await put(queue, job({ endpoint: `y${n} few.1` }));
    leasing.added([`y${n} few.1`]);
    found.push(...(await take()));
  }
  assert.equal(found, ["k few.1"]);
  await queue.close();
  await database.close();
});

test.after(() => postgres.stop());
test.run();
