/** Tasks of an agent that cannot be asked: their webhooks are all there is. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createCompletions } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { ReceivedEvent } from "../../runtime/receiver/index.js";
import type { Says } from "../support/agent.js";
import { bought, envelope, PUBLIC_URL, SELLER, send, setup, statusOf } from "../support/receiver.js";
import { until } from "../support/until.js";
import { failing, order, type Scene, type SceneOptions, scene } from "./fixtures.js";

const answer = ({ tool }: { tool: string }) =>
  tool === "create_media_buy"
    ? { payload: { status: "submitted", task_id: "task-1" } }
    : failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });

async function endedBy(how: "handlers" | "inbox"): Promise<void> {
  const completions = createCompletions();
  const fallback = (_: ReceivedEvent): void => {
    if (how === "inbox") throw new Error("the handler is not ready");
  };
  const hooks = await setup({ handlers: how === "handlers" ? completions.through({ fallback }) : { fallback } });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER, completions };
  const made = await scene({ answer, buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.is(made.calls()[0]?.push?.operation_id, called.operationId);
    const ended = called.waitForCompletion();
    const result = { ...bought, media_buy_id: "mb1" };
    const sent = await send(hooks, envelope({ operation_id: called.operationId, status: "completed", result }));
    assert.is(sent.status, 200);
    const end = await ended;
    assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb1"]);
  } finally {
    await made.close();
    await hooks.close();
  }
}

test("a webhook that a handler of this process had ends its task", () => endedBy("handlers"));
test("a webhook that is still in the inbox ends its task", () => endedBy("inbox"));

test("a poll of an agent that says no time is no event, and a webhook from before it still counts", async () => {
  const completions = createCompletions();
  const seen: unknown[] = [];
  const fallback = ({ status }: ReceivedEvent): void => void seen.push(status);
  const hooks = await setup({ handlers: completions.through({ fallback }) });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER, completions };
  const says = (heard: { tool: string }): Says => (heard.tool === "get_task_status" ? state("working") : answer(heard));
  const made = await scene({ answer: says, buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    const ended = called.waitForCompletion();
    await until(() => made.calls().some(({ tool }) => tool === "get_task_status"), "it is polled");
    // By the seller's own clock, which is a second behind.
    const timestamp = "2026-04-18T13:59:59Z";
    const sent = await send(hooks, envelope({ operation_id: called.operationId, status: "completed", timestamp }));
    assert.is(statusOf(sent), "accepted");
    assert.is((await ended).status, "completed");
    assert.equal(seen, ["completed"]);
  } finally {
    await made.close();
    await hooks.close();
  }
});

test("a task whose id no database stores is polled for, and the receiver is not asked", async () => {
  const hooks = await setup();
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER };
  const task_id = "task \ud800";
  const says = ({ tool }: { tool: string }): Says =>
    tool === "create_media_buy"
      ? { payload: { status: "submitted", task_id } }
      : state("completed", { task_id, result: bought });
  const made = await scene({ answer: says, buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.is((await called.waitForCompletion()).status, "completed");
  } finally {
    await made.close();
    await hooks.close();
  }
});

test("a submitted answer without a task is a failure that says so, and its webhook is still expected", async () => {
  const told = Promise.withResolvers<ReceivedEvent>();
  const handlers = { fallback: (delivery: ReceivedEvent) => told.resolve(delivery) };
  const hooks = await setup({ handlers });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER };
  const made = await scene({ answer: () => ({ payload: { status: "submitted" } }), buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.equal([called.answer.status, called.recovery, called.attempts], ["failed", "terminal", 1]);
    assert.is((called.answer.data as { errors: JsonObject[] }).errors[0]?.code, "TASK_ID_MISSING");
    assert.equal((called.answer.data as { raw: unknown }).raw, { status: "submitted" });
    assert.is((await called.waitForCompletion()).status, "failed");
    const sent = await send(hooks, envelope({ operation_id: called.operationId, status: "working", result: {} }));
    assert.is(sent.status, 200);
    assert.is((await told.promise).operationId, called.operationId);
  } finally {
    await made.close();
    await hooks.close();
  }
});

/** A buyer that polls, before an agent whose order is `task-1`; `says` answers the n-th poll. */
async function polling(
  says: (count: number) => Says,
  job: (made: Scene, called: Awaited<ReturnType<Scene["buyer"]["tools"]["create_media_buy"]>>) => Promise<void>,
  { ordered = {}, ...buyer }: { ordered?: JsonObject } & SceneOptions["buyer"] = {},
): Promise<void> {
  const made = await scene({
    answer: ({ tool }, count) =>
      tool === "get_task_status"
        ? says(count)
        : tool === "create_media_buy"
          ? { payload: { status: "submitted", task_id: "task-1", ...ordered } }
          : failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" }),
    buyer,
  });
  try {
    await job(made, await made.buyer.call("create_media_buy", order));
  } finally {
    await made.close();
  }
}

const state = (status: string, more: JsonObject = {}): Says => ({
  payload: { task_id: "task-1", task_type: "create_media_buy", protocol: "media-buy", status, ...more },
});

test("a task is polled for at once, in the release of its call, and then less and less often", () =>
  polling(
    (count) => (count < 6 ? state("working") : state("completed", { result: bought })),
    async (made, called) => {
      assert.is((await called.waitForCompletion()).status, "completed");
      assert.equal(made.waits, [500, 1_000, 2_000, 3_000, 3_000]);
      const polls = made.calls().filter(({ tool }) => tool === "get_task_status");
      assert.equal([...new Set(polls.map(({ args }) => args.proto_version))], ["3.1"]);
    },
    { pollMs: 3_000 },
  ));

test("an agent's own estimate lengthens the pauses, and half an hour is the longest of them", () =>
  polling(
    (count) => (count < 3 ? state("working") : state("completed", { result: bought })),
    async (made, called) => {
      assert.is((await called.waitForCompletion()).status, "completed");
      assert.equal(made.waits, [1_800_000, 1_000]);
    },
    { ordered: { estimated_completion: new Date(1_776_520_800_000 + 1_800_500).toISOString() } },
  ));

test("what is under way is never given back as an end: where none can be learned, that is said", async () => {
  const end = async (says: (count: number) => Says, giveUpMs = 60_000): Promise<JsonObject> => {
    let told: JsonObject = {};
    const job = async (
      _: Scene,
      called: Awaited<ReturnType<Scene["buyer"]["tools"]["create_media_buy"]>>,
    ): Promise<void> => {
      const { status, taskId, data } = await called.waitForCompletion();
      const [error] = (data as { errors: JsonObject[] }).errors;
      told = { status, taskId, code: error?.code, was: (error?.details as JsonObject)?.status, says: error?.message };
    };
    await polling(says, job, { giveUpMs });
    return told;
  };
  const known = { status: "failed", taskId: "task-1", code: "TASK_END_UNKNOWN" };
  const refused = await end(() =>
    failing({ code: "VERSION_UNSUPPORTED", message: "not that one", recovery: "correctable" }),
  );
  assert.equal({ ...refused, says: undefined }, { ...known, was: "submitted", says: undefined });
  assert.match(String(refused.says), /VERSION_UNSUPPORTED, not that one/);
  const late = await end(() => state("working"));
  assert.equal({ ...late, says: undefined }, { ...known, was: "working", says: undefined });
  assert.match(String(late.says), /not ended after 60 s/);
  const empty = await end(() => state("completed"));
  assert.equal({ ...empty, says: undefined }, { ...known, was: "completed", says: undefined });
});

test("a clock that jumps ahead ends no wait, and no retries", async () => {
  const real = Date.now;
  const ownClock = undefined as unknown as () => number;
  let ahead = 0;
  Date.now = () => real() + ahead;
  const pause = async (): Promise<void> => {
    ahead += 48 * 3_600_000;
  };
  const busy = failing({ code: "SERVICE_UNAVAILABLE", message: "later", recovery: "transient" });
  try {
    await polling(
      (count) => (count < 3 ? state("working") : count < 5 ? busy : state("completed", { result: bought })),
      async (_, called) => assert.is((await called.waitForCompletion()).status, "completed"),
      { now: ownClock, pause },
    );
    let calls = 0;
    const made = await scene({
      answer: () => (++calls < 3 ? busy : { payload: { products: [] } }),
      buyer: { now: ownClock, pause },
    });
    const { answer } = await made.buyer.call("get_products", { buying_mode: "brief", brief: "x" });
    await made.close();
    assert.equal([answer.status, calls], ["completed", 3]);
  } finally {
    Date.now = real;
  }
});

test("an agent that does not know its task at once is asked again", () =>
  polling(
    (count) =>
      count < 3
        ? failing({ code: "REFERENCE_NOT_FOUND", message: "no such task", recovery: "correctable" })
        : state("completed", { result: bought }),
    async (_, called) => assert.is((await called.waitForCompletion()).status, "completed"),
  ));

test("a task that asks something is given back, and the call goes on with what the caller says to it", () =>
  polling(
    () => state("input-required", { message: "Which region?", context_id: "conversation-1" }),
    async (made, called) => {
      assert.is((await called.respond({})).answer.status, "failed", "it has asked nothing yet");
      const asked = await called.waitForCompletion();
      assert.equal([asked.status, asked.message], ["input-required", "Which region?"]);
      const next = await called.respond({ brand: { domain: "other.example" } });
      assert.is(next.answer.status, "submitted");
      const [first, second] = made.calls().filter(({ tool }) => tool === "create_media_buy");
      assert.equal(second?.args.brand, { domain: "other.example" });
      assert.equal(second?.args.packages, first?.args.packages);
      assert.is.not(second?.args.idempotency_key, first?.args.idempotency_key);
      assert.is(second?.args.context_id, "conversation-1", "the task it means");
    },
  ));

test("what would be a second order is not sent as the answer to a task that nothing names", () =>
  polling(
    () => state("input-required", { message: "Which region?" }),
    async (made, called) => {
      assert.is((await called.waitForCompletion()).status, "input-required");
      const { answer, attempts } = await called.respond({ brand: { domain: "other.example" } });
      assert.is((answer.data as { errors: JsonObject[] }).errors[0]?.code, "INPUT_NOT_CARRIED");
      assert.is(made.calls().filter(({ tool }) => tool === "create_media_buy").length, 1);
      assert.is(attempts, 1, "those of the call itself");
    },
  ));

test("a result that only the task's history has is the task's", () =>
  polling(
    () =>
      state("completed", {
        history: [
          { timestamp: "2026-04-18T14:00:00Z", type: "request", data: {} },
          { timestamp: "2026-04-18T14:00:01Z", type: "response", data: { ...bought, media_buy_id: "mb9" } },
        ],
      }),
    async (_, called) => {
      const end = await called.waitForCompletion();
      assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb9"]);
    },
  ));

test("an end is remembered by sender and task, and nothing else is", () => {
  const completions = createCompletions();
  const seen: unknown[] = [];
  const { fallback, tools } = completions.through({
    fallback: (delivery: object) => void seen.push(delivery),
    tools: { a: { completed: (_data: object, _answer: object, delivery: object) => void seen.push(delivery) } },
  });
  const delivery = (taskId: string, status: string, kind = "task") => ({ sender: "s", kind, taskId, body: { status } });
  fallback(delivery("t1", "working"));
  fallback(delivery("t2", "failed"));
  fallback(delivery("t3", "completed", "report"));
  tools.a.completed({}, {}, delivery("t4", "completed"));
  assert.is(seen.length, 4);
  const found = ["t1", "t2", "t3", "t4"].map((id) => completions.find({ sender: "s", taskId: id }) !== undefined);
  assert.equal(found, [false, true, false, true]);
  assert.is(completions.find({ sender: "other", taskId: "t2" }), undefined);
  for (let at = 0; at < 2_001; at++) fallback(delivery(`n${at}`, "completed"));
  assert.is(completions.find({ sender: "s", taskId: "t2" }), undefined, "the oldest are let go");
});

test("of several names for asking, what is told is the refusal that says most", async () => {
  const refusal = { code: "VERSION_UNSUPPORTED", message: "not in this release", recovery: "correctable" };
  const made = await scene({
    answer: ({ tool }) =>
      tool === "create_media_buy"
        ? { payload: { status: "submitted", task_id: "task-1" } }
        : failing(tool === "tasks/get" ? refusal : { code: "UNSUPPORTED_FEATURE", message: "no such tool" }),
  });
  try {
    const ended = await (await made.buyer.call("create_media_buy", order)).waitForCompletion();
    const [error] = (ended.data as { errors: { details: { error: JsonObject } }[] }).errors;
    assert.is(error?.details.error.code, "VERSION_UNSUPPORTED");
  } finally {
    await made.close();
  }
});

test.run();
