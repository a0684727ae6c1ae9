/** Handlers that fail, wait, are many, or lose their lease. */

import * as assert from "uvu/assert";
import { release as release31 } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver, type ReceivedEvent } from "../../runtime/receiver/index.js";
import { at, envelope, PUBLIC_URL, receiverSuite, type Setup, send, silent, statusOf } from "../support/receiver.js";
import { turns, until } from "../support/until.js";

const test = receiverSuite("worker");

test("a failing handler is tried again with back-off, then given up and replayed by hand", async ({ open }) => {
  let fail = true;
  const attempts: number[] = [];
  const s = await open({
    maxAttempts: 3,
    backoffMs: 1000,
    handlers: {
      fallback: (delivery) => {
        attempts.push(delivery.attempt);
        if (fail) throw new Error("no\u0000 luck");
      },
    },
  });
  await send(s, envelope());
  await s.receiver.idle();
  const [waiting] = await s.store.inbox.list();
  assert.is(waiting!.due, s.clock.ms + 1000);
  assert.is(waiting!.error, "Error: no luck");
  for (const ms of [1000, 2000]) {
    s.clock.ms += ms;
    await s.receiver.idle();
  }
  assert.equal(attempts, [1, 2, 3]);
  assert.equal(await s.store.inbox.backlog(), { pending: 0, parked: 0, dead: 1 });
  fail = false;
  await s.store.inbox.replay(waiting!.id, s.clock.ms);
  await s.receiver.idle();
  assert.equal(attempts, [1, 2, 3, 1]);
  assert.equal(await s.store.inbox.backlog(), { pending: 0, parked: 0, dead: 0 });
});

test("later events of a task wait for an earlier one that fails", async ({ open }) => {
  let fail = true;
  const order: string[] = [];
  const s = await open({
    handlers: {
      fallback: ({ taskId, timestamp }) => {
        if (fail && taskId === "task-1") throw new Error("down");
        order.push(`${taskId} ${timestamp!.slice(17, 19)}`);
      },
    },
  });
  for (const second of [1, 2, 3]) await send(s, envelope({ timestamp: at(second) }));
  await send(s, envelope({ task_id: "task-2", timestamp: at(1) }));
  await s.receiver.idle();
  assert.equal(order, ["task-2 01"]);
  fail = false;
  s.clock.ms += 5000;
  await s.receiver.idle();
  assert.equal(order, ["task-2 01", "task-1 01", "task-1 02", "task-1 03"]);
});

test("an effect commits with the event's completion, once, and not when it throws", async ({ open }) => {
  let fail = true;
  const s = await open({
    handlers: {
      fallback: (delivery) => (db) => {
        db.prepare("insert into bookings values (?)").run(delivery.taskId);
        if (fail) throw new Error("after the write");
      },
    },
  });
  s.store.db.exec("create table bookings (task text)");
  await send(s, envelope());
  await s.receiver.idle();
  const rows = () => s.store.db.prepare("select task from bookings").all();
  assert.equal(rows(), []);
  fail = false;
  s.clock.ms += 5000;
  await s.receiver.idle();
  assert.equal(rows(), [{ task: "task-1" }]);
});

test("an instance that lost its lease cannot commit its effect", async ({ open }) => {
  const gate = Promise.withResolvers<void>();
  let slow = true;
  const s = await open({
    handlers: {
      fallback: async () => {
        const mine = slow;
        if (mine) await gate.promise;
        return (db) => void db.prepare("insert into bookings values (?)").run(mine ? "slow" : "fast");
      },
    },
  });
  s.store.db.exec("create table bookings (who text)");
  await send(s, envelope());
  slow = false;
  s.clock.ms += 60_000;
  const second = createReceiver({
    store: s.store,
    release: release31 as Release<(typeof release31)["tools"]>,
    senders: {},
    publicUrl: PUBLIC_URL,
    now: () => s.clock.ms,
    logger: silent,
    handlers: { fallback: () => (db) => void db.prepare("insert into bookings values ('fast')").run() },
  });
  second.start();
  await second.idle();
  // It has watched the lease for half of its time.
  s.clock.ms += 15_000;
  await second.idle();
  gate.resolve();
  await s.receiver.idle();
  await second.stop();
  assert.equal(s.store.db.prepare("select who from bookings").all(), [{ who: "fast" }]);
});

test("no more handlers run at once than allowed; the rest wait", async ({ open }) => {
  let running = 0;
  let most = 0;
  let done = 0;
  const s = await open({
    concurrency: 3,
    handlers: {
      fallback: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        done += 1;
      },
    },
  });
  await Promise.all(Array.from({ length: 40 }, (_, i) => send(s, envelope({ task_id: `t-${i}` }))));
  await s.receiver.idle();
  assert.is(done, 40);
  assert.is(most, 3);
});

test("what comes while handlers are busy waits at hand, and is not read again", async ({ open }) => {
  const order: string[] = [];
  const s = await open({ concurrency: 1, handlers: { fallback: ({ taskId }) => void order.push(taskId!) } });
  const { inbox } = s.store;
  const { take } = inbox;
  let read = 0;
  inbox.take = async (request) => {
    const events = await take(request);
    read += events.length;
    return events;
  };
  const ids = Array.from({ length: 40 }, (_, i) => `t-${i}`);
  await Promise.all(ids.map((task_id) => send(s, envelope({ task_id }))));
  await s.receiver.idle();
  assert.equal(order, ids);
  assert.is(read, 0);
});

test("what is taken from the store and what arrives meanwhile share the handlers", async ({ open }) => {
  let running = 0;
  const ran: number[] = [];
  const s = await open({
    concurrency: 2,
    handlers: {
      fallback: async () => {
        running += 1;
        ran.push(running);
        await turns();
        running -= 1;
      },
    },
  });
  await s.receiver.stop();
  for (const task_id of ["t-0", "t-1"]) await send(s, envelope({ task_id }));
  const { inbox } = s.store;
  const { take } = inbox;
  const gate = Promise.withResolvers<void>();
  inbox.take = async (request) => {
    const events = await take(request);
    await gate.promise;
    return events;
  };
  s.receiver.start();
  await Promise.all(["t-2", "t-3", "t-4"].map((task_id) => send(s, envelope({ task_id }))));
  gate.resolve();
  await s.receiver.idle();
  assert.is(ran.length, 5);
  assert.is(Math.max(...ran), 2);
});

/** Another instance on the same store, and the tasks its handlers were given. */
async function beside({ store, clock }: Setup): Promise<{ seen: string[]; stop(): Promise<unknown> }> {
  const seen: string[] = [];
  const other = createReceiver({
    ...{ store, release: release31 as Release<(typeof release31)["tools"]>, senders: {}, publicUrl: PUBLIC_URL },
    ...{ now: () => clock.ms, logger: silent, pollMs: 5 },
    handlers: { fallback: ({ taskId, attempt }: ReceivedEvent) => void seen.push(`${taskId} ${attempt}`) },
  });
  other.start();
  return { seen, stop: () => other.stop() };
}

const stuck = () => {
  const gate = Promise.withResolvers<void>();
  return {
    gate,
    handlers: { fallback: ({ taskId }: { taskId: string | null }) => (taskId === "t-0" ? gate.promise : undefined) },
  };
};

test("what waits behind a handler that takes long goes to who has one free", async ({ open }) => {
  const { gate, handlers } = stuck();
  const s = await open({ concurrency: 1, pollMs: 250, handlers });
  for (const task_id of ["t-0", "t-1", "t-2"]) await send(s, envelope({ task_id }));
  const other = await beside(s);
  await until(() => other.seen.length === 2);
  // Before what may throw: who closes the receiver waits for its handler.
  gate.resolve();
  // One of them may have waited in the store from the first.
  assert.equal(other.seen.toSorted(), ["t-1 1", "t-2 1"]);
  await s.receiver.idle();
  await other.stop();
  assert.equal(await s.store.inbox.list(), []);
});

test("who stops gives back what waits", async ({ open }) => {
  const { gate, handlers } = stuck();
  const s = await open({ concurrency: 1, pollMs: 60_000, handlers });
  for (const task_id of ["t-0", "t-1"]) await send(s, envelope({ task_id }));
  assert.is(await s.receiver.stop({ withinMs: 50 }), 1);
  const other = await beside(s);
  await until(() => other.seen.length === 1);
  gate.resolve();
  assert.equal(other.seen, ["t-1 1"]);
  await other.stop();
});

test("a receiver that is not started keeps events for another", async ({ open }) => {
  const s = await open();
  await s.receiver.stop();
  assert.is(statusOf(await send(s, envelope())), "accepted");
  assert.is(s.seen.length, 0);
  s.receiver.start();
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
});

test("stopping waits for the handlers that run", async ({ open }) => {
  let finished = false;
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const s = await open({
    handlers: {
      fallback: async () => {
        begun.resolve();
        await held.promise;
        finished = true;
      },
    },
  });
  await send(s, envelope());
  await begun.promise;
  const stopped = s.receiver.stop().then(() => assert.ok(finished));
  await turns();
  held.resolve();
  await stopped;
  assert.equal(await s.store.inbox.list(), []);
});

test.run();
