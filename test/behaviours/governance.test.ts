/** Campaign governance: plans that judge what is asked, and the trail of it. */
import { createPublicKey, verify } from "node:crypto";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { judgeDelivery } from "../../runtime/behaviours/governance/drift.js";
import { judgeAction } from "../../runtime/behaviours/governance/judge.js";
import { planFault, type SpendingPlan } from "../../runtime/behaviours/governance/plan.js";
import { readProposal } from "../../runtime/behaviours/governance/proposal.js";
import type { WrittenPolicy } from "../../runtime/behaviours/index.js";
import { spendingRule } from "../../runtime/behaviours/ports/plan-policies.js";
import { behavingSeller, key, versions } from "./behaving-seller.js";
import { decommitment } from "./governed-seller.js";

const plan: SpendingPlan = {
  plan_id: "spring",
  brand: { domain: "acmeoutdoor.example" },
  objectives: "Spring gear",
  budget: { total: 100_000, currency: "USD", reallocation_unlimited: true },
  flight: { start: "2027-01-01T00:00:00Z", end: "2027-12-31T00:00:00Z" },
  countries: ["US"],
};

const circumstances = {
  phase: "purchase",
  caller: "https://buyer.example",
  execution: false,
  committed: {},
  before: 0,
  approvedByHuman: false,
  now: Date.parse("2026-06-01"),
  policies: [],
} as const;

/** Those of one plan, with what a plan's policies come to. */
const reading = (policies: readonly WrittenPolicy[]) =>
  policies.map((one) => ({ policy: one, rule: spendingRule(one) }));

const buy = (budget: number, more: object = {}) =>
  readProposal({
    tool: "create_media_buy",
    payload: { packages: [{ product_id: "sports_ctv", budget }], ...more },
  });

const policy = (text: string, enforcement: "must" | "should" = "must") => ({
  policy_id: "p",
  policy: text,
  enforcement,
});

test("policies are read for what they ask and when", () => {
  const { kind, mentions } = spendingRule(policy("CTV buys require weekly delivery reporting."));
  assert.equal([kind, mentions], ["reporting", ["ctv"]]);
  assert.equal(spendingRule(policy("Weekly reporting required for buys over $10K.")).over, 10_000);
  const share = spendingRule(policy("No single-seller concentration above 60% of total budget."));
  assert.equal(
    [share.kind, share.kind === "seller_share" && share.percent, share.over],
    ["seller_share", 60, undefined],
  );
  assert.is(spendingRule(policy("UGC placements require brand safety review before go-live.")).kind, "review");
  assert.is(spendingRule(policy("Be kind.")).kind, "unread");
});

test("no action above what is left is ever let through", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -100_000, max: 100_000 })),
      fc.integer({ min: 0, max: 120_000 }),
      fc.constantFrom(...["", "Be kind.", "CTV buys require weekly reporting."]),
      fc.boolean(),
      (beyond, spent, text, human) => {
        const amount = Math.max(0, plan.budget.total - spent + beyond);
        const policies = reading(text === "" ? [] : [policy(text)]);
        const at = { ...circumstances, committed: { media_buy: spent }, approvedByHuman: human, policies };
        const { decision, findings, conditions } = judgeAction(plan, buy(amount), at);
        assert.is(decision === "denied", amount > plan.budget.total - spent);
        // What the wire demands of each decision.
        if (decision === "denied") assert.ok(findings.length > 0);
        assert.is(decision === "conditions", conditions.length > 0);
      },
    ),
  );
});

test("no line makes another cheaper, and what is no amount is not taken for nothing", () => {
  const line = (budget: unknown) => ({ product_id: "sports_ctv", budget });
  const judged = (payload: object) =>
    judgeAction(plan, readProposal({ tool: "create_media_buy", payload: { ...payload } }), circumstances).decision;
  for (const payload of [
    { packages: [line(200_000), line(-150_000)] },
    { packages: [line("9999999")] },
    { packages: [line(200_000)], total_budget: { amount: 100, currency: "USD" } },
    { total_budget: { amount: "200000", currency: "USD" } },
    { total_budget: { amount: -1, currency: "USD" }, packages: [line(10)] },
    { budget: "a lot" },
    { packages: [line([9_999_999])] },
    { packages: [line({ amount: [9_999_999] })] },
    { packages: [line({ value: 9_999_999 })] },
    { total_budget: { amount: { amount: "9999999" } } },
  ])
    assert.is(judged(payload), "denied", JSON.stringify(payload));
  for (const payload of [
    { packages: [line(null), line(undefined)], total_budget: { amount: 100_000, currency: "USD" } },
    { packages: [line(60_000), line(40_000)], total_budget: { amount: 100_000, currency: "USD" } },
  ])
    assert.is(judged(payload), "approved", JSON.stringify(payload));
});

test("an action costs the most that is said of it, by its arguments or by whoever runs it", () => {
  const payload = { packages: [{ product_id: "sports_ctv", budget: 200_000 }] };
  const planned = (total_budget: number, currency = "USD") => ({ planned_delivery: { total_budget, currency } });
  const committed = { proposed_commitment: { amount: 1, currency: "USD" } };
  const judged = (request: object) => judgeAction(plan, readProposal(request), circumstances).decision;
  const small = { packages: [{ product_id: "sports_ctv", budget: 10 }], currency: "USD" };
  for (const request of [
    { tool: "create_media_buy", payload, ...planned(1) },
    { tool: "create_media_buy", payload: small, ...planned(200_000) },
    { tool: "create_media_buy", payload: small, ...planned(10, "EUR") },
    { tool: "buy_products", payload: { purchases: payload.packages }, ...committed },
  ])
    assert.is(judged(request), "denied", JSON.stringify(request));
  for (const request of [
    { tool: "create_media_buy", payload: small, ...planned(20, "usd") },
    { tool: "update_media_buy", payload, ...committed },
  ])
    assert.is(judged(request), "approved", JSON.stringify(request));
});

test("conditions name what has to change, and are gone once it has", () => {
  const at = { ...circumstances, policies: reading([policy("CTV buys require weekly delivery reporting.")]) };
  const first = judgeAction(plan, buy(1_000), at);
  assert.is(first.decision, "conditions");
  assert.is(first.conditions[0]?.field, "reporting_webhook.reporting_frequency");
  const frequency = { reporting_webhook: { reporting_frequency: first.conditions[0]?.required_value } };
  assert.is(judgeAction(plan, buy(1_000, frequency), at).decision, "approved");
  const advised = { ...at, policies: reading([policy("CTV buys require weekly delivery reporting.", "should")]) };
  assert.is(judgeAction(plan, buy(1_000), advised).decision, "approved");
});

test("a rule nobody can read waits for a person, and so does everything where the plan says so", () => {
  const [unread] = reading([policy("Be kind.")]);
  const judged = (more: object, own = plan) =>
    judgeAction(own, buy(1), { ...circumstances, policies: [unread!], ...more });
  assert.is(judged({}).conditions[0]?.field, "human_approval");
  assert.is(judged({ approvedByHuman: true }).decision, "approved");
  // Whoever judges by words may say it instead.
  assert.is(judged({ policies: [{ ...unread!, said: "met" }] }).decision, "approved");
  assert.is(judged({ policies: [{ ...unread!, said: "unmet" }] }).decision, "conditions");
  const reviewed = { ...plan, policy_categories: ["fair_housing"] };
  assert.is(judged({ policies: [] }, reviewed).conditions[0]?.field, "human_approval");
});

test("delivery is held to the shares that were approved", () => {
  const approved = readProposal({
    payload: {
      packages: [
        { product_id: "sports_ctv", budget: 500 },
        { product_id: "web_display", budget: 500 },
      ],
    },
  });
  const metrics = (ctv: number, spend: number) => ({
    reporting_period: { start: "", end: "" },
    cumulative_spend: spend,
    channel_distribution: { ctv, display: 100 - ctv },
  });
  const decision = (ctv: number, spend: number): string =>
    judgeDelivery({ plan, policies: [], metrics: metrics(ctv, spend), approved, budget: 1_000 }).decision;
  assert.is(decision(55, 100), "approved");
  assert.is(decision(70, 100), "conditions");
  assert.is(decision(50, 1_001), "denied");
  // A range says more than the shares of one purchase: within it nothing drifts.
  const ranged = (ctv: number, target: object): string => {
    const mixed = { ...plan, channels: { mix_targets: { ctv: target } } };
    const { channel_distribution: _, ...rest } = metrics(ctv, 100);
    const delivered = { ...rest, channel_distribution: { ctv } };
    return judgeDelivery({ plan: mixed, policies: [], metrics: delivered, approved, budget: 1_000 }).decision;
  };
  for (const share of [20, 40, 60, 70]) assert.is(ranged(share, { min_pct: 20, max_pct: 60 }), "approved", `${share}`);
  for (const share of [10, 80]) assert.is(ranged(share, { min_pct: 20, max_pct: 60 }), "conditions", `${share}`);
  assert.equal([ranged(10, { min_pct: 20 }), ranged(90, { min_pct: 20 })], ["conditions", "approved"]);
  assert.equal([ranged(0, { max_pct: 0 }), ranged(1, { max_pct: 0 })], ["approved", "conditions"]);
});

test("a plan that no mix of channels could meet is no plan", () => {
  const fault = (channels: object) => planFault({ ...plan, channels })?.field;
  assert.is(fault({ required: ["ctv"], allowed: ["display"] }), "channels.required");
  assert.is(fault({ mix_targets: { ctv: { min_pct: 60, max_pct: 40 } } }), "channels.mix_targets.ctv");
  assert.is(fault({ mix_targets: { ctv: { min_pct: 60 }, display: { min_pct: 50 } } }), "channels.mix_targets");
  assert.is(fault({ required: ["ctv"], allowed: ["ctv"], mix_targets: { ctv: { min_pct: 60 } } }), undefined);
});

for (const version of versions) {
  const split = !version.startsWith("3.0") && !version.startsWith("3.1");
  const state = version.startsWith("3.0") ? "status" : "verdict";

  /** A check of an intent, in the words of the release. */
  const intent = (budget: number, more: object = {}) => ({
    plan_id: "spring",
    caller: "https://buyer.example",
    ...(split && { target_agent: "https://seller.example", proposed_commitment: { amount: budget, currency: "USD" } }),
    tool: "create_media_buy",
    payload: { packages: [{ product_id: "web_display", budget }] },
    ...more,
  });

  test(`${version}: a check gives a token that its key has signed, and outcomes bind the money`, async () => {
    const own = await behavingSeller(version, ["governance_spend_authority"]);
    const { plans } = await own.ask("sync_plans", { ...key(), plans: [plan] });
    assert.is(plans[0].version, 1);
    const checked = await own.ask("check_governance", intent(60_000));
    assert.is(checked[state], "approved");
    const { governance_context: token, check_id } = checked;
    const [header, body, signature] = token.split(".");
    const { keys } = (await own.seller.app.inject("/.well-known/jwks.json")).json();
    const publicKey = createPublicKey({ key: keys[0], format: "jwk" });
    assert.ok(verify(null, Buffer.from(`${header}.${body}`), publicKey, Buffer.from(signature, "base64url")));
    const outcome = { plan_id: "spring", check_id, governance_context: token };
    const reported = await own.ask("report_plan_outcome", {
      ...outcome,
      ...key(),
      outcome: "completed",
      seller_response: { seller_reference: "mb_1", committed_budget: 60_000 },
    });
    assert.equal(reported.plan_summary, { total_committed: 60_000, budget_remaining: 40_000 });
    assert.is((await own.ask("check_governance", intent(50_000)))[state], "denied");
    const failed = { ...outcome, ...key(), outcome: "failed", error: { code: "REFUSED", message: "no" } };
    // Where adjustments give money back, an outcome does not.
    if (split) assert.is((await own.refused("report_plan_outcome", failed)).code, "CONFLICT");
    else await own.ask("report_plan_outcome", failed);
    assert.is((await own.ask("check_governance", intent(50_000)))[state], split ? "denied" : "approved");
    const audit = await own.ask("get_plan_audit_logs", { plan_ids: ["spring"], include_entries: true });
    const types = audit.plans[0].entries.map(({ type }: { type: string }) => type);
    assert.equal(types, ["check", "outcome", "check", ...(split ? [] : ["outcome"]), "check"]);
    await own.close();
  });

  test(`${version}: plans are their caller's alone, half a plan is none, and a token opens its own plan`, async () => {
    const own = await behavingSeller(version, ["governance_spend_authority"]);
    await own.ask("sync_plans", { ...key(), plans: [plan] });
    const foreign = await own.refused("check_governance", intent(1), "somebody-else");
    const none = await own.refused("check_governance", intent(1, { plan_id: "autumn" }));
    assert.is(foreign.code, "PLAN_NOT_FOUND");
    assert.equal(foreign, none);
    const backwards = { ...plan, plan_id: "back", flight: { start: plan.flight.end, end: plan.flight.start } };
    const refused = await own.refused("sync_plans", { ...key(), plans: [{ ...plan, plan_id: "good" }, backwards] });
    assert.is(refused.field, "plans[1].flight.end");
    assert.is((await own.refused("check_governance", intent(1, { plan_id: "good" }))).code, "PLAN_NOT_FOUND");
    const { governance_context } = await own.ask("check_governance", intent(1_000));
    const running = {
      ...(!split && { plan_id: "spring" }),
      caller: "https://seller.example",
      governance_context,
      planned_delivery: { geo: { countries: ["US"] }, total_budget: 1_000, currency: "USD" },
    };
    assert.is((await own.ask("check_governance", running, "a-seller"))[state], "approved");
    await own.close();
  });

  if (split)
    test(`${version}: conditions authorize nothing, and adjustments count once the plan's owner takes them`, async () => {
      const own = await behavingSeller(version, ["governance_delivery_monitor"]);
      const custom_policies = [policy("Weekly reporting for buys over $50K.")];
      await own.ask("sync_plans", { ...key(), plans: [{ ...plan, custom_policies }] });
      const first = await own.ask("check_governance", intent(60_000));
      assert.equal([first.verdict, first.governance_context], ["conditions", undefined]);
      const ext = { governance_policy_acknowledgements: first.conditions[0].required_value };
      const payload = { ...intent(60_000).payload, ext };
      const more = { payload, consultation_context: first.consultation_context };
      const stranger = await own.refused("check_governance", intent(60_000, { ...more, consultation_context: "x" }));
      assert.is(stranger.code, "REFERENCE_NOT_FOUND");
      const { check_id, governance_context } = await own.ask("check_governance", intent(60_000, more));
      const { outcome_id } = await own.ask("report_plan_outcome", {
        ...key(),
        plan_id: "spring",
        check_id,
        governance_context,
        outcome: "completed",
        seller_response: { seller_reference: "mb_1" },
      });
      const adjustment = (amount: number, id: string) => decommitment(amount, id, { outcome_id });
      const { adjustment_id, plan_summary } = await own.ask("report_plan_adjustment", adjustment(20_000, "one"));
      assert.is(plan_summary.ledger_committed, 60_000);
      assert.is((await own.refused("report_plan_adjustment", adjustment(50_000, "two"))).code, "VALIDATION_ERROR");
      assert.is((await own.refused("report_plan_adjustment", adjustment(1_000, "one"))).code, "CONFLICT");
      const review = { ...key(), action: "review", plan_id: "spring", adjustment_id, decision: "accept" };
      const reviewed = await own.ask("report_plan_adjustment", review);
      assert.equal([reviewed.headroom_restored, reviewed.plan_summary.ledger_committed], [20_000, 40_000]);
      const undone = await own.refused("report_plan_adjustment", {
        ...review,
        ...key(),
        decision: "dispute",
        reason: "no",
      });
      assert.is(undone.code, "CONFLICT");
      await own.close();
    });
}

test.run();
