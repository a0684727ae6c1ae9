/** Compiled schemas judge as ajv does: the same verdict, and the same errors in the same order. */
import { Ajv } from "ajv";
import formats from "ajv-formats";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bodyText } from "../../generator/emit/schema-node.js";
import type { AnyTool, SchemaNode } from "../../runtime/contract/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { precompiled } from "../../runtime/validate/standalone.js";

type Json = unknown;
type Schema = Record<string, Json> | boolean;

const tool = { name: "t", request: "t.json", arms: {}, statuses: [] } as unknown as AnyTool;

/** The text that the generator emits, as the module that holds it would read it; references mean the schema itself. */
function nodeOf(schema: Schema): SchemaNode {
  const text = bodyText(schema as never, "", { nameOf: () => "root", heldAt: () => undefined });
  return new Function(`const root = ${text}; return root;`)();
}

/** Judges values in both ways. */
async function bothWays(schema: Schema): Promise<(value: Json) => void> {
  const compiled = precompiled({ t: { request: nodeOf(schema), arms: {} } });
  const schemas = async () => ({ "t.json": JSON.stringify(schema) });
  const plain = await createValidator({ tools: { t: tool }, schemas } as never);
  return (value) => {
    const expected = plain.request("t" as never, value);
    assert.equal(compiled.request("t", value), expected, `${JSON.stringify(schema)} of ${JSON.stringify(value)}`);
  };
}

const probes: Json[] = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e21,
    7,
    "",
    "a",
    "ab",
    "abc",
    "😀",
    "😀😀",
    "2026-01-01",
    "x@y.example",
    "not a uri",
  ],
  ...[[], [1], [1, 1], [1, "a"], [{ a: 1 }, { a: 1 }], [[], {}], ["a", "b", "c"], [null, 1.5]],
  ...[{}, { a: 1 }, { a: "x", b: 2 }, { b: 1 }, { a: null }, { a: { a: { a: 1 } } }, { "a/b~c": 1 }],
  ...[{ a: 1, b: 2, c: 3 }, { a: [] }, JSON.parse('{"__proto__":1,"a":1}')],
];

/** Each keyword by itself and among those it has to do with. */
const schemas: Schema[] = [
  ...[true, false, {}],
  ...["string", "number", "integer", "boolean", "null", "object", "array", ["string", "null"], ["object", "array"]].map(
    (type) => ({ type }),
  ),
  ...[
    { type: "string", nullable: true },
    { type: ["string", "null"], nullable: true, minLength: 2 },
  ],
  ...[{ const: 1 }, { const: null }, { const: { a: 1 } }, { const: [1] }, { enum: [1, "a", null, { a: 1 }, []] }],
  ...[
    { type: "string", enum: ["a"] },
    { type: "integer", enum: [1, 7] },
    { type: ["integer", "null"], minimum: 1 },
  ],
  ...[{ minimum: 1 }, { maximum: 1 }, { exclusiveMinimum: 1 }, { exclusiveMaximum: 1 }, { multipleOf: 0.5 }],
  ...[
    { type: "number", minimum: 2, multipleOf: 3 },
    { type: "integer", minimum: 2, maximum: 0 },
  ],
  ...[{ minLength: 2 }, { maxLength: 1 }, { type: "string", minLength: 3, pattern: "^x", format: "date" }],
  ...["date", "uri", "email", "no-such-format", "int32"].map((format) => ({ format })),
  ...[{ required: ["a", "b"] }, { required: ["toString", "a"] }, { required: [] }, { type: "object", required: [] }],
  ...[{ properties: { a: { type: "string" } } }, { properties: { a: true, b: false } }, { minProperties: 2 }],
  ...[{ maxProperties: 1 }, { propertyNames: { minLength: 2 } }, { additionalProperties: { type: "string" } }],
  { type: "object", properties: { b: { type: "string" }, a: { type: "null" } }, required: ["b", "c"] },
  { properties: { a: {} }, additionalProperties: false, required: ["b"] },
  { patternProperties: { "^a": { type: "string" }, b$: { minimum: 5 } }, additionalProperties: false },
  { dependencies: { a: ["b", "c"], b: { required: ["d"] } } },
  ...[{ items: { type: "integer" } }, { items: [{ type: "integer" }, { type: "string" }] }, { items: false }],
  ...[
    { items: [{ type: "integer" }], additionalItems: false },
    { items: [true], additionalItems: { type: "null" } },
  ],
  ...[{ minItems: 2 }, { maxItems: 1 }, { uniqueItems: true }, { contains: { const: 1 } }, { contains: true }],
  { type: "array", minItems: 2, items: { type: "string", minLength: 2 }, uniqueItems: true },
  ...[{ not: { type: "string" } }, { not: {} }, { anyOf: [{ type: "string" }, { minimum: 1 }] }, { anyOf: [true] }],
  ...[{ oneOf: [{ type: "number" }, { minimum: 1 }, { type: "object", required: ["a"] }] }, { oneOf: [{}, {}] }],
  ...[
    { allOf: [{ type: "object" }, { required: ["a"] }, true] },
    JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}'),
  ],
  JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"type":"string"}}'),
  JSON.parse('{"if":{"type":"object"},"else":{"type":"string"}}'),
  { if: { type: "string" } },
  { type: "object", properties: { a: { $ref: "/t.json" } }, additionalProperties: false },
];

test("each keyword says what ajv says of it", async () => {
  for (const schema of schemas) {
    const judge = await bothWays(schema);
    for (const probe of probes) judge(probe);
  }
});

const { schema: anySchema } = fc.letrec<{ schema: Schema }>((tie) => {
  const inner = tie("schema");
  const names = fc.constantFrom("a", "b", "c", "a/b~c");
  const small = fc.nat(3);
  const optional = (record: Record<string, fc.Arbitrary<unknown>>) => fc.record(record, { requiredKeys: [] });
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<Schema>(
        true,
        false,
        {},
        { type: "string" },
        { type: "integer" },
        { const: "a" },
        { enum: [1, "a"] },
      ),
      optional({
        type: fc.oneof(
          fc.constantFrom("string", "integer", "number", "object", "array", "null", "boolean"),
          fc.uniqueArray(fc.constantFrom("string", "integer", "object", "array", "null"), {
            minLength: 1,
            maxLength: 3,
          }),
        ),
        minimum: small,
        maxLength: small,
        minLength: small,
        minItems: small,
        uniqueItems: fc.boolean(),
        required: fc.uniqueArray(names, { maxLength: 3 }),
        properties: fc.dictionary(names, inner, { maxKeys: 3 }),
        additionalProperties: inner,
        propertyNames: optional({ maxLength: small }),
        items: fc.oneof(inner, fc.array(inner, { minLength: 1, maxLength: 2 })),
        additionalItems: inner,
        contains: inner,
        not: inner,
        anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
        oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
        allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
        if: inner,
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
        then: inner,
        else: inner,
        dependencies: fc.dictionary(names, fc.oneof(fc.uniqueArray(names, { maxLength: 2 }), inner), { maxKeys: 2 }),
        $ref: fc.constant("/t.json"),
      }) as fc.Arbitrary<Schema>,
    ),
  };
});

/** A schema that refers to itself without going into its value never ends, with ajv as with us. */
const endless = (schema: Schema): boolean =>
  typeof schema === "object" &&
  (schema.$ref !== undefined ||
    ["not", "if", "then", "else"].some((key) => endless((schema[key] ?? true) as Schema)) ||
    ["anyOf", "oneOf", "allOf"].some((key) => ((schema[key] ?? []) as Schema[]).some(endless)) ||
    Object.values((schema.dependencies ?? {}) as object).some((one) => !Array.isArray(one) && endless(one)));

/** ajv passes over what stands beside the items of a tuple where an array is empty: the one thing in which we do not follow it. */
const misread = (schema: Json): boolean =>
  typeof schema === "object" &&
  schema !== null &&
  (("contains" in schema && Array.isArray((schema as { items?: Json }).items)) || Object.values(schema).some(misread));

test("an empty array contains nothing, also where its items are a tuple", async () => {
  const schema = { items: [{ type: "integer" }], contains: true };
  const compiled = precompiled({ t: { request: nodeOf(schema), arms: {} } });
  const judged = compiled.request("t", []);
  assert.equal(judged.ok ? [] : judged.errors.map(({ keyword }) => keyword), ["contains"]);
  assert.ok(compiled.request("t", [1]).ok);
});

test("whatever the schema and the value, both ways say the same", async () => {
  const key = fc.constantFrom("a", "b", "c", "a/b~c", "d");
  const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<Json>(null, true, 0, 1, 2.5, -3, "", "a", "ab", "abcd", "😀"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(anySchema, fc.array(values, { minLength: 5, maxLength: 12 }), async (schema, some) => {
      fc.pre(!endless(schema) && !misread(schema));
      const judge = await bothWays(schema);
      for (const one of some) judge(one);
    }),
    { numRuns: 300 },
  );
});

test("a value cannot break what judges it", () => {
  const compiled = precompiled({
    t: { request: nodeOf({ anyOf: [{ const: { a: 1 } }, { enum: [{ b: 1 }] }] }), arms: {} },
  });
  for (const hostile of [
    '{"toString":1}',
    '{"valueOf":{},"constructor":null}',
    '{"__proto__":{"a":1}}',
    '{"toJSON":1}',
  ])
    assert.is(compiled.request("t", JSON.parse(hostile)).ok, false, hostile);
  assert.is(compiled.request("t", { b: 1 }).ok, true);
});

test("of a value too large to look through, the verdict is ajv's and an error is told", async () => {
  const schema = { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer", minimum: 5 }] } };
  const compiled = precompiled({ t: { request: nodeOf(schema), arms: {} } });
  const ajv = new Ajv({ strict: false });
  formats.default(ajv);
  const plain = ajv.compile(schema);
  for (const last of [7, 3, "a", null]) {
    const value = [...Array(5_000).fill(9), last];
    const judged = compiled.request("t", value);
    assert.is(judged.ok, plain(value));
    if (!judged.ok)
      assert.equal(judged.errors.at(-1), {
        pointer: "/5000",
        keyword: "anyOf",
        message: "must match a schema in anyOf",
      });
  }
});

test("what the validator does not have is a named error", () => {
  const validator = precompiled({ t: { request: true, arms: { completed: null } } });
  const code = (job: () => unknown): string => {
    try {
      job();
      return "";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  assert.is(
    code(() => validator.request("other" as never, {})),
    "schema_missing",
  );
  assert.is(
    code(() => validator.request("toString" as never, {})),
    "schema_missing",
  );
  assert.is(
    code(() => validator.arm("t", "working" as never, {})),
    "schema_missing",
  );
  assert.is(
    code(() => validator.schema("t.json", {})),
    "schema_missing",
  );
  assert.equal(validator.arm("t", "completed" as never, 5), { ok: true, data: 5 });
});

test.run();
