/** Acknowledgements wait for others to share a transaction with, but for none that may be long in coming. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Acks } from "../../runtime/queue/acks.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { Ack, Queue } from "../../runtime/queue/types.js";
import { createWorker, type Handled } from "../../runtime/queue/worker.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { turns, until } from "../support/until.js";
import { take } from "./queue-steps.js";

/** Longer than a test may take: what waits for its end fails. */
const GATHER_MS = 600_000;
/** An attempt is no longer one that will end soon, in milliseconds. */
const OLD_MS = 50;

interface Context {
  folder: string;
  queue: Queue;
  close(): Promise<void>;
}
const test = suite<Context>("gathering");
test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-gathering-"));
  const store = openSqliteStore({ path: path.join(context.folder, "q.db") });
  context.queue = openQueue(store.database, "t");
  context.close = async () => {
    await context.queue.close();
    await store.close();
    rmSync(context.folder, { recursive: true, force: true });
  };
});
test.after.each((context) => context.close());

const put = (queue: Queue, ...endpoints: readonly string[]) =>
  queue.transact((tx) =>
    queue.add(
      tx,
      endpoints.map((endpoint) => ({ key: endpoint, random: true, endpoint, meta: "{}", body: Buffer.from("{}") })),
    ),
  );

/** Attempts that end when they are told to. */
function workerOf(queue: Queue, slots?: number) {
  const endings = new Map<string, () => void>();
  const worker = createWorker({
    queue,
    ...(slots === undefined ? {} : { concurrency: slots, perUnproven: slots }),
    ...{ gatherMs: GATHER_MS, longestDelayMs: 60_000 },
    handle: async ({ endpoint }): Promise<Handled> => {
      await new Promise<void>((resolve) => endings.set(endpoint, resolve));
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  return { worker, endings };
}

test("while more is to come, they share a transaction", async ({ queue }) => {
  await put(queue, "a", "b", "c");
  const jobs = await take(queue, Date.now());
  const written: (readonly Ack[])[] = [];
  let moreToCome = true;
  const acks = new Acks({
    queue: {
      health: async () => ({ pausedUntil: 0, failingSince: null }),
      ack(batch, now) {
        written.push(batch);
        return queue.ack(batch, now);
      },
    },
    ...{ gatherMs: GATHER_MS, now: Date.now },
    moreToCome: () => moreToCome,
    written: () => undefined,
    onFault: (error) => assert.unreachable(String(error)),
  });
  const told = jobs.slice(0, 2).map((job) => acks.push({ job, outcome: { kind: "done" } }));
  await turns();
  assert.is(written.length, 0);
  moreToCome = false;
  told.push(acks.push({ job: jobs[2]!, outcome: { kind: "done" } }));
  await until(() => written.length > 0, "the last has them written");
  assert.equal(await Promise.all(told), [true, true, true]);
  assert.equal(
    written.map((batch) => batch.length),
    [3],
  );
});

/** An attempt that has been under way for long, and another that ends. */
async function besideHanging({ worker, endings }: ReturnType<typeof workerOf>, queue: Queue): Promise<void> {
  worker.start();
  await put(queue, "hanging");
  await until(() => endings.has("hanging"));
  const since = performance.now();
  await until(() => performance.now() > since + OLD_MS);
  await put(queue, "well");
  await until(() => endings.has("well"));
  endings.get("well")!();
}

test("an attempt that hangs is not waited for once all slots are taken", async ({ queue }) => {
  const work = workerOf(queue, 2);
  await besideHanging(work, queue);
  await until(() => work.worker.out === 1, "the other is acknowledged");
  work.endings.get("hanging")!();
  await work.worker.stop();
});

test("an attempt that takes long is waited for while there are slots", async ({ queue }) => {
  const work = workerOf(queue);
  await besideHanging(work, queue);
  await turns();
  assert.is(work.worker.out, 2);
  work.endings.get("hanging")!();
  await until(() => work.worker.out === 0, "both are acknowledged");
  await work.worker.stop();
});

test("the last of the attempts that ends has all of them written", async ({ queue }) => {
  const { worker, endings } = workerOf(queue);
  worker.start();
  await put(queue, "a", "b", "c");
  await until(() => endings.size === 3);
  for (const endpoint of ["a", "b", "c"]) {
    endings.get(endpoint)!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => worker.out === 0, "all are acknowledged");
  await worker.stop();
});

test.run();
