import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { Says } from "../support/agent.js";
import { capabilities, failing, order, release, release30, scene, transports, withScene } from "./fixtures.js";

for (const kind of transports) {
  test(`${kind}: a tool is called by its wire name and answered by its arm`, () =>
    withScene(
      { kind, answer: () => ({ payload: { status: "completed", products: [{ product_id: "p1" }] } }) },
      async ({ buyer, calls }) => {
        const called = await buyer.tools.get_products({ buying_mode: "brief", brief: "sports" } as never);
        const ids = called.on({
          completed: ({ products }) => products?.map((product) => product.product_id),
          submitted: () => ["submitted"],
          working: () => ["working"],
          "input-required": () => ["input"],
          failed: ({ errors }) => errors.map(({ code }) => code),
          rejected: () => ["rejected"],
          canceled: () => ["canceled"],
        });
        assert.equal(ids, ["p1"]);
        assert.is(called.idempotencyKey, undefined, "a reading tool has no key");
        assert.equal(calls()[0]?.args, { proto_version: "3.1", buying_mode: "brief", brief: "sports" });
        assert.is(called.release, release.version);
      },
    ));

  test(`${kind}: a transient error is repeated under the same key, after the time it asks for`, () =>
    withScene(
      {
        kind,
        answer: (_, count) => {
          if (count === 1) return failing({ code: "RATE_LIMITED", message: "slow", retry_after: 7 });
          if (count === 2) return failing({ code: "SERVICE_UNAVAILABLE", message: "busy" });
          return { payload: { status: "completed", media_buy_id: "mb1", packages: [] } };
        },
      },
      async ({ buyer, calls, waits }) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.is(called.answer.status, "completed");
        assert.is(called.attempts, 3);
        assert.equal(waits, [7_000, 4_000]);
        const keys = calls().map(({ args }) => args.idempotency_key);
        assert.equal(keys, [called.idempotencyKey, called.idempotencyKey, called.idempotencyKey]);
        assert.match(called.idempotencyKey!, /^[A-Za-z0-9_.:-]{16,255}$/);
      },
    ));

  test(`${kind}: every registration of a request names an operation, the same at each attempt, and one given is kept`, () =>
    withScene(
      {
        kind,
        answer: (_, count) =>
          count === 1
            ? failing({ code: "SERVICE_UNAVAILABLE", message: "busy" })
            : { payload: { status: "completed", media_buy_id: "mb1", packages: [] } },
      },
      async ({ buyer, calls }) => {
        const reporting_webhook = { url: "https://own.example/reports", reporting_frequency: "daily" } as const;
        await buyer.tools.create_media_buy({ ...(order as object), reporting_webhook } as never);
        const [first, second] = calls().map(({ args }) => args.reporting_webhook as JsonObject);
        assert.match(String(first?.operation_id), /^[0-9a-f-]{36}$/);
        assert.equal(second, first);
        const own = { ...reporting_webhook, operation_id: "mine" };
        await buyer.tools.create_media_buy({ ...(order as object), reporting_webhook: own } as never);
        assert.equal(calls().at(-1)!.args.reporting_webhook, own);
      },
    ));

  test(`${kind}: a correctable error reaches the caller with field and suggestion, once`, () =>
    withScene(
      {
        kind,
        answer: () =>
          failing({
            code: "BUDGET_TOO_LOW",
            message: "low",
            field: "packages[0].budget",
            suggestion: "500",
            recovery: "correctable",
          }),
      },
      async ({ buyer, calls }) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.is(called.recovery, "correctable");
        const [error] = (called.answer.data as { errors: JsonObject[] }).errors;
        assert.equal([error?.field, error?.suggestion], ["packages[0].budget", "500"]);
        assert.is(calls().length, 1);
      },
    ));

  test(`${kind}: a lost answer is asked for again under its key, and the replay is told`, () =>
    withScene(
      {
        kind,
        answer: (_, count) =>
          count === 1
            ? { drop: true }
            : { payload: { status: "completed", media_buy_id: "mb1", packages: [], replayed: true } },
      },
      async ({ buyer, calls }) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, called.replayed, called.attempts], ["completed", true, 2]);
        assert.is(new Set(calls().map(({ args }) => args.idempotency_key)).size, 1);
      },
    ));

  test(`${kind}: without declared idempotency a lost answer is not asked for again`, () =>
    withScene(
      { kind, declares: capabilities({}, { idempotency: { supported: false } }), answer: () => ({ drop: true }) },
      async ({ buyer, calls }) => {
        const called = await buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, called.recovery, calls().length], ["failed", "transient", 1]);
        assert.is("raw" in (called.answer.data as object), false, "made here");
        const read = await buyer.tools.get_media_buys({} as never);
        assert.is(read.attempts, 4, "reading is safe to repeat");
      },
    ));

  test(`${kind}: HTTP's own refusals are errors of the protocol`, () =>
    withScene(
      {
        kind,
        answer: ({ tool }) => {
          if (tool === "get_products") return { http: 429, headers: { "retry-after": "2, 9" } };
          if (tool === "list_creatives") return { http: 401, headers: { "www-authenticate": 'Bearer error="x"' } };
          if (tool === "sync_creatives") {
            return { http: 401, headers: { "www-authenticate": 'Signature error="request_signature_required"' } };
          }
          return { rpc: { code: -32602, message: "Unknown tool: x" } };
        },
      },
      async ({ buyer, waits }) => {
        const limited = await buyer.tools.get_products({} as never);
        assert.equal([limited.attempts, waits.slice(0, 3)], [4, [9_000, 9_000, 9_000]]);
        const refused = await buyer.tools.list_creatives({} as never);
        assert.equal([refused.attempts, refused.recovery], [1, "correctable"]);
        const detailsOf = ({ answer }: typeof unsigned) => (answer.data as { errors: JsonObject[] }).errors[0]?.details;
        assert.equal(detailsOf(refused as never), { challenge: 'Bearer error="x"' });
        const unsigned = await buyer.tools.sync_creatives({} as never);
        const said = detailsOf(unsigned) as JsonObject;
        assert.is(said.signature_error, "request_signature_required");
        const unknown = await buyer.tools.get_signals({} as never);
        assert.equal((unknown.answer.data as { errors: JsonObject[] }).errors[0]?.code, "INVALID_REQUEST");
      },
    ));

  test(`${kind}: the older release is used with an agent that has only that`, () =>
    withScene(
      { kind, declares: capabilities({}, { supported_versions: undefined, major_versions: [3] }) },
      async (made) => {
        const only30 = await made.buyer.tools.get_products({} as never);
        assert.is(only30.release, release.version, "a major alone: the newest of it");
        assert.equal(made.calls()[0]?.args.proto_major_version, 3);
      },
    ).then(() =>
      withScene({ kind, declares: capabilities({}, { supported_versions: ["3.0"] }) }, async ({ buyer, calls }) => {
        const called = await buyer.tools.get_products({} as never);
        assert.equal([called.release, calls()[0]?.args.proto_version], [release30.version, "3.0"]);
        const missing = await buyer.tools.get_task_status({ task_id: "t" } as never);
        assert.is((missing.answer.data as { errors: JsonObject[] }).errors[0]?.code, "UNSUPPORTED_FEATURE");
      }),
    ));
}

test("VERSION_UNSUPPORTED names what is served: the call is made again in it, under its key", () =>
  withScene(
    {
      answer: ({ args }) =>
        args.proto_version === "3.1"
          ? failing({ code: "VERSION_UNSUPPORTED", message: "no", details: { supported_versions: ["3.0"] } })
          : { payload: { media_buy_id: "mb1", packages: [] } },
    },
    async ({ buyer, calls }) => {
      const called = await buyer.tools.create_media_buy(order);
      assert.equal([called.answer.status, called.release], ["completed", release30.version]);
      assert.is(new Set(calls().map(({ args }) => args.idempotency_key)).size, 1);
    },
  ));

test("nothing in common is a terminal answer, not an exception", () =>
  withScene(
    { declares: capabilities({}, { supported_versions: ["4.0"], major_versions: [4] }) },
    async ({ buyer, calls }) => {
      const called = await buyer.tools.get_products({} as never);
      assert.equal([called.recovery, calls().length], ["terminal", 0]);
      assert.is((called.answer.data as { errors: JsonObject[] }).errors[0]?.code, "VERSION_UNSUPPORTED");
      const negotiation = await buyer.negotiate();
      assert.is(negotiation.ok, false);
    },
  ));

test("capabilities are asked for each hour, and kept while the agent cannot be asked", () => {
  let asked = 0;
  const declares = (): Says => {
    asked += 1;
    return asked === 1 ? { payload: capabilities() } : { http: 503 };
  };
  return withScene({ declares }, async ({ buyer, clock }) => {
    for (const [minutes, total] of [
      [0, 1],
      [59, 1],
      [61, 5],
    ] as const) {
      clock.ms += minutes * 60_000;
      const called = await buyer.tools.get_products({} as never);
      assert.equal([called.answer.status, asked], ["completed", total]);
    }
    buyer.refresh();
    const called = await buyer.tools.get_products({} as never);
    assert.is(called.answer.status, "failed", "nothing is known any more");
  });
});

test("a URL decides the transport where nothing else does", async () => {
  for (const a2a of ["1.0", false] as const) {
    const made = await scene({ a2a, buyer: {} });
    const { createBuyer } = await import("../../runtime/buyer/index.js");
    const buyer = createBuyer({
      release,
      agent: { agent_url: a2a ? made.agent.url : made.agent.mcp },
      allowLocal: true,
    });
    await buyer.tools.get_products({} as never);
    assert.is(made.calls()[0]?.transport, a2a ? "a2a" : "mcp");
    await buyer.close();
    await made.close();
  }
});

test("an unreachable agent and a refused address are values", async () => {
  const made = await scene({});
  await made.agent.close();
  const called = await made.buyer.tools.get_products({} as never);
  assert.equal([called.answer.status, called.recovery], ["failed", "transient"]);
  await made.buyer.close();
  const { createBuyer } = await import("../../runtime/buyer/index.js");
  const guarded = createBuyer({ release, agent: "https://127.0.0.1/mcp" });
  const refused = await guarded.tools.get_products({} as never);
  assert.equal([refused.answer.status, refused.recovery], ["failed", "terminal"]);
  await guarded.close();
});

test("an aborted call is a value, and waits no longer", () => {
  const controller = new AbortController();
  // The agent has it by then, and never answers.
  const answer = (): Promise<Says> => {
    controller.abort();
    return new Promise(() => {});
  };
  return withScene({ answer }, async ({ buyer }) => {
    const called = await buyer.tools.get_products({} as never, { signal: controller.signal });
    assert.is((called.answer.data as { errors: JsonObject[] }).errors[0]?.code, "CALL_ABORTED");
  });
});

test("property: whatever an agent answers, a mutating call has one key and ends", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("drop", "transient", "500", "unknown", "ok", "terminal", "bad"), { maxLength: 6 }),
      async (script) => {
        const made = await scene({
          answer: (_, count): Says => {
            const step = script[count - 1] ?? "ok";
            if (step === "drop") return { drop: true };
            if (step === "500") return { http: 500 };
            if (step === "bad") return { payload: { nonsense: true } };
            if (step === "ok") return { payload: { status: "completed", media_buy_id: "m", packages: [] } };
            if (step === "unknown") return failing({ code: "PLATFORM_SPECIFIC", message: "?" });
            return failing({ code: "X", message: "x", recovery: step });
          },
        });
        const called = await made.buyer.tools.create_media_buy(order);
        const keys = new Set(made.calls().map(({ args }) => args.idempotency_key));
        await made.close();
        assert.equal([...keys], [called.idempotencyKey]);
        const ends = script.findIndex((step) => ["ok", "terminal", "bad"].includes(step));
        assert.is(called.attempts, Math.min(4, (ends < 0 ? script.length : ends) + 1));
      },
    ),
    { numRuns: 25 },
  ));

test.run();
