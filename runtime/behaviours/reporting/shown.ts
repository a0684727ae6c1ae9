/** Obligations, reports and adjustments as the wire has them. */
import type { JsonObject } from "../../contract/index.js";
import type { ReportFeed } from "../ports/report-feeds.js";
import {
  canonicalDigest,
  isDisputed,
  type Obligation,
  type ReportAdjustment,
  type ReportLedger,
  type ReportRevision,
} from "./ledger.js";
import { isoDuration } from "./schedule.js";

export const timezoneOf = ({ schedule }: ReportFeed): string => schedule.timezone ?? "UTC";

export const shownSchedule = ({ schedule: { period, timezone, slaSeconds } }: ReportFeed): JsonObject => ({
  period_duration: period,
  ...(timezone === undefined ? { alignment: "utc" } : { alignment: "source_timezone", period_timezone: timezone }),
  delivery_sla: isoDuration(slaSeconds),
});

/** Everything that a feed is of, it reports in full. */
export const fullCoverage = (
  feeds: readonly Pick<ReportFeed, "mediaBuyIds" | "packageIds">[],
  evaluatedAt: string,
): JsonObject => {
  const buys = [...new Set(feeds.flatMap(({ mediaBuyIds }) => mediaBuyIds))];
  const packages = [...new Set(feeds.flatMap(({ packageIds }) => packageIds))];
  return {
    status: "full",
    evaluated_at: evaluatedAt,
    media_buy_ids: buys,
    fully_covered_media_buy_ids: buys,
    partially_covered_media_buy_ids: [],
    unsupported_media_buy_ids: [],
    unknown_media_buy_ids: [],
    package_ids: packages,
    covered_package_ids: packages,
    unsupported_package_ids: [],
    unknown_package_ids: [],
    limitations: [],
  };
};

const shownPeriod = ({ feed, period }: Pick<Obligation, "feed" | "period">): JsonObject => ({
  ...period,
  source_timezone: timezoneOf(feed),
});

/** A report that its consumer has not got, or cannot use; whose turn it is follows from what it says. */
function disputeOf({ id, feed, period, revision, statement: current }: Obligation): JsonObject[] {
  const { statement, recordedAt } = current!;
  const missed = statement.consumer_status.endsWith("_missing");
  return [
    {
      issue_id: `issue_${statement.reporting_status_id}`,
      code: "CONSUMER_STATUS_MISMATCH",
      severity: "action_required",
      opened_at: recordedAt,
      // What is missing is there: who says so has not read it yet.
      responsible_party: missed ? "buyer" : "seller",
      recommended_action: missed ? "contact_buyer" : "contact_seller",
      reporting_status_id: statement.reporting_status_id,
      reporting_obligation_id: id,
      reporting_revision_id: revision!.id,
      delivery_config_id: feed.id,
      delivery_config_version: feed.version,
      feed_purpose: feed.purpose,
      period_start: period.start,
      period_end: period.end,
    },
  ];
}

/** A report that is late, or in dispute, and whose turn it is. */
export function issueOf(obligation: Obligation): JsonObject[] {
  const { id, feed, period, expectedAt, deadline, health } = obligation;
  if (isDisputed(obligation)) return disputeOf(obligation);
  if (health !== "delayed" && health !== "action_required") return [];
  return [
    {
      issue_id: `issue_${id}`,
      code: "REPORT_OVERDUE",
      severity: health,
      opened_at: health === "delayed" ? expectedAt : deadline,
      responsible_party: "seller",
      recommended_action: health === "delayed" ? "wait_for_retry" : "contact_seller",
      reporting_obligation_id: id,
      delivery_config_id: feed.id,
      delivery_config_version: feed.version,
      feed_purpose: feed.purpose,
      period_start: period.start,
      period_end: period.end,
      expected_at: expectedAt,
    },
  ];
}

export function shownObligation({ account }: ReportLedger, obligation: Obligation): JsonObject {
  const { id, feed, period, expectedAt, health, revision, adjustments, statements, statement } = obligation;
  return {
    reporting_obligation_id: id,
    delivery_config_id: feed.id,
    delivery_config_version: feed.version,
    report_definition_id: feed.definition.id,
    feed_purpose: feed.purpose,
    reporting_profile: feed.profile.id,
    account_id: account.accountId,
    media_buy_ids: feed.mediaBuyIds,
    scope_resolved_at: period.end,
    coverage: fullCoverage([feed], period.end),
    period: shownPeriod(obligation),
    expected_at: expectedAt,
    schedule: shownSchedule(feed),
    required_finality: feed.finality,
    reconciliation_mode: "delivery_only",
    reconciliation_status: "not_required",
    health,
    production_status: revision === undefined ? "pending" : "published",
    revision_count: revision === undefined ? 0 : 1,
    adjustment_count: adjustments.length,
    consumer_status_count: statements.length,
    ...(statement !== undefined && { current_consumer_status_id: statement.statement.reporting_status_id }),
    issues: issueOf(obligation),
  };
}

export function shownRevision({ account }: ReportLedger, revision: ReportRevision): JsonObject {
  const { id, feed, period, digest, rows, totals, createdAt } = revision;
  return {
    reporting_revision_id: id,
    revision_content_sha256: digest,
    report_definition_id: feed.definition.id,
    report_definition_uri: feed.definition.uri,
    report_definition_sha256: feed.definition.sha256,
    reporting_profile: feed.profile.id,
    schema_version: feed.profile.version,
    schema_uri: feed.profile.uri,
    schema_sha256: feed.profile.sha256,
    schema_dialect: "https://json-schema.org/draft/2020-12/schema",
    schema_ref_policy: "local_fragment_only",
    account_id: account.accountId,
    media_buy_ids: feed.mediaBuyIds,
    coverage: fullCoverage([feed], period.end),
    period: shownPeriod(revision),
    finality: feed.finality,
    ...(feed.finality === "official" && {
      finality_basis: "source_final",
      finality_policy_id: `${feed.definition.id}.final`,
      finalized_at: createdAt,
    }),
    observed_at: createdAt,
    data_through: period.end,
    data_through_precision: "exact",
    row_count: rows.length,
    control_totals: totals,
    created_at: createdAt,
  };
}

const bareAdjustment = ({ id, revisionId, period, deltas, reason, createdAt }: ReportAdjustment): JsonObject => ({
  reporting_adjustment_id: id,
  adjusts_reporting_revision_id: revisionId,
  reason_code: reason,
  accounting_period: period,
  control_total_deltas: deltas,
  correction_observed_at: createdAt,
  created_at: createdAt,
});

/** What an adjustment's digest is over: all of it, and so its receipt is of no other. */
export const adjustmentDigest = (one: ReportAdjustment): string => canonicalDigest(bareAdjustment(one));

export const shownAdjustment = (one: ReportAdjustment): JsonObject => ({
  ...bareAdjustment(one),
  canonical_adjustment_sha256: adjustmentDigest(one),
});
