/** Adjustments of what was spent under a plan: each counts once, and all together are no more than was spent. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { key, publishedRelease, versions, versionsWith } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";
import { checkIntent, decommitment, governedSeller } from "./governed-seller.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const having = await versionsWith("governance_delivery_monitor");
const adjusting = await Promise.all(
  having.map(async (version) => ((await publishedRelease(version)).tools.report_plan_adjustment ? [version] : [])),
);

for (const version of adjusting.flat())
  for (const [engine, database] of Object.entries(databases))
    test(`${version}, ${engine}: an adjustment that is told again, or beside others, gives back no more than was spent`, async () => {
      const more = { database: await database(), limits: { calls: false as const, inFlightWaitMs: 60_000 } };
      const one = await governedSeller(version, 10_000, { ...more, specialisms: ["governance_delivery_monitor"] });
      const other = await governedSeller(version, 10_000, { ...more, specialisms: ["governance_delivery_monitor"] });
      const { governance_context, check_id } = await checkIntent(one, version, { budget: 1_000 });
      const settled = { ...key(), plan_id: "spring", check_id, governance_context, outcome: "completed" };
      const seller_response = { seller_reference: "mb_1" };
      const { outcome_id } = await one.ask("report_plan_outcome", { ...settled, seller_response }, "one");
      const tell = ({ ask }: typeof one, amount: number, id: string) =>
        ask("report_plan_adjustment", decommitment(amount, id, { outcome_id }), "one");
      const first = await tell(one, 300, "first");
      assert.is((await tell(other, 300, "first")).adjustment_id, first.adjustment_id, "told again under another key");
      const beside = await Promise.allSettled([tell(one, 600, "a"), tell(other, 600, "b"), tell(one, 600, "c")]);
      const taken = beside.flatMap((each) => (each.status === "fulfilled" ? [each.value.adjustment_id] : []));
      assert.is(taken.length, 1);
      for (const adjustment_id of [first.adjustment_id, ...taken]) {
        const accepted = { ...key(), action: "review", plan_id: "spring", adjustment_id, decision: "accept" };
        await other.ask("report_plan_adjustment", accepted, "one");
      }
      const { plans } = await one.ask("get_plan_audit_logs", { plan_ids: ["spring"] }, "one");
      assert.equal([plans[0].budget.headroom_restored, plans[0].budget.ledger_committed], [900, 100]);
      for (const seller of [one, other]) await seller.close();
    });

for (const version of versions)
  test(`${version}: packages of an outcome come to what was approved, to the cent`, async () => {
    const own = await governedSeller(version, 10_000);
    const { governance_context, check_id } = await checkIntent(own, version, { budget: 900.9 });
    const packages = [300.3, 600.6].map((budget) => ({ budget }));
    const settled = { ...key(), plan_id: "spring", check_id, governance_context, outcome: "completed" };
    const seller_response = { seller_reference: "mb_1", packages };
    const told = await own.ask("report_plan_outcome", { ...settled, seller_response }, "one");
    assert.equal([told.committed_budget, told.findings], [900.9, undefined]);
    await own.close();
  });

test.run();
