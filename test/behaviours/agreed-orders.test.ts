/** What is agreed to is what is booked: sums, prices, names, and the day of a cap; and what is said twice is said the same. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import canonicalize from "canonicalize";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const fixed = { pricing_option_id: "fixed", pricing_model: "cpm", currency: "USD", fixed_price: 10 };
const bids = { pricing_option_id: "bids", pricing_model: "cpm", currency: "USD", floor_price: 1 };
const product = (product_id: string, more: Partial<Product> = {}): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [fixed, bids] },
  ...more,
});
const onlyPaused = product("held", { more: { allowed_actions: [{ action: "pause", modes: ["self_serve"] }] } });

async function opened(version: string) {
  const products = [product("free")];
  const { adServer, told } = notingAdServer({ dailyCaps: ["media_buy"] });
  const catalogue = { ...listedCatalogue([]), products: async () => products };
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue, adServer } });
  const read = async (id: string) =>
    (await seller.ask("get_media_buys", { account, media_buy_ids: [id] })).media_buys[0];
  return { ...seller, products, told, read };
}

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

if (there) {
  async function buying() {
    const seller = await opened(version);
    const { feed_version } = await seller.ask("list_products", {});
    const purchase = { product_id: "free", pricing_option_id: "fixed", budget: 1_000 };
    const order = (more: object = {}, of: object = {}) => ({
      ...{ ...key(), account, feed_version, purchases: [{ ...purchase, ...of }], ...flight, ...more },
    });
    return { ...seller, order };
  }

  test(`${version}: published offers are bought for the sum that is said, in its currency`, async () => {
    const { refused, ask, order, told, close } = await buying();
    for (const total_budget of [
      { amount: 50, currency: "USD" },
      { amount: 1_000, currency: "EUR" },
    ])
      assert.match((await refused("buy_products", order({ total_budget }))).field ?? "", /^total_budget/);
    assert.is(told.length, 0);
    await ask("buy_products", order({ total_budget: { amount: 1_000, currency: "USD" } }));
    assert.is(told[0]!.lines[0]!.budget, 1_000);
    await close();
  });

  test(`${version}: what is wrong with an offer that is bought is told by its place in the request`, async () => {
    const { refused, order, told, close } = await buying();
    for (const [more, field] of [
      [{ budget: 1e15 }, "purchases[0].budget"],
      [{ pricing_option_id: "nobodys" }, "purchases[0].pricing_option_id"],
    ] as const)
      assert.is((await refused("buy_products", order({}, more))).field, field);
    assert.is(told.length, 0);
    await close();
  });

  test(`${version}: a price that has changed is not bought at by a buyer who names the feed alone`, async () => {
    const { refused, order, products, close } = await buying();
    products[0] = product("free", { pricing_options: [{ ...fixed, fixed_price: 90 }] });
    const { code, field } = await refused("buy_products", order());
    assert.equal([code, field], ["CONFLICT", "feed_version"]);
    await close();
  });

  test(`${version}: a digest is over the terms that are shown, and what is cleared is not among them`, async () => {
    const { ask, order, told, read, close } = await buying();
    const overlay = { targeting_overlay: { geo_countries: ["US"], device_type: null }, catalog_ids: ["shoes"] };
    const bought = await ask("buy_products", order({ name: "Spring", daily_budget_cap: 20 }, overlay));
    const { commercial_terms: terms, terms_digest } = bought.accepted_proposal;
    assert.is(terms_digest, `sha256:${createHash("sha256").update(canonicalize(terms)!).digest("base64url")}`);
    assert.equal(terms.purchases[0].targeting_overlay, { geo_countries: ["US"] });
    assert.is(bought.name, "Spring");
    assert.equal(told[0]!.lines[0]!.terms, { targeting_overlay: { geo_countries: ["US"] }, catalog_ids: ["shoes"] });
    const { media_buy_id, revision } = bought;
    await ask("control_media_buy", { ...key(), account, media_buy_id, revision, name: "Summer" });
    const { name, budget_cap_timezone } = await read(media_buy_id);
    assert.equal([name, budget_cap_timezone], ["Summer", "UTC"]);
    await close();
  });

  test(`${version}: an order is answered with its name, its caps and the day that they hold for`, async () => {
    const { ask, close } = await opened(version);
    const packages = [{ product_id: "free", pricing_option_id: "fixed", budget: 1_000 }];
    const order = { ...key(), account, brand, ...flight, packages, name: "Spring", daily_budget_cap: 20 };
    const booked = await ask("create_media_buy", order);
    assert.equal([booked.name, booked.daily_budget_cap, booked.budget_cap_timezone], ["Spring", 20, "UTC"]);
    const { media_buy_id } = booked;
    const changed = await ask("update_media_buy", { ...key(), account, media_buy_id, name: "Summer" });
    assert.is(changed.name, "Summer");
    await close();
  });

  test(`${version}: an amendment that was agreed to is made, with what its acceptance says of the delivery`, async () => {
    const { ask, read, products, close } = await opened(version);
    products[0] = onlyPaused;
    const brief = "Plan a USD 3,000 display campaign from January 5 through March 31, 2099.";
    const one = async (refinement: object) =>
      (await ask("refine_proposals", { ...key(), refinements: [refinement] })).results[0];
    const bought = async (proposal_id: string, more: object = {}) => {
      const { proposal } = await one({ proposal_id, action: "finalize" });
      const agreed = { proposal_id: proposal.proposal_id, proposal_terms_digest: proposal.terms_digest };
      const answer = await ask("accept_proposal", { ...key(), account, ...agreed, ...more });
      return { ...agreed, media_buy_id: answer.media_buy_id };
    };
    const [draft] = (await ask("request_proposals", { ...key(), account, brief })).proposals;
    const { proposal_id, media_buy_id } = await bought(draft.proposal_id);
    const total_budget = { min: 6_000, max: 6_000, currency: "USD" };
    const revise = { proposal_id, action: "revise", change_kind: "amendment", constraints: { total_budget } };
    const { proposals } = await one({ ...revise, ask: "budget 6000" });
    await bought(proposals[0].proposal_id, { name: "Larger", daily_budget_cap: 90 });
    const { name, daily_budget_cap, total_budget: sum } = await read(media_buy_id);
    assert.equal([name, daily_budget_cap, sum], ["Larger", 90, 6_000]);
    await close();
  });

  test(`${version}: a proposal is accepted and declined within the planning it was asked for in`, async () => {
    const { ask, refused, close } = await opened(version);
    const brief = "Plan a USD 3,000 display campaign from January 5 through March 31, 2099.";
    const opportunity = { opportunity_id: "spring" };
    const [draft] = (await ask("request_proposals", { ...key(), account, brief, opportunity })).proposals;
    assert.is(draft.opportunity_id, "spring");
    const refinements = [{ proposal_id: draft.proposal_id, action: "finalize" }];
    const { proposal } = (await ask("refine_proposals", { ...key(), refinements })).results[0];
    assert.is(proposal.opportunity_id, "spring");
    const { proposal_id, terms_digest: proposal_terms_digest } = proposal;
    const accepted = { ...key(), account, proposal_id, proposal_terms_digest, opportunity: { opportunity_id: "fall" } };
    assert.is((await refused("accept_proposal", accepted)).field, "opportunity.opportunity_id");
    const decline = (more: object, ...ids: readonly string[]) => ({
      ...{
        ...key(),
        declines: ids.map((id, at) => ({ proposal_id: id, reason: "other", detail: `none ${at}` })),
        ...more,
      },
    });
    const elsewhere = decline({ opportunity: { opportunity_id: "fall" } }, draft.proposal_id);
    assert.is((await refused("decline_proposals", elsewhere)).field, "opportunity.opportunity_id");
    const twice = decline({}, proposal_id, proposal_id);
    assert.is((await refused("decline_proposals", twice)).field, "declines[1].proposal_id");
    await ask("accept_proposal", { ...accepted, ...key(), opportunity });
    await close();
  });

  test(`${version}: a package is bid for in one way, and not by a bid price beside a policy`, async () => {
    const { ask, refused, told, close } = await opened(version);
    const line = { product_id: "free", pricing_option_id: "bids", budget: 1_000 };
    const order = (of: object, more: object = {}) => ({
      ...{ ...key(), account, brand, ...flight, packages: [{ ...line, ...of }], ...more },
    });
    const priced = await ask("create_media_buy", order({ bid_price: 3 }));
    const change = (
      booked: { media_buy_id: string; packages: { package_id: string }[] },
      of: object,
      more: object = {},
    ) => {
      const packages = [{ package_id: booked.packages[0]!.package_id, ...of }];
      return { ...key(), account, media_buy_id: booked.media_buy_id, packages, ...more };
    };
    const automatic = { bidding: { automatic: true } };
    const inherited = { ...change(priced, {}), packages: undefined, ...automatic };
    assert.is((await refused("update_media_buy", inherited)).code, "AMBIGUOUS_BIDDING_POLICY");
    await ask("update_media_buy", change(priced, automatic));
    assert.is(told.at(-1)!.lines[0]!.bid, undefined);
    const governed = await ask("create_media_buy", order({}, automatic));
    for (const booked of [priced, governed])
      assert.is((await refused("update_media_buy", change(booked, { bid_price: 3 }))).code, "AMBIGUOUS_BIDDING_POLICY");
    await ask("update_media_buy", change(priced, { bidding: null, bid_price: 4 }));
    assert.is(told.at(-1)!.lines[0]!.bid, 4);
    await close();
  });
}

test.run();
