/** A proposal is refined in terms that a machine checks, and what was agreed to is changed, or ended, by another. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product, type Proposal } from "../../runtime/behaviours/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const product = (product_id: string, channel: string): Product => ({
  ...{ product_id, name: product_id, description: `${channel} of all kinds`, delivery_type: "non_guaranteed" },
  ...{ channels: [channel], formats: ["display_300x250"] },
  pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 10 }],
});

const products = [product("video", "olv"), product("display", "display"), product("audio", "podcast")];
const plan: Proposal = {
  ...{ proposal_id: "mixed", name: "Mixed", description: "Some of all", proposal_status: "draft" },
  allocations: [
    { product_id: "video", allocation_percentage: 75 },
    { product_id: "display", allocation_percentage: 25 },
  ],
};

const brief = "USD 4,000 of video and display from January 5 through March 31, 2099.";
interface Line {
  readonly product_id: string;
  readonly budget: number;
}
const linesOf = (proposal: { commercial_terms: { purchases: readonly Line[] } }) =>
  proposal.commercial_terms.purchases.map(({ product_id, budget }) => [product_id, budget]);

const opened = there
  ? await behavingSeller(version, ["sales_guaranteed"], {
      ports: {
        catalogue: listedCatalogue(products, [plan]),
        approvals: { ask: async () => ({ decision: "go" }) },
      },
    })
  : undefined;

const refining = (name: string, run: (seller: NonNullable<typeof opened>) => Promise<void>): void => {
  if (opened !== undefined) test(name, () => run(opened));
};

/** One refinement, and what came of it. */
const refineBy =
  ({ ask }: NonNullable<typeof opened>) =>
  async (proposal_id: string, more: object) => {
    const { results } = await ask("refine_proposals", { ...key(), refinements: [{ proposal_id, ...more }] });
    return results[0];
  };

async function bought(seller: NonNullable<typeof opened>, draft: string) {
  const { proposal } = await refineBy(seller)(draft, { action: "finalize" });
  const { proposal_id, terms_digest } = proposal;
  return seller.ask("accept_proposal", { ...key(), account, proposal_id, proposal_terms_digest: terms_digest });
}

refining("a plan of the catalogue is refined by products, criteria and in several ways", async (seller) => {
  const { ask, refused } = seller;
  const found = await ask("get_products", { buying_mode: "brief", brief, account });
  assert.is(found.proposals[0].proposal_id, "mixed");
  const refine = refineBy(seller);
  const revise = (more: object) => refine("mixed", { action: "revise", ...more });

  const changed = await revise({ product_changes: { display: "omit", audio: "include" } });
  assert.equal(linesOf(changed.proposals[0]), [
    ["video", 2400],
    ["audio", 1600],
  ]);
  assert.is(changed.proposals[0].parent_proposal_id, "mixed");
  const partly = await revise({ product_changes: { display: "omit", cinema: "include" } });
  assert.equal([partly.outcome, partly.unsatisfied_product_changes], ["partial", { cinema: "include" }]);
  assert.equal(linesOf(partly.proposals[0]), [["video", 4000]]);

  const narrowed = await revise({ criteria: { offer_filters: { channels: ["display"] } } });
  assert.equal(linesOf(narrowed.proposals[0]), [["display", 4000]]);
  const nothing = await revise({ criteria: { product_ids: ["cinema"] } });
  assert.equal([nothing.outcome, nothing.unsatisfied_constraints], ["unable", ["criteria"]]);

  const ways = await revise({
    alternatives: { count: 3 },
    constraints: { total_budget: { max: 3000, currency: "USD" } },
  });
  assert.is(ways.outcome, "revised");
  assert.is(new Set(ways.proposals.map(({ terms_digest }: { terms_digest: string }) => terms_digest)).size, 3);
  for (const { commercial_terms: terms } of ways.proposals) {
    assert.is(terms.total_budget.amount, 3000);
    assert.is(
      terms.purchases.reduce((sum: number, one: Line) => sum + one.budget, 0),
      3000,
    );
  }
  const few = await revise({ product_changes: { display: "omit" }, alternatives: { count: 5 } });
  assert.equal([few.outcome, few.reason_code, few.proposals.length], ["partial", "alternatives_unavailable", 3]);
  const many = { proposal_id: "mixed", action: "revise", alternatives: { count: 6 } };
  const over = await refused("refine_proposals", { ...key(), refinements: [many] });
  assert.equal([over.code, over.field], ["VALIDATION_ERROR", "refinements[0].alternatives.count"]);

  const declines = [{ proposal_id: "mixed", reason: "inventory_fit" }];
  for (const _ of [1, 2])
    assert.is((await ask("decline_proposals", { ...key(), declines })).results[0].outcome, "declined");
  const later = await refused("create_media_buy", {
    ...{ ...key(), account, brand, start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
    ...{ proposal_id: "mixed", total_budget: { amount: 1000, currency: "USD" } },
  });
  assert.is(later.code, "INVALID_STATE");
  const next = await ask("get_products", { buying_mode: "brief", brief, account });
  assert.is(next.proposals[0].proposal_id, "mixed~2", "it is offered anew, under a name of its own");
});

refining("an order is changed, and ended, by proposals that are made for it as it is", async (seller) => {
  const { ask, refused } = seller;
  const refine = refineBy(seller);
  const { proposals } = await ask("request_proposals", {
    ...key(),
    account,
    brief,
    criteria: { product_ids: ["video", "display"] },
  });
  const order = await bought(seller, proposals[0].proposal_id);
  const { accepted_proposal: agreed, media_buy_id } = order;
  const again = await refine(proposals[0].proposal_id, { action: "finalize" });
  assert.is(again.reason_code, "hold_unavailable", "its terms were bought");

  const revise = (more: object) => refine(agreed.proposal_id, { action: "revise", ...more });
  const longer = await revise({
    ask: "Extend the flight by two weeks.",
    product_changes: { display: "omit", audio: "include" },
  });
  const amendment = longer.proposals[0];
  assert.equal([amendment.proposal_kind, amendment.media_buy_id], ["media_buy_update", media_buy_id]);
  assert.is(amendment.commercial_terms.end_time, "2099-04-14T23:59:59.000Z");
  const ending = (await revise({ change_kind: "cancellation", ask: "Met early." })).proposals[0];
  assert.is(ending.commercial_terms.cancellation_terms.reason, "Met early.");
  const [stale] = [(await refine(ending.proposal_id, { action: "finalize" })).proposal];

  const changed = await bought(seller, amendment.proposal_id);
  assert.is(changed.media_buy_id, media_buy_id);
  const { media_buys } = await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] });
  const running = media_buys[0].packages.filter(({ canceled }: { canceled?: boolean }) => canceled !== true);
  assert.equal(running.map(({ product_id }: Line) => product_id).sort(), ["audio", "video"]);
  assert.is(running[0].end_time, "2099-04-14T23:59:59.000Z");
  assert.is(media_buys[0].accepted_proposal_terms_digest, changed.accepted_proposal.terms_digest);

  const { proposal_id, terms_digest: proposal_terms_digest } = stale;
  const late = await refused("accept_proposal", { ...key(), account, proposal_id, proposal_terms_digest });
  assert.is(late.code, "CONFLICT", "it was made for the order as it was");
  const fresh = await refine(changed.accepted_proposal.proposal_id, { action: "revise", change_kind: "cancellation" });
  const ended = await bought(seller, fresh.proposals[0].proposal_id);
  assert.is(ended.media_buy_status ?? ended.status, "canceled");
  const over = await refine(changed.accepted_proposal.proposal_id, { action: "revise", change_kind: "cancellation" });
  assert.is(over.reason_code, "source_unavailable");
});

refining("no proposal lowers a running order below what it has cost", async (seller) => {
  const { ask, refused } = seller;
  const refine = refineBy(seller);
  const criteria = { product_ids: ["video"] };
  const { proposals } = await ask("request_proposals", { ...key(), account, brief, criteria });
  const { accepted_proposal: agreed, media_buy_id } = await bought(seller, proposals[0].proposal_id);
  await ask("comply_test_controller", {
    ...{ scenario: "simulate_delivery", account },
    params: { media_buy_id, impressions: 300_000, reported_spend: { amount: 3_000, currency: "USD" } },
  });
  const lowered = async (max: number) => {
    const constraints = { total_budget: { max, currency: "USD" } };
    const { proposals: made } = await refine(agreed.proposal_id, { action: "revise", constraints });
    const { proposal } = await refine(made[0].proposal_id, { action: "finalize" });
    const { proposal_id, terms_digest: proposal_terms_digest } = proposal;
    return { ...key(), account, proposal_id, proposal_terms_digest };
  };
  const { code, field } = await refused("accept_proposal", await lowered(2_999));
  assert.equal([code, field], ["BUDGET_EXCEEDED", "proposal_id"]);
  await ask("accept_proposal", await lowered(3_000));
});

test.after(() => opened?.close());
test.run();
