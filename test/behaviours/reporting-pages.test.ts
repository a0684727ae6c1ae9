/** Books that are read page by page, while reports come. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { FeedPeriod, ReportFeed } from "../../runtime/behaviours/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller } from "./behaving-seller.js";

const HOUR = 3_600_000;
const published = { uri: "https://reports.example.com/rows.json", sha256: "0".repeat(64) };
const feed: ReportFeed = {
  ...{ id: "hourly", version: 1, purpose: "analytics", finality: "snapshot" },
  definition: { id: "by_package", ...published },
  profile: { id: "rows", version: "1", ...published, grain: "package", primaryKeys: ["package_id"] },
  schedule: { period: "PT1H", slaSeconds: 3600 },
  since: "2026-11-01T00:00:00.000Z",
  mediaBuyIds: [],
  packageIds: [],
};

const version = "3.2.4";
if (!existsSync(path.join(corpus, "releases", version))) console.log(`skipped: no release ${version} in ${corpus}`);
else
  test("pages of one reading are of the books as they stood for its first, and none of what comes meanwhile is passed over", async () => {
    let now = Date.parse("2026-11-01T04:30:00Z");
    const there = new Set([feed.since]);
    const report = async (_: ReportFeed, { start }: FeedPeriod) =>
      there.has(start) ? { rows: [{ package_id: "p1", impressions: 1 }], totals: [] } : undefined;
    const reporting = { delivery: async () => undefined, feeds: async () => [feed], report };
    const options = { with: ["reporting"], ports: { reporting }, now: () => now };
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], options);
    const page = (more: object = {}, after: object = {}) => {
      const pagination = { max_results: 2, ...more };
      return ask("get_reporting_status", { account, view: "periods", pagination, ...after });
    };
    const first = await page();
    assert.equal([first.periods.length, first.revisions.length], [2, 1]);
    now += HOUR;
    // Of a period on the page that was read already.
    there.add("2026-11-01T01:00:00.000Z");
    const { cursor } = first.pagination;
    const second = await page({ cursor });
    for (const name of ["ledger_snapshot_id", "ledger_as_of", "changes_checkpoint"])
      assert.is(second[name], first[name], name);
    assert.equal([second.periods.length, second.pagination.has_more, second.revisions.length], [2, false, 0]);
    const changes_after = second.changes_checkpoint;
    const since = await page({ max_results: 50 }, { changes_after });
    assert.equal(
      since.periods.map(({ period }: { period: FeedPeriod }) => period.start),
      ["2026-11-01T01:00:00.000Z", "2026-11-01T04:00:00.000Z"],
    );
    assert.is(since.revisions.length, 1);
    const wanted = { account, view: "periods" };
    const other = { ...account, operator: "another.example" };
    for (const more of [{ finality: ["snapshot"] }, { account: other }]) {
      assert.is((await refused("get_reporting_status", { ...wanted, ...more, changes_after })).field, "changes_after");
      const misused = { ...wanted, ...more, pagination: { cursor } };
      assert.is((await refused("get_reporting_status", misused)).field, "pagination.cursor");
    }
    const [{ reporting_revision_id }] = first.revisions;
    const exact = await ask("get_media_buy_delivery", { account, reporting_revision_id });
    assert.is(exact.currency, undefined, "rows say what they are in");
    await close();
  });

test.run();
