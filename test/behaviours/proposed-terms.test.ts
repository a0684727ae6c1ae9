/** What a buyer demands of a proposal stands in its terms, and what is agreed to is what is booked: whom it is for, and how often. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const fixed = { pricing_option_id: "fixed", pricing_model: "cpm", currency: "USD", fixed_price: 10 };
const product = (product_id: string, more: JsonObject): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [fixed], more },
});
const counted = { frequency_cap: true, frequency_cap_constraints: { supported_per_units: ["individuals"] } };
const aggregate_frequency_capping = {
  ...{ supported_control_modes: ["max_impressions"], supported_per_units: ["individuals"] },
  max_impressions_constraints: { minimum: 1, maximum: 10 },
  window_constraints: [{ unit: "campaign", allowed_intervals: [1] }],
};
const cap = (max_impressions: number) => ({
  ...{ max_impressions, per: "individuals", window: { interval: 1, unit: "campaign" } },
});
const us = { geo_countries: ["US"] };

async function opened(capabilities: JsonObject = { media_buy: { aggregate_frequency_capping } }) {
  const catalogue = listedCatalogue([
    product("both", { overlay_support: { geo_countries: true, language: true }, media_buy_support: counted }),
    product("neither", {}),
  ]);
  const seller = await behavingSeller(version, ["sales_proposal_mode"], { ports: { catalogue }, capabilities });
  const propose = (criteria: object) =>
    seller.ask("request_proposals", { ...key(), account, brief: "Display for both and neither", criteria });
  const refine = async (proposal_id: string, wish: object) => {
    const refinements = [{ proposal_id, action: "revise", ...wish }];
    return (await seller.ask("refine_proposals", { ...key(), refinements })).results[0];
  };
  const accept = async (from: { proposal_id: string }) => {
    const refinements = [{ proposal_id: from.proposal_id, action: "finalize" }];
    const [{ proposal }] = (await seller.ask("refine_proposals", { ...key(), refinements })).results;
    const { proposal_id, terms_digest: proposal_terms_digest } = proposal;
    const accepted = { ...key(), account, proposal_id, proposal_terms_digest };
    const { media_buy_id } = await seller.ask("accept_proposal", accepted);
    const [read] = (await seller.ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    return read;
  };
  return { ...seller, propose, refine, accept };
}

const boughtIn = (proposal: { commercial_terms: { purchases: JsonObject[] } }) =>
  proposal.commercial_terms.purchases.map(({ targeting_overlay }) => targeting_overlay);

if (there) {
  test("targeting that a proposal is asked for is in its terms, and in what is booked by it and by its amendment", async () => {
    const { propose, refine, accept, close } = await opened();
    const [proposal, ...others] = (await propose({ targeting_overlay: us })).proposals;
    assert.equal([boughtIn(proposal), others.length], [[us], 0]);
    const buy = await accept(proposal);
    assert.equal(buy.packages[0].targeting_overlay, us);
    const german = { ...us, language: ["de"] };
    const { proposals } = await refine(buy.accepted_proposal_id, {
      change_kind: "amendment",
      criteria: { targeting_overlay: german },
    });
    assert.equal(boughtIn(proposals[0]), [german]);
    assert.equal((await accept(proposals[0])).packages[0].targeting_overlay, german);
    const { outcome } = await propose({ targeting_overlay: { geo_countries: ["US"] }, product_ids: ["neither"] });
    assert.is(outcome, "rejected");
    await close();
  });

  test("a cap over all of a buy is in the terms of what is proposed, revised, and booked", async () => {
    const { propose, refine, accept, close } = await opened();
    const [{ proposal_id, commercial_terms: terms }] = (await propose({ media_buy_frequency_cap: cap(3) })).proposals;
    assert.equal(terms.frequency_cap, cap(3));
    assert.equal(
      terms.purchases.map((one: JsonObject) => one.product_id),
      ["both"],
    );
    const replaced = await refine(proposal_id, { criteria: { media_buy_frequency_cap: cap(5) } });
    assert.equal(replaced.proposals[0].commercial_terms.frequency_cap, cap(5));
    const cleared = await refine(proposal_id, { remove_media_buy_frequency_cap: true });
    assert.equal([cleared.outcome, cleared.proposals[0].commercial_terms.frequency_cap], ["revised", undefined]);
    for (const wish of [
      { product_changes: { neither: "include" } },
      { criteria: { media_buy_frequency_cap: cap(50) } },
    ]) {
      const { outcome, unsatisfied_constraints: broken } = await refine(proposal_id, wish);
      assert.equal([outcome, broken], ["unable", ["media_buy_frequency_cap"]]);
    }
    const buy = await accept(replaced.proposals[0]);
    assert.equal(buy.frequency_cap, cap(5));
    const { proposals } = await refine(buy.accepted_proposal_id, {
      ...{ change_kind: "amendment", remove_media_buy_frequency_cap: true },
    });
    assert.is((await accept(proposals[0])).frequency_cap ?? undefined, undefined);
    await close();
  });

  test("a plan to a result is refused, which nobody makes here, and a list of products does not mind it", async () => {
    const { ask, propose, refused, close } = await opened();
    const outcome_target = { goal: { kind: "metric", metric: "clicks" }, volume: 1_000 };
    const asked = { ...key(), account, brief: "Display for both", criteria: { outcome_target } };
    const { code, field } = await refused("request_proposals", asked);
    assert.equal([code, field], ["UNSUPPORTED_FEATURE", "criteria.outcome_target"]);
    const [{ proposal_id }] = (await propose({ product_ids: ["both"] })).proposals;
    const refinements = [{ proposal_id, action: "revise", criteria: { outcome_target } }];
    const revised = await refused("refine_proposals", { ...key(), refinements });
    assert.equal([revised.code, revised.field], ["UNSUPPORTED_FEATURE", "refinements[0].criteria.outcome_target"]);
    assert.is((await ask("list_products", { criteria: { outcome_target } })).products.length, 2);
    await close();
  });

  test("products without a counter of the whole buy are not found where one is asked for", async () => {
    const { ask, close } = await opened();
    const silent = await opened({});
    const found = async (seller: { ask: typeof ask }, criteria: object) =>
      ((await seller.ask("list_products", { criteria })).products as JsonObject[]).map((one) => one.product_id);
    assert.equal(await found({ ask }, { required_media_buy_support: { frequency_cap: true } }), ["both"]);
    assert.equal(await found({ ask }, { media_buy_frequency_cap: cap(3) }), ["both"]);
    assert.equal(await found({ ask }, { media_buy_frequency_cap: cap(30) }), []);
    assert.is((await silent.propose({ media_buy_frequency_cap: cap(3) })).outcome, "rejected");
    await silent.close();
    await close();
  });
}

test.run();
