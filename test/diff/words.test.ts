/** What a comparison says beside tools: webhooks, errors, sentences that demand, suites. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSide } from "../../cli/diff/load.js";
import { diffReleases } from "../../generator/diff/diff.js";
import { suiteOf } from "../../generator/diff/suite.js";
import { type Files, smallRelease, writeRelease } from "../support/release.js";

type Map = Record<string, unknown>;

const REQUEST = "media-buy/list-orders-request.json";

/** A small release whose request for orders, or whose manifest, is another. */
async function side(request: Map, change: (files: Files) => void = () => undefined) {
  const files = smallRelease();
  const { $schema, $id } = files[REQUEST] as Map;
  files[REQUEST] = { $schema, $id, description: "Lists orders.", ...request };
  change(files);
  return loadSide(writeRelease(files));
}

/** Both are of one version here, which has a finding of its own. */
const REPUBLISHED = "release-republished";

const object = (properties: Map, more: Map = {}): Map => ({ type: "object", properties, ...more });
const text = { type: "string" };

test("webhooks and errors have findings of their own: no tool, the kind or the code", async () => {
  const event = (kinds: string[], more: Map = {}) => ({
    $schema: "http://json-schema.org/draft-07/schema#",
    ...object(
      { idempotency_key: text, notification_type: { enum: kinds }, n: text, ...more },
      { required: ["idempotency_key", "notification_type"] },
    ),
  });
  const plain = object({ x: text });
  const [a, b] = [
    await side(plain, (files) => {
      files["core/order-changed-webhook.json"] = event(["order.changed"]);
    }),
    await side(plain, (files) => {
      files["core/order-changed-webhook.json"] = event(["order.changed", "order.ended"], { n: { type: "number" } });
      (files["core/error.json"] as { required: string[] }).required.push("recovery");
    }),
  ];
  const found = diffReleases(a, b).findings;
  const of = (wanted: string) =>
    found
      .filter((one) => one.side === wanted)
      .map((one) => [one.rule, one.tool, one.about, one.verdict])
      .sort();
  assert.equal(
    of("webhook"),
    [
      ["webhook-added", null, "order.ended", "broken"],
      ["enum-value-added", null, "order.changed", "broken"],
      ["type-changed", null, "order.changed", "broken"],
    ].sort(),
  );
  assert.equal(of("error"), [["required-property-added", null, undefined, "broken"]]);
});

test("sentences with MUST: added, removed, altered, each quoted; where one only moved nothing is said", async () => {
  const say = (description: string) => object({ x: { ...text, description } });
  const words = async (a: string, b: string) =>
    diffReleases(await side(say(a)), await side(say(b)))
      .findings.filter(({ rule }) => rule !== REPUBLISHED)
      .map(({ rule, verdict, witness }) => [rule, verdict, witness?.kind === "reading" ? witness.to : undefined]);
  assert.equal(await words("It is a text. It MUST be short.", "It MUST be short. It is a text."), []);
  assert.equal(await words("A text.", "A text. It MUST be short."), [
    ["sentence-added", "undecided", ["It MUST be short."]],
  ]);
  assert.equal(await words("A text. It MUST be short.", "A text."), [["sentence-removed", "undecided", []]]);
  assert.equal(await words("The seller MUST send it within a day.", "The seller MUST send it within an hour."), [
    ["sentence-altered", "undecided", ["The seller MUST send it within an hour."]],
  ]);
});

test("storyboards and vectors are compared where both sides bring a suite", async () => {
  const suite = (steps: object[], vector: object) =>
    suiteOf(
      new Map<string, unknown>([
        ["universal/a.yaml", { phases: [{ id: "p", steps }] }],
        ["test-vectors/v.json", vector],
      ]),
    );
  const plain = await side(object({ x: text }));
  const one = { id: "first", task: "list_orders", narrative: "old words" };
  const [a, b] = [
    { ...plain, suite: suite([one, { id: "gone" }], { in: 1 }) },
    { ...plain, suite: suite([{ ...one, narrative: "new words" }, { id: "fresh" }], { in: 2 }) },
  ];
  assert.equal(
    diffReleases(a, b)
      .findings.map(({ rule, message }) => [rule, message])
      .sort(),
    [
      ["storyboard-step-added", "p/fresh"],
      ["storyboard-step-removed", "p/gone"],
      ["vector-changed", "test-vectors/v.json"],
    ],
  );
  assert.equal(diffReleases(a, plain).findings, []);
});

test.run();
