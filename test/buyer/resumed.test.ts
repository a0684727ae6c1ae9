/** What a crash left is carried on as it was: the same task, the same registration, and nothing forgotten before it has ended. */
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { documentStore, openSqliteStore } from "../../runtime/store/index.js";
import type { Heard, Says } from "../support/agent.js";
import { bought, PUBLIC_URL, SELLER } from "../support/receiver.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { failing, order, release, release30, type Scene, scene } from "./fixtures.js";
import { type Hooked, hooked } from "./hooked.js";

type Kept = NonNullable<BuyerOptions["intents"]>;
const test = suite<{ intents: Kept; close: () => Promise<void> }>("what a crash left");

test.before.each((context) => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "buyer.db") });
  context.intents = documentStore(store.database);
  context.close = () => store.close();
});
test.after.each(({ close }) => close());

/** The buyer of the process that comes after the crash. */
const successor = (
  { agent, clock }: Scene,
  a2a: boolean,
  more: Partial<BuyerOptions<typeof release>>,
): ReturnType<typeof createBuyer<typeof release>> =>
  createBuyer({
    ...{ release, releases: [release30], agent: a2a ? agent.url : agent.mcp, allowLocal: true },
    ...{ now: () => clock.ms, retry: { attempts: 1 }, ...more },
  });

const hooksOf = ({ hooks }: Hooked) => ({
  webhooks: { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER },
});
const sentAs = ({ args, push, message }: Heard) => {
  const { contextId, taskId } = ((message.params as JsonObject).message ?? {}) as JsonObject;
  const { push_notification_config: _, ...rest } = args;
  return { args: rest, push: push?.operation_id, contextId, taskId };
};
const question: JsonObject = { status: "input-required", task_id: "task-1", context_id: "task-1", reason: "which?" };

const asks: Says = { payload: question, state: "input-required", taskId: "task-1" };

for (const kind of ["mcp", "a2a 1.0", "a2a 0.3"] as const)
  test(`${kind}: an answer to a question goes to its task again, and is no second order`, ({ intents }) =>
    hooked(
      ({ args }) => (args.po_number === "7" ? { drop: true } : asks),
      async (parts) => {
        const { made } = parts;
        const called = await made.buyer.tools.create_media_buy(order);
        assert.is(called.answer.status, "input-required", JSON.stringify(called.answer));
        await called.respond({ po_number: "7" });
        const answer = made.calls().at(-1)!;
        const buyer = successor(made, kind !== "mcp", { intents, ...hooksOf(parts) });
        await buyer.resume();
        await buyer.close();
        const again = made.calls().at(-1)!;
        assert.is(answer.args.po_number, "7");
        assert.equal([made.calls().length, sentAs(again)], [3, sentAs(answer)]);
      },
      { kind, buyer: { intents, retry: { attempts: 1 } } },
    ));

for (const [how, options, refuses] of [
  ["asked for none", { webhook: false }, false],
  ["was refused one", {}, true],
] as const)
  test(`a call that ${how} registers no webhook when it is made again`, ({ intents }) =>
    hooked(
      ({ push }) =>
        refuses && push !== undefined
          ? failing({ code: "INVALID_REQUEST", message: "no webhooks", field: "push_notification_config" })
          : { drop: true },
      async (parts) => {
        const { made } = parts;
        await made.buyer.tools.create_media_buy(order, options);
        const first = made.calls().at(-1)!;
        const before = made.calls().length;
        const buyer = successor(made, false, { intents, ...hooksOf(parts) });
        await buyer.resume();
        await buyer.close();
        assert.equal(made.calls().slice(before).map(sentAs), [sentAs(first)]);
        assert.is(first.push, undefined);
      },
      { buyer: { intents, retry: { attempts: 1 } } },
    ));

test("the handler of a task whose key is gone is told of its end, though no webhook comes", ({ intents }) =>
  hooked(
    ({ tool }) => ({
      payload:
        tool === "create_media_buy"
          ? { status: "submitted", task_id: "task-1" }
          : { task_id: "task-1", status: "completed", result: { ...bought } },
    }),
    async (parts) => {
      const { made, seen } = parts;
      const called = await made.buyer.tools.create_media_buy(order);
      made.clock.ms += 3 * 86_400_000;
      const buyer = successor(made, false, { intents, ...hooksOf(parts) });
      const [again] = await buyer.resume();
      assert.is(again?.operationId, called.operationId);
      assert.is((await again!.waitForCompletion()).status, "completed");
      await until(() => seen.length === 1, "its handler has run");
      await buyer.close();
    },
    { buyer: { intents } },
  ));

for (const kind of ["a2a 1.0", "a2a 0.3"] as const)
  test(`${kind}: what a task asks whose call was not made again is answered in that task`, async ({ intents }) => {
    const made = await scene({
      ...{ kind, buyer: { intents } },
      answer: ({ tool }) =>
        tool === "create_media_buy"
          ? { payload: { status: "submitted", task_id: "task-1" }, state: "working", taskId: "a2a-9" }
          : { payload: { task_id: "task-1", status: "input-required", message: "which?" } },
    });
    await made.buyer.tools.create_media_buy(order);
    made.clock.ms += 3 * 86_400_000;
    const buyer = successor(made, true, { intents });
    const [again] = await buyer.resume();
    assert.is((await again!.waitForCompletion()).status, "input-required");
    await again!.respond({ po_number: "7" });
    const { contextId, taskId } = sentAs(made.calls().at(-1)!);
    assert.equal([contextId, taskId], ["a2a-context", "a2a-9"]);
    await buyer.close();
    await made.close();
  });

test("buyers of one agent on one database carry on their own calls, and none of each other's", async ({ intents }) => {
  const made = await scene({
    ...{ answer: () => ({ drop: true }), buyer: { intents, owner: "one", retry: { attempts: 1 } } },
  });
  await made.buyer.tools.create_media_buy(order);
  for (const owner of ["two", undefined]) {
    const other = successor(made, false, { intents, ...(owner !== undefined && { owner }) });
    assert.equal([await other.resume(), await other.unfinished.list()], [[], []], owner);
    await other.close();
  }
  const next = successor(made, false, { intents, owner: "one" });
  assert.is((await next.resume()).length, 1);
  await next.close();
  await made.close();
});

test("one call that cannot be carried on holds up none of the others", ({ intents }) =>
  hooked(
    (_heard, { made }) => (made.calls().length <= 2 ? { drop: true } : { payload: { ...bought } }),
    async (parts) => {
      const { made } = parts;
      await made.buyer.tools.create_media_buy(order);
      await made.buyer.tools.create_media_buy(order);
      const kept = (await made.buyer.unfinished.list()).map(({ idempotencyKey }) => idempotencyKey);
      const { webhooks } = hooksOf(parts);
      let asked = 0;
      const expect: typeof webhooks.receiver.expect = async (expectation) => {
        asked += 1;
        if (asked === 1) throw new Error("no such release");
        return parts.hooks.receiver.expect(expectation);
      };
      const buyer = successor(made, false, {
        ...{ intents, webhooks: { ...webhooks, receiver: { ...parts.hooks.receiver, expect } } },
      });
      const [first, second] = await buyer.resume();
      assert.equal([first?.answer.status, second?.answer.status], ["failed", "completed"]);
      assert.match(JSON.stringify(first?.answer.data), /no such release.*INTENT_NOT_REPEATABLE/);
      assert.equal(
        (await buyer.unfinished.list()).map(({ idempotencyKey }) => idempotencyKey),
        kept.slice(0, 1),
      );
      await buyer.close();
    },
    { buyer: { intents, retry: { attempts: 1 } } },
  ));

const refusals: Readonly<Record<string, Says>> = {
  "puts it off": failing({ code: "RATE_LIMITED", message: "later", recovery: "transient" }),
  "wants other credentials": { http: 401 },
  "wants other credentials, as a tool says it": failing({ code: "AUTH_REQUIRED", message: "who?" }),
  "has its address closed": { http: 404 },
  "takes it for another": failing({ code: "IDEMPOTENCY_CONFLICT", message: "another payload" }),
  "knows the key no more": failing({ code: "IDEMPOTENCY_EXPIRED", message: "too old" }),
  "serves its release no more": failing({ code: "VERSION_UNSUPPORTED", message: "no" }),
};
for (const [what, says] of Object.entries(refusals))
  test(`a call that was carried out is not forgotten because its agent ${what} at the restart`, ({ intents }) =>
    hooked(
      (_heard, { made }) => (made.calls().length === 1 ? { drop: true } : says),
      async (parts) => {
        const { made } = parts;
        const called = await made.buyer.tools.create_media_buy(order);
        const buyer = successor(made, false, { intents, ...hooksOf(parts) });
        const [again] = await buyer.resume();
        assert.is(again?.answer.status, "failed");
        assert.equal(
          (await buyer.unfinished.list()).map(({ idempotencyKey }) => idempotencyKey),
          [called.idempotencyKey],
        );
        await buyer.close();
      },
      { buyer: { intents, retry: { attempts: 1 } } },
    ));

test("a call that its agent judges anew and refuses has ended", ({ intents }) =>
  hooked(
    (_heard, { made }) =>
      made.calls().length === 1 ? { drop: true } : failing({ code: "BUDGET_TOO_LOW", message: "more" }),
    async (parts) => {
      await parts.made.buyer.tools.create_media_buy(order);
      const buyer = successor(parts.made, false, { intents, ...hooksOf(parts) });
      assert.is((await buyer.resume())[0]?.answer.status, "failed");
      assert.equal(await buyer.unfinished.list(), []);
      await buyer.close();
    },
    { buyer: { intents, retry: { attempts: 1 } } },
  ));

test("a call that was refused for its release, and for which there is no leave in another, is not made later", async ({
  intents,
}) => {
  const verdicts = ["approved", "denied"];
  const check = () => ({ check_id: "c1", explanation: "so", verdict: verdicts.shift(), governance_context: "t" });
  const agent = {
    negotiate: async () => ({ ok: true, negotiated: { release } }),
    call: async () => ({ answer: { status: "completed", data: check() } }),
  };
  const governance = { agent, caller: "https://buyer.example/agent", check: () => ({ plan_id: "p1" }) } as never;
  const made = await scene({
    answer: () => failing({ code: "VERSION_UNSUPPORTED", message: "no", details: { supported_versions: ["3.0"] } }),
    buyer: { intents, governance },
  });
  const called = await made.buyer.tools.create_media_buy(order);
  assert.equal([called.answer.status, made.calls().length, verdicts], ["failed", 1, []]);
  assert.equal(await made.buyer.unfinished.list(), []);
  await made.close();
});

test("a question is answered once, by however many processes and after whatever was lost", async ({ intents }) => {
  const made = await scene({
    answer: ({ args }) => (args.po_number === "7" ? { drop: true } : asks),
    buyer: { intents, retry: { attempts: 1 } },
  });
  const called = await made.buyer.tools.create_media_buy(order);
  await called.respond({ po_number: "7" });
  await called.respond({ po_number: "7" });
  const buyer = successor(made, false, { intents });
  await buyer.resume();
  const keys = made.calls().flatMap(({ args }) => (args.po_number === "7" ? [args.idempotency_key] : []));
  assert.ok(keys.length >= 3);
  assert.is(new Set(keys).size, 1);
  await called.respond({ po_number: "8" });
  assert.is.not(made.calls().at(-1)?.args.idempotency_key, keys[0], "another answer is another request");
  await buyer.close();
  await made.close();
});

test("a question that is polled for is answered in the conversation of its call", async () => {
  const made = await scene({
    answer: ({ tool }) =>
      tool === "create_media_buy"
        ? { payload: { status: "submitted", task_id: "task-1", context_id: "c-1" } }
        : { payload: { task_id: "task-1", status: "input-required", message: "which?" } },
  });
  const called = await made.buyer.tools.create_media_buy(order);
  assert.is((await called.waitForCompletion()).status, "input-required");
  await called.respond({ po_number: "7" });
  assert.equal([made.calls().at(-1)?.args.context_id, made.calls().at(-1)?.args.po_number], ["c-1", "7"]);
  await made.close();
});

test("a question that comes again is answered again", async ({ intents }) => {
  const made = await scene({ answer: () => asks, buyer: { intents } });
  const called = await made.buyer.tools.create_media_buy(order);
  const answered = await called.respond({ po_number: "7" });
  await called.respond({ po_number: "7" });
  await answered.respond({ po_number: "7" });
  assert.is(new Set(made.calls().map(({ args }) => args.idempotency_key)).size, 4);
  await made.close();
});

test.run();
