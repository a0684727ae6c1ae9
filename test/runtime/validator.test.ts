/** Judging values nobody has judged before: the verdict is ajv's, and what it costs is bounded by the size of the value. */
import { Ajv } from "ajv";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { type AnyValidator, createValidator } from "../../runtime/validate/index.js";
import { validatorsFrom } from "../../runtime/validate/source.js";

const request = {
  idempotency_key: "0123456789abcdef",
  account: { account_id: "a" },
  brand: { domain: "acme.example" },
  start_time: "2026-04-01T00:00:00Z",
  end_time: "2026-04-30T23:59:59Z",
};

test("all errors of a small value are told", async () => {
  const validator = await createValidator(release);
  const judged = validator.request("create_media_buy", { ...request, packages: [{}, { product_id: 1 }] });
  assert.is(judged.ok, false);
  const pointers = judged.ok ? [] : judged.errors.map(({ pointer }) => pointer);
  assert.ok(pointers.includes("/packages/0/product_id"));
  assert.ok(pointers.includes("/packages/1/product_id"));
  assert.ok(pointers.includes("/packages/1/pricing_option_id"));
});

/** Reads of a value's items, counted: what judging it costs, on a machine of any speed. */
function counted<T>(items: readonly T[]): { items: readonly T[]; reads: () => number } {
  let reads = 0;
  const watched = new Proxy(items, {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) reads += 1;
      return Reflect.get(target, name);
    },
  });
  return { items: watched, reads: () => reads };
}

test("a megabyte of errors costs no more than reading it", async () => {
  const validator = await createValidator(release);
  validator.request("create_media_buy", request);
  for (const item of [{}, 1, { product_id: [] }]) {
    const { items: packages, reads } = counted(Array.from({ length: 100_000 }, () => item));
    const judged = validator.request("create_media_buy", { ...request, packages });
    assert.is(judged.ok, false);
    assert.ok(!judged.ok && judged.errors.length > 0 && judged.errors.length < 1_000);
    assert.ok(reads() > 0 && reads() < 10 * packages.length, `${reads()} reads`);
  }
});

const schema = { type: "array", uniqueItems: true };
const unique = {
  tools: {},
  schemas: async () => ({ "list.json": JSON.stringify(schema) }),
} as unknown as Release;

test("items are unique exactly where ajv says so", async () => {
  const validator = await createValidator(unique);
  const plain = new Ajv({ strict: false }).compile(schema);
  const item = fc.oneof(
    fc.constantFrom<unknown>(
      0,
      -0,
      1,
      "1",
      true,
      null,
      [],
      {},
      "",
      [1],
      ["1"],
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: "1" },
    ),
    // ajv's own comparison calls what an object has under these names.
    fc
      .jsonValue({ depthSize: "small" })
      .filter((value) => !/"(toString|valueOf|constructor)":/.test(JSON.stringify(value))),
  );
  assert.is(validator.schema("list.json", [{ toString: 0 }, { toString: 1 }]).ok, true);
  assert.is(validator.schema("list.json", [{ toString: 0 }, { toString: 0 }]).ok, false);
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), (items) => {
      // As it comes off the wire.
      const value = JSON.parse(JSON.stringify(items));
      assert.is(validator.schema("list.json", value).ok, plain(value));
    }),
    { numRuns: 2_000, seed: 3 },
  );
});

test("a hundred thousand unique texts are told apart in one pass", async () => {
  const validator = await createValidator(unique);
  const all = Array.from({ length: 100_000 }, (_, n) => ({ n }));
  const { items, reads } = counted(all);
  assert.is(validator.schema("list.json", items).ok, true);
  assert.ok(reads() >= all.length && reads() < 10 * all.length, `${reads()} reads`);
  assert.is(validator.schema("list.json", [...all, { n: 7 }]).ok, false);
});

test("whoever is given no validator shares one by release, and one that could not be made is made anew", async () => {
  const text = JSON.stringify({ type: "string" });
  let reads = 0;
  const schemas = async () => {
    reads += 1;
    if (reads === 1) throw new Error("the disk is gone");
    return { "text.json": text };
  };
  const [first, second] = [
    { tools: {}, schemas },
    { tools: {}, schemas },
  ] as unknown as [Release, Release];
  const made = (): Promise<AnyValidator> => validatorsFrom(undefined, [first, second])!(first);
  await made().then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, "the disk is gone"),
  );
  const validator = await made();
  assert.is(await made(), validator);
  assert.is(reads, 2);
  assert.is(validator.schema("text.json", "a").ok, true);
  assert.is.not(await validatorsFrom(undefined, [first, second])!(second), validator);
});

test.run();
