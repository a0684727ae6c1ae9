/** An order that waits for a signature, of an account whose plan is kept here: it is held to the plan as it is when it is signed. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const plan = (total: number) => ({
  ...{ plan_id: "spring", brand, objectives: "Spring gear", countries: ["US"] },
  budget: { total, currency: "USD", reallocation_unlimited: true },
  flight: { start: flight.start_time, end: "2099-12-31T00:00:00Z" },
});

for (const version of versions) {
  test(`${version}: a plan that has shrunk since an order was placed lets it be signed no more`, async () => {
    const approvals = { ask: async () => ({ decision: "wait" as const }), signAfterMs: 365 * 86_400_000 };
    const opened = await behavingSeller(version, ["sales_guaranteed"], {
      with: ["governance", "governance-agents"],
      ports: { approvals },
    });
    const { ask, decide, start, close } = opened;
    await start({ port: 0 });
    const agent = {
      url: "https://seller.example/mcp",
      authentication: { schemes: ["Bearer"], credentials: "x".repeat(32) },
    };
    await ask("sync_governance", { ...key(), accounts: [{ account, governance_agents: [agent] }] });
    await ask("sync_plans", { ...key(), plans: [plan(50_000)] });
    const packages = [{ product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget: 20_000 }];
    const split = !version.startsWith("3.0") && !version.startsWith("3.1");
    const { governance_context } = await ask("check_governance", {
      ...{ plan_id: "spring", caller: "https://buyer.example", tool: "create_media_buy", payload: { packages } },
      ...(split && {
        target_agent: "https://seller.example",
        proposed_commitment: { amount: 20_000, currency: "USD" },
      }),
    });
    const order = () => ({ ...key(), account, brand, ...flight, packages, governance_context });
    const [kept, dropped] = [await ask("create_media_buy", order()), await ask("create_media_buy", order())];
    const signed = (taskId: string) => decide({ principal: "buyer", taskId, approved: true });
    const statusOf = async (task_id: string) => (await ask("get_task_status", { task_id })).status;
    await signed(kept.task_id);
    await until(async () => (await statusOf(kept.task_id)) === "completed");
    await ask("sync_plans", { ...key(), plans: [plan(10_000)] });
    // The token of the check is as good as it was; the plan is not.
    await signed(dropped.task_id);
    await until(async () => (await statusOf(dropped.task_id)) === "rejected");
    const { error, errors } = await ask("get_task_status", { task_id: dropped.task_id, include_result: true });
    assert.match(JSON.stringify(error ?? errors), "GOVERNANCE_DENIED");
    assert.is((await ask("get_media_buys", { account })).media_buys.length, 1);
    await close();
  });
}

test.run();
