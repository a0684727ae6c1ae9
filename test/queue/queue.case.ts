/** What every queue must do: one body, run against each engine. */
import * as assert from "uvu/assert";
import type { Job, Queue } from "../../runtime/queue/types.js";
import { BEHIND_DUE_MS } from "../../runtime/store/jobs.js";
import { job, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";

const anyRoom = () => 1_000;

export function queueCase<Tx>(of: QueueCase<Tx>): void {
  const test = queueSuite(of);
  const take = (queue: Queue<Tx>, now: number, limit = 100, room: (group: string) => number = anyRoom) =>
    queue.take({ now, limit, room });
  const keys = (jobs: readonly Job[]) => jobs.map((one) => one.key).sort();

  test("a job is added with the caller's own writes, or not at all", async ({ queue, clock }) => {
    await queue.transact(async_(of, (tx) => [queue.add(tx, [job({ key: "kept" })]), of.record(tx, "row")]));
    try {
      await queue.transact(
        async_(of, (tx) => [
          queue.add(tx, [job({ key: "undone" })]),
          of.record(tx, "undone"),
          () => {
            throw new Error("rolled back");
          },
        ]),
      );
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, "rolled back");
    }
    assert.equal(await of.recorded(queue), ["row"]);
    assert.equal(keys(await take(queue, clock.at)), ["kept"]);
  });

  test("a key is taken once in a topic", async ({ queue }) => {
    await put(queue, job({ key: "same" }));
    let refused = false;
    await put(queue, job({ key: "same" })).catch(() => {
      refused = true;
    });
    assert.ok(refused);
    assert.is((await queue.list()).length, 1);
  });

  test("what is out is not taken again, by this instance or another, and is settled once", async (context) => {
    const { queue, clock } = context;
    const other = await of.open(() => clock.at);
    context.others.push(other);
    await put(queue, ...Array.from({ length: 40 }, () => job()));
    const [mine, theirs] = await Promise.all([take(queue, clock.at, 20), take(other, clock.at, 20)]);
    assert.is(new Set([...keys(mine), ...keys(theirs)]).size, 40);
    assert.is((await take(queue, clock.at)).length, 0);
    const settled = await queue.settle(
      mine.map((one) => ({ job: one, verdict: { kind: "done" } })),
      clock.at,
    );
    assert.ok(settled.every((held) => held));
    assert.equal(await queue.settle([{ job: mine[0]!, verdict: { kind: "done" } }], clock.at), [false]);
    assert.is((await queue.counts()).ready, 20);
  });

  test("an effect commits with what it settles, and sees only what took effect", async ({ queue, clock }) => {
    await put(queue, job({ key: "one" }), job({ key: "two" }));
    const jobs = await take(queue, clock.at);
    await queue.settle([{ job: jobs[0]!, verdict: { kind: "done" } }], clock.at);
    const seen: number[] = [];
    await queue.settle(
      jobs.map((one) => ({ job: one, verdict: { kind: "done" } })),
      clock.at,
      (tx, settled) => {
        seen.push(settled.length);
        return of.record(tx, "effect") as never;
      },
    );
    assert.equal(seen, [1]);
    assert.equal(await of.recorded(queue), ["effect"]);
  });

  test("a failed attempt comes back at its time with its count and its reason", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "later", due: clock.at + 5_000, error: "503" } }], clock.at);
    assert.is((await take(queue, clock.at + 4_999)).length, 0);
    clock.at += 5_000;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 1);
    assert.is(second!.error, "503");
    assert.is(second!.firstAt, NOW);
    assert.is(second!.startedAt, NOW + 5_000);
  });

  test("a job given back has not been attempted", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "back", due: clock.at + 10 } }], clock.at);
    clock.at += 10;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 0);
    assert.is(second!.firstAt, NOW + 10);
  });

  test("a lane is attempted one after the other, retries let the next go first", async ({ queue, clock }) => {
    await put(
      queue,
      job({ key: "1", lane: "t" }),
      job({ key: "2", lane: "t" }),
      job({ key: "3", lane: "t", group: "b" }),
    );
    const [first, ...none] = await take(queue, clock.at);
    assert.is(first!.key, "1");
    assert.equal(none, []);
    await queue.settle([{ job: first!, verdict: { kind: "later", due: clock.at + 60_000, error: "x" } }], clock.at);
    clock.at += 2_000;
    const second = await take(queue, clock.at);
    assert.equal(keys(second), ["2"]);
    await queue.settle([{ job: second[0]!, verdict: { kind: "dead", error: "x" } }], clock.at);
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["3"]);
  });

  test("dropping the first of a lane lets the next go", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", lane: "t" }), job({ key: "2", lane: "t" }));
    const [listed] = await queue.list();
    assert.ok(await queue.drop(listed!.id, clock.at));
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["2"]);
  });

  test("turns are shared out: a backlog of one group leaves room for the others", async ({ queue, clock }) => {
    await put(queue, ...Array.from({ length: 300 }, () => job({ group: "flood" })));
    await put(queue, job({ key: "small", group: "small" }));
    const out = new Map<string, number>();
    const room = (group: string) => 4 - (out.get(group) ?? 0);
    const groups: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (const one of await take(queue, clock.at, 64, room)) {
        out.set(one.group, (out.get(one.group) ?? 0) + 1);
        groups.push(one.group);
      }
      clock.at += 200;
    }
    assert.is(groups.filter((group) => group === "small").length, 1);
    assert.is(groups.filter((group) => group === "flood").length, 4);
  });

  test("a paused group waits, for every instance, and goes on where it was", async (context) => {
    const { queue, clock } = context;
    const other = await of.open(() => clock.at);
    context.others.push(other);
    await put(queue, job({ key: "1" }), job({ key: "b", group: "b" }));
    await queue.pause("a", { pausedUntil: clock.at + 10_000, failingSince: clock.at });
    await put(other, job({ key: "2" }));
    assert.equal(keys(await take(other, clock.at)), ["b"]);
    assert.equal(await other.health("a"), { pausedUntil: clock.at + 10_000, failingSince: NOW });
    clock.at += 10_000;
    assert.equal(keys(await take(other, clock.at)), ["1", "2"]);
  });

  test("what waits in a group that failed for too long is given up, what is out is not", async ({ queue, clock }) => {
    await put(queue, job({ key: "out" }), job({ key: "old", lane: "t" }));
    await take(queue, clock.at, 1);
    clock.at += 1_000;
    await put(queue, job({ key: "young" }));
    await queue.pause("a", { pausedUntil: clock.at + 5_000, failingSince: NOW });
    assert.equal(await take(queue, clock.at), []);
    const buried = await queue.bury("a", clock.at - 500, "unreachable");
    assert.equal(
      buried.map((one) => one.key),
      ["old"],
    );
    const [dead] = await queue.list({ state: "dead" });
    assert.is(dead!.error, "unreachable");
    assert.equal(await queue.counts(), { ready: 2, dead: 1 });
  });

  test("what a killed worker left in such a group is given up once it is nobody's", async (context) => {
    const { queue, clock } = context;
    const doomed = await of.open(() => clock.at);
    await put(queue, job({ key: "left" }));
    await take(doomed, clock.at);
    await of.kill(doomed);
    await queue.pause("a", { pausedUntil: clock.at + 3_600_000, failingSince: NOW });
    let buried = 0;
    const start = clock.at;
    while (buried === 0 && clock.at - start < of.recoveryMs) {
      await of.pass(clock, 3_000);
      await take(queue, clock.at);
      buried = (await queue.bury("a", clock.at, "unreachable")).length;
    }
    assert.is(buried, 1);
  });

  test("a dead job is listed, replayed with a new life, or dropped", async ({ queue, clock }) => {
    await put(queue, job({ key: "1" }), job({ key: "2" }));
    const jobs = await take(queue, clock.at);
    const settlements = jobs.map((one) => ({ job: one, verdict: { kind: "dead", error: "over" } }) as const);
    await queue.settle(settlements, clock.at);
    const dead = await queue.list({ state: "dead" });
    assert.is(dead.length, 2);
    clock.at += 5;
    assert.ok(await queue.replay(dead[0]!.id, clock.at));
    assert.not(await queue.replay(dead[0]!.id, clock.at));
    assert.ok(await queue.drop(dead[1]!.id, clock.at));
    assert.not(await queue.drop(dead[1]!.id, clock.at));
    const [again] = await take(queue, clock.at);
    assert.is(again!.key, dead[0]!.key);
    assert.is(again!.firstAt, clock.at);
  });

  test("a worker that is killed loses its jobs to the next, one that lives keeps them", async (context) => {
    const { queue, clock } = context;
    const doomed = await of.open(() => clock.at);
    await put(queue, job({ key: "doomed" }));
    const lost = await take(doomed, clock.at);
    assert.equal(keys(lost), ["doomed"]);
    await put(queue, job({ key: "kept" }));
    const kept = await take(queue, clock.at);
    await of.kill(doomed);
    const found: string[] = [];
    const start = clock.at;
    while (found.length === 0 && clock.at - start < of.recoveryMs) {
      await of.pass(clock, 3_000);
      await queue.renew(kept, clock.at);
      found.push(...keys(await take(queue, clock.at)));
    }
    assert.equal(found, ["doomed"]);
    assert.equal(await queue.settle([{ job: kept[0]!, verdict: { kind: "done" } }], clock.at), [true]);
    assert.equal(await queue.settle([{ job: lost[0]!, verdict: { kind: "done" } }], clock.at), [false]);
  });

  test("after the clock was set back nothing waits for a time that is far off", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", lane: "t" }), job({ lane: "t" }));
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "back", due: clock.at + 86_400_000 } }], clock.at);
    await queue.pause("a", { pausedUntil: clock.at + 86_400_000, failingSince: clock.at });
    await queue.pull(clock.at + 7_200_000, clock.at);
    assert.equal(keys(await take(queue, clock.at)), ["1"]);
    assert.ok((await queue.list()).every((one) => one.due < clock.at + 86_400_000 || one.due === BEHIND_DUE_MS));
  });

  test.run();
}

/** Statements of a transaction: in order, and awaited where the engine's answer is a promise. */
const async_ = <Tx>(of: QueueCase<Tx>, steps: (tx: Tx) => unknown[]) => {
  const runStep = (step: unknown) => (typeof step === "function" ? step() : step);
  return of.name === "embedded"
    ? (tx: Tx): void => {
        for (const step of steps(tx)) runStep(step);
      }
    : async (tx: Tx): Promise<void> => {
        for (const step of steps(tx)) await runStep(step);
      };
};
