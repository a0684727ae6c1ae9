/** Books that a test begins, at a time of its own: what otherwise takes hours of waiting. */
import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, accountId } from "../accounts/accounts.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { FeedAccount, FeedReport, ReportFeed } from "../ports/report-feeds.js";
import {
  adjustReport,
  giveReport,
  type Obligation,
  openReportLedger,
  type ReportLedger,
  resetReportLedger,
  setLedgerClock,
} from "./ledger.js";
import { expectedAt, isoDuration, periodAt } from "./schedule.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What the rows of a test are is published nowhere: a digest of nothing stands for it. */
const none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const hourly: ReportFeed = {
  id: "reporting-core-hourly",
  version: 1,
  purpose: "analytics",
  definition: { id: "reporting-core", uri: "https://reports.example.com/definitions/core.json", sha256: none },
  profile: {
    id: "reporting-core-rows",
    version: "1.0.0",
    uri: "https://reports.example.com/schemas/core-rows.json",
    sha256: none,
    grain: "package by country",
    primaryKeys: ["period_start", "dimensions"],
  },
  schedule: { period: "PT1H", slaSeconds: 3600 },
  finality: "snapshot",
  since: "2026-08-01T00:00:00.000Z",
  mediaBuyIds: ["media-buy-core-001", "media-buy-core-002"],
  packageIds: ["package-core-001", "package-core-002"],
};

/** A day of New York, in which the clocks go back. */
const daily: ReportFeed = {
  ...hourly,
  id: "reporting-core-daily-official",
  schedule: { period: "P1D", timezone: "America/New_York", slaSeconds: 4 * 3600 },
  finality: "official",
  since: "2026-11-01T04:00:00.000Z",
};

/** The rows that the protocol's own vector is of, and their id. */
const VECTOR_ID = "reporting-revision.ecc62efa00946aa1e2788ad9";
const vectorRow = (at: 1 | 2, country: string, impressions: number, clicks: number): JsonObject => ({
  period_start: "2026-08-01T00:00:00.000Z",
  period_end: "2026-08-01T01:00:00.000Z",
  impressions,
  dimensions: { media_buy_id: `media-buy-core-00${at}`, package_id: `package-core-00${at}`, country },
  metrics: { impressions, clicks },
});

const totalOf = (impressions: number): FeedReport["totals"] => [
  { name: "impressions", value: String(impressions), value_type: "integer", unit: "impressions" },
];

const vector: FeedReport = { rows: [vectorRow(1, "US", 2, 1), vectorRow(2, "CA", 3, 0)], totals: totalOf(5) };

const accountOf = async (call: BehaviourCall): Promise<FeedAccount> => ({
  principal: call.principal,
  accountId: await accountId(call, (call.ctx.account ?? {}) as AccountRef),
});

function firstOf({ obligations }: ReportLedger): Obligation {
  const [first] = obligations;
  if (first === undefined) throw new ScenarioError("INVALID_STATE", "nothing is due: prepare first");
  return first;
}

const told = (
  { now, account }: ReportLedger,
  { id, feed, period, expectedAt: due, deadline }: Obligation,
): JsonObject => ({
  simulated_now: new Date(now).toISOString(),
  account_id: account.accountId,
  delivery_config_id: feed.id,
  delivery_config_version: feed.version,
  reporting_obligation_id: id,
  period: { ...period, source_timezone: feed.schedule.timezone ?? "UTC" },
  period_timezone: feed.schedule.timezone ?? "UTC",
  period_duration: feed.schedule.period,
  delivery_sla: isoDuration(feed.schedule.slaSeconds),
  expected_at: due,
  recovery_deadline: deadline,
});

async function prepare(call: BehaviourCall, feed: ReportFeed): Promise<JsonObject> {
  const { end } = periodAt(Date.parse(feed.since), feed.schedule);
  const ledger = await resetReportLedger(call, await accountOf(call), { feeds: [feed], now: end + MINUTE });
  return { simulated: told(ledger, firstOf(ledger)) };
}

async function advance(call: BehaviourCall, target: unknown): Promise<JsonObject> {
  if (target !== "delayed" && target !== "action_required")
    throw new ScenarioError("INVALID_PARAMS", "params.target_health must be delayed or action_required");
  const ledger = await openReportLedger(call, await accountOf(call));
  const first = firstOf(ledger);
  const after = Date.parse(target === "delayed" ? first.expectedAt : first.deadline);
  const moved = await setLedgerClock(call, ledger, after + 5 * MINUTE);
  return { simulated: told(moved, firstOf(moved)) };
}

async function publish(call: BehaviourCall, report: FeedReport, named?: string): Promise<JsonObject> {
  const ledger = await openReportLedger(call, await accountOf(call));
  const first = firstOf(ledger);
  if (first.revision !== undefined)
    throw new ScenarioError("INVALID_STATE", "the report was given already", "published");
  const given = await giveReport(call, ledger, first, report, named);
  const more = { row_count: given.rows.length, revision_content_sha256: given.digest };
  return { simulated: { ...told(ledger, first), reporting_revision_id: given.id, ...more } };
}

/** A close, and what sets it right: told of in another order than they came, and twice. */
async function closeAndCorrect(call: BehaviourCall): Promise<JsonObject> {
  const ledger = await openReportLedger(call, await accountOf(call));
  const first = firstOf(ledger);
  if (first.revision !== undefined)
    throw new ScenarioError("INVALID_STATE", "the report was given already", "published");
  const given = await giveReport(call, ledger, first, { rows: [], totals: totalOf(0) });
  const correction = await adjustReport(call, ledger, given, { deltas: totalOf(-1), reason: "invalid_traffic" });
  const names = { reporting_revision_id: given.id, reporting_adjustment_id: correction.id };
  const notification_order = ["adjustment", "revision", "adjustment"];
  return { simulated: { ...told(ledger, first), ...names, notification_order } };
}

/** Two days of New York, as the schedule of a feed has them: one of 25 hours, and one of 23. */
function clockChanges(): JsonObject {
  const dayOf = (at: string): JsonObject => {
    const { start, end } = periodAt(Date.parse(at), daily.schedule);
    const period = { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
    return { ...period, expected_at: expectedAt(period, daily.schedule), hours: (end - start) / HOUR };
  };
  const changes = { fall_back: dayOf("2026-11-01T12:00:00Z"), spring_forward: dayOf("2026-03-08T12:00:00Z") };
  return { simulated: { ...changes, period_timezone: daily.schedule.timezone } };
}

const unknown = (operation: string): never => {
  throw new ScenarioError("INVALID_PARAMS", `params.operation ${operation} is not offered`);
};

export const reportingProbes: Scenarios = {
  async reporting_core_lifecycle_probe(params, call) {
    const operation = textParam(params, "operation");
    if (operation === "prepare") return prepare(call, hourly);
    if (operation === "advance_time") return advance(call, params.target_health);
    if (operation === "publish_zero_row") return publish(call, { rows: [], totals: [] });
    if (operation === "publish_nonempty") return publish(call, vector, VECTOR_ID);
    return unknown(operation);
  },
  async reliable_reporting_core_integrity_probe(params, call) {
    const operation = textParam(params, "operation");
    if (operation === "probe_scheduler_dst") return clockChanges();
    if (operation === "prepare") return prepare(call, daily);
    if (operation === "publish_official_adjustment") return closeAndCorrect(call);
    return unknown(operation);
  },
};
