/** A seller that is its caller's governance agent too: which words of its own let an order through. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, key, publishedRelease, versionsWith } from "./behaving-seller.js";
import {
  checkIntent,
  deniedByPlan,
  governance_agents,
  governedOrder,
  governedSeller,
  spendingPlan,
} from "./governed-seller.js";

for (const version of await versionsWith("governance_spend_authority"))
  test(`${version}: an approval of the caller's own plan, no larger than what is ordered, and nothing else`, async () => {
    const { tools } = await publishedRelease(version);
    assert.ok(tools.check_governance);
    let at = Date.now();
    const seller = await behavingSeller(version, ["governance_spend_authority", "sales_non_guaranteed"], {
      with: ["governance-agents"],
      now: () => at,
    });
    for (const [principal, total] of [
      ["one", 600],
      ["rich", 100_000],
    ] as const) {
      await seller.ask("sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] }, principal);
      await seller.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] }, principal);
      await seller.ask("sync_plans", { ...key(), plans: [spendingPlan(total)] }, principal);
    }
    const refused = async (budget: number, token: string | undefined, what: string): Promise<void> => {
      assert.is(
        (await seller.refused("create_media_buy", governedOrder(budget, token), "one")).code,
        "GOVERNANCE_DENIED",
        what,
      );
    };
    const denied = await checkIntent(seller, version, { budget: 5_000 });
    assert.is(denied.verdict ?? denied.status, "denied");
    await refused(5_000, denied.governance_context, "a denial");
    await refused(
      5_000,
      (await checkIntent(seller, version, { budget: 5_000, principal: "rich" })).governance_context,
      "an approval of another's plan",
    );
    const small = await checkIntent(seller, version, { budget: 500 });
    assert.is(small.verdict ?? small.status, "approved");
    await refused(5_000, small.governance_context, "an approval of less");
    assert.type(
      (await seller.ask("create_media_buy", governedOrder(500, small.governance_context), "one")).media_buy_id,
      "string",
    );
    await seller.ask("sync_plans", { ...key(), plans: [spendingPlan(100)] }, "one");
    at += 365 * 86_400_000;
    await refused(500, small.governance_context, "an approval that has expired");
    await seller.close();
  });

for (const version of await versionsWith("governance_spend_authority"))
  test(`${version}: what a plan has is spent once, before anybody has told what came of an order`, async () => {
    const seller = await governedSeller(version, 10_000);
    const { ask, close } = seller;
    const place = (budget: number, token?: string) => ask("create_media_buy", governedOrder(budget, token), "one");
    const approved = async (budget: number) => {
      const { verdict, status, ...given } = await checkIntent(seller, version, { budget });
      assert.is(verdict ?? status, "approved");
      return given;
    };
    const { check_id, governance_context: first } = await approved(8_000);
    const { governance_context: other } = await approved(8_000);
    const { media_buy_id, packages } = await place(8_000, first);
    await deniedByPlan(seller, "create_media_buy", governedOrder(8_000, first), "an approval that is used up");
    const late = await checkIntent(seller, version, { budget: 8_000 });
    assert.is(late.verdict ?? late.status, "denied", "a check after the order");
    await deniedByPlan(
      seller,
      "create_media_buy",
      governedOrder(8_000, other),
      "an approval of what the plan has no more",
    );
    await place(1_000, other);
    await deniedByPlan(
      seller,
      "create_media_buy",
      governedOrder(1_500),
      "more than the plan has left, without a token",
    );
    await place(600);
    await deniedByPlan(seller, "create_media_buy", governedOrder(600), "the same again");
    const grown = (budget: number) => ({
      ...{ ...key(), account, media_buy_id },
      packages: [{ package_id: packages[0].package_id, budget }],
    });
    await deniedByPlan(seller, "update_media_buy", grown(9_000), "an order that outgrows the plan");
    await ask("update_media_buy", grown(8_400), "one");
    await deniedByPlan(seller, "create_media_buy", governedOrder(200), "the last of it is spent");
    // A failed order gives back what was bound by it.
    const outcome = { ...key(), plan_id: "spring", check_id, governance_context: first, outcome: "failed" };
    await ask("report_plan_outcome", { ...outcome, error: { code: "X", message: "not booked" } }, "one");
    await place(7_000);
    await close();
  });

for (const version of (await versionsWith("governance_spend_authority")).slice(-1))
  test(`${version}: of orders placed at one time, those that the plan has money for`, async () => {
    const seller = await governedSeller(version, 10_000);
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () => seller.ask("create_media_buy", governedOrder(4_000), "one")),
    );
    assert.is(answers.filter(({ status }) => status === "fulfilled").length, 2);
    await seller.close();
  });

test.run();
