/** Books with thousands of lines: what is asked of all of them is found by one look at each. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { committed, type Entry, planAccounts } from "../../runtime/behaviours/governance/ledger.js";
import { boundWhere, moneyBound, type Spending } from "../../runtime/behaviours/governance/spending.js";
import type { ReportFeed } from "../../runtime/behaviours/index.js";
import { exampleProperties } from "../../runtime/behaviours/ports/example-properties.js";
import type { Database } from "../../runtime/db/types.js";
import { openStore } from "../../runtime/store/stores.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const ACTIONS = 100;

/** A trail of checks, of which the first half was completed, and a count of how often its lines were read. */
function manyLines() {
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
  const { entries, spending, read } = manyLines();
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

/** A site that counts how often its names are read. */
function countedSites(count: number) {
  const read = { times: 0 };
  const all = Array.from({ length: count }, (_, at) => ({
    ...{ property_id: `p${at}`, publisher_domain: `p${at}.example`, property_type: "website" },
    ...{ tags: [], channels: ["display"], countries: ["US"], features: {} },
    get identifiers() {
      read.times += 1;
      return [{ type: "domain", value: `p${at}.example` }];
    },
  }));
  return { all, read };
}

for (const version of versions)
  test(`${version}: many records of delivery are held to properties that are looked through once`, async () => {
    const { all, read } = countedSites(20);
    const properties = { ...exampleProperties, properties: async () => all };
    const { ask, close } = await behavingSeller(version, ["property_lists"], { ports: { properties } });
    const { list } = await ask("create_property_list", { ...key(), name: "list" });
    read.times = 0;
    const records = all.flatMap(({ publisher_domain: value }) =>
      Array.from({ length: 5 }, (_, at) => ({
        ...{ identifier: { type: "domain", value }, impressions: 1 },
        sales_agent_url: `https://agent${at}.example`,
      })),
    );
    const { summary } = await ask("validate_property_delivery", { list_id: list.list_id, records });
    assert.is(summary.total_records, records.length);
    assert.ok(read.times < 6 * all.length, `${read.times} looks at ${all.length} properties`);
    await close();
  });

const published = { uri: "https://reports.example.com/rows.json", sha256: "0".repeat(64) };
const HOUR_MS = 3_600_000;
const begun = Date.parse("2026-11-01T00:00:00Z");
const feed: ReportFeed = {
  ...{ id: "hourly", version: 1, purpose: "analytics", finality: "snapshot" },
  definition: { id: "by_package", ...published },
  profile: { id: "rows", version: "1", ...published, grain: "package", primaryKeys: ["package_id"] },
  schedule: { period: "PT1H", slaSeconds: 3600 },
  since: new Date(begun).toISOString(),
  ...{ mediaBuyIds: [], packageIds: [] },
};

if (!existsSync(path.join(corpus, "releases", "3.2.4"))) console.log(`skipped: no release 3.2.4 in ${corpus}`);
else
  test("reports that have become known are taken by one look at the books", async () => {
    const store = await openStore(`sqlite:${path.join(tempFolder(), "books.db")}`);
    const database = store.database as Database;
    const reporting = {
      delivery: async () => undefined,
      feeds: async () => [feed],
      report: async () => ({ rows: [{ package_id: "p1", impressions: 1 }], totals: [] }),
    };
    const options = { with: ["reporting"], ports: { reporting }, now: () => begun + 30 * HOUR_MS, database: store };
    const { ask, close } = await behavingSeller("3.2.4", ["sales_guaranteed"], options);
    const own = database.query;
    let asked = 0;
    database.query = (flow) => {
      asked += 1;
      return own.call(database, flow) as never;
    };
    const pagination = { max_results: 50 };
    const { revisions } = await ask("get_reporting_status", { account, view: "periods", pagination });
    assert.is(revisions.length, 24);
    assert.ok(asked < 2 * revisions.length, `${asked} questions to the database`);
    await close();
    await store.close();
  });

test.run();
