/** What of a product a package is for: its collections by name, and no cap where nobody can be told apart. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const dates = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const fixed = { pricing_option_id: "fixed", pricing_model: "cpm", currency: "USD", fixed_price: 10 };
const domain = "owner.example";
const collections = [{ publisher_domain: domain, collection_ids: ["news", "films"] }];
const product = (product_id: string, more: JsonObject): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [fixed], more },
});

async function opened() {
  const catalogue = listedCatalogue([
    product("open", { collections, collection_targeting_allowed: true }),
    product("bundle", { collections }),
    product("unseen", { identity: { persistent_identifier: false } }),
    product("seen", { identity: { persistent_identifier: true } }),
  ]);
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
  const order = (product_id: string, targeting_overlay: object) => ({
    ...{ ...key(), account, brand, ...dates },
    packages: [{ product_id, pricing_option_id: "fixed", budget: 100, targeting_overlay }],
  });
  const bought = async (product_id: string, targeting_overlay: object) => {
    const { media_buy_id, packages } = await seller.ask("create_media_buy", order(product_id, targeting_overlay));
    const [read] = (await seller.ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    const selection = packages[0].targeting_overlay?.collection_selection;
    assert.equal(read.packages[0].targeting_overlay?.collection_selection, selection);
    return { media_buy_id, selection, package_id: packages[0].package_id, revision: read.revision };
  };
  const refused = async (product_id: string, targeting_overlay: object) => {
    const { code, field = "" } = await seller.refused("create_media_buy", order(product_id, targeting_overlay));
    return [code, field.replace("packages[0].targeting_overlay.", "")];
  };
  return { ...seller, bought, notSold: refused };
}

const chosen = (...collection_ids: readonly string[]) => ({
  collection_selection: { mode: "selected", collections: [{ publisher_domain: domain, collection_ids }] },
});

if (there) {
  test("collections that are bought are read back by their names, also where all of them were wanted", async () => {
    const { ask, bought, close } = await opened();
    assert.equal((await bought("open", chosen("films"))).selection, chosen("films").collection_selection);
    assert.equal((await bought("bundle", chosen("films", "news"))).selection.mode, "selected");
    const all = await bought("bundle", { collection_selection: { mode: "default" } });
    assert.equal(all.selection, { mode: "selected", collections });
    const { media_buy_id, package_id, revision } = await bought("open", chosen("news"));
    const packages = [{ package_id, targeting_overlay: { collection_selection: { mode: "default" } } }];
    await ask("control_media_buy", { ...key(), account, media_buy_id, revision, packages });
    const [read] = (await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    assert.equal(read.packages[0].targeting_overlay.collection_selection, { mode: "selected", collections });
    await close();
  });

  test("a product that is sold as a whole is not sold in parts, and nobody buys what it does not have", async () => {
    const { notSold, close } = await opened();
    assert.equal(await notSold("bundle", chosen("news")), ["UNSUPPORTED_FEATURE", "collection_selection"]);
    const at = (place: number) => `collection_selection.collections[0].collection_ids[${place}]`;
    assert.equal(await notSold("open", chosen("news", "series")), ["REFERENCE_NOT_FOUND", at(1)]);
    assert.equal(await notSold("open", chosen("news", "news")), ["INVALID_REQUEST", at(1)]);
    await close();
  });

  test("a cap is refused where the product tells nobody apart, and the seller says that it heeds that", async () => {
    const { notSold, bought, ask, close } = await opened();
    const frequency_cap = { max_impressions: 3, per: "individuals", window: { interval: 1, unit: "days" } };
    assert.equal(await notSold("unseen", { frequency_cap }), ["UNSUPPORTED_FEATURE", "frequency_cap"]);
    await bought("seen", { frequency_cap });
    const { experimental_features: features } = await ask("get_adcp_capabilities", {});
    assert.ok(features.includes("media_buy.product_identity"));
    await close();
  });
}

test.run();
