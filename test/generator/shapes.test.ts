/** What a schema says is what its shape says: of small schemas one by one, and of every schema of the published releases. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadRelease } from "../../generator/load/load.js";
import { atPointer, isMap, type JsonMap, type Schema, walk } from "../../generator/load/walk.js";
import { readShapes } from "../../generator/model/read-shapes.js";
import { conjuncts, eachConditional, eachInside, type Shape } from "../../generator/model/shape.js";
import { validationOf } from "../../generator/model/validation.js";
import { schemaUri } from "../../runtime/contract/index.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { holds } from "../support/holds.js";
import { demandedAround, readings } from "./readings.js";

const read = (schema: Schema, others: Record<string, Schema> = {}) => {
  const schemas = new Map(
    Object.entries({ "a.json": schema, ...others }).map(([file, one]) => [file, { schema: one }]),
  );
  const { resolve } = readShapes(schemas);
  return { shape: resolve("a.json")!, resolve };
};

/** A shape without its places, for comparison. */
const bare = (shape: unknown): unknown => {
  if (Array.isArray(shape)) return shape.map(bare);
  if (typeof shape !== "object" || shape === null) return shape;
  return Object.fromEntries(
    Object.entries(shape)
      .filter(([key]) => key !== "pointer")
      .map(([key, value]) => [key, bare(value)]),
  );
};

for (const [name, schema, shape] of readings)
  test(`the shape that is read says ${name}`, () => assert.equal(bare(read(schema, { "b.json": true }).shape), shape));

test("a shape demands the kinds that its schema demands, whatever stands inside of it", () => {
  const values = [null, true, 0, "x", [], [1], {}, { a: 1 }, { b: 1 }, { a: [] }];
  for (const schema of demandedAround) {
    const { shape, resolve } = read(schema);
    const validate = new Ajv({ strict: false, logger: false }).compile(schema);
    for (const value of values)
      assert.is(holds(shape, value, resolve), validate(value), `${JSON.stringify(schema)} ${JSON.stringify(value)}`);
  }
});

test("a property that tells the members apart is read through references", () => {
  const member = (kind: string): Schema => ({ properties: { kind: { const: kind } }, required: ["kind"] });
  const { shape } = read({ oneOf: [{ $ref: "/b.json" }, member("c")] }, { "b.json": member("b") });
  assert.equal(shape.kind === "union" && shape.discriminator, { property: "kind", values: [["b"], ["c"]] });
  const open = read({ oneOf: [member("b"), { properties: { kind: { const: "c" } } }] });
  assert.is(open.shape.kind === "union" && open.shape.discriminator, undefined, "a member need not have it");
});

test("a pointer leads back to the schema", () => {
  const { shape } = read({ type: "object", properties: { "a/b": { type: "array", items: { type: "string" } } } });
  const seen: string[] = [];
  const visit = (one: Shape): void => {
    seen.push(one.pointer);
    eachInside(one, visit);
  };
  visit(shape);
  assert.equal(seen, ["a.json", "a.json#/properties/a~1b", "a.json#/properties/a~1b/items"]);
});

interface Payload {
  schema: string;
  payload: unknown;
}

/** Every object of a schema, as the schema says it: names, which of them are demanded, closed or not. */
const said = (schema: JsonMap) => ({
  names: [
    ...new Set([...Object.keys((schema.properties ?? {}) as JsonMap), ...((schema.required ?? []) as string[])]),
  ].sort(),
  required: [...new Set((schema.required ?? []) as string[])].sort(),
  closed: schema.additionalProperties === false,
});

const releases = publishedReleases();
for (const version of cellsOf(
  "ADBIND_CELLS=all ./run test test/generator/shapes.test.ts",
  releases.map((folder) => path.basename(folder)),
  1,
)) {
  const loaded = loadRelease(path.join(corpus, "releases", version));

  test(`${version}: every object of every schema is read as it is said`, async () => {
    const { schemas } = await loaded;
    const { resolve } = readShapes(schemas);
    const found = new Set<string>();
    const visit = (shape: Shape): void => {
      if (shape.kind === "object") {
        const hash = shape.pointer.indexOf("#");
        const [file, at] =
          hash < 0 ? [shape.pointer, ""] : [shape.pointer.slice(0, hash), shape.pointer.slice(hash + 1)];
        const wanted = said(atPointer(schemas.get(file)!.schema, at) as JsonMap);
        const properties = shape.properties.map(({ name }) => name);
        const required = shape.properties.filter((one) => one.required).map(({ name }) => name);
        assert.equal({ names: properties, required, closed: shape.openness === "closed" }, wanted, shape.pointer);
        found.add(shape.pointer);
      }
      eachInside(shape, visit);
      eachConditional(shape, visit);
    };
    let objects = 0;
    for (const [file, { schema }] of schemas) {
      visit(resolve(file)!);
      walk(schema, ({ properties }, place) => {
        const isBehindReference = place?.keyword === "definitions" || place?.keyword === "$defs";
        if (isMap(properties) && Object.keys(properties).length > 0 && !isBehindReference) objects++;
      });
    }
    assert.ok(found.size >= objects * 0.95 && objects > 500, `${found.size} objects read of ${objects}`);
  });

  test(`${version}: a shape and plain ajv say the same of payloads and of what is like them`, async () => {
    const file = path.join(corpus, "payloads", `${version}.json`);
    if (!existsSync(file)) return;
    const { schemas } = await loaded;
    const { resolve } = readShapes(schemas);
    const validation = validationOf(schemas);
    const ajv = new Ajv({
      strict: false,
      validateSchema: false,
      logger: false,
      validateFormats: false,
      code: { optimize: false },
    });
    for (const one of schemas.keys()) ajv.addSchema(JSON.parse(validation(one)), schemaUri(one));
    let refused = 0;
    for (const { schema, payload } of JSON.parse(readFileSync(file, "utf8")) as Payload[]) {
      if (!schemas.has(schema)) continue;
      const validate = ajv.getSchema(schemaUri(schema))!;
      for (const value of [payload, ...changes(payload)]) {
        const verdict = validate(value) as boolean;
        if (!verdict) refused++;
        assert.is(holds(resolve(schema)!, value, resolve), verdict, `${schema} ${JSON.stringify(value).slice(0, 300)}`);
      }
    }
    assert.ok(refused > 500, "what nobody refuses proves nothing");
  });
}

/** A value with one thing dropped or changed, at its first two levels. */
function* changes(value: unknown, depth = 2): Generator<unknown> {
  if (!isMap(value) || depth === 0) return;
  for (const [key, held] of Object.entries(value)) {
    const { [key]: _, ...rest } = value;
    yield rest;
    yield { ...value, [key]: typeof held === "string" ? 42 : "wrong" };
    for (const inner of changes(held, depth - 1)) yield { ...value, [key]: inner };
  }
}

test("conjuncts follow references once", () => {
  const { shape, resolve } = read(
    { allOf: [{ $ref: "/b.json" }, { $ref: "/b.json" }] },
    { "b.json": { type: "string" } },
  );
  assert.equal(
    conjuncts(shape, resolve).map(({ kind }) => kind),
    ["all", "reference", "scalar", "reference"],
  );
});

test.run();
