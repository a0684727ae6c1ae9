/** What becomes of a call and its task where the sides do not agree, or somebody stops waiting. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyers } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { documentStore, openSqliteStore } from "../../runtime/store/index.js";
import type { Says } from "../support/agent.js";
import { at, bought, envelope, send, statusOf } from "../support/receiver.js";
import { tempFolder } from "../support/release.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { failing, order, release, scene } from "./fixtures.js";
import { hooked } from "./hooked.js";

const unsupported = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
const state = (status: string, more: JsonObject = {}): Says => ({
  payload: { task_id: "task-1", task_type: "create_media_buy", protocol: "media-buy", status, ...more },
});

const submitted: Says = { payload: { status: "submitted", task_id: "task-1" } };

for (const how of ["its deadline", "its caller"] as const)
  test(`a call that ${how} ends while the agent is at work is still told of by its webhook`, () =>
    hooked(
      async () => {
        await sleep(4_000);
        return submitted;
      },
      async ({ made, hooks, seen }) => {
        const caller = new AbortController();
        const options = how === "its deadline" ? { deadlineMs: 2_500 } : { signal: caller.signal };
        const calling = made.buyer.tools.create_media_buy(order, options);
        await until(() => made.calls().length === 1, "the agent has it");
        if (how === "its caller") caller.abort();
        const called = await calling;
        assert.is(called.answer.status, "failed");
        const told = envelope({ operation_id: called.operationId, status: "completed" });
        assert.is(statusOf(await send(hooks, told)), "accepted");
        await until(() => seen.length === 1, "its handler has run");
      },
    ));

test("a call that is ended before it is sent leaves nothing registered", () =>
  hooked(
    () => submitted,
    async ({ made, hooks }) => {
      const ended = AbortSignal.abort();
      const called = await made.buyer.tools.create_media_buy(order, { signal: ended });
      assert.equal([called.answer.status, made.calls().length], ["failed", 0]);
      assert.is((await send(hooks, envelope({ operation_id: "op-none" }))).status, 404);
    },
  ));

const inFlight = failing({ code: "IDEMPOTENCY_IN_FLIGHT", message: "still at it", recovery: "transient" });

test("an attempt that was not heard of may be at work, though a later one was only put off", async () => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "buyer.db") });
  for (const later of [inFlight, failing({ code: "RATE_LIMITED", message: "later", recovery: "transient" })]) {
    let calls = 0;
    await hooked(
      () => (++calls === 1 ? { drop: true } : later),
      async ({ made, hooks, seen }) => {
        const called = await made.buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, called.attempts], ["failed", 2]);
        const [left, ...others] = await made.buyer.unfinished.list();
        assert.equal([left?.idempotencyKey, others], [called.idempotencyKey, []], "it is to be carried on");
        const told = envelope({ operation_id: called.operationId, status: "completed" });
        assert.is(statusOf(await send(hooks, told)), "accepted");
        await until(() => seen.length === 1, "its handler has run");
        await made.buyer.unfinished.drop(called.idempotencyKey as string);
      },
      { buyer: { intents: documentStore(store.database), retry: { attempts: 2 } } },
    );
  }
  await store.close();
});

test("a call under the key of one that is under way takes no webhook from it", async () => {
  let calls = 0;
  await hooked(
    () => (++calls === 1 ? submitted : inFlight),
    async ({ made, hooks }) => {
      const request = { ...(order as JsonObject), idempotency_key: "key-of-the-caller-0123456789" } as never;
      const called = await made.buyer.tools.create_media_buy(request);
      const again = await made.buyer.tools.create_media_buy(request);
      assert.equal([again.answer.status, again.operationId], ["failed", called.operationId]);
      const told = envelope({ operation_id: called.operationId, status: "completed" });
      assert.is(statusOf(await send(hooks, told)), "accepted");
    },
    { buyer: { retry: { attempts: 1 } } },
  );
});

test("an answer to a question that cannot be kept leaves the task its webhooks", async () => {
  let broken = false;
  const commit = async (): Promise<void> => {
    if (broken) throw new Error("the disk is full");
  };
  await hooked(
    () => ({ payload: { status: "input-required", task_id: "task-1", context_id: "task-1" } }),
    async ({ made, hooks }) => {
      const called = await made.buyer.tools.create_media_buy(order);
      broken = true;
      assert.is((await called.respond({ po_number: "7" })).answer.status, "failed");
      assert.is(made.calls().length, 1, "it was not sent");
      const told = envelope({ operation_id: called.operationId, status: "canceled", result: {} });
      assert.is(statusOf(await send(hooks, told)), "accepted");
    },
    { buyer: { intents: { list: async () => [], commit } as never } },
  );
});

test("an end that a poll tells without its result leaves the result to the webhook", () =>
  hooked(
    ({ tool }) =>
      tool === "create_media_buy" ? submitted : tool === "get_task_status" ? state("completed") : unsupported,
    async ({ made, hooks, seen }) => {
      const called = await made.buyer.tools.create_media_buy(order);
      const waiting = called.waitForCompletion();
      await until(() => made.calls().some(({ tool }) => tool === "get_task_status"), "it is polled");
      const result = { ...bought, media_buy_id: "mb1" };
      const told = envelope({ operation_id: called.operationId, status: "completed", result });
      assert.is(statusOf(await send(hooks, told)), "accepted");
      await until(() => seen.length === 1, "its handler has run");
      assert.is((seen[0]!.body as { result: JsonObject }).result.media_buy_id, "mb1");
      const end = await waiting;
      assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb1"]);
    },
    { remembers: true },
  ));

test("an end of another call is not taken for this one's, though its agent numbers its tasks anew", () =>
  hooked(
    ({ tool }) => (tool === "create_media_buy" ? submitted : unsupported),
    async ({ made, hooks, seen }) => {
      const before = await made.buyer.tools.create_media_buy(order);
      const told = envelope({ operation_id: before.operationId, status: "completed" });
      assert.is(statusOf(await send(hooks, told)), "accepted");
      await until(() => seen.length === 1, "its handler has run");
      assert.is((await before.waitForCompletion()).status, "completed");
      const called = await made.buyer.tools.create_media_buy(order);
      const polled = made.calls().length;
      const waiting = called.waitForCompletion();
      await until(() => made.calls().length > polled, "it is polled, and not taken for ended");
      const result = { ...bought, media_buy_id: "mb-2" };
      const own = envelope({ operation_id: called.operationId, status: "completed", timestamp: at(1), result });
      assert.is(statusOf(await send(hooks, own)), "accepted");
      const end = await waiting;
      assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb-2"], JSON.stringify(end));
      await until(() => seen.length === 2, "its handler has run");
    },
    { remembers: true },
  ));

test("what a task asks by webhook is given to who waits for it, once, though its agent cannot be polled", () =>
  hooked(
    ({ tool, args }) =>
      tool !== "create_media_buy"
        ? unsupported
        : args.po_number === undefined
          ? submitted
          : { payload: { status: "working", task_id: "task-1" } },
    async ({ made, hooks, seen }) => {
      const told = async (status: string, second: number): Promise<void> => {
        const context = { context_id: "c-1", message: "which?" };
        const event = { operation_id: called.operationId, status, timestamp: at(second), ...context };
        assert.is(statusOf(await send(hooks, envelope(event))), "accepted");
        await until(() => seen.length === second, "its handler has run");
      };
      const called = await made.buyer.tools.create_media_buy(order);
      const waiting = called.waitForCompletion();
      await until(() => made.calls().length > 1, "it is polled");
      await told("input-required", 1);
      const asked = await waiting;
      assert.equal([asked.status, asked.message], ["input-required", "which?"]);
      assert.is((await called.waitForCompletion()).status, "input-required", "until it is answered");
      const next = await called.respond({ po_number: "7" });
      const before = made.calls().length;
      const later = next.waitForCompletion();
      await until(() => made.calls().length > before, "it is polled");
      await told("completed", 2);
      assert.is((await later).status, "completed");
    },
    { remembers: true },
  ));

test("what the caller is told of an end is what its handler was told, though a poll says otherwise", async () => {
  const rejected = state("rejected", { error: { code: "HOUSE_RULE", message: "Not on a Sunday." } });
  for (const remembers of [true, false]) {
    let polls = 0;
    let operation: string | undefined;
    await hooked(
      async ({ tool, push }, { hooks }) => {
        operation ??= push?.operation_id as string | undefined;
        if (tool === "create_media_buy") return submitted;
        if (tool !== "get_task_status") return unsupported;
        polls += 1;
        if (polls === 1) await send(hooks, envelope({ operation_id: operation, status: "completed" }));
        return rejected;
      },
      async ({ made, seen }) => {
        const called = await made.buyer.tools.create_media_buy(order);
        const end = await called.waitForCompletion();
        await until(() => seen.length === 1);
        assert.is(seen[0]?.status, "completed");
        const [error] = (end.data as { errors?: JsonObject[] }).errors ?? [];
        // Where neither the handler's word nor the webhook itself is at hand any more, that is said.
        const told = error?.code === "TASK_END_UNKNOWN" ? (error.details as JsonObject).status : end.status;
        assert.is(told, "completed");
        if (remembers) assert.is(end.status, "completed");
      },
      { remembers },
    );
  }
});

test("a task whose state is not known, now or to the release, is asked for again, and one that waits for a login asks something", async () => {
  let polls = 0;
  const made = await scene({
    answer: ({ tool }) => {
      if (tool === "create_media_buy") return submitted;
      polls += 1;
      return polls < 8
        ? state(polls % 2 === 0 ? "unknown" : "on-hold")
        : state("auth-required", { message: "Log in first." });
    },
  });
  try {
    const asked = await (await made.buyer.call("create_media_buy", order)).waitForCompletion();
    assert.equal([asked.status, asked.message, polls], ["input-required", "Log in first.", 8]);
  } finally {
    await made.close();
  }
});

test("an estimate beyond the time that is waited does not end the wait before it", async () => {
  let polls = 0;
  const made = await scene({
    answer: ({ tool }) => {
      if (tool === "create_media_buy") return submitted;
      polls += 1;
      const estimated_completion = new Date(1_776_520_800_000 + 3_600_000).toISOString();
      return polls < 2
        ? state("working", { progress: { estimated_completion } })
        : state("completed", { result: bought });
    },
    buyer: { giveUpMs: 60_000 },
  });
  try {
    const called = await made.buyer.call("create_media_buy", order);
    assert.is((await called.waitForCompletion()).status, "completed");
    assert.equal([polls, made.waits], [2, [60_000]]);
  } finally {
    await made.close();
  }
});

test("an order whose question was answered is not left to be carried on once it has ended", async () => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "buyer.db") });
  const made = await scene({
    answer: ({ args }) => ({
      payload:
        args.context_id === undefined
          ? { status: "input-required", task_id: "task-1", context_id: "task-1" }
          : args.po_number === "wrong"
            ? { status: "failed", errors: [{ code: "INVALID_REQUEST", message: "no" }] }
            : { status: "completed", ...bought },
    }),
    buyer: { intents: documentStore(store.database) },
  });
  try {
    const called = await made.buyer.call("create_media_buy", order);
    assert.is((await called.respond({ po_number: "wrong" })).answer.status, "failed");
    const kept = async () => (await made.buyer.unfinished.list()).map(({ idempotencyKey }) => idempotencyKey);
    assert.equal(await kept(), [called.idempotencyKey], "it still asks");
    assert.is((await called.respond({ po_number: "7" })).answer.status, "completed");
    assert.equal(await kept(), []);
  } finally {
    await made.close();
    await store.close();
  }
});

test("so many at once that nobody is called is refused", async () => {
  const buyers = createBuyers({ release, agents: { a: "https://a.example/mcp" } });
  for (const concurrency of [0, -1, Number.NaN, 0.5])
    assert.is(await codeOf(() => buyers.each("all", async () => 1, { concurrency })), "buyer_option_invalid");
  for (const deadline of [0, -1, Number.NaN])
    assert.is(await codeOf(() => buyers.each("all", async () => 1, { deadline })), "buyer_option_invalid");
  const [answer] = await buyers.each("all", async () => 1, { concurrency: Number.POSITIVE_INFINITY });
  assert.ok(answer?.ok);
  await buyers.close();
});

test.run();
