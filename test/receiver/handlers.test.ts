/** From the inbox to the one handler written for it: arms, effects, failures, order. */
import { pino } from "pino";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release as release31 } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract.js";
import { bindRelease, createReceiver, type Delivery } from "../../runtime/receiver/index.js";
import {
  envelope,
  keysOf,
  OTHER,
  PUBLIC_URL,
  SELLER,
  type Setup,
  type SetupOptions,
  sellerKey,
  send,
  setup,
  statusOf,
} from "../support/receiver.js";

const test = suite<{ open: (options?: SetupOptions) => Promise<Setup>; opened: Setup[] }>("handlers");
test.before.each((context) => {
  context.opened = [];
  context.open = async (options) => {
    const made = await setup(options);
    context.opened.push(made);
    const { expect } = made.receiver;
    await expect({
      route: "/hooks/a",
      sender: SELLER,
      kind: "task",
      operationId: "op-1",
      taskType: "create_media_buy",
    });
    await expect({ route: "/hooks/a2a", sender: SELLER, kind: "task", taskType: "create_media_buy", format: "a2a" });
    for (const kind of ["report", "impairment", "list_change", "artifact", "rights"] as const) {
      await expect({ route: `/hooks/${kind}`, sender: SELLER, kind });
    }
    return made;
  };
});
test.after.each(async ({ opened }) => {
  for (const one of opened) await one.close();
});

const silent = pino({ enabled: false });
const at = (second: number) => `2026-04-18T14:00:${String(second).padStart(2, "0")}Z`;

/** Handlers of create_media_buy that note what they were called with. */
const noting = (calls: unknown[][]) => ({
  submitted: (data: unknown) => void calls.push(["submitted", data]),
  working: (data: unknown) => void calls.push(["working", data]),
  "input-required": (data: unknown) => void calls.push(["input-required", data]),
  completed: (data: unknown, answer: unknown, delivery: Delivery) =>
    void calls.push(["completed", data, answer, delivery]),
  failed: (data: unknown) => void calls.push(["failed", data]),
  canceled: (data: unknown) => void calls.push(["canceled", data]),
  rejected: (data: unknown) => void calls.push(["rejected", data]),
});

test("the handler of the arm that came runs, with the arm's data", async ({ open }) => {
  const calls: unknown[][] = [];
  const s = await open({ handlers: { tools: { create_media_buy: noting(calls) } } });
  await send(s, envelope({ timestamp: at(1), result: { percentage: 40 } }));
  await send(s, envelope({ timestamp: at(2), status: "input-required", result: { reason: "APPROVAL_REQUIRED" } }));
  const failure = { errors: [{ code: "BUDGET_TOO_LOW", message: "m" }] };
  await send(s, envelope({ task_id: "t-2", status: "failed", result: failure }));
  await send(s, envelope({ task_id: "t-3", status: "canceled", result: undefined }));
  await s.receiver.idle();
  assert.equal(calls.map((call) => call[0]).sort(), ["canceled", "failed", "input-required", "working"]);
  const dataOf = (status: string) => calls.find((call) => call[0] === status)![1];
  assert.equal(dataOf("working"), { percentage: 40 });
  assert.equal(dataOf("input-required"), { reason: "APPROVAL_REQUIRED" });
  assert.equal(dataOf("failed"), { errors: failure.errors, raw: failure });
  assert.equal(dataOf("canceled"), { errors: [], raw: {} });
  assert.is(s.seen.length, 0);
});

test("the answer carries the task and the context, the delivery everything else", async ({ open }) => {
  const calls: unknown[][] = [];
  const s = await open({ handlers: { tools: { create_media_buy: noting(calls) } } });
  await send(s, envelope({ status: "completed", context: { a: 1 }, message: "done", result: { media_buy_id: "m" } }));
  await s.receiver.idle();
  const [, , answer, delivery] = calls[0] as [unknown, unknown, Record<string, unknown>, Delivery];
  assert.equal(
    [answer.status, answer.taskId, answer.context, answer.message],
    ["completed", "task-1", { a: 1 }, "done"],
  );
  assert.is(delivery.sender, SELLER);
  assert.is(delivery.attempt, 1);
  assert.is(delivery.release, "3.1.0");
});

test("a result that is not what the release says is accepted, marked, and passed on with what is wrong", async ({
  open,
}) => {
  const calls: unknown[][] = [];
  const s = await open({ handlers: { tools: { create_media_buy: noting(calls) } } });
  await send(s, envelope({ status: "completed", result: { media_buy_id: 7 } }));
  await s.receiver.idle();
  const [, data, , delivery] = calls[0] as [unknown, unknown, unknown, Delivery];
  assert.equal(data, { media_buy_id: 7 });
  assert.ok(delivery.notes.length > 0);
  assert.ok(delivery.notes.every((note) => note.code === "schema_mismatch" && note.message.length > 0));
});

test("a result is judged with the status and task id that stand beside it in a webhook", async ({ open }) => {
  const s = await open();
  const bought = { media_buy_id: "m", confirmed_at: at(1), revision: 1, packages: [] };
  await send(s, envelope({ status: "completed", result: bought }));
  await send(s, envelope({ task_id: "t-2", status: "submitted", result: { message: "queued" } }));
  await s.receiver.idle();
  assert.equal(
    s.seen.flatMap((delivery) => delivery.notes),
    [],
  );
});

test("A2A tasks of both versions reach the same handlers", async ({ open }) => {
  const calls: unknown[][] = [];
  const s = await open({ handlers: { tools: { create_media_buy: noting(calls) } } });
  const route = "/hooks/a2a";
  const message = { role: "agent", parts: [{ kind: "data", data: { percentage: 5 } }] };
  await send(s, { id: "a-1", status: { state: "working", timestamp: at(1), message } }, { route });
  await s.receiver.idle();
  const artifacts = [{ artifactId: "r", parts: [{ text: "x" }, { data: { media_buy_id: "m" } }] }];
  const done = { task: { id: "a-1", status: { state: "TASK_STATE_COMPLETED", timestamp: at(2) }, artifacts } };
  await send(s, done, { route });
  assert.is(statusOf(await send(s, done, { route })), "duplicate");
  await send(s, { id: "a-1", status: { state: "working", timestamp: at(3) } }, { route });
  const wrapped = [{ parts: [{ data: { response: { media_buy_id: "m" } } }] }];
  await send(s, { id: "a-2", status: { state: "completed", timestamp: at(1) }, artifacts: wrapped }, { route });
  await s.receiver.idle();
  assert.equal(
    calls.map((call) => [call[0], call[1]]),
    [
      ["working", { percentage: 5 }],
      ["completed", { media_buy_id: "m" }],
      ["completed", {}],
    ],
  );
  assert.is((calls[2]![3] as Delivery).notes[0]!.code, "wrapper_detected");
  await send(s, { id: "a-3", status: { state: "auth-required", timestamp: at(1) } }, { route });
  await s.receiver.idle();
  assert.is(s.seen[0]!.status, "auth-required", "no arm: the fallback has it");
});

test("every kind has its handler, and the fallback what nobody took", async ({ open }) => {
  const calls: [string, unknown][] = [];
  const note = (name: string) => (data: unknown) => void calls.push([name, data]);
  const s = await open({
    handlers: {
      report: note("report"),
      impairment: note("impairment"),
      listChange: note("list"),
      artifact: note("artifact"),
      rights: note("rights"),
    },
  });
  const key = (n: number) => ({ idempotency_key: `0123456789abcde${n}` });
  const report = { notification_type: "scheduled", reporting_period: {}, currency: "USD", media_buy_deliveries: [] };
  const fire = (n: number) => ({
    ...envelope({ ...key(n), task_type: "media_buy_delivery", status: "completed" }),
    result: report,
  });
  await send(s, fire(1), { route: "/hooks/report" });
  await send(s, fire(2), { route: "/hooks/report" });
  await send(s, { ...key(3), notification_id: "imp", to: "suspended" }, { route: "/hooks/impairment" });
  await send(s, { ...key(4), event: "property_list_changed", list_id: "l" }, { route: "/hooks/list_change" });
  await send(s, { ...key(5), media_buy_id: "m", batch_id: "b", artifacts: [] }, { route: "/hooks/artifact" });
  await send(s, { ...key(6), rights_id: "r", brand_id: "b" }, { route: "/hooks/rights" });
  await send(s, envelope({ task_type: "a_tool_of_tomorrow" }));
  await send(s, envelope({ task_type: "toString", task_id: "t-9" }));
  await s.receiver.idle();
  assert.equal(calls.map(([name]) => name).sort(), ["artifact", "impairment", "list", "report", "report", "rights"]);
  assert.equal(calls.find(([name]) => name === "report")![1], report);
  assert.equal(s.seen.map((delivery) => delivery.taskType).sort(), ["a_tool_of_tomorrow", "toString"]);
});

test("an impairment that comes again under another key is marked as a re-emission", async ({ open }) => {
  const s = await open();
  for (const n of [1, 2]) {
    await send(s, { idempotency_key: `0123456789abcde${n}`, notification_id: "imp" }, { route: "/hooks/impairment" });
  }
  await s.receiver.idle();
  assert.equal(s.seen.map((delivery) => delivery.reemission).sort(), [false, true]);
});

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
  gate.resolve();
  await s.receiver.idle();
  await second.stop();
  assert.equal(s.store.db.prepare("select who from bookings").all(), [{ who: "fast" }]);
});

test("no more handlers run at once than allowed; the rest wait in the store", async ({ open }) => {
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
  const s = await open({
    handlers: {
      fallback: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        finished = true;
      },
    },
  });
  await send(s, envelope());
  await s.receiver.stop();
  assert.ok(finished);
  assert.equal(await s.store.inbox.list(), []);
});

test("two releases side by side: the sender's, or the registration's, reads the event", async ({ open }) => {
  const s = await open();
  await s.receiver.stop();
  const seen: string[] = [];
  const key = sellerKey();
  const handler = (version: string) => ({
    fallback: (delivery: Delivery) => void seen.push(`${version} ${delivery.release}`),
  });
  const both = createReceiver({
    store: s.store,
    releases: [bindRelease(release31 as Release, handler("3.1")), bindRelease(release30 as Release, handler("3.0"))],
    senders: { [OTHER]: { keys: keysOf(OTHER, key), release: "3.0.0" }, [SELLER]: { keys: keysOf(SELLER, s.key) } },
    publicUrl: PUBLIC_URL,
    now: () => s.clock.ms,
    logger: silent,
  });
  both.start();
  await both.expect({ route: "/hooks/o", sender: OTHER, kind: "task" });
  await both.expect({ route: "/hooks/n", sender: OTHER, kind: "task", release: "3.1.0" });
  const pair = { ...s, receiver: both } as unknown as Setup;
  await send(pair, envelope({ task_id: "1" }));
  await send(pair, envelope({ task_id: "2" }), { route: "/hooks/o", key });
  await send(pair, envelope({ task_id: "3" }), { route: "/hooks/n", key });
  await both.idle();
  await both.stop();
  assert.equal(seen.sort(), ["3.0 3.0.0", "3.1 3.1.0", "3.1 3.1.0"]);
});

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

test.run();
