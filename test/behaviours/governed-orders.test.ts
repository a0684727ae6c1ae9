/** A seller that is its caller's governance agent too: which words of its own let an order through. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  account,
  behavingSeller,
  brand,
  key,
  publishedRelease,
  type TestSeller,
  versionsWith,
} from "./behaving-seller.js";

const planOf = (total: number) => ({
  plan_id: "spring",
  brand,
  objectives: "Spring gear",
  budget: { total, currency: "USD", reallocation_unlimited: true },
  flight: { start: "2020-01-01T00:00:00Z", end: "2099-12-31T00:00:00Z" },
  countries: ["US"],
});

const packagesOf = (budget: number) => [
  { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget, bid_price: 3 },
];

/** A check of an intent, in the words of the release. */
const check = ({ ask }: TestSeller, version: string, budget: number, principal: string) =>
  ask(
    "check_governance",
    {
      plan_id: "spring",
      caller: "https://buyer.example",
      ...(/^3\.[01]\./.test(version)
        ? {}
        : { target_agent: "https://seller.example/mcp", proposed_commitment: { amount: budget, currency: "USD" } }),
      tool: "create_media_buy",
      payload: { packages: packagesOf(budget) },
    },
    principal,
  );

const order = (budget: number, governance_context?: string) => ({
  ...{ ...key(), account, brand, packages: packagesOf(budget) },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  ...(governance_context !== undefined && { governance_context }),
});

const governance_agents = [
  { url: "https://seller.example/mcp", authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
];

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
      await seller.ask("sync_plans", { ...key(), plans: [planOf(total)] }, principal);
    }
    const refused = async (budget: number, token: string | undefined, what: string): Promise<void> => {
      assert.is(
        (await seller.refused("create_media_buy", order(budget, token), "one")).code,
        "GOVERNANCE_DENIED",
        what,
      );
    };
    const denied = await check(seller, version, 5_000, "one");
    assert.is(denied.verdict ?? denied.status, "denied");
    await refused(5_000, denied.governance_context, "a denial");
    await refused(
      5_000,
      (await check(seller, version, 5_000, "rich")).governance_context,
      "an approval of another's plan",
    );
    const small = await check(seller, version, 500, "one");
    assert.is(small.verdict ?? small.status, "approved");
    await refused(5_000, small.governance_context, "an approval of less");
    assert.type(
      (await seller.ask("create_media_buy", order(500, small.governance_context), "one")).media_buy_id,
      "string",
    );
    await seller.ask("sync_plans", { ...key(), plans: [planOf(100)] }, "one");
    at += 365 * 86_400_000;
    await refused(500, small.governance_context, "an approval that has expired");
    await seller.close();
  });

test.run();
