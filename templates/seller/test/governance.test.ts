/** What a plan lets happen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeAction } from "../domain/governance/judge.js";
import type { Plan } from "../domain/governance/plan.js";
import { readProposal } from "../domain/governance/proposal.js";

const plan: Plan = {
  plan_id: "spring",
  brand: { domain: "buyer.example" },
  objectives: "Spring",
  budget: { total: 1_000, currency: "USD" },
  flight: { start: "2027-01-01T00:00:00Z", end: "2027-12-31T00:00:00Z" },
  custom_policies: [
    { policy_id: "reports", policy: "CTV buys require weekly delivery reporting.", enforcement: "must" },
  ],
};

const decide = (product: string, budget: number, committed = 0): string =>
  judgeAction(plan, readProposal({ payload: { packages: [{ product_id: product, budget }] } }), {
    phase: "purchase",
    caller: "https://buyer.example",
    execution: false,
    committed: { media_buy: committed },
    before: 0,
    approvedByHuman: false,
    now: 0,
  }).decision;

test("the budget holds, and policies apply to what they speak of", () => {
  assert.equal(decide("web_display", 900), "approved");
  assert.equal(decide("web_display", 1_001), "denied");
  assert.equal(decide("web_display", 600, 500), "denied");
  assert.equal(decide("sports_ctv", 900), "conditions");
});
