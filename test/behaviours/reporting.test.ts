/** Reports that come of themselves: the calendar, the books, and the published storyboard of both. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import canonicalize from "canonicalize";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { FeedPeriod, ReportFeed } from "../../runtime/behaviours/index.js";
import { contentDigest } from "../../runtime/behaviours/reporting/ledger.js";
import { elapsedPeriods, nextExpectedAt, periodAt } from "../../runtime/behaviours/reporting/schedule.js";
import { loadSuite, runConformance } from "../../runtime/conformance/index.js";
import { corpus } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";
import { account, behavingSeller, key, type TestSeller } from "./behaving-seller.js";

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

  test("a report that its source fails at holds up no other, and a feed that cannot be counted by is refused", async () => {
    const now = () => Date.parse("2026-11-01T03:30:00Z");
    const report = async (_: ReportFeed, { start }: FeedPeriod) => {
      if (start === feed.since) throw new Error("no such table");
      return { rows: [], totals: [] };
    };
    let offered: object = feed;
    const reporting = { delivery: async () => undefined, feeds: async () => [offered as ReportFeed], report };
    const options = { with: ["reporting"], ports: { reporting }, now };
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], options);
    const { revisions } = await ask("get_reporting_status", { account, view: "periods" });
    assert.is(revisions.length, 2);
    const { schedule } = feed;
    for (const wrong of [
      { schedule: { ...schedule, slaSeconds: Number.NaN } },
      { schedule: { ...schedule, period: "P1D", timezone: "Nowhere/At" } },
      { since: "soon" },
    ]) {
      offered = { ...feed, ...wrong };
      const { code } = await refused("get_reporting_status", { account, view: "periods" });
      assert.is(code, "CONFIGURATION_ERROR", JSON.stringify(wrong));
    }
    await close();
    assert.is(elapsedPeriods(schedule, Date.parse("0001-01-01T00:00:00Z"), now()).length, 1_000);
  });

  const of = {
    ...{ delivery_config_id: "hourly", delivery_config_version: 1, report_definition_id: "by_package" },
    period: { start: feed.since, end: "2026-11-01T01:00:00.000Z", source_timezone: "UTC" },
    status_as_of: "2026-11-01T01:20:00Z",
  };
  const id = (name: string) => ({ reporting_status_id: `statement-of-${name}-0001` });
  const rows = [{ package_id: "p1", impressions: 1 }];
  const totals = [{ name: "impressions", value: "1", value_type: "integer" }] as const;

  test("a consumer says what it made of each report; a dispute is its own view's, and a later word ends it", async () => {
    let now = Date.parse("2026-11-01T01:30:00Z");
    const told: string[] = [];
    const reporting = {
      ...{ delivery: async () => undefined, offered: [feed], feeds: async () => [feed] },
      report: async (_: ReportFeed, { start }: FeedPeriod) => (start === feed.since ? { rows, totals } : undefined),
      consumerStatus: async ({ consumer_status }: { consumer_status: string }) => void told.push(consumer_status),
    };
    const options = { with: ["reporting"], ports: { reporting }, now: () => now };
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"], options);
    const status = (more: object, who?: string) => ask("get_reporting_status", { account, ...more }, who);
    const before = await status({ view: "periods" });
    const [{ reporting_obligation_id }] = before.periods;
    const [{ reporting_revision_id, revision_content_sha256 }] = before.revisions;
    const named = { reporting_obligation_id, reporting_revision_id };
    const sync = async (...statuses: object[]) => {
      const { results } = await ask("sync_reporting_status", { ...key(), account, statuses });
      return results.map((one: { result: string; errors?: { code: string }[] }) => one.errors?.[0]?.code ?? one.result);
    };
    const unreadable = {
      ...of,
      ...id("unreadable"),
      ...named,
      consumer_status: "unreadable",
      failure_code: "access_denied",
    };
    const wrong = "0".repeat(64);
    const received = { ...of, ...named, consumer_status: "received", observed_revision_content_sha256: wrong };
    const ahead = { ...of, ...id("early"), reporting_obligation_id, consumer_status: "revision_missing" };
    assert.equal(await sync({ ...unreadable, delivery_config_id: "other" }), ["NOT_FOUND"]);
    assert.equal(await sync(ahead), ["VALIDATION_ERROR"], "nothing is missing before it is due");
    assert.equal(await sync({ ...received, ...id("wrong") }), ["VALIDATION_ERROR"]);
    assert.equal(await sync(unreadable, { ...unreadable, ...id("twice") }), ["VALIDATION_ERROR", "VALIDATION_ERROR"]);
    assert.equal(told, []);
    assert.equal(await sync(unreadable), ["recorded"]);
    assert.equal(await sync(unreadable), ["unchanged"]);
    assert.equal(await sync({ ...unreadable, failure_code: "transport_failed" }), ["IDEMPOTENCY_CONFLICT"]);
    assert.equal(told, ["unreadable"]);

    const disputed = await status({ view: "periods", changes_after: before.changes_checkpoint });
    const [period] = disputed.periods;
    assert.equal([period.health, period.issues[0].code], ["action_required", "CONSUMER_STATUS_MISMATCH"]);
    assert.is(period.current_consumer_status_id, unreadable.reporting_status_id);
    assert.is(disputed.consumer_statuses[0].consumer_status, "unreadable");
    assert.is((await status({ view: "periods" }, "another")).periods[0].health, "complete", "a view of its own");

    const right = { ...received, ...id("received"), observed_revision_content_sha256: revision_content_sha256 };
    assert.equal(await sync(right), ["CONFLICT"], "the current statement has to be named");
    assert.equal(await sync({ ...right, supersedes_reporting_status_id: unreadable.reporting_status_id }), [
      "recorded",
    ]);
    const settled = await status({ view: "revision", reporting_revision_id });
    assert.is(settled.consumer_statuses.length, 2);
    assert.is((await status({ view: "periods" })).periods[0].health, "complete");
    now += 6 * HOUR;
    const { obligation_counts: counts } = await status({ view: "summary" });
    assert.ok(counts.consumer_status_pending > 0 && counts.consumer_status_pending < counts.total);
    await close();
  });

  /** A correction of an official report, which a test has put there, and what a consumer may say of it. */
  async function corrected({ ask }: TestSeller) {
    for (const operation of ["prepare", "publish_official_adjustment"])
      await ask("comply_test_controller", {
        account: { ...account, sandbox: true },
        scenario: "reliable_reporting_core_integrity_probe",
        params: { operation },
      });
    const { adjustments, changes_checkpoint } = await ask("get_reporting_status", { account, view: "periods" });
    const [{ canonical_adjustment_sha256: digest, ...adjustment }] = adjustments;
    assert.is(
      digest,
      createHash("sha256")
        .update(canonicalize(adjustment) ?? "")
        .digest("hex"),
    );
    const { reporting_adjustment_id, adjusts_reporting_revision_id } = adjustment;
    const of = { reporting_adjustment_id, adjusts_reporting_revision_id, observed_at: "2026-11-02T05:00:30Z" };
    const receipt = (name: string, status: string, more: object = {}) => ({
      ...{
        ...of,
        reporting_receipt_id: `receipt-of-${name}-0001`,
        status,
        observed_adjustment_sha256: digest,
        ...more,
      },
      ...(status === "rejected" && { rejection_codes: ["NOT_OURS"] }),
    });
    const sync = async (adjustment_receipts: object[], receipts?: object[], who?: string) => {
      const request = { ...key(), account, adjustment_receipts, ...(receipts && { receipts }) };
      const { results } = await ask("sync_reporting_receipts", request, who);
      return results.map((one: { result: string; errors?: { code: string }[] }) => one.errors?.[0]?.code ?? one.result);
    };
    return { changes_checkpoint, receipt, sync };
  }

  test("a consumer accepts or rejects each correction under its digest, and accepts it once", async () => {
    const seller = await behavingSeller(version, ["sales_guaranteed"], { with: ["reporting"] });
    const { ask, refused, close } = seller;
    const { changes_checkpoint, receipt, sync } = await corrected(seller);
    const delivered = {
      ...{ reporting_receipt_id: "receipt-of-a-file-0001", reporting_obligation_id: "o", reporting_revision_id: "r" },
      ...{ reporting_materialization_id: "m", status: "accepted", verification_profile: "manifest_checksums" },
      observed_manifest_sha256: "0".repeat(64),
      ...{ observed_row_count: 0, observed_control_totals: [], observed_at: "2026-11-02T05:00:30Z" },
    };
    const wrong = { observed_adjustment_sha256: "0".repeat(64) };
    assert.equal(await sync([receipt("wrong", "accepted", wrong)], undefined), ["VALIDATION_ERROR"]);
    assert.equal(await sync([receipt("other", "accepted", { reporting_adjustment_id: "other" })]), ["NOT_FOUND"]);
    assert.equal(await sync([receipt("stranger", "accepted")], undefined, "another"), ["NOT_FOUND"]);
    const no = receipt("no", "rejected", wrong);
    assert.equal(await sync([no, receipt("yes", "accepted")], undefined), ["recorded", "CONFLICT"]);
    assert.equal(await sync([no]), ["unchanged"]);
    assert.equal(await sync([{ ...no, rejection_codes: ["LATE"] }]), ["IDEMPOTENCY_CONFLICT"]);
    const yes = receipt("yes", "accepted", { supersedes_reporting_receipt_id: no.reporting_receipt_id });
    assert.equal(await sync([yes]), ["recorded"]);
    const more = receipt("more", "rejected", { supersedes_reporting_receipt_id: yes.reporting_receipt_id });
    assert.equal(await sync([more]), ["CONFLICT"], "what was accepted is");
    assert.equal(await sync([yes], [delivered]), ["NOT_FOUND", "unchanged"], "nothing is delivered anywhere");
    const changed = await ask("get_reporting_status", { account, view: "periods", changes_after: changes_checkpoint });
    assert.equal(
      changed.adjustment_receipts.map((one: { status: string }) => one.status),
      ["rejected", "accepted"],
    );
    assert.equal(
      (await ask("get_reporting_status", { account, view: "periods" }, "another")).adjustment_receipts ?? [],
      [],
    );
    const twice = {
      ...key(),
      account,
      adjustment_receipts: [yes, { ...yes, status: "accepted", observed_at: "2026-11-02T07:00:00Z" }],
    };
    assert.is((await refused("sync_reporting_receipts", twice)).code, "INVALID_REQUEST");
    await close();
  });

  test("the published storyboard of reporting is kept", async () => {
    // A seller that knows of every period what happened: what a test has put there is the test's to say.
    const report = async () => ({ rows: [], totals: [] });
    const reporting = { delivery: async () => undefined, offered: [feed], feeds: async () => [feed], report };
    const opened = await behavingSeller(version, ["sales_guaranteed"], { with: ["reporting"], ports: { reporting } });
    const url = `${await opened.start({ port: 0 })}/mcp`;
    const suite = await loadSuite(path.join(corpus, "compliance", version));
    const { counts, storyboards } = await runConformance({ url, ...(await wholeRelease(version)), suite });
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
