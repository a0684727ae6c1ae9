/** From the inbox to the one handler written for it: arms, effects, failures, order. */
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release as release31 } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { bindRelease, createReceiver, type ReceivedEvent } from "../../runtime/receiver/index.js";
import { createTestKey } from "../../runtime/testing/index.js";
import {
  at,
  bought,
  envelope,
  keysOf,
  OTHER,
  PUBLIC_URL,
  receiverSuite,
  SELLER,
  type Setup,
  send,
  silent,
  statusOf,
} from "../support/receiver.js";

const test = receiverSuite("handlers");

/** Handlers of create_media_buy that note what they were called with. */
const noting = (calls: unknown[][]) => ({
  submitted: (data: unknown) => void calls.push(["submitted", data]),
  working: (data: unknown, answer: unknown, delivery: ReceivedEvent) =>
    void calls.push(["working", data, answer, delivery]),
  "input-required": (data: unknown) => void calls.push(["input-required", data]),
  completed: (data: unknown, answer: unknown, delivery: ReceivedEvent) =>
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
  await send(s, envelope({ status: "completed", context: { a: 1 }, message: "done", result: bought }));
  await s.receiver.idle();
  const [, , answer, delivery] = calls[0] as [unknown, unknown, Record<string, unknown>, ReceivedEvent];
  assert.equal(
    [answer.status, answer.taskId, answer.context, answer.message],
    ["completed", "task-1", { a: 1 }, "done"],
  );
  assert.is(delivery.sender, SELLER);
  assert.is(delivery.attempt, 1);
  assert.is(delivery.release, "3.1.0");
});

test("progress that is not what the release says is accepted, marked, and passed on with what is wrong", async ({
  open,
}) => {
  const calls: unknown[][] = [];
  const s = await open({ handlers: { tools: { create_media_buy: noting(calls) } } });
  await send(s, envelope({ status: "working", result: { percentage: "7" } }));
  await s.receiver.idle();
  const [, data, , delivery] = calls[0] as [unknown, unknown, unknown, ReceivedEvent];
  assert.equal(data, { percentage: "7" });
  assert.ok(delivery.notes.length > 0);
  assert.ok(delivery.notes.every((note) => note.code === "schema_mismatch" && note.message.length > 0));
});

test("a result is judged with the status and task id that stand beside it in a webhook", async ({ open }) => {
  const s = await open();
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
  const artifacts = [{ artifactId: "r", parts: [{ text: "x" }, { data: bought }] }];
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
      ["completed", bought],
      ["completed", {}],
    ],
  );
  assert.is((calls[2]![3] as ReceivedEvent).notes[0]!.code, "wrapper_detected");
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

test("two releases side by side: the sender's, or the registration's, reads the event", async ({ open }) => {
  const s = await open();
  await s.receiver.stop();
  const seen: string[] = [];
  // What 3.0 wants of a key that signs webhooks; 3.1 takes it still.
  const key = createTestKey({ use: "webhook-signing" });
  const handler = (version: string) => ({
    fallback: (delivery: ReceivedEvent) => void seen.push(`${version} ${delivery.release}`),
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

test.run();
