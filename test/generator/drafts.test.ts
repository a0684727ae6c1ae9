/** Releases in a later draft: what is generated judges as ajv does by that draft, or the release is refused by keyword. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkNames } from "../../generator/emit/names.js";
import { generate, lintRelease } from "../../generator/index.js";
import { type AnyValidator, createValidator } from "../../runtime/validate/index.js";
import { type Files, schema, smallRelease, writeRelease } from "../support/release.js";
import { importGenerated, packageFolder } from "./mutants/judge.js";

const later = "https://json-schema.org/draft/2020-12/schema";
const request = "media-buy/list-orders-request.json";
const shared = "core/shared.json";
const text = { type: "string" };
const number = { type: "number" };

/** What a schema says by words of later drafts, with values it takes and refuses. */
const said: Record<string, { schema: object; values: unknown[] }> = {
  prefixItems: {
    schema: { type: "array", prefixItems: [text, number], items: false, minItems: 1 },
    values: [["a", 1], ["a"], [], [1], ["a", 1, 2]],
  },
  "prefixItems with a tail": {
    schema: { type: "array", prefixItems: [text], items: { type: "boolean" }, additionalItems: false },
    values: [["a", true], ["a", 1], [true]],
  },
  "a reference into prefixItems": {
    schema: {
      type: "object",
      properties: {
        list: { type: "array", prefixItems: [text, { type: "array", prefixItems: [number] }], items: number },
        first: { $ref: "#/properties/mutant/properties/list/prefixItems/0" },
        inner: { $ref: "#/properties/mutant/properties/list/prefixItems/1/prefixItems/0" },
        rest: { $ref: "#/properties/mutant/properties/list/items" },
      },
    },
    values: [{ first: "a", inner: 1, rest: 1 }, { first: 1 }, { inner: "a" }, { rest: "a" }, { list: ["a", ["b"]] }],
  },
  dependentRequired: {
    schema: { type: "object", dependentRequired: { a: ["b"] } },
    values: [{ a: 1 }, { a: 1, b: 1 }, { b: 1 }],
  },
  "dependentSchemas beside dependentRequired": {
    schema: { type: "object", dependentRequired: { a: ["b"] }, dependentSchemas: { a: { properties: { c: number } } } },
    values: [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: "x" }, { a: 1, c: 1 }, { c: "x" }],
  },
  "none to contain": { schema: { type: "array", contains: text, minContains: 0 }, values: [[], [1], ["a"]] },
  "one to contain": { schema: { type: "array", contains: text, minContains: 1 }, values: [[], [1], ["a"]] },
  "unevaluatedProperties beside references and parts": {
    schema: {
      $ref: `/schemas/1.2.3/${shared}`,
      allOf: [{ properties: { a: text }, patternProperties: { "^x_": number } }],
      properties: { b: text },
      unevaluatedProperties: false,
    },
    values: [{ a: "x", b: "y", shared: 1, x_1: 1 }, { c: 1 }, { shared: "x" }, { a: 1 }, { x_1: "x" }, {}],
  },
  "unevaluatedProperties of a schema": {
    schema: { type: "object", properties: { a: text }, unevaluatedProperties: number },
    values: [{ a: "x", b: 1 }, { a: "x", b: "y" }, { a: 1 }],
  },
  "unevaluatedProperties beside alternatives of demands": {
    schema: {
      type: "object",
      properties: { a: text, b: text },
      oneOf: [{ required: ["a"] }, { required: ["b"], properties: { b: { minLength: 2 } } }],
      unevaluatedProperties: false,
    },
    values: [{ a: "x" }, { b: "yy" }, { b: "y" }, { a: "x", c: 1 }, {}],
  },
  "unevaluatedProperties where all are seen": {
    schema: { allOf: [{ additionalProperties: number }], unevaluatedProperties: false },
    values: [{ a: 1 }, { a: "x" }],
  },
  "unevaluatedProperties beside alternatives that are told apart": {
    schema: {
      type: "object",
      properties: { kind: text },
      oneOf: [
        { properties: { kind: { const: "a" }, a: number, both: text }, required: ["kind"] },
        { properties: { kind: { const: "b" }, b: number, both: number }, required: ["kind"] },
      ],
      unevaluatedProperties: false,
    },
    values: [
      { kind: "a", a: 1 },
      { kind: "b", b: 1, both: 2 },
      { kind: "a", b: 1 },
      { kind: "b", a: 1 },
      { kind: "c" },
    ],
  },
  "unevaluatedProperties beside alternatives that may hold at once": {
    schema: {
      anyOf: [
        { properties: { a: text }, required: ["a"] },
        { properties: { b: text }, additionalProperties: false, required: ["b"] },
        { required: ["c"], properties: { c: true }, anyOf: [{ properties: { d: text }, required: ["d"] }, true] },
        true,
      ],
      unevaluatedProperties: false,
    },
    values: [
      ...[{ a: "x" }, { b: "x" }, { a: "x", b: "x" }, { a: 1 }, {}],
      ...[{ c: 1, d: "x" }, { c: 1, d: 1 }, { d: "x" }, { a: "x", c: 1, d: "x" }, { a: "x", e: 1 }],
    ],
  },
  "unevaluatedProperties beside conditions": {
    schema: {
      properties: { kind: text },
      if: { properties: { kind: { const: "a" }, seen: true }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: { properties: { a: text } },
      else: { properties: { b: text } },
      dependentSchemas: { kind: { properties: { extra: number } } },
      unevaluatedProperties: false,
    },
    values: [
      ...[{ kind: "a", a: "x" }, { kind: "a", b: "x" }, { kind: "b", b: "x" }, { kind: "b", a: "x" }, { b: "x" }],
      ...[{ kind: "a", seen: 1 }, { seen: 1 }, { kind: "b", extra: 1 }, { extra: 1 }, { kind: "b", extra: "x" }],
    ],
  },
  "unevaluatedProperties beside alternatives elsewhere": {
    schema: { $ref: "#/$defs/told", properties: { kind: text }, unevaluatedProperties: false },
    values: [
      { kind: "a", a: "x" },
      { kind: "b", b: "x" },
      { kind: "a", b: "x" },
      { kind: "a", a: 1 },
    ],
  },
  unevaluatedItems: {
    schema: { type: "array", allOf: [{ prefixItems: [text, number] }], unevaluatedItems: { type: "boolean" } },
    values: [["a", 1, true], ["a", 1, 2], [1], ["a"]],
  },
  "a reference that leads to one place, whoever asks": {
    schema: {
      $defs: { tree: { $dynamicAnchor: "tree", properties: { v: text, kids: { items: { $dynamicRef: "#tree" } } } } },
      $ref: "#tree",
    },
    values: [{ v: "x", kids: [{ v: "y", kids: [] }] }, { kids: [{ kids: [{ v: 1 }] }] }, { v: 1 }],
  },
  "documents inside of one": {
    schema: {
      $defs: {
        one: { $id: "one.json", properties: { v: { $ref: "#it" } }, $defs: { it: { $anchor: "it", ...text } } },
        two: {
          $id: "deeper/two.json",
          properties: { v: { $ref: "#/$defs/it" } },
          $defs: { it: { $anchor: "it", ...number } },
        },
      },
      properties: {
        a: { $ref: "one.json" },
        b: { $ref: "/schemas/1.2.3/media-buy/deeper/two.json" },
        c: { $ref: "one.json#it" },
        d: { $ref: "deeper/two.json#/$defs/it" },
        e: { $ref: `/schemas/1.2.3/core/inside.json#inside` },
      },
    },
    values: [
      ...[{ a: { v: "x" } }, { a: { v: 1 } }, { b: { v: 1 } }, { b: { v: "x" } }, { c: "x" }, { c: 1 }],
      ...[{ d: 1 }, { d: "x" }, { e: "x" }, { e: 1 }],
    ],
  },
  "a name of its own": { schema: { $ref: "#node" }, values: [{ v: "x" }, { v: 1 }] },
};

function releaseOf(mutant: object): Files {
  const files = smallRelease();
  files[request] = {
    ...schema(request, {
      title: "List Orders Request",
      type: "object",
      properties: { mutant },
      $defs: {
        node: { $dynamicAnchor: "node", type: "object", properties: { v: text } },
        told: {
          dependentSchemas: {
            kind: { oneOf: ["a", "b"].map((kind) => ({ properties: { kind: { const: kind }, [kind]: text } })) },
          },
        },
      },
    }),
    $schema: later,
  };
  files[shared] = {
    ...schema(shared, {
      type: "object",
      properties: { shared: number },
      $defs: { inside: { $id: "inside.json", $defs: { inside: { $anchor: "inside", type: "string" } } } },
    }),
    $schema: later,
  };
  return files;
}

const workspace = packageFolder();

for (const [index, [name, { schema: mutant, values }]] of Object.entries(said).entries()) {
  test(`${name}: the verdicts are those of the draft`, async () => {
    const files = releaseOf(mutant);
    const ajv = new Ajv2020({ strict: false, logger: false, schemas: [files[shared] as object] });
    const plain = ajv.compile(files[request] as object);
    const { ok, releases } = await generate([writeRelease(files)], { out: `${workspace}/r${index}`, standalone: true });
    assert.ok(ok, JSON.stringify(releases[0]?.findings));
    const { release, standalone } = await importGenerated(`${workspace}/r${index}/1.2.3`, true);
    const verdict = (by: AnyValidator) => values.map((one) => by.request("list_orders", { mutant: one }).ok);
    const expected = values.map((one) => plain({ mutant: one }));
    assert.ok(new Set(expected).size === 2 || name === "none to contain", "what all pass proves nothing");
    assert.equal(verdict(await createValidator(release)), expected);
    assert.equal(verdict(standalone!), expected);
  });
}

/** What draft-07 cannot say. */
const unsaid: Record<string, object> = {
  unevaluatedProperties: { oneOf: [{ properties: { a: text } }, { patternProperties: { "^b": text } }] },
  unevaluatedItems: { contains: text },
  minContains: { contains: text },
  maxContains: { contains: text },
  $dynamicRef: { $defs: { other: { $id: "other", $dynamicAnchor: "node" } } },
};
const values: Record<string, unknown> = { minContains: 2, maxContains: 2, $dynamicRef: "#node" };

for (const [keyword, beside] of Object.entries(unsaid)) {
  test(`${keyword} that draft-07 cannot say is refused, where it is never passed over`, async () => {
    const files = releaseOf({ ...beside, [keyword]: values[keyword] ?? false });
    const { findings } = await lintRelease(writeRelease(files), checkNames);
    assert.equal(
      findings.filter(({ level }) => level === "error").map(({ rule, file, pointer }) => [rule, file, pointer]),
      [["schema-draft", request, `/properties/mutant/${keyword}`]],
    );
  });
}

for (const anchored of [false, true]) {
  test(`a $recursiveRef in a file that ${anchored ? "is" : "is not"} an anchor is one to the file, where no other anchor leads to it`, async () => {
    const files = releaseOf({ items: { $recursiveRef: "#" } });
    const draft = "https://json-schema.org/draft/2019-09/schema";
    Object.assign(files[request] as object, { $schema: draft, ...(anchored && { $recursiveAnchor: true }) });
    const out = `${workspace}/recursive-${anchored}`;
    assert.ok((await generate([writeRelease(files)], { out, standalone: true })).ok);
    const { release, standalone } = await importGenerated(`${out}/1.2.3`, true);
    for (const by of [await createValidator(release), standalone!]) {
      assert.equal(by.request("list_orders", { mutant: [{ mutant: [{}] }] }).ok, true);
      assert.equal(by.request("list_orders", { mutant: [{ mutant: ["x"] }] }).ok, false);
    }
    files[shared] = { ...(files[shared] as object), $schema: draft, $recursiveAnchor: true };
    Object.assign((files[shared] as { properties: object }).properties, {
      list: { $ref: "/schemas/1.2.3/" + request },
    });
    const { findings } = await lintRelease(writeRelease(files), checkNames);
    assert.ok(findings.some(({ rule, pointer }) => rule === "schema-draft" && pointer.endsWith("$recursiveRef")));
  });
}

test("in draft-07 words of later drafts say nothing, to ajv as to what is generated", async () => {
  const files = releaseOf({
    type: "array",
    prefixItems: [text],
    contains: text,
    maxContains: 1,
    unevaluatedItems: false,
  });
  Object.assign(files[request] as object, { $schema: "http://json-schema.org/draft-07/schema#" });
  const out = `${workspace}/words`;
  assert.ok((await generate([writeRelease(files)], { out, standalone: true })).ok);
  const { release, standalone } = await importGenerated(`${out}/1.2.3`, true);
  for (const by of [await createValidator(release), standalone!])
    assert.equal(by.request("list_orders", { mutant: ["a", "b", 1] }).ok, true);
});

test.run();
