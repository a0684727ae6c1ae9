/** Where a plan's money may go, and what several plans may come to together. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { judgeAction } from "../../runtime/behaviours/governance/judge.js";
import type { SpendingPlan } from "../../runtime/behaviours/governance/plan.js";
import { readProposal } from "../../runtime/behaviours/governance/proposal.js";
import { key, versionsWith } from "./behaving-seller.js";
import { checkIntent, deniedByPlan, governedOrder, governedSeller, spendingPlan } from "./governed-seller.js";

const plan: SpendingPlan = {
  plan_id: "spring",
  brand: { domain: "acmeoutdoor.example" },
  objectives: "Spring gear",
  budget: { total: 10_000, currency: "USD", reallocation_unlimited: true },
  flight: { start: "2027-01-01T00:00:00Z", end: "2027-12-31T00:00:00Z" },
  countries: ["US", "CA"],
  regions: ["US-MA", "US-CO"],
  channels: { allowed: ["display"] },
};
const at = {
  phase: "purchase",
  caller: "https://buyer.example",
  committed: {},
  before: 0,
  approvedByHuman: false,
  now: Date.parse("2026-06-01"),
  policies: [],
} as const;

test("a plan for parts of a country lets nothing go to the rest of it, or to the whole", () => {
  const cases: readonly [overlay: object, field: string | undefined][] = [
    [{ geo_regions: ["US-MA"] }, undefined],
    [{ geo_countries: ["US"], geo_regions: ["US-CO"] }, undefined],
    [{ geo_countries: ["CA"] }, undefined],
    [{ geo_regions: ["CA-ON"] }, undefined],
    [{}, undefined],
    [{ geo_regions: ["US-MA", "US-CA"] }, "regions"],
    [{ geo_countries: ["US"] }, "regions"],
    [{ geo_countries: ["DE"] }, "countries"],
    [{ geo_regions: ["DE-BY"] }, "countries"],
  ];
  for (const [targeting_overlay, field] of cases)
    for (const name of ["packages", "new_packages", "purchases"]) {
      const payload = { [name]: [{ product_id: "one", budget: 100, targeting_overlay }] };
      const proposal = readProposal({ tool: "create_media_buy", payload });
      assert.is(proposal.amount, 100);
      const intent = judgeAction(plan, proposal, { ...at, execution: false });
      assert.is(intent.decision, field === undefined ? "approved" : "conditions", JSON.stringify(payload));
      assert.is(intent.conditions[0]?.field, field);
      const execution = judgeAction(plan, proposal, { ...at, execution: true });
      assert.is(execution.decision, field === undefined ? "approved" : "denied");
    }
});

test("what will run outside a plan's markets, channels or flight is denied, and not let through with a remark", () => {
  const run = { total_budget: 100, currency: "USD" };
  for (const [planned, decision] of [
    [{ geo: { countries: ["CA"] }, channels: ["display"] }, "approved"],
    [{ geo: { countries: ["MX"] } }, "denied"],
    [{ geo: { countries: ["US"], regions: ["US-NY"] } }, "denied"],
    [{ channels: ["display", "ctv"] }, "denied"],
    [{ start_time: "2027-02-01T00:00:00Z", end_time: "2028-02-01T00:00:00Z" }, "denied"],
  ] as const) {
    const proposal = readProposal({ planned_delivery: { ...run, ...planned } });
    assert.is(judgeAction(plan, proposal, { ...at, execution: true }).decision, decision, JSON.stringify(planned));
  }
});

test("who may buy in a part of a country is let into no other part, and not into the whole", () => {
  const delegations = [{ agent_url: at.caller, authority: "full", markets: ["US-MA", "CA"] }];
  const within = { ...plan, delegations };
  const decided = (targeting_overlay: object) => {
    const payload = { packages: [{ product_id: "one", budget: 100, targeting_overlay }] };
    const proposal = readProposal({ tool: "create_media_buy", payload });
    return judgeAction(within, proposal, { ...at, execution: false }).decision;
  };
  assert.is(decided({ geo_regions: ["US-MA", "CA-ON"] }), "approved");
  assert.is(decided({ geo_regions: ["US-CO"] }), "denied");
});

for (const version of await versionsWith("governance_spend_authority"))
  test(`${version}: an order for a country that the plan kept here is not for is denied`, async () => {
    const seller = await governedSeller(version, 10_000);
    const order = (country: string) => {
      const one = governedOrder(500);
      const packages = one.packages.map((each) => ({ ...each, targeting_overlay: { geo_countries: [country] } }));
      return { ...one, packages };
    };
    await deniedByPlan(seller, "create_media_buy", order("DE"), "a country of no plan's");
    await seller.ask("create_media_buy", order("US"), "one");
    await seller.close();
  });

for (const version of await versionsWith("governance_spend_authority"))
  test(`${version}: plans of a portfolio come to no more together than it lets them, and keep to what it excludes`, async () => {
    const seller = await governedSeller(version, 10_000);
    const exclusion = { policy_id: "no_rivals", enforcement: "must", policy: "UGC placements require review." };
    const portfolio = {
      ...spendingPlan(50_000, { plan_id: "house" }),
      portfolio: {
        member_plan_ids: ["spring", "summer"],
        total_budget_cap: { amount: 1_500, currency: "USD" },
        shared_exclusions: [exclusion],
      },
    };
    const plans = [spendingPlan(10_000, { plan_id: "summer" }), portfolio];
    await seller.ask("sync_plans", { ...key(), plans }, "one");
    const order = (plan_id: string, budget: number) => ({ ...governedOrder(budget), plan_id });
    await seller.ask("create_media_buy", order("spring", 1_000), "one");
    const left = await checkIntent(seller, version, { budget: 600, plan_id: "summer" });
    assert.is(left.verdict ?? left.status, "denied");
    assert.ok(left.policies_evaluated.includes("no_rivals"));
    await deniedByPlan(seller, "create_media_buy", order("summer", 600), "more than all may spend together");
    const within = await checkIntent(seller, version, { budget: 500, plan_id: "summer" });
    assert.is(within.verdict ?? within.status, "approved");
    await seller.ask("create_media_buy", order("spring", 450), "one");
    const late = { ...order("summer", 500), governance_context: within.governance_context };
    await deniedByPlan(seller, "create_media_buy", late, "an approval of what others have spent since");
    await seller.close();
  });

test.run();
