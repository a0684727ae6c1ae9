/** How many bytes a lease may bring, on every engine that hands out its own jobs. */
import * as assert from "uvu/assert";
import type { Queue } from "../../runtime/queue/types.js";
import { job, put, type QueueCase, queueSuite } from "./queue-suite.js";

const MB = 1_048_576;
const bytes = 8 * MB;

export function queueBytesCase(of: QueueCase): void {
  const test = queueSuite({ ...of, name: `${of.name}: bytes of a lease` });

  test("a lease brings as many large bodies as it is asked for, and leaves the others to whoever comes", async (context) => {
    const { clock, queue } = context;
    const keys = Array.from({ length: 40 }, (_, at) => `large-${at}`);
    const large = keys.map((key) => job({ key, orderingKey: `of ${key}`, body: Buffer.alloc(MB, key) }));
    for (let at = 0; at < large.length; at += 8) await put(queue, ...large.slice(at, at + 8));
    const take = (by: Queue) => by.take({ now: clock.at, limit: 256, bytes, room: () => 256 });
    const taken: string[] = [];
    for (const by of [queue, await context.other(), queue, queue, queue]) {
      const jobs = await take(by);
      assert.is(jobs.length, 8);
      for (const one of jobs) assert.ok(Buffer.alloc(MB, one.key).equals(one.body), one.key);
      taken.push(...jobs.map(({ key }) => key));
    }
    assert.equal(taken, keys);
    assert.equal(await take(queue), []);
  });

  test("one body that is larger than a lease is leased alone, and many small ones are leased together as before", async (context) => {
    const { clock, queue } = context;
    const large = ["first", "second"].map((key) => job({ key, body: Buffer.alloc(2 * MB, "x") }));
    await put(queue, ...large, ...Array.from({ length: 300 }, () => job({ key: `small-${Math.random()}` })));
    const counts: number[] = [];
    while (counts.at(-1) !== 0)
      counts.push((await queue.take({ now: clock.at, limit: 256, bytes: MB, room: () => 256 })).length);
    assert.equal(counts.slice(0, 2), [1, 1]);
    assert.is(
      counts.reduce((sum, count) => sum + count, 0),
      302,
    );
    assert.ok(Math.max(...counts) > 100 && counts.length < 13, String(counts));
  });

  test("what was leased for its bytes and given back is as it was: never attempted, first under its key", async (context) => {
    const { clock, queue } = context;
    const jobs = ["a", "b", "c"].map((key) => job({ key, orderingKey: key, body: Buffer.alloc(MB, key) }));
    await put(queue, ...jobs, job({ key: "c-2", orderingKey: "c", body: "behind" }));
    assert.equal(
      (await queue.take({ now: clock.at, limit: 10, bytes: 1, room: () => 10 })).map(({ key }) => key),
      ["a"],
    );
    const left = (await queue.list()).filter(({ key }) => key !== "a");
    assert.equal(
      left.map(({ startedAt, firstAt, attempts }) => [startedAt, firstAt, attempts]),
      Array.from({ length: 3 }, () => [null, null, 0]),
    );
    const rest = await (await context.other()).take({ now: clock.at, limit: 10, room: () => 10 });
    assert.equal(
      rest.map(({ key }) => key),
      ["b", "c"],
    );
  });

  test.run();
}
