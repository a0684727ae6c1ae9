/** Kinds of checks, each on an answer that holds and on one that does not. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { errorCodeOf, isFailedPayload } from "../../runtime/conformance/agent/outcome.js";
import { payloadOfA2a, payloadOfMcp } from "../../runtime/conformance/agent/payload.js";
import type { AgentAnswer, AgentSession } from "../../runtime/conformance/agent/types.js";
import { checkRunner } from "../../runtime/conformance/checks/index.js";
import type { CheckView } from "../../runtime/conformance/checks/types.js";
import { controllerScenarios, reset } from "../../runtime/conformance/controller.js";
import type { Storyboard, StoryboardCheck } from "../../runtime/conformance/document.js";
import { skipIf, unmetCapability } from "../../runtime/conformance/gates.js";
import { fieldAt, valuesAt } from "../../runtime/conformance/paths.js";
import { createSchemaJudge } from "../../runtime/conformance/schemas.js";
import { substitute } from "../../runtime/conformance/substitution.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { publishedReleases } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";

const answered = { word: "proto", tool: undefined };

const payload = {
  status: "completed",
  items: [
    { id: "a", n: 1, tags: ["x", "y"] },
    { id: "b", n: 2, tags: [] },
  ],
  none: null,
};

const context = new Map<string, unknown>([
  ["id", "a"],
  ["allowed", ["x", "y", "z"]],
  ["two", 2],
]);

const source = {
  context,
  kit: { auth: { key: "k" } },
  agentUrl: "https://agent.example/mcp",
  uuid: () => "11111111-1111-4111-8111-111111111111",
  aliases: new Map<string, string>(),
  webhookBase: () => "https://catcher.example",
  webhookUrl: (step: string) => `https://catcher.example/${step}`,
  operationId: () => undefined,
};

async function outcome(check: StoryboardCheck, answer: Partial<AgentAnswer> = {}): Promise<string> {
  const view = {
    answered,
    payload,
    answer: { payload, headers: {}, failed: false, ...answer },
    answers: [],
    context,
    history: [],
    flags: new Set(["taken"]),
    substitute: (template: unknown) => substitute(template, source),
  } as unknown as CheckView;
  return (await checkRunner(check.check)!(check, view)).outcome;
}

/** check, fields, the outcome that is due */
const rows: readonly [check: string, fields: object, due: string][] = [
  ["field_present", { path: "items[0].id" }, "passed"],
  ["field_present", { path: "items[*].id" }, "passed"],
  ["field_present", { path: "none" }, "failed"],
  ["field_present", { path: "constructor" }, "failed"],
  ["field_absent", { path: "none" }, "passed"],
  ["field_absent", { path: "items" }, "failed"],
  ["field_value", { path: "items[0].n", value: 1 }, "passed"],
  ["field_value", { path: "items[0].n", value: "1" }, "failed"],
  ["field_value", { path: "items[0].id", value: "$context.id" }, "passed"],
  ["field_value", { path: "items[0].id", value: "$context.nobody" }, "failed"],
  ["field_value", { path: "items[1].n", allowed_values: [1, 2] }, "passed"],
  ["field_value_or_absent", { path: "missing", value: 1 }, "passed"],
  ["field_value_or_absent", { path: "none", allowed_values: [1] }, "failed"],
  ["field_contains", { path: "items[*]", value: { id: "b" } }, "passed"],
  ["field_contains", { path: "items", value: { id: "b" } }, "passed"],
  ["field_contains", { path: "items[0].tags", value: ["y"] }, "passed"],
  ["field_contains", { path: "items[*].id", value: "c" }, "failed"],
  ["field_pattern", { path: "status", pattern: "^comp" }, "passed"],
  ["field_pattern", { path: "items[0].n", pattern: "1" }, "failed"],
  ["field_less_than", { path: "items[0].n", context_key: "two" }, "passed"],
  ["field_greater_than", { path: "items[0].n", value: 1 }, "failed"],
  ["field_equals_context", { path: "items[0].id", context_key: "id" }, "passed"],
  ["field_equals_context", { path: "items[1].id", context_key: "id" }, "failed"],
  ["field_equals_context", { path: "items[1].id", context_key: "never" }, "passed"],
  ["field_in_context_array", { path: "items[0].tags[0]", context_key: "allowed" }, "passed"],
  ["field_in_context_array", { path: "items[0].id", context_key: "allowed" }, "failed"],
  ["all_fields_in_context_array", { path: "items[*].tags[*]", context_key: "allowed" }, "passed"],
  ["all_fields_in_context_array", { path: "items[*].id", context_key: "allowed" }, "failed"],
  ["array_length", { path: "items", value: 2 }, "passed"],
  ["array_length", { path: "items", min: 3 }, "failed"],
  ["array_length", { path: "status", min: 0 }, "failed"],
  ["any_of", { allowed_values: ["other", "taken"] }, "passed"],
  ["any_of", { allowed_values: ["other"] }, "failed"],
  ["error_code", { value: "X_Y" }, "failed"],
];

for (const [check, fields, due] of rows)
  test(`${check} ${JSON.stringify(fields)}: ${due}`, async () => {
    assert.is(await outcome({ check, ...fields }), due);
  });

const failed = (body: object): AgentAnswer => ({ payload: body, failed: true, headers: {} }) as unknown as AgentAnswer;

test("the code of a failure is found where it may stand", () => {
  const places: readonly [object, string][] = [
    [{ errors: [{ code: "A" }], proto_error: { code: "B" } }, "A"],
    [{ proto_error: { code: "B" } }, "B"],
    [{ error_code: "C" }, "C"],
    [{ error: { code: "D" } }, "D"],
    [{ success: false, error: "E" }, "E"],
  ];
  for (const [body, code] of places) assert.is(errorCodeOf(failed(body), answered)?.code, code);
  const rpc = { ...failed({}), payload: null, error: { message: "x", data: { proto_error: { code: "F" } } } };
  assert.is(errorCodeOf(rpc as AgentAnswer, answered)?.code, "F");
  assert.is(
    errorCodeOf({ ...rpc, error: { message: "RATE_LIMITED: wait" } } as AgentAnswer, answered)?.code,
    "RATE_LIMITED",
  );
});

test("errors beside data, or beside a task that was taken on, are no failure", () => {
  assert.is(isFailedPayload({ errors: [{ code: "A" }] }, answered), true);
  assert.is(isFailedPayload({ errors: [{ code: "A" }], products: [] }, answered), false);
  assert.is(isFailedPayload({ errors: [{ code: "A" }], status: "submitted", task_id: "t" }, answered), false);
});

test("payloads are found in either transport's result", () => {
  assert.equal(payloadOfMcp({ structuredContent: { a: 1 }, content: [{ type: "text", text: '{"b":1}' }] }).payload, {
    a: 1,
  });
  assert.equal(
    payloadOfMcp({
      content: [
        { type: "text", text: "no" },
        { type: "text", text: '{"b":1}' },
      ],
    }).origin,
    "text_fallback",
  );
  const task = {
    status: { state: "TASK_STATE_COMPLETED" },
    artifacts: [{ parts: [{ data: { a: 1 } }, { data: { b: 2 } }] }],
  };
  assert.equal(payloadOfA2a({ task }).payload, { b: 2 });
  assert.is(payloadOfA2a({ task }).state, "completed");
});

test("capabilities: absent ones fall back to the schema's default, and `present` does not", () => {
  const facts = { capabilities: { media: { on: false, list: ["a"] } }, defaultOf: () => true };
  assert.is(unmetCapability({ path: "media.auto", equals: true }, facts), undefined);
  assert.match(unmetCapability({ path: "media.auto", present: true }, facts) ?? "", /not declared/);
  assert.match(unmetCapability({ path: "other.auto", equals: true }, facts) ?? "", /media|not declared/);
  assert.is(unmetCapability({ path: "media.list", contains: "a" }, facts), undefined);
  assert.match(unmetCapability({ path: "media.list", not_contains: "a" }, facts) ?? "", /without "a"/);
});

test("skip_if knows the forms that are published", () => {
  const kit = { auth: { api_key: "k" }, mode: "live" };
  assert.is(skipIf("!test_kit.auth.api_key", kit, context), false);
  assert.is(skipIf("!test_kit.auth.basic", kit, context), true);
  assert.is(skipIf("test_kit.mode != 'live'", kit, context), false);
  assert.is(skipIf("!context.nobody || context.id == 'b'", kit, context), true);
  assert.is(skipIf("context.flag == false", kit, new Map([["flag", false]])), true);
});

test("a path reaches own members only, and stops at ten thousand values", () => {
  assert.is(fieldAt({ a: 1 }, "toString"), undefined);
  assert.is(fieldAt({ versions: ["a", "b"] }, "versions.1"), "b");
  assert.is(valuesAt({ a: Array(20_000).fill(1) }, "a[*]").length, 10_000);
});

test("placeholders are typed, an alias is the same value twice, and what stands for nothing is told", () => {
  const { value, unresolved } = substitute(
    { list: "$context.allowed", url: "{{runner.webhook_url:s}}/x", key: "$test_kit.auth.key", lost: "$context.nobody" },
    source,
  );
  assert.equal(value, { list: ["x", "y", "z"], url: "https://catcher.example/s/x", key: "k", lost: "$context.nobody" });
  assert.equal(unresolved, ["$context.nobody"]);
  let count = 0;
  const fresh = { ...source, uuid: () => String(++count) };
  assert.equal(substitute(["$generate:uuid_v4#a", "$generate:uuid_v4#a", "$generate:uuid_v4"], fresh).value, [
    "1",
    "1",
    "2",
  ]);
});

test("an agent that is called too often is called again when it says, and a storyboard starts from nothing left over", async () => {
  const asked: unknown[] = [];
  const waits: number[] = [];
  const answer = (status: number, payload: object | null) =>
    ({ status, payload, failed: status !== 200, headers: { "retry-after": "2" } }) as unknown as AgentAnswer;
  const answers = [answer(429, null), answer(429, null), answer(200, { success: true })];
  const call = async (_: string, args: object) => {
    asked.push(args);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  };
  const session = { call } as unknown as AgentSession;
  const sleep = async (ms: number) => void waits.push(ms);
  const seeding = { session, sleep, scenarios: ["reset_state"], answered };
  const storyboard = { id: "a", phases: [] } as unknown as Storyboard;
  assert.equal(await reset(storyboard, seeding), {});
  assert.equal(waits, [2_000, 2_000]);
  assert.is(new Set(asked).size, 1, "the same request, under the same key");
  assert.equal(await reset(storyboard, { ...seeding, scenarios: [] }), {}, "what is not listed is not asked for");
  assert.is(asked.length, 3);
});

test("a controller whose release closes the list of scenarios is asked by name whether it begins anew", async () => {
  if (publishedReleases().length === 0) return;
  const kept = await wholeRelease("3.0.26");
  const open = await wholeRelease("3.1.19");
  for (const [{ release, published }, does, expected] of [
    [kept, true, ["seed_product", "reset_state"]],
    [kept, false, ["seed_product"]],
    [open, true, ["seed_product"]],
  ] as const) {
    const schemas = await createSchemaJudge(release, { published });
    const call = async (_: string, { scenario }: JsonObject) => {
      const done = scenario === "list_scenarios" ? { success: true, scenarios: ["seed_product"] } : { success: does };
      return {
        status: 200,
        payload: { ...done, ...(!does && { error: "UNKNOWN_SCENARIO" }) },
        failed: false,
        headers: {},
      };
    };
    const session = { call } as unknown as AgentSession;
    assert.equal(await controllerScenarios({ session, capabilities: undefined, release, schemas }), expected);
  }
});

test.run();
