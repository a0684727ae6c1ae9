/** Polling as the backup of webhooks. */
import * as assert from "uvu/assert";
import { release as release31 } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { at, envelope, PUBLIC_URL, receiverSuite, SELLER, send, silent, statusOf } from "../support/receiver.js";
import { until } from "../support/until.js";

const test = receiverSuite("watch");

test("watching: polls go through the same order, and either side's terminal state ends it", async ({ open }) => {
  const s = await open();
  const waits: number[] = [];
  const steps: (() => Promise<{ status: "working" | "completed"; timestamp: string }>)[] = [
    async () => ({ status: "working", timestamp: at(1) }),
    async () => {
      throw new Error("down");
    },
    async () => ({ status: "working", timestamp: at(1) }),
    async () => ({ status: "completed", timestamp: at(9), result: { media_buy_id: "m" } }),
  ];
  const pausing = createReceiver(
    {
      store: s.store,
      release: release31 as Release,
      senders: {},
      publicUrl: PUBLIC_URL,
      now: () => s.clock.ms,
      logger: silent,
      handlers: { fallback: () => undefined },
    },
    async (ms) => void waits.push(ms),
  );
  const task = { sender: SELLER, taskId: "polled", taskType: "create_media_buy" };
  const ended = await pausing.watchTask({ ...task, poll: () => steps.shift()!() });
  assert.equal(ended, { status: "completed" });
  assert.equal(waits, [120_000, 120_000, 240_000, 120_000]);
  await s.receiver.idle();
  assert.equal(
    s.seen.map((delivery) => delivery.status),
    ["working", "completed"],
    "each state once, however often it was polled",
  );
  assert.is(statusOf(await send(s, envelope({ task_id: "polled", status: "completed", timestamp: at(9) }))), "stale");

  await send(s, envelope({ task_id: "pushed", status: "failed", timestamp: at(3) }));
  const unpolled = { ...task, taskId: "pushed", webhooks: false, poll: () => assert.unreachable() as never };
  assert.equal(await pausing.watchTask(unpolled), { status: "failed" });
  assert.is(waits.at(-1), 30_000);
  await pausing.stop();
});

test("a poll without a time of its own is an event at the end only, and outruns no webhook", async ({ open }) => {
  const s = await open();
  // A watch keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  const polls = [{ status: "working" }, { status: "working", timestamp: "soon" }, { status: "completed" }] as const;
  const task = { sender: SELLER, taskId: "untimed", taskType: "create_media_buy", firstMs: 0 };
  const [first, second, last] = polls;
  for (const polled of [first, second]) {
    const stopped = new AbortController();
    const poll = async (): Promise<typeof polled> => {
      stopped.abort();
      return polled;
    };
    assert.is(await s.receiver.watchTask({ ...task, poll, signal: stopped.signal }), null);
  }
  assert.is(await s.store.task(SELLER, "untimed"), undefined);
  assert.is(
    statusOf(await send(s, envelope({ task_id: "untimed", timestamp: at(1) }))),
    "accepted",
    "though it is older",
  );
  const twice = [1, 2].map(() => s.receiver.watchTask({ ...task, poll: async () => last }));
  assert.equal(await Promise.all(twice), [{ status: "completed" }, { status: "completed" }]);
  await s.receiver.idle();
  assert.equal(
    s.seen.map(({ status }) => status),
    ["working", "completed"],
  );
  clearInterval(alive);
});

test("watching ends at once when a webhook ends the task, or when it is stopped", async ({ open }) => {
  const s = await open();
  const task = { sender: SELLER, taskType: "create_media_buy", poll: () => assert.unreachable() as never };
  const watched = s.receiver.watchTask({ ...task, taskId: "task-1" });
  const stopped = new AbortController();
  const other = s.receiver.watchTask({ ...task, taskId: "task-2", signal: stopped.signal });
  await send(s, envelope({ status: "completed" }));
  assert.equal(await watched, { status: "completed" });
  stopped.abort();
  assert.is(await other, null);
});

test("a poll that never settles holds up neither a webhook's end nor a stop, and is a failed one in time", async ({
  open,
}) => {
  const s = await open({ pollMs: 20 });
  // A watch keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  let polls = 0;
  const never = (): Promise<never> => {
    polls++;
    return Promise.withResolvers<never>().promise;
  };
  const task = { sender: SELLER, taskType: "create_media_buy", poll: never, firstMs: 0 };
  const watched = s.receiver.watchTask({ ...task, taskId: "task-1" });
  const stopped = new AbortController();
  const other = s.receiver.watchTask({ ...task, taskId: "task-2", signal: stopped.signal });
  await until(() => polls === 2);
  await send(s, envelope({ status: "completed" }));
  assert.equal(await watched, { status: "completed" });
  stopped.abort();
  assert.is(await other, null);

  const waits: number[] = [];
  const enough = new AbortController();
  const pausing = createReceiver(
    {
      ...{ store: s.store, release: release31 as Release, senders: {}, publicUrl: PUBLIC_URL, logger: silent },
      ...{ now: () => s.clock.ms, handlers: { fallback: () => undefined } },
    },
    async (ms) => {
      waits.push(ms);
      if (waits.length === 3) enough.abort();
    },
  );
  const late = { ...task, taskId: "task-3", firstMs: 1_000, pollTimeoutMs: 10, signal: enough.signal };
  assert.is(await pausing.watchTask(late), null);
  assert.equal(waits, [1_000, 2_000, 4_000]);
  await pausing.stop();
  clearInterval(alive);
});

test("a first poll that comes at once and fails is not followed by others without a pause", async ({ open }) => {
  const s = await open();
  const waits: number[] = [];
  const enough = new AbortController();
  const pausing = createReceiver(
    {
      ...{ store: s.store, release: release31 as Release, senders: {}, publicUrl: PUBLIC_URL, logger: silent },
      ...{ now: () => s.clock.ms, handlers: { fallback: () => undefined } },
    },
    async (ms) => {
      waits.push(ms);
      if (waits.length === 4) enough.abort();
    },
  );
  const task = { sender: SELLER, taskType: "create_media_buy", taskId: "task-1", firstMs: 0, signal: enough.signal };
  assert.is(await pausing.watchTask({ ...task, poll: () => Promise.reject(new Error("down")) }), null);
  assert.equal(waits, [0, 1_000, 2_000, 4_000]);
  await pausing.stop();
});

test("an end that was not applied is asked for once at once, and then as other failed polls are", async ({ open }) => {
  const s = await open({ pollMs: 5 });
  // A watch keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  await send(s, envelope({ timestamp: at(5) }));
  assert.is(statusOf(await send(s, envelope({ status: "completed", timestamp: at(4) }))), "stale");
  let looks = 0;
  const stored = s.store.task;
  s.store.task = (...of) => {
    looks += 1;
    return stored(...of);
  };
  let polls = 0;
  const poll = async (): Promise<never> => {
    polls += 1;
    throw new Error("down");
  };
  const stopped = new AbortController();
  const task = { sender: SELLER, taskType: "create_media_buy", taskId: "task-1", signal: stopped.signal };
  const watched = s.receiver.watchTask({ ...task, poll });
  await until(() => polls > 0);
  const before = looks;
  await until(() => looks > before + 10);
  stopped.abort();
  assert.is(await watched, null);
  assert.is(polls, 1);
  clearInterval(alive);
});

test("a watch hears of an end that another instance on its store took", async ({ open }) => {
  const s = await open();
  const watching = createReceiver({
    store: s.store,
    release: release31 as Release,
    senders: {},
    publicUrl: PUBLIC_URL,
    pollMs: 20,
    now: () => s.clock.ms,
    logger: silent,
    handlers: { fallback: () => undefined },
  });
  const task = { sender: SELLER, taskType: "create_media_buy", poll: () => assert.unreachable() as never };
  // The watch's own timers do not keep a process alive; the test does.
  const alive = setInterval(() => undefined, 1_000);
  const watched = watching.watchTask({ ...task, taskId: "task-1", signal: AbortSignal.timeout(60_000) });
  await send(s, envelope({ status: "completed" }));
  assert.equal(await watched, { status: "completed" });
  clearInterval(alive);
  await watching.stop();
});

test("an end that came with a time that is not newer is told, polled for at once, and handled once", async ({
  open,
}) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope())), "accepted");
  const watched = s.receiver.watchTask({
    ...{ sender: SELLER, taskId: "task-1", taskType: "create_media_buy", operationId: "op-1" },
    poll: async () => ({ status: "completed", timestamp: at(0), result: { media_buy_id: "m" } }),
  });
  assert.is(statusOf(await send(s, envelope({ status: "completed", idempotency_key: "completed-0000001" }))), "stale");
  assert.ok(s.logs.some((line) => JSON.parse(line).level === 40 && line.includes("ends its task was not applied")));
  assert.equal(await watched, { status: "completed" });
  await s.receiver.idle();
  assert.equal(statuses(s), ["working", "completed"]);
  assert.is(statusOf(await send(s, envelope({ status: "completed", timestamp: at(5) }))), "stale");
  await s.receiver.idle();
  assert.is(s.seen.length, 2);
});

test("an end that was missed before anybody watched is polled for within a look at the store", async ({ open }) => {
  const s = await open({ pollMs: 20 });
  await send(s, envelope());
  await send(s, envelope({ status: "failed" }));
  const alive = setInterval(() => undefined, 1_000);
  const ended = await s.receiver.watchTask({
    ...{ sender: SELLER, taskId: "task-1", taskType: "create_media_buy" },
    poll: async () => ({ status: "failed", timestamp: at(0) }),
    signal: AbortSignal.timeout(60_000),
  });
  clearInterval(alive);
  assert.equal(ended, { status: "failed" });
  await s.receiver.idle();
  assert.equal(statuses(s), ["working", "failed"]);
});

test("what was polled and finds no room is polled again", async ({ open }) => {
  const s = await open({ senderCap: 1, pollMs: 20 });
  await send(s, envelope({ task_id: "another" }));
  const stop = new AbortController();
  const watching = createReceiver(
    {
      ...{ store: s.store, release: release31 as Release, senders: {}, publicUrl: PUBLIC_URL, logger: silent },
      ...{ senderCap: 1, now: () => s.clock.ms, handlers: { fallback: () => undefined } },
    },
    async (ms) => void (ms > 120_000 && stop.abort()),
  );
  const poll = async () => ({ status: "completed" as const, timestamp: at(9) });
  const task = { sender: SELLER, taskId: "task-1", taskType: "create_media_buy", poll, signal: stop.signal };
  assert.is(await watching.watchTask(task), null, "a failed poll, not an end");
  await watching.stop();
});

test("an event from the future counts as its arrival, and its task goes on", async ({ open }) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope({ timestamp: "9999-12-31T00:00:00Z" }))), "accepted");
  s.clock.ms += 1_000;
  const end = { status: "completed", timestamp: new Date(s.clock.ms).toISOString() };
  assert.is(statusOf(await send(s, envelope(end))), "accepted");
  await s.receiver.idle();
  assert.equal(statuses(s), ["working", "completed"]);
  assert.ok(s.logs.some((line) => line.includes("still to come")));
});

const statuses = (s: { seen: readonly { status: string | null }[] }) => s.seen.map(({ status }) => status);

test.run();
