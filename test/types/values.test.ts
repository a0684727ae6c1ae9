/** Values that a schema takes or refuses, held against its type and both validators: what is put together must mean the same. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { importGenerated, packageFolder } from "../generator/mutants/judge.js";
import { judgeLiterals } from "../support/literals.js";
import { changedRelease, schema } from "../support/release.js";

const text = { type: "string" };
const number = { type: "number" };
const pair = { type: "array", items: [text, number] };
const listed = { enum: ["y", { k: 1 }] };
const request = "media-buy/list-orders-request.json";

interface Held {
  schema: object;
  /** Values that the schema takes, as the type does. */
  right: unknown[];
  /** Values that both refuse. */
  wrong: unknown[];
  /** Values that the type takes, and validators refuse. */
  judged?: unknown[];
}

const held: Record<string, Held> = {
  "a list of pairs": {
    schema: { type: "array", items: pair },
    right: [[], [[]], [["a"], ["b", 1], ["c", 2, true]]],
    wrong: [["a"], ["a", 1], [[1]]],
  },
  "a pair that is more by another part": {
    schema: { allOf: [pair, { type: "array", items: [{ const: "a" }] }] },
    right: [[], ["a"], ["a", 1]],
    wrong: [["b"], ["a", "b"]],
  },
  "a list of listed values, of which one is an object": {
    schema: { type: "array", items: listed },
    right: [[], ["y"], [{ k: 1 }, "y"]],
    wrong: ["y", ["x"], [{ k: 2 }]],
  },
  "listed values that another part narrows": {
    schema: { allOf: [listed, { enum: ["x", { k: 1 }] }] },
    right: [{ k: 1 }],
    wrong: ["y", "x", { k: 2 }],
  },
  "an object or null, with names of a condition": {
    schema: { type: ["object", "null"], properties: { a: text }, dependencies: { a: { properties: { b: number } } } },
    right: [null, { a: "x" }, { a: "x", b: 1 }],
    wrong: ["x", { a: 1 }],
    judged: [{ a: "x", b: "y" }],
  },
  "lists in a list that each hold something": {
    schema: { type: "array", items: { type: "array", contains: number } },
    right: [[], [[1]], [["a", 1], [2]]],
    wrong: [[1], "a"],
    // ajv takes the second of these: it has found something in the list before.
    judged: [[[]], [[1], []], [["a"]]],
  },
  "a list of places that holds something": {
    schema: { type: "array", items: [text], contains: number, minItems: 0 },
    right: [["a", 1]],
    wrong: [[1]],
    judged: [[], ["a"]],
  },
  "lists by name that each hold something, or do not": {
    schema: { type: "object", additionalProperties: { type: "array", not: { contains: number } } },
    right: [{}, { a: ["x"], b: [] }, { a: [] }],
    wrong: [{ a: 1 }],
    judged: [{ a: [], b: [1] }],
  },
};

const source = changedRelease((files) => {
  const properties = Object.fromEntries(Object.values(held).map((one, index) => [`p${index}`, one.schema]));
  files[request] = schema(request, { title: "List Orders Request", type: "object", properties });
});
const workspace = packageFolder();
const { ok, releases } = await generate([source], { out: workspace, standalone: true });
assert.ok(ok, JSON.stringify(releases[0]?.findings));
const { release, standalone } = await importGenerated(`${workspace}/1.2.3`, true);
const validators = [await createValidator(release), standalone!];

for (const [index, [name, { right, wrong, judged = [] }]] of Object.entries(held).entries()) {
  const requests = (values: unknown[]): object[] => values.map((value) => ({ [`p${index}`]: value }));

  test(`${name}: types take what they should`, () => {
    const faults = judgeLiterals(
      `${workspace}/1.2.3`,
      requests([...right, ...judged, ...wrong]).map((value) => ({ type: "ListOrdersRequest", value })),
    );
    assert.equal(
      faults.map((found) => found.length === 0),
      [...[...right, ...judged].map(() => true), ...wrong.map(() => false)],
      JSON.stringify(faults.flat()),
    );
  });

  test(`${name}: both validators judge as the schema says`, () => {
    for (const by of validators)
      assert.equal(
        requests([...right, ...wrong, ...judged]).map((value) => by.request("list_orders", value).ok),
        [...right.map(() => true), ...[...wrong, ...judged].map(() => false)],
      );
  });
}

test.run();
