/** Rows of the queue that somebody deletes by hand; part of `queueFaultsCase`. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { delivered, end, keys, take, workerOf } from "./queue-steps.js";
import { type Context, job, LEASE, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";

const ordered = (key: string, endpoint = "a") => job({ key, endpoint, orderingKey: "task" });
const deleteFirst = ({ database }: Context) =>
  database.query((q) => q.run("delete from adbind_jobs where key = 'first'"));

/** A worker that notes what it sends. */
function sending(context: Context) {
  const sent: string[] = [];
  const worker = workerOf(context, {
    handle: async ({ key }) => {
      sent.push(key);
      return delivered;
    },
  });
  return { sent, worker };
}

export function deletedCase(of: QueueCase): void {
  const test = queueSuite(of);

  test("what waits behind a job that was deleted by hand goes when another comes after it", async (context) => {
    const { queue } = context;
    await put(queue, ordered("first"), ordered("second"), ordered("third"));
    await deleteFirst(context);
    await put(queue, ordered("fourth"));
    const { sent, worker } = sending(context);
    worker.start();
    await until(async () => (await queue.counts()).ready === 0);
    await worker.stop();
    assert.equal(sent, ["second", "third", "fourth"]);
  });

  test.run();
}

/** Where a job is known to wait from its adding on. */
export function deletedFirstCase(of: QueueCase): void {
  const test = queueSuite(of);

  test("what waits behind a job that was deleted by hand goes when its endpoint is looked at", async (context) => {
    const { queue } = context;
    await put(queue, ordered("first"), ordered("second"), ordered("third"), job({ key: "beside" }));
    await deleteFirst(context);
    const { sent, worker } = sending(context);
    worker.start();
    await until(() => sent.length === 1 && worker.out === 0);
    // An endpoint is looked at again when what was leased of it would be anybody's.
    context.clock.at += LEASE + 1;
    await until(async () => (await queue.counts()).ready === 0);
    await worker.stop();
    assert.equal(sent, ["beside", "second", "third"]);
  });

  test("what waits behind a job of another endpoint waits for as long as that is there", async (context) => {
    const { queue } = context;
    await put(queue, ordered("first", "b"), ordered("second"));
    await queue.stop("b", NOW);
    await put(queue, job({ key: "beside" }));
    const sent = async (): Promise<string[]> => {
      context.clock.at += LEASE + 1;
      const taken = await take(queue, context.clock.at);
      const { at } = context.clock;
      if (taken.length > 0)
        await queue.ack(
          taken.map((one) => end(one, { kind: "done" })),
          at,
        );
      return keys(taken);
    };
    assert.equal([await sent(), await sent(), await sent()], [["beside"], [], []]);
    await deleteFirst(context);
    await put(queue, job({ key: "later" }));
    assert.equal([await sent(), await sent(), await sent()], [["later"], [], ["second"]]);
  });

  test.run();
}
