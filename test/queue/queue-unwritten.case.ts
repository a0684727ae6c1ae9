/** What it costs to look for what has waited for too long, on every queue. */
import * as assert from "uvu/assert";
import { waitingCaps } from "../../runtime/queue/waiting-caps.js";
import { queueWith } from "../support/queue-with.js";
import { end, take } from "./queue-steps.js";
import { job, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";

export function unwrittenCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("nothing is written where nothing waits for too long, however many endpoints there are", async (context) => {
    const { queue, clock } = context;
    const tried: string[] = [];
    const told = (what: string, write: (...of: [string, number, string]) => Promise<number>) => {
      return (...of: [string, number, string]) => {
        tried.push(`${what} ${of[0]}`);
        return write(...of);
      };
    };
    const watched: Parameters<typeof waitingCaps>[0]["queue"] = {
      topic: queue.topic,
      read: (work) => queue.read(work),
      endpoints: (page) => queue.endpoints(page),
      expire: told("expire", (...of) => queue.expire(...of)),
      deadLetter: told("dead", (...of) => queue.deadLetter(...of)),
      expireBeyond: told("beyond", (...of) => queue.expireBeyond(...of)),
    };
    const capped = () =>
      waitingCaps({
        ...{ queue: watched, expireMs: 5_000, keep: 9, now: () => clock.at },
        onExpired: () => undefined,
      }).run(new AbortController().signal);
    await put(queue, job({ endpoint: "old", key: "replayed" }), job({ endpoint: "tried", key: "tried" }));
    const tries = await take(queue, clock.at);
    await queue.ack(
      [end(tries.find(({ key }) => key === "tried")!, { kind: "later", due: clock.at + 60_000, error: "503" })],
      NOW,
    );
    await queue.ack([end(tries.find(({ key }) => key === "replayed")!, { kind: "dead", error: "410" })], NOW);
    clock.at += 1_000;
    await put(queue, job({ endpoint: "old", key: "waits" }));
    clock.at += 3_000;
    assert.ok(await queue.replay((await queue.list({ state: "dead" }))[0]!.id, clock.at));
    await put(queue, ...Array.from({ length: 250 }, (_, at) => job({ endpoint: `young ${at}` })));
    clock.at += 1_000;
    await capped();
    assert.equal(tried, ["dead tried", "dead tried"]);
    // The first of the others was replayed since.
    clock.at += 1_000;
    await capped();
    assert.equal(tried.slice(2), ["expire old", "expire old"]);
    const expired = await queue.list({ state: "expired" });
    assert.equal(
      expired.map(({ key }) => key),
      ["waits"],
    );
  });

  test.run();
  partsCase(of);
}

function partsCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a large backlog is looked through some endpoints at a time, with others' turns between", async ({
    queue,
    clock,
  }) => {
    for (const endpoint of ["a", "b", "c", "d"])
      await put(queue, ...Array.from({ length: endpoint === "b" ? 9 : 3 }, () => job({ endpoint })));
    const turns: number[] = [];
    let turn = 0;
    const watched = queueWith(queue, {
      read(work) {
        turns.push(turn);
        setImmediate(() => {
          turn += 1;
        });
        return queue.read(work);
      },
    });
    const caps = {
      queue: watched,
      expireMs: 5_000,
      keep: 9,
      lookedJobs: 6,
      now: () => clock.at,
      onExpired: () => undefined,
    };
    await waitingCaps(caps).run(new AbortController().signal);
    assert.equal(turns, [0, 1, 2], "a; b, which has more; c and d");
  });

  test.run();
}
