/** What a comparison says of small changes: which rule, whom it breaks, and that form alone says nothing. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSide } from "../../cli/diff/load.js";
import { diffReleases } from "../../generator/diff/diff.js";
import type { DiffFinding, DiffReport } from "../../generator/diff/finding.js";
import { diffRules } from "../../generator/diff/rules.js";
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

async function diffOf(a: Map, b: Map): Promise<DiffReport> {
  const report = diffReleases(await side(a), await side(b));
  assert.is(report.findings.filter(({ rule }) => rule === REPUBLISHED).length, 1);
  return { ...report, findings: report.findings.filter(({ rule }) => rule !== REPUBLISHED) };
}

const said = ({ findings }: DiffReport): [string, string, string][] =>
  findings.map(({ rule, verdict, breaks }) => [rule, verdict, breaks.join()]);

const OLD = "old-caller>new-seller";
const NEW = "new-caller>old-seller";
const object = (properties: Map, more: Map = {}): Map => ({ type: "object", properties, ...more });
const closed = { additionalProperties: false };
const text = { type: "string" };
const later = { $schema: "https://json-schema.org/draft/2020-12/schema" };
const counting = (counts: Map): Map => ({ type: "array", contains: { type: "string", minLength: 1 }, ...counts });
const tagged = (tag: string, values: string[]): Map =>
  object({ t: { const: tag }, e: { enum: values } }, { required: ["t", "e"] });

const cases: [name: string, a: Map, b: Map, found: [string, string, string][]][] = [
  [
    "a required field added to a closed object",
    object({}, closed),
    object({ x: text }, { ...closed, required: ["x"] }),
    [["required-property-added", "broken", `${OLD},${NEW}`]],
  ],
  [
    "an optional field added to a closed object",
    object({ y: text }, closed),
    object({ x: text, y: text }, closed),
    [["property-added", "broken", NEW]],
  ],
  [
    "an optional field added to an open object",
    object({ y: text }),
    object({ x: text, y: text }),
    [["property-added", "broken", OLD]],
  ],
  [
    "a field required inside an object that may be null",
    object({ x: { ...object({ y: text }), type: ["object", "null"] } }),
    object({ x: { ...object({ y: text }), type: ["object", "null"], required: ["y"] } }),
    [["property-required", "broken", OLD]],
  ],
  [
    "items of another kind in a list that may be null",
    object({ x: { type: ["array", "null"], items: text } }),
    object({ x: { type: ["array", "null"], items: { type: "boolean" } } }),
    [["type-changed", "broken", `${OLD},${NEW}`]],
  ],
  [
    "an optional field added that bounds texts and says no kind",
    object({ y: text }),
    object({ x: { maxLength: 3 }, y: text }),
    [["property-added", "broken", OLD]],
  ],
  [
    "a property removed from a closed object",
    object({ x: text, y: text }, closed),
    object({ y: text }, closed),
    [["property-removed", "broken", OLD]],
  ],
  [
    "a field required",
    object({ x: text }),
    object({ x: text }, { required: ["x"] }),
    [["property-required", "broken", OLD]],
  ],
  [
    "a demand that comes by way of allOf",
    object({ x: text }),
    { allOf: [object({ x: text }), { type: "object", required: ["x"] }] },
    [["property-required", "broken", OLD]],
  ],
  [
    "a type widened by null",
    object({ x: text }),
    object({ x: { type: ["string", "null"] } }),
    [["type-widened", "broken", NEW]],
  ],
  [
    "an enum value added and one removed",
    object({ x: { enum: ["a", "b"] } }),
    object({ x: { enum: ["b", "c"] } }),
    [
      ["enum-value-added", "broken", NEW],
      ["enum-value-removed", "broken", OLD],
    ],
  ],
  [
    "a bound beside listed values",
    object({ x: { ...text, enum: ["a", "bb"] } }),
    object({ x: { ...text, enum: ["a", "bb"], minLength: 2 } }),
    [["enum-value-removed", "broken", OLD]],
  ],
  [
    "a field required beside a list of objects",
    object({ x: { enum: [{ a: "u" }, { b: "u" }] } }),
    object({ x: { enum: [{ a: "u" }, { b: "u" }], required: ["b"] } }),
    [["required-property-added", "broken", OLD]],
  ],
  [
    "a list of values beside one value",
    object({ x: { const: "a" } }),
    object({ x: { const: "a", enum: ["b"] } }),
    [["enum-value-removed", "broken", OLD]],
  ],
  [
    "a bound",
    object({ x: { ...text, maxLength: 9 } }),
    object({ x: { ...text, maxLength: 5 } }),
    [["bound-narrowed", "broken", OLD]],
  ],
  [
    "a pattern",
    object({ x: text }),
    object({ x: { ...text, pattern: "^[a-z]+$" } }),
    [["pattern-added", "broken", OLD]],
  ],
  ["an object closed", object({ x: text }), object({ x: text }, closed), [["object-closed", "broken", OLD]]],
  [
    "an alternative added",
    object({ x: { oneOf: [text, { type: "boolean" }] } }),
    object({ x: { oneOf: [text, { type: "boolean" }, { type: "array" }] } }),
    [["alternative-added", "broken", NEW]],
  ],
  [
    "alternatives put behind one of others, a value of theirs gone",
    object({ x: { oneOf: [tagged("a", ["u", "v"]), tagged("b", ["w"])] } }),
    object({ x: { oneOf: [{ oneOf: [tagged("a", ["u"]), tagged("b", ["w"])] }, { type: "array" }] } }),
    [
      ["alternative-added", "broken", NEW],
      ["enum-value-removed", "broken", OLD],
    ],
  ],
  [
    "a condition added",
    object({ x: text, y: text }),
    object({ x: text, y: text }, JSON.parse('{"if":{"type":"object","required":["x"]},"then":{"required":["y"]}}')),
    [["condition-added", "broken", OLD]],
  ],
  [
    "more elements of a kind to be in a list",
    object({ x: counting({ minContains: 2, maxContains: 4 }) }, later),
    object({ x: counting({ minContains: 3, maxContains: 5 }) }, later),
    [["condition-changed", "broken", `${OLD},${NEW}`]],
  ],
  [
    "what is only refused of items",
    object({ x: { type: "array", items: { not: { const: "a" } } } }),
    object({ x: { type: "array", items: { not: { const: "b" } } } }),
    [["condition-changed", "broken", `${OLD},${NEW}`]],
  ],
  [
    "what names match a pattern holds",
    object({}, { patternProperties: { "^a+$": text } }),
    object({}, { patternProperties: { "^a+$": { type: "number" } } }),
    [["type-changed", "broken", `${OLD},${NEW}`]],
  ],
  [
    "a field deprecated",
    object({ x: text }),
    object({ x: { ...text, deprecated: true } }),
    [["property-deprecated", "safe", ""]],
  ],
];

for (const [name, a, b, found] of cases)
  test(name, async () => {
    assert.equal(said(await diffOf(a, b)), found);
  });

test("what one value demands of another names its fields", async () => {
  const demand = JSON.parse('{"if":{"required":["x"],"properties":{"x":{"const":"now"}}},"then":{"required":["y"]}}');
  const { findings } = await diffOf(object({ x: text, y: text }), object({ x: text, y: text }, demand));
  assert.equal(
    findings.map(({ message }) => message),
    ['now with x is "now" it demands y'],
  );
});

test("what one value demands of another, changed further in than is told, is said once", async () => {
  const demanding = (values: readonly string[]) => {
    const then = JSON.stringify({ required: ["y"], properties: { y: { properties: { kind: { enum: values } } } } });
    return object({ x: text, y: {} }, JSON.parse(`{"if":{"required":["x"]},"then":${then}}`));
  };
  const { findings } = await diffOf(demanding(["a"]), demanding(["a", "b"]));
  assert.equal(
    findings.map(({ message }) => message),
    ["with x it demands y: inside that, something else than before"],
  );
});

test("form alone says nothing: inline or by reference, order, words, ids", async () => {
  const held = { type: "object", properties: { b: text, a: { enum: ["x", "y"] } }, required: ["a", "b"] };
  const again = {
    required: ["b", "a"],
    description: "Another.",
    properties: { a: { enum: ["y", "x"], title: "A" }, b: text },
    type: "object",
  };
  const inline = await side(object({ x: held, y: held }));
  const defined = await side(
    object(
      { y: { $ref: "#/definitions/h" }, x: { allOf: [{ $ref: "#/definitions/h" }] } },
      { definitions: { h: again } },
    ),
    (files) => {
      for (const file of Object.values(files)) delete (file as Map).$id;
      for (const [name, file] of Object.entries(files))
        files[name] = JSON.parse(JSON.stringify(file).replaceAll('"/schemas/1.2.3/', '"/'));
    },
  );
  assert.equal(diffReleases(inline, defined).findings, []);
});

test("bounds beside listed values say nothing where they keep them all", async () => {
  const within = await side(object({ x: { enum: ["aa", "bb", 4], minLength: 1, maximum: 5 } }));
  const again = await side(
    object({ x: { allOf: [{ enum: ["bb", "aa", 4] }, { pattern: "^[a-z]+$", multipleOf: 2 }] } }),
  );
  assert.equal(diffReleases(within, again).findings, []);
});

test("a witness is accepted by the one and refused by the other, and differs in the change alone", async () => {
  const [a, b] = [
    await side(object({ x: text, n: { type: "number" } }, { required: ["n"] })),
    await side(object({ x: text, n: { type: "number", minimum: 3 } }, { required: ["n", "x"] })),
  ];
  const findings = diffReleases(a, b).findings.filter(({ rule }) => rule !== REPUBLISHED);
  assert.is(findings.length, 2);
  for (const { witness } of findings) {
    assert.is(witness?.kind, "payload");
    if (witness?.kind !== "payload") continue;
    assert.equal(a.judge(REQUEST, witness.payload), []);
    assert.is(b.judge(REQUEST, witness.payload).length, 1);
  }
});

test("an id is the same however the file is laid out, and another for another change", async () => {
  const ids = ({ findings }: DiffReport): string[] => findings.map(({ id }) => id);
  const [plain] = ids(await diffOf(object({ x: text }), object({ x: text }, { required: ["x"] })));
  const [byWay] = ids(
    await diffOf(object({ x: text }), { allOf: [{ required: ["x"], type: "object" }, object({ x: text })] }),
  );
  const [other] = ids(await diffOf(object({ y: text }), object({ y: text }, { required: ["y"] })));
  assert.is(plain, byWay);
  assert.is.not(plain, other);
});

test("tables are compared: a code, its recovery, a tool that writes, a tool gone, a specialism's tools", async () => {
  const plain = object({ x: text });
  const changed = await side(plain, (files) => {
    const manifest = files["manifest.json"] as { tools: Map; error_codes: Map; specialisms: Record<string, Map> };
    delete manifest.tools.end_session;
    (manifest.error_codes.BUSY as Map).recovery = "terminal";
    manifest.error_codes.FRESH = { recovery: "correctable", description: "It is new.", suggestion: "Mend it." };
  });
  const { findings } = diffReleases(await side(plain), changed);
  const of = (rule: string): DiffFinding | undefined => findings.find((one) => one.rule === rule);
  assert.equal(of("tool-removed")?.breaks, [OLD]);
  assert.is(of("tool-removed")?.witness?.kind, "payload");
  assert.equal([of("code-recovery")?.at, of("code-recovery")?.breaks.length], ["code/BUSY", 2]);
  assert.equal(of("code-added")?.breaks, ["new-seller>old-caller"]);
  assert.ok(
    findings.every(({ tool, side: at, rule }) => at === "release" && (tool !== null || !rule.startsWith("tool"))),
  );
});

test("every rule has an id of its own, and says what to do", () => {
  assert.is(new Set(diffRules.map(({ id }) => id)).size, diffRules.length);
  assert.ok(diffRules.length >= 45 && diffRules.every(({ rule, fix }) => rule !== "" && fix !== ""));
});

test.run();
