/** Money of a plan that a seller keeps: in which currency, under which plan, at one time, and what is given back. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type AdServer, exampleProducts, listedCatalogue } from "../../runtime/behaviours/index.js";
import { ToolError } from "../../runtime/seller/index.js";
import { until } from "../support/until.js";
import { account, key, versionsWith } from "./behaving-seller.js";
import {
  checkIntent,
  deniedByPlan,
  GOVERNED_URL,
  governedOrder,
  governedSeller,
  packagesOver,
  spendingPlan,
} from "./governed-seller.js";

const versions = await versionsWith("governance_spend_authority");

/** Releases in which checks of an intent and of what is carried out state what they commit. */
const stating = versions.filter((version) => !/^3\.[01]\./.test(version));

// biome-ignore lint/suspicious/noExplicitAny: an answer of whatever release
type Shown = any;

const grown = ({ media_buy_id, packages: [{ package_id }] }: Shown, budget: number, more: object = {}) => ({
  ...{ ...key(), account, media_buy_id, packages: [{ package_id, budget }], ...more },
});

const verdictOf = ({ verdict, status }: Shown): string => verdict ?? status;

/** Books after a while; refuses what costs a sum that it does not take. */
const slowServer = (refused?: number): AdServer => {
  const taken = async (): Promise<void> => undefined;
  return {
    async book({ lines }, { idempotencyKey }) {
      await new Promise((done) => setTimeout(done, 100));
      if (lines.some(({ budget }) => budget === refused)) throw new ToolError("INVALID_REQUEST", "not that one");
      return { orderId: idempotencyKey };
    },
    ...{ change: taken, pause: taken, resume: taken, cancel: taken },
  };
};

for (const version of versions) {
  test(`${version}: what is paid in another currency is under no plan`, async () => {
    const dear = {
      ...exampleProducts.find(({ product_id: id }) => id === "run_of_site_auction")!,
      product_id: "pounds",
    };
    const pounds = { ...dear, pricing_options: dear.pricing_options.map((one) => ({ ...one, currency: "GBP" })) };
    const catalogue = listedCatalogue([...exampleProducts, pounds]);
    const seller = await governedSeller(version, 10_000, { ports: { catalogue } });
    const { governance_context } = await checkIntent(seller, version, { budget: 9_000 });
    const order = (token?: string) => ({
      ...governedOrder(9_000, token),
      packages: packagesOver(9_000).map((one) => ({ ...one, product_id: "pounds" })),
    });
    await deniedByPlan(seller, "create_media_buy", order(), "without a token");
    await deniedByPlan(seller, "create_media_buy", order(governance_context), "by an approval of as many dollars");
    const { start_time, end_time } = governedOrder(0);
    const executed = await seller.ask(
      "check_governance",
      {
        ...{ plan_id: "spring", caller: GOVERNED_URL, governance_context, phase: "purchase" },
        planned_delivery: { total_budget: 500, currency: "JPY", start_time, end_time },
      },
      "one",
    );
    assert.is(verdictOf(executed), "denied", "what a seller will deliver");
    const delivered = {
      ...{ plan_id: "spring", caller: GOVERNED_URL, governance_context, phase: "delivery" },
      planned_delivery: { media_buy_id: "mb_1", total_budget: 500, currency: "USD", start_time, end_time },
      delivery_metrics: {
        ...{ reporting_period: { start: start_time, end: end_time }, spend: 10, cumulative_spend: 10, currency: "GBP" },
        ...{ statement_id: "statement-1", statement_digest: `sha256:${"0".repeat(64)}`, sequence: 1 },
        issued_at: start_time,
      },
    };
    // Older releases do not say in what is paid.
    const told = await seller.refused("check_governance", { ...delivered, plan_id: undefined }, "one");
    if (stating.includes(version)) assert.is(told.field, "delivery_metrics.currency");
    const { budget, ...plan } = spendingPlan(1_000_000);
    const inYen = { ...key(), plans: [{ ...plan, budget: { ...budget, currency: "JPY" } }] };
    await seller.ask("sync_plans", inYen, "one");
    await seller.ask("sync_plans", { ...key(), plans: [spendingPlan(10_000)] }, "one");
    await seller.ask("create_media_buy", governedOrder(9_000), "one");
    const redenominated = await seller.refused("sync_plans", { ...inYen, ...key() }, "one");
    assert.is(redenominated.field, "plans[0].budget.currency", "9,000 dollars are no yen");
    await seller.close();
  });

  test(`${version}: of orders at one time, an ad server elsewhere is told of those that the plan has money for`, async () => {
    const seller = await governedSeller(version, 10_000, { ports: { adServer: slowServer(9_500) } });
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () => seller.ask("create_media_buy", governedOrder(4_000), "one")),
    );
    assert.is(answers.filter(({ status }) => status === "fulfilled").length, 2);
    await seller.ask("sync_plans", { ...key(), plans: [spendingPlan(17_500)] }, "one");
    const refused = await seller.refused("create_media_buy", governedOrder(9_500), "one");
    assert.is(refused.code, "INVALID_REQUEST");
    await seller.ask("create_media_buy", governedOrder(9_400), "one");
    await seller.close();
  });

  test(`${version}: of several plans for a brand, the one that an order names; another order's money stays with it`, async () => {
    const seller = await governedSeller(version, 10_000);
    const { governance_context } = await checkIntent(seller, version, { budget: 8_000 });
    const autumn = spendingPlan(1_000, { plan_id: "autumn" });
    await seller.ask("sync_plans", { ...key(), plans: [autumn] }, "one");
    const made = await seller.ask("create_media_buy", governedOrder(8_000, governance_context), "one");
    assert.is(verdictOf(await checkIntent(seller, version, { budget: 8_000 })), "denied", "spring has paid for it");
    assert.is(verdictOf(await checkIntent(seller, version, { budget: 900, plan_id: "autumn" })), "approved");
    await deniedByPlan(seller, "create_media_buy", governedOrder(8_000), "the newest plan, where none is named");
    await seller.ask("create_media_buy", { ...governedOrder(1_500), plan_id: "spring" }, "one");
    await seller.ask("update_media_buy", grown(made, 8_400), "one");
    await deniedByPlan(seller, "update_media_buy", grown(made, 8_600), "spring has 100 left");
    // By an approval of the other plan, that one pays what is added.
    const other = await checkIntent(seller, version, { budget: 900, plan_id: "autumn" });
    const { governance_context: token } = other;
    await seller.ask("update_media_buy", grown(made, 9_300, { governance_context: token }), "one");
    await seller.close();
  });

  test(`${version}: an order that became smaller, and was told so, is held to the plan as it grows again`, async () => {
    const seller = await governedSeller(version, 10_000);
    const { check_id, governance_context } = await checkIntent(seller, version, { budget: 8_000 });
    const made = await seller.ask("create_media_buy", governedOrder(8_000, governance_context), "one");
    await seller.ask("update_media_buy", grown(made, 5_000), "one");
    const seller_response = { seller_reference: made.media_buy_id, committed_budget: 5_000 };
    const outcome = { ...{ ...key(), plan_id: "spring", check_id, governance_context }, outcome: "completed" };
    const told = await seller.ask("report_plan_outcome", { ...outcome, seller_response }, "one");
    const left = told.plan_summary.budget_remaining;
    await seller.ask("create_media_buy", governedOrder(left), "one");
    const again = { tool: "update_media_buy", request: grown(made, 8_000) };
    // Where a smaller outcome frees nothing, what was approved is still there.
    if (left === 2_000) await seller.ask(again.tool, again.request, "one");
    else await deniedByPlan(seller, again.tool, again.request, "its money has gone to another");
    await seller.close();
  });

  test(`${version}: what a plan has is spent to the last cent`, async () => {
    const seller = await governedSeller(version, 900.9);
    const { governance_context } = await checkIntent(seller, version, { budget: 900.9 });
    for (const _ of [1, 2, 3]) await seller.ask("create_media_buy", governedOrder(300.3, governance_context), "one");
    await deniedByPlan(seller, "create_media_buy", governedOrder(100), "nothing is left");
    await seller.close();
  });

  test(`${version}: an order that nobody signs gives its money back`, async () => {
    const approvals = { ask: async () => ({ decision: "wait" as const }), signAfterMs: 365 * 86_400_000 };
    const seller = await governedSeller(version, 10_000, { ports: { approvals } });
    const { task_id: taskId } = await seller.ask("create_media_buy", governedOrder(8_000), "one");
    await deniedByPlan(seller, "create_media_buy", governedOrder(8_000), "while it waits");
    const meanwhile = await checkIntent(seller, version, { budget: 7_000 });
    assert.is(verdictOf(meanwhile), "denied", "a check of something else, without a token as well");
    await seller.decide({ principal: "one", taskId, approved: false });
    await seller.ask("create_media_buy", governedOrder(8_000), "one");
    await seller.close();
  });

  test(`${version}: an order that is signed, and refused then, gives its money back`, async () => {
    const approvals = { ask: async () => ({ decision: "wait" as const }), signAfterMs: 365 * 86_400_000 };
    const seller = await governedSeller(version, 10_000, { ports: { approvals, adServer: slowServer(8_000) } });
    await seller.start({ port: 0 });
    const { task_id: taskId } = await seller.ask("create_media_buy", governedOrder(8_000), "one");
    await seller.decide({ principal: "one", taskId, approved: true });
    await until(async () => verdictOf(await checkIntent(seller, version, { budget: 7_000 })) === "approved");
    await seller.close();
  });

  test(`${version}: a part of a plan in percent bounds purchases of its type; an outcome is of the type that was approved`, async () => {
    const seller = await governedSeller(version, 10_000);
    const { budget, ...plan } = spendingPlan(10_000);
    const plans = [{ ...plan, budget: { ...budget, allocations: { media_buy: { max_pct: 30 } } } }];
    await seller.ask("sync_plans", { ...key(), plans }, "one");
    await deniedByPlan(seller, "create_media_buy", governedOrder(3_500), "more than its part");
    const { check_id, governance_context } = await checkIntent(seller, version, { budget: 2_500 });
    const outcome = { ...{ ...key(), plan_id: "spring", check_id, governance_context }, outcome: "completed" };
    const told = { ...outcome, seller_response: { committed_budget: 2_500 }, purchase_type: "rights_license" };
    assert.is((await seller.refused("report_plan_outcome", told, "one")).field, "purchase_type");
    await seller.close();
  });
}

for (const version of stating)
  test(`${version}: a seller commits no more than was approved of the intent`, async () => {
    const seller = await governedSeller(version, 100_000);
    const { governance_context } = await checkIntent(seller, version, { budget: 500 });
    const { start_time, end_time } = governedOrder(0);
    const executed = async (amount: number, planned = amount): Promise<string> => {
      const money = { amount, currency: "USD" };
      const request = {
        ...{ caller: GOVERNED_URL, governance_context, phase: "purchase", execution_commitment: money },
        planned_delivery: { total_budget: planned, currency: "USD", start_time, end_time },
      };
      return verdictOf(await seller.ask("check_governance", request, "one"));
    };
    assert.equal([await executed(5_000), await executed(100)], ["denied", "approved"]);
    assert.is(await executed(500), "approved", "what was carried out before is no ceiling");
    assert.is(await executed(5, 50_000), "denied", "who says that it commits little, and delivers much");
    await seller.close();
  });

test.run();
