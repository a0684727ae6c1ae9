/** Campaign governance of the reference seller: plans that judge what is asked, and the trail of it. */
import { createPublicKey, verify } from "node:crypto";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { judgeDelivery } from "../../templates/seller/domain/governance/drift.js";
import { judgeAction } from "../../templates/seller/domain/governance/judge.js";
import type { Plan } from "../../templates/seller/domain/governance/plan.js";
import { readPolicy } from "../../templates/seller/domain/governance/policy.js";
import { readProposal } from "../../templates/seller/domain/governance/proposal.js";
import { key, type TemplateSeller, templateSeller } from "./template-seller.js";

const test = suite<{ own: TemplateSeller }>("reference seller: governance");
test.before.each(async (context) => {
  context.own = await templateSeller();
});
test.after.each(({ own }) => own.close());

const plan: Plan = {
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
} as const;

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
  const { kind, mentions } = readPolicy(policy("CTV buys require weekly delivery reporting."));
  assert.equal([kind, mentions], ["reporting", ["ctv"]]);
  assert.equal(readPolicy(policy("Weekly reporting required for buys over $10K.")).over, 10_000);
  const share = readPolicy(policy("No single-seller concentration above 60% of total budget."));
  assert.equal(
    [share.kind, share.kind === "seller_share" && share.percent, share.over],
    ["seller_share", 60, undefined],
  );
  assert.is(readPolicy(policy("UGC placements require brand safety review before go-live.")).kind, "review");
  assert.is(readPolicy(policy("Be kind.")).kind, "unread");
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
        const own = text === "" ? plan : { ...plan, custom_policies: [policy(text)] };
        const at = { ...circumstances, committed: { media_buy: spent }, approvedByHuman: human };
        const { decision, findings, conditions } = judgeAction(own, buy(amount), at);
        assert.is(decision === "denied", amount > plan.budget.total - spent);
        // What the wire demands of each decision.
        if (decision === "denied") assert.ok(findings.length > 0);
        assert.is(decision === "conditions", conditions.length > 0);
      },
    ),
  );
});

test("conditions name what has to change, and are gone once it has", () => {
  const own = { ...plan, custom_policies: [policy("CTV buys require weekly delivery reporting.")] };
  const first = judgeAction(own, buy(1_000), circumstances);
  assert.is(first.decision, "conditions");
  assert.is(first.conditions[0]?.field, "reporting_webhook.reporting_frequency");
  const frequency = { reporting_webhook: { reporting_frequency: first.conditions[0]?.required_value } };
  assert.is(judgeAction(own, buy(1_000, frequency), circumstances).decision, "approved");
  const advised = { ...plan, custom_policies: [policy("CTV buys require weekly delivery reporting.", "should")] };
  assert.is(judgeAction(advised, buy(1_000), circumstances).decision, "approved");
});

test("a rule nobody can read waits for a person, and so does everything where the plan says so", () => {
  const unread = { ...plan, custom_policies: [policy("Be kind.")] };
  assert.is(judgeAction(unread, buy(1), circumstances).conditions[0]?.field, "human_approval");
  assert.is(judgeAction(unread, buy(1), { ...circumstances, approvedByHuman: true }).decision, "approved");
  const reviewed = { ...plan, policy_categories: ["fair_housing"] };
  assert.is(judgeAction(reviewed, buy(1), circumstances).conditions[0]?.field, "human_approval");
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
  assert.is(judgeDelivery(plan, metrics(55, 100), approved, 1_000).decision, "approved");
  assert.is(judgeDelivery(plan, metrics(70, 100), approved, 1_000).decision, "conditions");
  assert.is(judgeDelivery(plan, metrics(50, 1_001), approved, 1_000).decision, "denied");
});

test("a check gives a token that its key has signed, and outcomes bind the money", async ({ own }) => {
  const { plans } = await own.ask("sync_plans", { ...key(), plans: [plan] });
  assert.is(plans[0].version, 1);
  const check = (budget: number, more: object = {}) =>
    own.ask("check_governance", {
      plan_id: "spring",
      caller: "https://buyer.example",
      tool: "create_media_buy",
      payload: { packages: [{ product_id: "web_display", budget }] },
      ...more,
    });
  const { verdict, governance_context: token } = await check(60_000);
  assert.is(verdict, "approved");
  const [header, body, signature] = token.split(".");
  const { keys } = (await own.seller.app.inject("/.well-known/jwks.json")).json();
  const input = Buffer.from(`${header}.${body}`);
  const publicKey = createPublicKey({ key: keys[0], format: "jwk" });
  assert.ok(verify(null, input, publicKey, Buffer.from(signature, "base64url")));
  const outcome = { plan_id: "spring", governance_context: token, outcome: "completed" };
  const reported = await own.ask("report_plan_outcome", {
    ...outcome,
    ...key(),
    seller_response: { seller_reference: "mb_1", committed_budget: 60_000 },
  });
  assert.is(reported.outcome_state, "accepted");
  assert.equal(reported.plan_summary, { total_committed: 60_000, budget_remaining: 40_000 });
  assert.is((await check(50_000)).verdict, "denied");
  await own.ask("report_plan_outcome", { ...outcome, outcome: "failed", ...key() });
  assert.is((await check(50_000)).verdict, "approved");
  const trail = await own.ask("get_plan_audit_logs", { plan_ids: ["spring"], include_entries: true });
  assert.is(trail.plans[0].summary.checks_performed, 3);
  assert.equal(
    trail.plans[0].entries.map(({ type }: { type: string }) => type),
    ["check", "outcome", "check", "outcome", "check"],
  );
});

test("plans are their caller's alone, and half a plan is none", async ({ own }) => {
  await own.ask("sync_plans", { ...key(), plans: [plan] });
  const checked = { plan_id: "spring", caller: "https://buyer.example" };
  const foreign = await own.refused("check_governance", checked, "somebody-else");
  const none = await own.refused("check_governance", { ...checked, plan_id: "autumn" });
  assert.is(foreign.code, "PLAN_NOT_FOUND");
  assert.equal(foreign, none);
  const backwards = { ...plan, plan_id: "back", flight: { start: plan.flight.end, end: plan.flight.start } };
  const refused = await own.refused("sync_plans", { ...key(), plans: [{ ...plan, plan_id: "good" }, backwards] });
  assert.is(refused.field, "plans[1].flight.end");
  assert.is((await own.refused("check_governance", { ...checked, plan_id: "good" })).code, "PLAN_NOT_FOUND");
});

test.run();
