/** A seller that is its callers' governance agent too, with a plan, and what is asked of it. */
import * as assert from "uvu/assert";
import type { BehavingSellerOptions } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, brand, key, type TestSeller } from "./behaving-seller.js";

export const GOVERNED_URL = "https://seller.example/mcp";

export const spendingPlan = (total: number, more: object = {}) => ({
  plan_id: "spring",
  brand,
  objectives: "Spring gear",
  budget: { total, currency: "USD", reallocation_unlimited: true },
  flight: { start: "2020-01-01T00:00:00Z", end: "2099-12-31T00:00:00Z" },
  countries: ["US"],
  ...more,
});

export const packagesOver = (budget: number) => [
  { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget, bid_price: 3 },
];

/** A check of an intent, in the words of the release. */
export const checkIntent = (
  { ask }: TestSeller,
  version: string,
  { budget, principal, ...more }: { readonly budget: number; readonly principal?: string; readonly plan_id?: string },
) =>
  ask(
    "check_governance",
    {
      plan_id: "spring",
      caller: "https://buyer.example",
      ...(/^3\.[01]\./.test(version)
        ? {}
        : { target_agent: GOVERNED_URL, proposed_commitment: { amount: budget, currency: "USD" } }),
      tool: "create_media_buy",
      payload: { packages: packagesOver(budget) },
      ...more,
    },
    principal ?? "one",
  );

export const governedOrder = (budget: number, governance_context?: string) => ({
  ...{ ...key(), account, brand, packages: packagesOver(budget) },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  ...(governance_context !== undefined && { governance_context }),
});

export const governance_agents = [
  { url: GOVERNED_URL, authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
];

/** With an account of "one" under a plan. */
export async function governedSeller(
  version: string,
  total: number,
  { specialisms = ["sales_non_guaranteed"], ...more }: Partial<BehavingSellerOptions> = {},
): Promise<TestSeller> {
  const seller = await behavingSeller(version, ["governance_spend_authority", ...specialisms], {
    with: ["governance-agents"],
    ...more,
  });
  await seller.ask("sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] }, "one");
  await seller.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] }, "one");
  await seller.ask("sync_plans", { ...key(), plans: [spendingPlan(total)] }, "one");
  return seller;
}

export const deniedByPlan = async (
  { refused }: TestSeller,
  tool: string,
  request: object,
  what: string,
): Promise<void> => assert.is((await refused(tool, request, "one")).code, "GOVERNANCE_DENIED", what);

/** What `report_plan_adjustment` is told of money that is not bound any more. @param of the outcome it is of */
export const decommitment = (amount: number, id: string, of: object) => ({
  ...{ ...key(), action: "report", plan_id: "spring", seller_reference: "mb_1", seller_adjustment_id: id },
  ...{ adjustment_type: "decommitment", amount: { amount, currency: "USD" }, reason: "less" },
  effective_at: "2027-02-01T00:00:00Z",
  evidence: {
    evidence_id: `e_${id}`,
    evidence_type: "decommitment_agreement",
    digest: `sha256:${"a".repeat(64)}`,
    issued_at: "2027-02-01T00:00:00Z",
  },
  ...of,
});
