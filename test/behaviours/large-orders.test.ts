/** What one call does with an order of many packages grows with them, and not with their square: others wait for it meanwhile. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { checkAssigned } from "../../runtime/behaviours/media-buys/assigned.js";
import type { Database } from "../../runtime/db/types.js";
import { documentStore } from "../../runtime/store/documents.js";
import { openStore } from "../../runtime/store/stores.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const PACKAGES = 40;
const price = { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", floor_price: 1 };
const product = (_: unknown, at: number): Product => ({
  ...{ product_id: `p${at}`, name: "Run of site", description: "Display.", delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [price] },
});
const catalogue = listedCatalogue(Array.from({ length: PACKAGES }, product));
const folder = tempFolder();

/** Counts calls of a function of a global object while something runs. */
async function calls<T extends object>(
  of: T,
  name: keyof T & string,
  run: () => Promise<unknown>,
  counted: (first: unknown) => boolean = () => true,
): Promise<number> {
  const own = of[name] as (...given: unknown[]) => unknown;
  let count = 0;
  const counting = (...given: unknown[]) => {
    if (counted(given[0])) count += 1;
    return own.apply(of, given);
  };
  Object.assign(of, { [name]: counting });
  try {
    await run();
  } finally {
    Object.assign(of, { [name]: own });
  }
  return count;
}

/** A seller with a buy of many packages, and how often its database was asked. */
async function selling(version: string) {
  const store = await openStore(`sqlite:${path.join(folder, `${randomUUID()}.db`)}`);
  const database = store.database as Database;
  const ports = { catalogue };
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports, database: store });
  const line = (_: unknown, at: number) => ({ product_id: `p${at}`, ...{ pricing_option_id: "cpm", bid_price: 3 } });
  const packages = Array.from({ length: PACKAGES }, (_, at) => ({ ...line(_, at), budget: 1_000 }));
  const times = { start_time: "asap", end_time: "2099-01-01T00:00:00Z" };
  const buy = await seller.ask("create_media_buy", { ...key(), account, brand, ...times, packages });
  const close = async (): Promise<void> => {
    await seller.close();
    await store.close();
  };
  return { ...seller, database, buy, close, ids: buy.packages.map((one: { package_id: string }) => one.package_id) };
}

const creative = (creative_id: string) => ({
  ...{ creative_id, name: creative_id },
  format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } },
});

/** A text that is kept of the buy. */
const isBuy = (text: unknown): boolean => typeof text === "string" && /^."media_buy_id".*"packages":/.test(text);

for (const version of versions) {
  test(`${version}: an update of many packages looks at the dates of each a few times`, async () => {
    const { ask, buy, ids, close } = await selling(version);
    const packages = ids.map((package_id: string) => ({ package_id, budget: 2_000 }));
    const update = () =>
      ask("update_media_buy", { ...key(), account, media_buy_id: buy.media_buy_id, revision: 1, packages });
    const parsed = await calls(Date, "parse", update);
    assert.ok(parsed < 25 * PACKAGES, `${parsed} dates`);
    await close();
  });

  test(`${version}: figures of many packages ask for the products of all of them at once`, async () => {
    const { ask, buy, database, close } = await selling(version);
    const report = () => ask("get_media_buy_delivery", { media_buy_ids: [buy.media_buy_id] });
    const asked = await calls(database, "query", report);
    assert.ok(asked < PACKAGES, `${asked} questions to the database`);
    await close();
  });

  test(`${version}: figures of many buys leave turns to others`, async () => {
    const { ask, close } = await selling(version);
    const packages = [{ product_id: "p0", pricing_option_id: "cpm", budget: 1_000, bid_price: 3 }];
    const times = { start_time: "asap", end_time: "2099-01-01T00:00:00Z" };
    const ids: string[] = [];
    for (let n = 0; n < 20; n++)
      ids.push((await ask("create_media_buy", { ...key(), account, brand, ...times, packages })).media_buy_id);
    let [turns, asking] = [0, true];
    const turn = (): void => {
      turns += 1;
      if (asking) setImmediate(turn);
    };
    setImmediate(turn);
    await ask("get_media_buy_delivery", { media_buy_ids: ids, include_package_daily_breakdown: true });
    asking = false;
    assert.ok(turns >= 2 * ids.length, `${turns} turns`);
    await close();
  });

  test(`${version}: creatives that are assigned to many packages of a buy, or taken away, are one change of it`, async () => {
    const { ask, buy, ids, close } = await selling(version);
    const named = ids.map((_: string, at: number) => `c${at}`);
    const sync = (names: readonly string[], more: object) =>
      ask("sync_creatives", { ...key(), account, creatives: names.map(creative), ...more });
    const assignments = ids.map((package_id: string, at: number) => ({ creative_id: named[at], package_id }));
    const assigning = await calls(JSON, "parse", () => sync(named, { assignments }), isBuy);
    assert.ok(assigning <= 4, `the buy is read ${assigning} times`);
    const shown = async () => (await ask("get_media_buys", { media_buy_ids: [buy.media_buy_id] })).media_buys[0];
    const { revision, packages } = await shown();
    assert.is(revision, 2);
    assert.equal(
      packages.map((one: { creative_assignments?: { creative_id: string }[]; creative_approvals: object[] }) => [
        one.creative_approvals.length,
      ]),
      ids.map(() => [1]),
    );
    const removing = await calls(JSON, "parse", () => sync(["another"], { delete_missing: true }), isBuy);
    assert.ok(removing <= 4, `the buy is read ${removing} times`);
    const { impairments = [], health } = await shown();
    if (health !== undefined) assert.equal([health, impairments.length], ["impaired", PACKAGES]);
    await close();
  });
}

if (!existsSync(path.join(corpus, "releases", "3.2.4"))) console.log(`skipped: no release 3.2.4 in ${corpus}`);
else
  test("of the products that fit a wish those are kept that a page shows", async () => {
    const store = await openStore(`sqlite:${path.join(folder, `${randomUUID()}.db`)}`);
    const made = (_: unknown, at: number): Product => ({
      ...product(_, at),
      more: { overlay_support: { geo_countries: true } },
    });
    const all = listedCatalogue(Array.from({ length: PACKAGES }, made));
    const options = { ports: { catalogue: all }, database: store };
    const { ask, close } = await behavingSeller("3.2.4", ["sales_non_guaranteed"], options);
    const targeting_overlay = { geo_countries: ["US"] };
    const wish = { buying_mode: "wholesale", account, targeting_overlay, pagination: { max_results: 3 } };
    const { products, pagination } = await ask("get_products", wish);
    assert.equal([products.length, pagination.total_count], [3, PACKAGES]);
    const kept = await documentStore(store.database as Database).list("configured_product", "buyer");
    assert.equal(kept.map(({ id }) => id).sort(), products.map((one: { product_id: string }) => one.product_id).sort());
    await close();
    await store.close();
  });

test("turns of many creatives in one package are each compared once", async () => {
  const all = Array.from({ length: 200 }, (_, at) => ({
    ...{ creative_id: `c${at}`, rotation_mode: "sequential", sequence_position: at },
  }));
  const check = async () => checkAssigned({} as never, all, undefined, "creative_assignments");
  const written = await calls(JSON, "stringify", check);
  assert.ok(written <= 3 * all.length, `${written} turns`);
  const twice = [...all, all[7]!];
  const call = { shapes: { knowsError: () => true } } as never;
  assert.throws(() => checkAssigned(call, twice, undefined, "a"), /another creative's/);
});

test.run();
