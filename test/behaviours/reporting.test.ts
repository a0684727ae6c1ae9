/** Reports that come of themselves: the calendar, the books, and the published storyboard of both. */
import { existsSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wholeReleaseAt } from "../../cli/check/release-value.js";
import type { FeedPeriod, ReportFeed } from "../../runtime/behaviours/index.js";
import { contentDigest } from "../../runtime/behaviours/reporting/ledger.js";
import { elapsedPeriods, nextExpectedAt, periodAt } from "../../runtime/behaviours/reporting/schedule.js";
import { loadSuite, runConformance } from "../../runtime/conformance/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller } from "./behaving-seller.js";

const HOUR = 3_600_000;
const sha256 = "0".repeat(64);
const uri = "https://reports.example.com/rows.json";
const feed: ReportFeed = {
  id: "hourly",
  version: 1,
  purpose: "analytics",
  definition: { id: "by_package", uri, sha256 },
  profile: { id: "rows", version: "1", uri, sha256, grain: "package", primaryKeys: ["package_id"] },
  schedule: { period: "PT1H", slaSeconds: 3600 },
  finality: "snapshot",
  since: "2026-11-01T00:00:00.000Z",
  mediaBuyIds: [],
  packageIds: [],
};

test("days of every zone follow one upon the other, and are 23 to 25 hours long", () => {
  const zones = fc.constantFrom("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu");
  const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });
  fc.assert(
    fc.property(zones, instants, (timezone, at) => {
      const schedule = { period: "P1D", timezone, slaSeconds: 3600 } as const;
      const day = periodAt(at, schedule);
      assert.ok(day.start <= at && at < day.end, `${timezone} ${at}`);
      assert.ok(day.end - day.start >= 23 * HOUR && day.end - day.start <= 25 * HOUR);
      assert.is(periodAt(day.end, schedule).start, day.end);
      assert.ok(Date.parse(nextExpectedAt(schedule, at)) > at);
    }),
    { numRuns: 200 },
  );
  const days = elapsedPeriods(
    { period: "P1D", timezone: "America/New_York", slaSeconds: 0 },
    Date.UTC(2026, 9, 31, 12),
    Date.UTC(2026, 10, 3),
  );
  assert.equal(
    days.map(({ start }) => start),
    ["2026-10-31T04:00:00.000Z", "2026-11-01T04:00:00.000Z"],
  );
});

const version = "3.2.4";
const release = path.join(corpus, "releases", version);
if (!existsSync(release)) console.log(`skipped: no release ${version} in ${corpus}`);
else {
  test("a report that the seller knows is given once, and is read back row by row", async () => {
    let asked = 0;
    let now = Date.parse("2026-11-01T01:30:00Z");
    const rows = [1, 2, 3].map((impressions) => ({ package_id: `p${impressions}`, impressions }));
    const totals = [{ name: "impressions", value: "6", value_type: "integer" }] as const;
    const report = async (_: ReportFeed, { start }: FeedPeriod) => {
      asked += 1;
      return start === feed.since ? { rows, totals } : undefined;
    };
    const reporting = { delivery: async () => undefined, offered: [feed], feeds: async () => [feed], report };
    const options = { with: ["reporting"], ports: { reporting }, now: () => now };
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], options);
    const status = (more: object, who?: string) => ask("get_reporting_status", { account, ...more }, who);
    const first = await status({ view: "periods" });
    assert.equal([first.periods.length, first.periods[0].health, asked], [1, "complete", 1]);
    const [{ reporting_revision_id: id, revision_content_sha256: digest }] = first.revisions;
    assert.is(digest, contentDigest(id, { rows, totals }));
    now += 3 * HOUR;
    const later = await status({ view: "summary" });
    assert.equal([later.health, later.obligation_counts.complete], ["delayed", 1]);
    const changed = await status({ view: "periods", changes_after: first.changes_checkpoint });
    assert.equal([changed.periods.length, changed.revisions.length], [3, 0]);
    const read: object[] = [];
    let cursor: string | undefined;
    do {
      const pagination = { max_results: 2, ...(cursor !== undefined && { cursor }) };
      const page = await ask("get_media_buy_delivery", { account, reporting_revision_id: id, pagination });
      read.push(...page.reporting_rows);
      cursor = page.pagination.cursor;
    } while (cursor !== undefined);
    assert.equal(read, rows);
    // Somebody else's books are others, and what is in these is not there for him.
    const stranger = await refused("get_media_buy_delivery", { account, reporting_revision_id: id }, "another");
    assert.is(stranger.code, "NOT_FOUND");
    const wrong = await refused("get_reporting_status", { account, view: "periods", changes_after: "!" });
    assert.equal([wrong.code, wrong.field], ["INVALID_REQUEST", "changes_after"]);
    await close();
  });

  test("the published storyboard of reporting is kept", async () => {
    const reporting = { delivery: async () => undefined, offered: [feed] };
    const opened = await behavingSeller(version, ["sales_guaranteed"], { with: ["reporting"], ports: { reporting } });
    const url = `${await opened.start({ port: 0 })}/mcp`;
    const suite = await loadSuite(path.join(corpus, "compliance", version));
    const { counts, storyboards } = await runConformance({ url, ...(await wholeReleaseAt(release)), suite });
    const failed = storyboards.flatMap(({ steps }) => steps.filter(({ status }) => status === "failed"));
    assert.equal(
      failed.map(({ step }) => step),
      [],
    );
    assert.equal([counts.passed, counts.faulty, counts.skipped], [22, 1, 0]);
    await opened.close();
  });
}

test.run();
