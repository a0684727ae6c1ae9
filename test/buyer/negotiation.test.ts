/** What an agent speaks and has, and what becomes of a call that it does not; bounds on what it answers. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { type Says, startAgent } from "../support/agent.js";
import { capabilities, failing, order, release, release30, scene, withScene } from "./fixtures.js";

test("a tool the agent lacks is answered as its release routes it, and by nothing else unasked", async () => {
  const fallback = (mode: string, tool?: string) => ({
    value: { fallback: { mode, ...(tool && { tool }) } },
    from: "",
  });
  const routes = {
    get_signals: fallback("direct", "get_products"),
    list_creatives: fallback("orchestrated", "get_products"),
    sync_accounts: fallback("none"),
  };
  const facts = { ...release.facts, tools: { ...release.facts.tools, routes } };
  const asked = async (tool: string, options: JsonObject = {}, declares: JsonObject = {}) => {
    const made = await scene({
      declares: capabilities(declares),
      buyer: { release: { ...release, facts }, ...options } as never,
    });
    try {
      const called = await made.buyer.call(tool, { brief: "sports" });
      const { errors = [] } = called.answer.data as { errors?: { code: string; details?: JsonObject }[] };
      return {
        sent: made.calls().map((one) => one.tool),
        code: errors[0]?.code,
        fallback: errors[0]?.details?.fallback,
      };
    } finally {
      await made.close();
    }
  };
  assert.equal((await asked("get_signals")).sent, ["get_products"], "one for one");
  const refused = { sent: [], code: "UNSUPPORTED_FEATURE" };
  const orchestrated = { mode: "orchestrated", tool: "get_products" };
  assert.equal(await asked("list_creatives"), { ...refused, fallback: orchestrated });
  assert.equal(await asked("sync_accounts"), { ...refused, fallback: { mode: "none" } });
  const offered = { media_buy: { lifecycle_tools: ["list_creatives"] } };
  assert.equal((await asked("list_creatives", {}, offered)).sent, ["list_creatives"], "the agent says it has it");
  const adapters = {
    list_creatives: (request: JsonObject, { call }: { call: (tool: string, request: JsonObject) => unknown }) =>
      call("list_accounts", request),
  };
  assert.equal((await asked("list_creatives", { adapters })).sent, ["list_accounts"]);
});

test("requests go without a version that their release has closed them to", () =>
  withScene({ declares: capabilities({}, { supported_versions: ["3.0"] }) }, async ({ buyer, calls }) => {
    await buyer.call("get_collection_list", { list_id: "l1" });
    const { proto_version: version, proto_major_version: major } = calls()[0]!.args;
    assert.equal([version, major], [undefined, 3]);
  }));

test("an agent that names major versions only is of before there was more to name", () =>
  withScene(
    {
      declares: capabilities({}, { supported_versions: undefined, major_versions: [3] }),
      buyer: {
        release: {
          ...release,
          facts: {
            ...release.facts,
            envelope: { ...release.facts.envelope, versionEcho: { value: true, from: "version" } },
          },
        } as never,
      },
    },
    async ({ buyer, calls }) => {
      const called = await buyer.call("get_products", { buying_mode: "brief", brief: "sports" });
      assert.equal([called.release, calls()[0]?.args.proto_major_version], [release30.version, 3]);
    },
  ));

test("an agent that names no pre-release is not called in one, while the buyer has a stable release", async () => {
  const newer = (version: string) => {
    const envelope = { ...release.facts.envelope, versionEcho: { value: true, from: "version" } };
    return { ...release, version, facts: { ...release.facts, envelope } };
  };
  const buyer = { release: newer("3.2.0-beta.0"), releases: [newer("3.1.0")] } as never;
  const majors = capabilities({}, { supported_versions: undefined, major_versions: [3] });
  for (const declares of [majors, { status: "completed" }]) {
    await withScene({ declares, buyer }, async ({ buyer, calls }) => {
      const called = await buyer.call("get_products", { buying_mode: "brief", brief: "sports" });
      assert.equal([called.release, calls()[0]?.args.proto_version], ["3.1.0", undefined]);
    });
  }
  await withScene(
    { declares: capabilities({}, { supported_versions: ["3.2-beta.0", "3.1"] }), buyer },
    async (made) => {
      const called = await made.buyer.call("get_products", { buying_mode: "brief", brief: "sports" });
      assert.equal([called.release, made.calls()[0]?.args.proto_version], ["3.2.0-beta.0", "3.2-beta.0"]);
    },
  );
});

test("an agent is called in a pre-release by what it declares in that, not by what it tells who pins nothing", async () => {
  const newer = { ...release, version: "3.2.0-beta.0" };
  const said = { supported_versions: ["3.2-beta.0", "3.1"] };
  const pins: unknown[] = [];
  const answer = ({ args }: { args: JsonObject }): Says => {
    const pin = args.proto_version as string | undefined;
    pins.push(pin);
    const features = pin === undefined ? {} : { media_buy: { features: { newest: true } } };
    return { payload: capabilities({ proto_version: pin ?? "3.1", ...features }, said) };
  };
  const agent = await startAgent({ a2a: false, answer });
  const buyer = createBuyer({ release: newer as never, releases: [release], agent: agent.mcp, allowLocal: true });
  try {
    const negotiation = await buyer.negotiate();
    assert.ok(negotiation.ok);
    const { release: agreed, capabilities: own } = negotiation.negotiated;
    const { features } = (own as { media_buy?: { features?: object } }).media_buy ?? {};
    assert.equal([agreed.version, features], ["3.2.0-beta.0", { newest: true }]);
    assert.equal(pins, [undefined, "3.2-beta.0"]);
  } finally {
    await buyer.close();
    await agent.close();
  }
});

test("a task is asked for in the release that its agent has gone over to meanwhile", async () => {
  for (const [told, details] of [
    ["with the releases it has", { supported_versions: ["3.0"] }],
    ["without a word of others", {}],
    ["once the hour is over", {}],
  ] as const) {
    let gone = false;
    const refusal = failing({ code: "VERSION_UNSUPPORTED", message: "no", recovery: "correctable", details });
    const unknown = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
    const result = { status: "completed", media_buy_id: "mb-1", packages: [] };
    const task = { task_id: "t-1", task_type: "create_media_buy", protocol: "media-buy", status: "completed", result };
    await withScene(
      {
        declares: () => ({ payload: capabilities({}, { supported_versions: gone ? ["3.0"] : ["3.1"] }) }),
        answer: ({ tool, args }) => {
          if (tool === "create_media_buy") return { payload: { status: "submitted", task_id: "t-1" } };
          if (args.proto_version === "3.1") return refusal;
          return tool.startsWith("get_task") || tool.startsWith("tasks") ? { payload: task } : unknown;
        },
      },
      async ({ buyer, clock }) => {
        const called = await buyer.tools.create_media_buy(order);
        gone = true;
        // Who is not told which there are asks, as when the hour is over.
        if (told === "once the hour is over") clock.ms += 3_600_001;
        const { status, data } = await called.waitForCompletion();
        assert.equal([told, status, (data as JsonObject).media_buy_id], [told, "completed", "mb-1"]);
      },
    );
  }
});

test("VERSION_UNSUPPORTED without a word of others has the agent asked which it has", async () => {
  for (const [spoken, status, calls, asked] of [
    ["3.0", "completed", 2, 2],
    ["3.1", "failed", 1, 2],
  ] as const) {
    let declared = 0;
    await withScene(
      {
        declares: () => ({ payload: capabilities({}, { supported_versions: [declared++ === 0 ? "3.1" : spoken] }) }),
        answer: ({ args }) =>
          args.proto_version === "3.1"
            ? failing({ code: "VERSION_UNSUPPORTED", message: "no" })
            : { payload: { media_buy_id: "mb1", packages: [] } },
      },
      async (made) => {
        const called = await made.buyer.tools.create_media_buy(order);
        assert.equal([called.answer.status, made.calls().length, declared], [status, calls, asked]);
        assert.is(new Set(made.calls().map(({ args }) => args.idempotency_key)).size, 1);
      },
    );
  }
});

test("calls side by side that an agent refuses for their release all go over to the one it has", async () => {
  for (const details of [{}, { supported_versions: ["3.0"] }]) {
    let gone = false;
    const held = Promise.withResolvers<void>();
    let waiting = 0;
    await withScene(
      {
        declares: () => ({ payload: capabilities({}, { supported_versions: [gone ? "3.0" : "3.1"] }) }),
        answer: async ({ args }) => {
          if (args.proto_version !== "3.1") return { payload: { media_buy_id: "mb1", packages: [] } };
          gone = true;
          if (++waiting === 3) held.resolve();
          await held.promise;
          return failing({ code: "VERSION_UNSUPPORTED", message: "no", details });
        },
      },
      async ({ buyer }) => {
        const called = await Promise.all([1, 2, 3].map(() => buyer.tools.create_media_buy(order)));
        assert.equal(
          called.map(({ answer }) => answer.status),
          ["completed", "completed", "completed"],
        );
      },
    );
  }
});

test("an answer has a bound and a call a deadline, and either is told", async () => {
  const code = (called: { answer: { data: unknown } }) =>
    (called.answer.data as { errors: JsonObject[] }).errors[0]?.code;
  const large = { payload: { status: "completed", products: [], note: "x".repeat(70_000) } };
  await withScene({ answer: () => large, buyer: { maxAnswerBytes: 65_536 } }, async ({ buyer, calls }) => {
    const called = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
    assert.equal([code(called), called.recovery, calls().length], ["ANSWER_TOO_LARGE", "terminal", 1]);
  });
  await withScene({ answer: () => new Promise<Says>(() => {}) }, async ({ buyer }) => {
    const called = await buyer.call("get_products", {}, { deadlineMs: 60 });
    assert.is(code(called), "DEADLINE_EXCEEDED");
  });
});

test.run();
