/** Books with thousands of lines: what is asked of all of them is found by one look at each. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { committed, type Entry, planAccounts } from "../../runtime/behaviours/governance/ledger.js";
import { boundWhere, moneyBound, type Spending } from "../../runtime/behaviours/governance/spending.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const ACTIONS = 100;

/** A trail of checks, of which the first half was completed, and a count of how often its lines were read. */
function trail() {
  const read = { times: 0 };
  const entries = Array.from({ length: ACTIONS * 1.5 }, (_, order) => {
    const isCheck = order < ACTIONS;
    const entry = {
      ...(isCheck
        ? { type: "check", decision: "approved", seller: "s", amount: 10 }
        : { type: "outcome", outcome: "completed", committed: 10 }),
      ...{ id: `e${order}`, order, purchase_type: "media_buy" },
      get governance_context() {
        read.times += 1;
        return `token-${order % ACTIONS}`;
      },
    };
    return entry as unknown as Entry;
  });
  const spending = Array.from(
    { length: ACTIONS },
    (_, at): Spending => ({
      ...{ id: `s${at}`, what: `mb-${at}`, governance_context: `token-${at}` },
      ...{ purchase_type: "media_buy", amount: 10, order: 0 },
    }),
  );
  return { entries, spending, read };
}

test("what thousands of actions have bound is summed by a few looks at each line of the trail", () => {
  const { entries, spending, read } = trail();
  const says = ({ seller }: { seller?: string | undefined }): boolean => seller === "s";
  const plan = { budget: { total: 5_000, currency: "USD" } };
  assert.equal(
    [
      moneyBound(spending, entries),
      committed(entries),
      boundWhere(spending, entries, { says, own: "token-0" }),
      planAccounts(plan as never, entries).gross_committed,
    ],
    [{ media_buy: 10 * ACTIONS }, { media_buy: 5 * ACTIONS }, 10 * ACTIONS - 10, 5 * ACTIONS],
  );
  assert.ok(read.times < 10 * entries.length, `${read.times} looks at ${entries.length} lines`);
});

for (const version of versions)
  test(`${version}: a report of use in many lines of one media buy reads it once`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["usage"] });
    const packages = [
      { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 },
    ];
    const times = { start_time: "asap", end_time: "2099-01-01T00:00:00Z" };
    const { media_buy_id } = await ask("create_media_buy", { ...key(), account, brand, ...times, packages });
    const reporting_period = { start: "2026-10-01T00:00:00Z", end: "2026-10-02T00:00:00Z" };
    const record = { account, media_buy_id, vendor_cost: 1, currency: "USD" };
    const usage = Array.from({ length: 30 }, (_, impressions) => ({ ...record, impressions }));
    const own = JSON.parse;
    let reads = 0;
    JSON.parse = (text: string, ...more: never[]) => {
      if (text.startsWith('{"media_buy_id"') && text.includes('"packages"')) reads += 1;
      return own(text, ...more);
    };
    try {
      const { accepted, errors } = await ask("report_usage", { ...key(), reporting_period, usage });
      assert.equal([accepted, errors], [30, undefined]);
    } finally {
      JSON.parse = own;
    }
    assert.ok(reads <= 2, `the buy is read ${reads} times`);
    await close();
  });

test.run();
