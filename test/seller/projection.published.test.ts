/** One handler, written in the newest release, for callers who pin three: each is answered in his, by that release's schemas. */

import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import { createSeller, type Seller } from "../../runtime/seller/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import type { Line } from "../interop/matrix/answers.js";
import { matrixParts } from "../interop/matrix/judge.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";

const lines: readonly Line[] = existsSync(path.join(corpus, "releases/3.2.4")) ? (await matrixParts()).lines : [];
const [newest] = lines as [Line];

const identity = { principal: "buyer-1" };
const share = {
  ...{ pricing_option_id: "share", pricing_model: "revenue_share", currency: "USD", commission_rate: 0.04 },
  ...{ event_type: "purchase", event_source_id: "shop", commission_basis_description: "Net sales." },
};
const cpm = { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 5 };
const named = { agent_url: "https://formats.example/mcp", id: "display_300x250_image" };

/** A product in the newest release: its formats are declarations of canonical ones. */
function product(id: string, pricing: JsonObject[], ref: JsonObject[] | undefined): JsonObject {
  const [base] = newest.answer("get_products").products as [JsonObject];
  const { format_ids: _, ...rest } = base;
  const declared = { format_kind: "image", params: { width: 300, height: 250 }, ...(ref && { v1_format_ref: ref }) };
  return { ...rest, product_id: id, pricing_options: pricing, format_options: [declared] };
}

const offered = (): JsonObject => ({
  ...newest.answer("get_products"),
  products: [
    product("both", [cpm, share], [named]),
    product("share_only", [share], [named]),
    product("canonical_only", [cpm], undefined),
    product("plain", [cpm], [named]),
  ],
});

async function withSeller(over: object, job: (seller: Seller) => Promise<void>): Promise<void> {
  const store = openSqliteStore({ path: `${tempFolder()}/seller.db` });
  const seller = await createSeller({
    ...{ release: newest.release, releases: lines.slice(1).map(({ release }) => release), store, specialisms: [] },
    ...{ baseUrl: "https://seller.example", name: "Seller of three", mode: "development", limits: { calls: false } },
    capabilities: { account: { supported_billing: ["agent"] } },
    validator: (release: unknown) => lines.find((line) => line.release === release)!.validator,
    tools: {
      get_products: (_request: JsonObject, ctx: { complete(data: JsonObject): object }) => ctx.complete(offered()),
      create_media_buy: (_request: JsonObject, ctx: { complete(data: JsonObject): object }) =>
        ctx.complete(newest.answer("create_media_buy")),
    },
    ...over,
  } as never);
  try {
    await job(seller as Seller);
  } finally {
    await seller.close();
    await store.close();
  }
}

const ask = (seller: Seller, line: Line, tool: string, over: JsonObject = {}): Promise<JsonObject> => {
  const { word } = line.release;
  const old = line.name === "3.0";
  const pin = { [`${word}_major_version`]: 3, [`${word}_version`]: line.name };
  const args = { ...pin, ...line.request(tool, over) };
  return seller.call({ tool, args, transport: old ? "mcp" : "a2a", identity }).then(({ payload }) => payload);
};

const ids = ({ products }: JsonObject): unknown[] =>
  (products as JsonObject[]).map((one) => [one.product_id, (one.pricing_options as unknown[]).length]);

const leftOut = ({ ext }: JsonObject): unknown =>
  isJsonObject(ext) ? (ext.adbind as JsonObject)?.left_out : undefined;

if (lines.length > 0) {
  test("each caller gets what his release has a place for, and is told what is missing", () =>
    withSeller({}, async (seller) => {
      const answers = new Map<string, JsonObject>();
      for (const line of lines) {
        const answer = await ask(seller, line, "get_products");
        assert.ok(Array.isArray(answer.products), `${line.name}: ${JSON.stringify(answer).slice(0, 600)}`);
        const judged = line.validator.arm("get_products", "completed", answer);
        assert.ok(
          judged.ok,
          `${line.name}: ${JSON.stringify(judged.ok ? [] : judged.errors.slice(0, 3))} ${JSON.stringify(answer).slice(0, 300)}`,
        );
        assert.ok(Array.isArray(answer.products), `${line.name}: ${JSON.stringify(answer).slice(0, 600)}`);
        answers.set(line.name, answer);
      }
      const all = [
        ["both", 2],
        ["share_only", 1],
        ["canonical_only", 1],
        ["plain", 1],
      ];
      assert.equal([ids(answers.get("3.2")!), leftOut(answers.get("3.2")!)], [all, undefined]);
      assert.equal(ids(answers.get("3.1")!), [
        ["both", 1],
        ["canonical_only", 1],
        ["plain", 1],
      ]);
      assert.equal(leftOut(answers.get("3.1")!), { "/products/*/pricing_options/*": 1, "/products/*": 1 });
      assert.equal(ids(answers.get("3.0")!), [
        ["both", 1],
        ["plain", 1],
      ]);
      assert.equal(leftOut(answers.get("3.0")!), { "/products/*/pricing_options/*": 1, "/products/*": 2 });
      const [first] = answers.get("3.0")!.products as [JsonObject];
      assert.equal(first.format_ids, [named], "the identity that a buyer of 3.0 can map");
    }));

  test("however many items a list has, each is mended, and what cannot be is left out", () => {
    const many = Array.from({ length: 500 }, (_, n) =>
      product(`p${n}`, n % 2 === 0 ? [cpm, share] : [share], n % 4 === 0 ? [named] : undefined),
    );
    const tools = {
      get_products: (_: JsonObject, ctx: { complete(data: JsonObject): object }) =>
        ctx.complete({ ...newest.answer("get_products"), products: many }),
    };
    return withSeller({ tools }, async (seller) => {
      for (const line of lines) {
        const answer = await ask(seller, line, "get_products");
        const count = (answer.products as JsonObject[] | undefined)?.length;
        assert.is(count, { "3.2": 500, "3.1": 250, "3.0": 125 }[line.name], JSON.stringify(answer).slice(0, 300));
        assert.ok(line.validator.arm("get_products", "completed", answer).ok, line.name);
        if (line.name === "3.1")
          assert.equal(leftOut(answer), { "/products/*/pricing_options/*": 250, "/products/*": 250 });
      }
    });
  });

  test("the state of a buy stands where the caller's release has it", () =>
    withSeller({}, async (seller) => {
      for (const line of lines) {
        const order = { packages: [{ product_id: "plain", budget: 100, pricing_option_id: "cpm" }] };
        const answer = await ask(seller, line, "create_media_buy", {
          ...order,
          idempotency_key: `key-of-${line.name}-0123456789`,
        });
        const { status, media_buy_status } = answer;
        const wanted = line.name === "3.0" ? ["active", undefined] : ["completed", "active"];
        assert.equal([status, media_buy_status], wanted, JSON.stringify(answer).slice(0, 300));
        assert.ok(line.validator.arm("create_media_buy", "completed", answer).ok);
      }
    }));

  test("what was done is not left out of an answer, and what a release demands is not made up", () => {
    const bought = newest.answer("create_media_buy");
    const tools = {
      get_products: (_: JsonObject, ctx: { complete(data: JsonObject): object }) =>
        ctx.complete({ products: [{ product_id: "bare" }] }),
      create_media_buy: (_: JsonObject, ctx: { complete(data: JsonObject): object }) =>
        ctx.complete({ ...bought, packages: [{ package_id: 7 }] }),
    };
    return withSeller({ tools }, async (seller) => {
      const line = lines.at(-1)!;
      const order = { packages: [{ product_id: "plain", budget: 100, pricing_option_id: "cpm" }] };
      const answer = await ask(seller, line, "create_media_buy", {
        ...order,
        idempotency_key: "key-of-what-was-done-01",
      });
      assert.is((answer.errors as JsonObject[])[0]?.code, "INVALID_ANSWER", JSON.stringify(answer).slice(0, 300));
    });
  });
} else console.log("skipped: there is no corpus of releases");

test.run();
