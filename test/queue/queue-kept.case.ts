/** What is kept of jobs that ended, and of those that wait: one body, run against each engine. */
import * as assert from "uvu/assert";
import type { Job, ListedJob } from "../../runtime/queue/types.js";
import { end, keys, none, take } from "./queue-steps.js";
import { type Context, job, LEASE, put, type QueueCase, queueSuite } from "./queue-suite.js";

/** What is kept of jobs that ended, and for how long. */
export function keptJobsCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("of what is kept beyond a number whoever has most makes room, the oldest of the endpoint with most first", async ({
    queue,
    database,
  }) => {
    const endpoints = ["x one.1", "x one.2", "x two.1", "x three.1"];
    const [many, some, two, three] = endpoints.map(
      (endpoint) => (n: number) => job({ endpoint, key: `${endpoint} ${n}` }),
    );
    await put(queue, two!(1), three!(1), many!(1), some!(1), many!(2), two!(2), many!(3), some!(2), many!(4), many!(5));
    await put(queue, job({ endpoint: "x one.1", key: "waits" }));
    await database.query((q) => q.run("update adbind_jobs set state = 'dead' where key <> 'waits'"));
    const evict = (keep: number, limit = 100) =>
      queue.removeKept({ kind: "evict", keep, limit, ownerOf: (endpoint) => endpoint.split(/[ .]/)[1]! });
    const kept = async () => (await queue.list()).map(({ key }) => key).filter((key) => key !== "waits");
    assert.is(await evict(10), 0);
    assert.is(await evict(7), 3);
    assert.equal(await kept(), [
      ...["x two.1 1", "x three.1 1", "x one.2 1", "x two.1 2"],
      ...["x one.2 2", "x one.1 4", "x one.1 5"],
    ]);
    assert.is(await evict(4, 1), 1);
    assert.is(await evict(4), 2);
    // Nobody is above another by more than one any more, and who has least has lost nothing.
    assert.is(await evict(4), 0);
    assert.ok((await kept()).includes("x three.1 1"));
    assert.is((await kept()).filter((key) => key.startsWith("x one")).length, 2);
    assert.is(await evict(0), 4);
    assert.equal(await queue.counts(), { ready: 1, dead: 0, expired: 0, refused: 0 });
    const bodies = await database.query((q) => q.rows("select job from adbind_job_bodies"));
    assert.is(bodies.length, 1);
  });

  test("what has been kept for too long is removed, a bounded number at a time", async ({ queue, database }) => {
    await put(queue, job({ key: "old 1" }), job({ key: "old 2" }), job({ key: "young" }), job({ key: "waits" }));
    await database.query((q) =>
      q.run(
        "update adbind_jobs set state = 'dead', due = case key when 'young' then 10 else 1 end where key <> 'waits'",
      ),
    );
    const prune = () => queue.removeKept({ kind: "prune", before: 10, limit: 1 });
    assert.equal([await prune(), await prune(), await prune()], [1, 1, 0]);
    assert.equal(
      (await queue.list()).map(({ key }) => key),
      ["young", "waits"],
    );
  });

  test.run();
  keptSinceCase(of);
}

/** From when on what has ended is kept. */
function keptSinceCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what has ended is kept from its end on, however long it had waited before", async (context) => {
    const { queue, clock } = context;
    const began = clock.at;
    const prune = () => queue.removeKept({ kind: "prune", before: clock.at - 1_000, limit: 10 });
    await put(queue, ...["dead", "refused", "expired", "behind"].map((key) => job({ key, orderingKey: key[0]! })));
    await put(queue, job({ key: "last", orderingKey: "e" }));
    clock.at += 5_000;
    const jobs = await take(queue, clock.at, 2);
    await queue.ack(
      jobs.map((one) => end(one, { kind: one.key as "dead" | "refused", error: "over" })),
      clock.at,
    );
    assert.is(await queue.expire("a", began, "waited"), 3);
    clock.at += 1_000;
    assert.is(await prune(), 0);
    clock.at += 1;
    assert.is(await prune(), 5);
  });

  test.run();
}

/** Jobs that were attempted, given up and replayed. */
const dead = async ({ queue, clock }: Context, ...names: string[]): Promise<void> => {
  await put(queue, ...names.map((key) => job({ key, orderingKey: "t" })));
  for (const _ of names) {
    const taken = await take(queue, clock.at);
    await queue.ack(
      taken.map((one) => end(one, { kind: "dead", error: "over" })),
      clock.at,
    );
  }
  clock.at += 1_000;
  for (const { id } of await queue.list({ state: "dead" })) assert.ok(await queue.replay(id, clock.at));
};

/** What ends beyond a number, or after it was replayed. */
export function expiringCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a replayed job that is not attempted expires by the age of its replay, and lets nobody pass", async (context) => {
    const { queue, clock } = context;
    await dead(context, "again");
    await put(queue, job({ key: "waits", orderingKey: "t", endpoint: "b" }));
    assert.equal(keys(await take(queue, clock.at, 100, (endpoint) => Number(endpoint === "b"))), ["waits"]);
    assert.is(await queue.deadLetter("a", clock.at + 1, "unreachable"), 0);
    assert.is(await queue.expire("a", clock.at - 1, "waited"), 0);
    assert.is(await queue.expire("a", clock.at, "waited"), 1);
    const [expired] = await queue.list({ state: "expired" });
    assert.equal([expired!.key, expired!.attempts], ["again", 1]);
  });

  test("a replayed job that was attempted again is given up by the time of that attempt", async (context) => {
    const { queue, clock } = context;
    await dead(context, "again");
    const [taken] = await take(queue, clock.at);
    await queue.ack([end(taken!, { kind: "later", due: clock.at + 100, error: "503" })], clock.at);
    assert.is(await queue.expire("a", clock.at, "waited"), 0);
    assert.is(await queue.deadLetter("a", clock.at - 1, "unreachable"), 0);
    assert.is(await queue.deadLetter("a", clock.at, "unreachable"), 1);
  });

  test("replayed jobs count as any that wait: beyond a number they expire", async (context) => {
    const { queue } = context;
    await dead(context, "1", "2", "3");
    assert.is(await queue.expireBeyond("a", 1, "too many"), 2);
    assert.is(await queue.expireBeyond("a", 1, "too many"), 0);
    assert.equal(await queue.counts(), { ...none, ready: 1, expired: 2 });
  });

  test("instances that end what is too many at a time end no more than that", async (context) => {
    const { queue } = context;
    const others = [queue, await context.other(), await context.other()];
    await put(queue, ...Array.from({ length: 120 }, () => job()));
    const ended = await Promise.all(others.map((one) => one.expireBeyond("a", 40, "too many")));
    assert.is(
      ended.reduce((sum, count) => sum + count, 0),
      80,
    );
    assert.equal(await queue.counts(), { ...none, ready: 40, expired: 80 });
  });

  test.run();
}

/** What is dropped while somebody else does something to it. */
function droppedCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what is dropped by what it is stays where it is something else by then", async (context) => {
    const { queue, clock } = context;
    await dead(context, "replayed");
    const [{ id, createdAt }] = (await queue.list()) as [ListedJob];
    for (const meant of [{ state: "dead" }, { endpoint: "b" }, { orderingKeys: ["u"] }, { to: createdAt }] as const)
      assert.not(await queue.drop(id, clock.at, { meant }));
    assert.is(await bodyCount(context), 1);
    const meant = { state: "ready", endpoint: "a", orderingKeys: ["t"], from: createdAt } as const;
    assert.ok(await queue.drop(id, clock.at, { meant }));
    assert.is(await bodyCount(context), 0);
  });

  test.run();
}

const bodyCount = async ({ database }: Context): Promise<number> =>
  (await database.query((q) => q.rows("select job from adbind_job_bodies"))).length;

/** What is replayed, or becomes another endpoint's. */
export function replayedCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a replayed job whose lease was given back has not been attempted since", async (context) => {
    const { queue, clock } = context;
    await dead(context, "again");
    const [taken] = await take(queue, clock.at);
    await queue.ack([end(taken!, { kind: "released", due: clock.at })], clock.at);
    assert.is(await queue.deadLetter("a", clock.at + 1, "unreachable"), 0);
    assert.is(await queue.expire("a", clock.at, "waited"), 1);
  });

  test("jobs that never were attempted are replayed in their order, before those that came after them", async (context) => {
    const { queue, clock } = context;
    await put(queue, ...["1", "2", "3", "4", "5"].map((key) => job({ key, orderingKey: "t" })));
    assert.is(await queue.expireBeyond("a", 2, "too many"), 3);
    const [first, second, third] = await queue.list({ state: "expired" });
    const order: string[] = [];
    const goOn = async (): Promise<boolean> => {
      // On PostgreSQL a look finds who may not go yet, and the next one who may.
      const taken = [...(await take(queue, clock.at)), ...(await take(queue, clock.at))];
      assert.ok(taken.length <= 1, `at a time ${keys(taken)}`);
      order.push(...keys(taken));
      await queue.ack(
        taken.map((one) => end(one, { kind: "done" })),
        clock.at,
      );
      return taken.length > 0;
    };
    for (const { id } of [second!, third!]) assert.ok(await queue.replay(id, clock.at));
    assert.ok(await goOn());
    assert.ok(await queue.replay(first!.id, clock.at));
    while (await goOn());
    assert.equal(order, ["2", "1", "3", "4", "5"]);
  });

  test("jobs become another endpoint's a few at a time, what is kept too, and what is leased", async (context) => {
    const { queue, clock } = context;
    await dead(context, "kept");
    await put(queue, ...["leased", "1", "2"].map((key) => job({ key })));
    const taken = await take(queue, clock.at, 2);
    assert.equal(keys(taken), ["kept", "leased"]);
    await queue.ack([end(taken.find(({ key }) => key === "kept")!, { kind: "refused", error: "over" })], clock.at);
    const all = (await queue.list()).map(({ id }) => id);
    const few = (ids: number[]) => queue.adjust({ kind: "rehome", from: "a", to: "b", ids }, clock.at);
    assert.equal([await few(all.slice(1)), await few(all), await few([])], [3, 1, 0]);
    const places = (await queue.list()).map(({ key, endpoint }) => `${key} ${endpoint}`);
    assert.equal(places.sort(), ["1 b", "2 b", "kept b", "leased b"]);
    assert.equal(keys(await take(queue, clock.at)), ["1", "2"]);
    await queue.stop("a", clock.at);
    const leased = taken.find(({ key }) => key === "leased")!;
    assert.equal(await queue.ack([end(leased, { kind: "later", due: clock.at, error: "503" })], clock.at), [true]);
    assert.equal(keys(await take(queue, clock.at)), ["leased"]);
  });

  test.run();
  droppedCase(of);
}

/** What becomes of what is under way while another of its order is replayed. */
const afterwards: Record<string, (of: QueueCase, taken: Job, context: Context) => Promise<unknown>> = {
  done: (_, taken, { queue, clock }) => queue.ack([end(taken, { kind: "done" })], clock.at),
  "given back": (_, taken, { queue, clock }) => queue.ack([end(taken, { kind: "released", due: clock.at })], clock.at),
  dropped: (_, taken, { queue, clock }) => queue.drop(taken.id, clock.at),
  "left by a worker that died": ({ pass }, _, { clock }) => pass(clock, LEASE + 1),
};

/** What is replayed while another of its order is under way. */
export function orderedReplayCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what was given back until a time is not attempted before it, whatever is replayed behind it", async (context) => {
    const { queue, clock, database } = context;
    await put(queue, ...["1", "2"].map((key) => job({ key, orderingKey: "t" })));
    const [first] = await take(queue, clock.at);
    await queue.ack([end(first!, { kind: "released", due: clock.at + 1_000 })], clock.at);
    await database.query((q) => q.run("update adbind_jobs set state = 'expired' where key = '2'"));
    const [expired] = await queue.list({ state: "expired" });
    assert.ok(await queue.replay(expired!.id, clock.at));
    assert.equal(keys(await take(queue, clock.at)), []);
    clock.at += 1_000;
    assert.equal(keys(await take(queue, clock.at)), ["1"]);
  });

  test("what was replayed goes at once when what was under way under its key is given back until a time", async (context) => {
    const { queue, clock } = context;
    await put(queue, ...["1", "2"].map((key) => job({ key, orderingKey: "t" })));
    const [first] = await queue.list();
    assert.is(await queue.expireBeyond("a", 1, "too many"), 1);
    const [taken] = await take(queue, clock.at);
    assert.ok(await queue.replay(first!.id, clock.at));
    await queue.ack([end(taken!, { kind: "released", due: clock.at + 1_000 })], clock.at);
    const [again] = await take(queue, clock.at);
    assert.is(again?.key, "1");
    await queue.ack([end(again!, { kind: "done" })], clock.at);
    clock.at += 1_000;
    assert.equal(keys(await take(queue, clock.at)), ["2"]);
  });

  for (const [what, then] of Object.entries(afterwards))
    test(`what was replayed goes when what is under way under its key is ${what}, and not before`, async (context) => {
      const { queue, clock } = context;
      await put(queue, ...["1", "2", "3", "4"].map((key) => job({ key, orderingKey: "t" })));
      const [first, , third] = await queue.list();
      assert.is(await queue.expireBeyond("a", 3, "too many"), 1);
      const [taken] = await take(queue, clock.at);
      assert.is(taken!.key, "2");
      assert.ok(await queue.replay(first!.id, clock.at));
      assert.equal(keys(await take(queue, clock.at)), [], "one of its order is under way");
      await put(queue, job({ key: "5", orderingKey: "t" }));
      assert.equal(keys(await take(queue, clock.at)), [], "nor does one that came since let it go");
      assert.ok(await queue.drop(third!.id, clock.at));
      assert.equal(keys(await take(queue, clock.at)), [], "nor one that ends behind it");
      await then(of, taken!, context);
      const order: string[] = [];
      for (let looks = 0; looks < 8; looks++) {
        const now = await take(queue, clock.at);
        assert.ok(now.length <= 1, `at a time ${keys(now)}`);
        order.push(...keys(now));
        for (const one of now) await queue.ack([end(one, { kind: "done" })], clock.at);
      }
      const again = what === "done" || what === "dropped" ? [] : ["2"];
      assert.equal(order, ["1", ...again, "4", "5"]);
    });

  test.run();
}
