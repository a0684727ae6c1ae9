/** Two processes of one seller on one PostgreSQL, and a plan that is kept there: its money is spent once. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdServer } from "../../runtime/behaviours/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { behavingSeller, key, versionsWith } from "./behaving-seller.js";
import { checkIntent, governedOrder, governedSeller, spendingPlan } from "./governed-seller.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const taken = async (): Promise<void> => undefined;
const booked: number[] = [];
const adServer: AdServer = {
  async book({ lines }, { idempotencyKey }) {
    await new Promise((done) => setTimeout(done, 50));
    booked.push(lines[0]!.budget);
    return { orderId: idempotencyKey };
  },
  ...{ change: taken, pause: taken, resume: taken, cancel: taken },
};

for (const version of await versionsWith("governance_spend_authority"))
  test(`${version}: of orders and updates at both at once, those that the plan has money for`, async () => {
    const database = await postgres.database();
    const more = { database, ports: { adServer }, limits: { calls: false as const, inFlightWaitMs: 60_000 } };
    const one = await governedSeller(version, 10_000, more);
    const other = await behavingSeller(version, ["governance_spend_authority", "sales_non_guaranteed"], {
      with: ["governance-agents"],
      ...more,
    });
    const { governance_context: token } = await checkIntent(one, version, { budget: 4_000 });
    const made = await Promise.allSettled(
      [one, other, one, other].map(({ ask }) => ask("create_media_buy", governedOrder(4_000, token), "one")),
    );
    const orders = made.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    assert.equal([orders.length, booked.splice(0)], [2, [4_000, 4_000]]);
    await one.ask("sync_plans", { ...key(), plans: [spendingPlan(11_000)] }, "one");
    // 3,000 are left for two that grow by 2,000.
    const grown = await Promise.allSettled(
      [one, other].map(({ ask }, index) => {
        const { media_buy_id, packages } = orders[index];
        const lines = [{ package_id: packages[0].package_id, budget: 6_000 }];
        const { account } = governedOrder(0);
        return ask("update_media_buy", { ...key(), account, media_buy_id, packages: lines }, "one");
      }),
    );
    assert.is(grown.filter(({ status }) => status === "fulfilled").length, 1);
    for (const seller of [one, other]) await seller.close();
  });

test.run();
