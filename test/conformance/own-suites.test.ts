/** Storyboards that nobody has published, before an agent in a few lines: what is not special to the suites at hand. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import { names, runSmall, type SmallTools, suiteOf } from "./small-agent.js";

const marks = {
  "any.json": JSON.stringify({
    properties: { product_id: { "x-entity": "product" }, pricing_option_id: { "x-entity": "product_pricing_option" } },
  }),
};

const resolution = (strategies: string): string => `
id: own
prerequisites: {controller_seeding: true}
fixtures:
  products: [{product_id: wanted, channels: [display]}, {product_id: other, channels: [display]}]
  pricing_options: [{product_id: wanted, pricing_option_id: auction}]
fixture_resolution:
  products:
    - {handle: wanted, strategies: ${strategies}, match: [{path: /channels, operator: contains_all, value: [display]}]}
    - {handle: other, strategies: ${strategies}, match: [{path: /formats, operator: any_match, where: [{path: /params/width, operator: equals, value: 300}]}]}
  pricing_options:
    - {product_handle: wanted, handle: auction, strategies: ${strategies}, match: [{path: /floor_price, operator: present}]}
phases:
  - id: p
    steps:
      - {id: order, task: create_media_buy, sample_request: {note: wanted, packages: [{product_id: wanted, pricing_option_id: auction}, {product_id: other}]}}
`;

const offered = [
  { product_id: "p-9", channels: ["display"], formats: [{ params: { width: 300 } }], pricing_options: [] },
  {
    product_id: "p-1",
    channels: ["display", "video"],
    pricing_options: [{ pricing_option_id: "fixed" }, { pricing_option_id: "o-2", floor_price: 1 }],
  },
];

async function ordered(strategies: string, tools: SmallTools = {}) {
  const asked: JsonObject[] = [];
  let pages = 0;
  const { steps } = await runSmall(
    suiteOf(resolution(strategies)),
    {
      get_products: () => ({ products: [offered[pages]!], pagination: { has_more: pages++ === 0, cursor: "next" } }),
      create_media_buy: (args) => {
        asked.push(args);
        return { media_buy_id: "mb-1" };
      },
      ...tools,
    },
    { published: marks },
  );
  const step = steps.get("order") ?? steps.get("__seeding__");
  return { status: step?.status, reason: step?.skip?.reason, detail: step?.skip?.detail ?? step?.problem, asked };
}

test("what a seller has stands for a fixture where the storyboard allows it, by its ids alone", async () => {
  const { status, asked } = await ordered("[seed, discover]");
  assert.is(status, "passed");
  const [{ note, packages }] = asked as [JsonObject];
  assert.is(note, "wanted", "only fields that name a product are changed");
  assert.equal(packages, [{ product_id: "p-1", pricing_option_id: "o-2" }, { product_id: "p-9" }]);
});

test("a fixture that no way leads to leaves the storyboard out, and a way that fails is not gone round", async () => {
  const nothing = await ordered("[discover]", {
    get_products: () => ({ products: [], pagination: { has_more: false } }),
  });
  assert.equal([nothing.status, nothing.reason], ["skipped", "fixture_unsatisfied"]);
  const seedOnly = await ordered("[seed]");
  assert.equal([seedOnly.status, seedOnly.reason], ["skipped", "fixture_unsatisfied"]);
  const refused = await ordered("[seed, discover]", {
    comply_test_controller: ({ scenario }) =>
      scenario === "list_scenarios"
        ? { success: true, scenarios: ["seed_product", "seed_pricing_option"] }
        : { success: false, error: "INTERNAL_ERROR" },
  });
  assert.equal([refused.status, refused.reason], ["skipped", "prerequisite_failed"]);
  assert.match(refused.detail ?? "", "seed_product of wanted was refused");
});

const gated = `
id: own
requires_capability: {path: media.surfaces, contains: snapshot}
phases: [{id: p, steps: [{id: s, task: get_products, validations: [{check: field_resembles, path: products}]}]}]
`;

test("a check that is not known is not graded, and never passed", async () => {
  const suite = suiteOf(gated.replace(/requires_capability.*\n/, ""));
  const { report, steps } = await runSmall(suite, { get_products: () => ({ products: [] }) });
  assert.is(steps.get("s")?.status, "not_graded");
  assert.equal(report.unknownChecks, { field_resembles: 1 });
  assert.equal([report.ok, report.counts.passed], [false, 0]);
});

test("several capabilities of one gate have to hold together, and a gate that is not known is not taken to be open", async () => {
  const declares = {
    [names.capabilitiesTool]: () => ({ status: "completed", media: { surfaces: ["snapshot"], on: true } }),
    get_products: () => ({ products: [] }),
  };
  const skip = async (gate: string) => {
    const text = gated.replace(/requires_capability.*/, `requires_capability: ${gate}`);
    return (await runSmall(suiteOf(text), declares)).steps.get("s")?.skip;
  };
  const open = "{path: media.surfaces, contains: snapshot}";
  assert.is(await skip(`{all: [${open}, {path: media.on, equals: true}]}`), undefined);
  assert.is((await skip(`{all: [${open}, {path: media.on, equals: false}]}`))?.reason, "not_applicable");
  for (const odd of [
    "{path: media.surfaces, at_least: 2}",
    `{some: [${open}]}`,
    `{all: [${open}, {path: media.on}]}`,
  ]) {
    const { reason, detail } = (await skip(odd)) ?? {};
    assert.is(reason, "requirement_unmet", odd);
    assert.match(detail ?? "", /this runner knows no such capability gate/);
  }
});

test("what a runner is to look at itself and does not know is told as that, and is no lack of the agent's", async () => {
  const suite = suiteOf("id: own\nphases: [{id: p, steps: [{id: s, task: expect_tide}]}]");
  const { steps } = await runSmall(suite, { get_products: () => ({ products: [] }) });
  const { reason, detail } = steps.get("s")?.skip ?? {};
  assert.equal([reason, detail], ["not_applicable", "this runner does not know the step expect_tide"]);
});

test("a step without a request for a tool that takes no empty one is left out, and is no failure of the agent's", async () => {
  const suite = suiteOf(
    "id: own\nphases: [{id: p, steps: [{id: s, task: create_media_buy}, {id: t, task: get_products}]}]",
  );
  const got: unknown[] = [];
  const { steps } = await runSmall(suite, {
    create_media_buy: (args: unknown) => got.push(args),
    get_products: () => ({ products: [] }),
  } as never);
  assert.equal([steps.get("s")?.status, steps.get("s")?.skip?.reason], ["skipped", "fixture_unavailable"]);
  assert.match(steps.get("s")?.skip?.detail ?? "", /gives no request/);
  assert.equal(got, []);
});

test("a capability that is not declared has the value that the release gives it", async () => {
  const own = { ...release.tools.get_products, name: names.capabilitiesTool, arms: { completed: "own.json" } };
  const speaking = { ...release, tools: { ...release.tools, [names.capabilitiesTool]: own } } as unknown as Release;
  const surfaces = { default: ["snapshot"] };
  const schema = { properties: { media: { properties: { surfaces } } } };
  const tools = {
    [names.capabilitiesTool]: () => ({ status: "completed", media: {} }),
    get_products: () => ({ products: [] }),
  };
  const reason = async (published: Readonly<Record<string, string>>) => {
    const { steps } = await runSmall(suiteOf(gated), tools, { published, release: speaking });
    return steps.get("s")?.skip?.reason;
  };
  assert.is(await reason({ "own.json": JSON.stringify(schema) }), undefined);
  assert.is(await reason({}), "not_applicable");
});

const conditional = `
id: own
phases:
  - id: look
    steps:
      - id: look
        task: get_products
        context_outputs: [{name: evaluator, path: evaluator}, {name: thing, path: "things[0].id"}]
  - id: use
    skip_if: "!context.evaluator"
    steps: [{id: use, task: get_products, sample_request: {thing: $context.thing}}]
`;

test("what only phases that are left out would use may be missing; what one of them uses may not", async () => {
  const without = await runSmall(suiteOf(conditional), { get_products: () => ({ products: [] }) });
  assert.equal([without.steps.get("look")?.status, without.steps.get("use")?.status], ["passed", "skipped"]);
  const half = await runSmall(suiteOf(conditional), { get_products: () => ({ products: [], evaluator: true }) });
  assert.is(half.steps.get("look")?.status, "failed");
  assert.is(half.steps.get("look")?.checks.find(({ outcome }) => outcome === "failed")?.pointer, "/things/0/id");
});

test("what a step that was left out would have given is missing by its fault, whether or not the value was declared", async () => {
  const suite = suiteOf(`
id: own
phases:
  - id: order
    steps: [{id: order, task: create_media_buy, stateful: true}]
  - id: deliver
    steps: [{id: deliver, task: get_products, sample_request: {of: $context.media_buy_id}}]
`);
  const { steps } = await runSmall(suite, { get_products: () => ({ products: [] }) });
  assert.equal(
    [steps.get("order")?.skip?.reason, steps.get("deliver")?.skip?.reason],
    ["missing_tool", "prerequisite_failed"],
  );
});

test("an agent that lists its releases is told which one a request is in, unless the storyboard is about that", async () => {
  const line = release.version.split(".").slice(0, 2).join(".");
  const asked = async (lines: readonly string[], sample: string, speaking: Release = release): Promise<unknown> => {
    let seen: JsonObject = {};
    const yaml = `id: own\nphases: [{id: p, steps: [{id: s, task: get_products, sample_request: ${sample}}]}]`;
    const tools: SmallTools = {
      [names.capabilitiesTool]: () => ({ status: "completed", [release.word]: { supported_versions: lines } }),
      get_products: (args) => {
        seen = args;
        return { products: [] };
      },
    };
    await runSmall(suiteOf(yaml), tools, { release: speaking });
    return seen[names.version];
  };
  assert.is(await asked(["3.0", line], "{}"), line);
  assert.is(await asked([], "{}"), undefined);
  assert.is(await asked(["3.0", line], `{${release.word}_major_version: 3}`), undefined);
  const closed = { ...release.tools.get_products, request: "closed.json" };
  const schemas = async () => ({
    ...(await release.schemas()),
    "closed.json": JSON.stringify({
      type: "object",
      properties: { brief: {} },
      required: ["brief"],
      additionalProperties: false,
    }),
  });
  const narrow = { ...release, tools: { ...release.tools, get_products: closed }, schemas } as unknown as Release;
  assert.is(await asked(["3.0", line], "{brief: any}", narrow), undefined, "the release closes the request to it");
});

test("what a storyboard leaves behind meets none that it would change the outcome of", async () => {
  const storyboard = (id: string, step: string) =>
    suiteOf(`id: ${id}\nphases: [{id: p, steps: [{id: s, ${step}}]}]`).storyboards[0]!;
  const governing = storyboard("governing", "task: sync_governance");
  const ordering = storyboard("ordering", "task: create_media_buy");
  const whole = "validations: [{check: field_value, path: pagination.has_more, value: false}]";
  const counting = storyboard("counting", `task: list_creatives, ${whole}`);
  const { report } = await runSmall({ ...suiteOf(gated), storyboards: [governing, ordering, counting] }, {});
  assert.equal(
    report.storyboards.map(({ id }) => id),
    ["counting", "ordering", "governing"],
  );
});

test("the clock of a run may stand at any date", async () => {
  const at = Date.parse("2099-01-01T00:00:00Z");
  const { report } = await runSmall(
    suiteOf(conditional),
    { get_products: () => ({ products: [] }) },
    { now: () => at },
  );
  assert.is(report.startedAt, "2099-01-01T00:00:00.000Z");
  assert.is(report.tookMs, 0);
});

test("a step that fails says that the release refuses its request, and one that it takes says nothing of it", async () => {
  const story = suiteOf(`
id: of_another_release
phases:
  - id: p
    steps:
      - {id: unfit, task: get_products, sample_request: {brief: 7, buying_mode: brief}}
      - {id: fit, task: get_products, sample_request: {brief: shoes, buying_mode: brief}}
`);
  const { steps } = await runSmall(story, {
    get_products: () => ({ status: "failed", errors: [{ code: "INVALID_REQUEST", message: "No." }] }),
  });
  assert.match(steps.get("unfit")?.unfit ?? "", /^the storyboard's request is not valid by 3\.1\.0: \/brief /);
  assert.is(steps.get("fit")?.unfit, undefined);
  for (const id of ["fit", "unfit"]) assert.is(steps.get(id)?.problem, "the task failed: INVALID_REQUEST: No.");
});

test.run();
