import type { JsonObject } from "../../contract/index.js";
import type { Behaviour } from "../frame/behaviour.js";
import type { ReportFeed } from "../ports/report-feeds.js";
import { RECOVERY_SECONDS } from "./ledger.js";
import { reportingProbes } from "./probes.js";
import { syncReportingReceipts } from "./receipts.js";
import { shownSchedule } from "./shown.js";
import { reportingStatus } from "./status.js";
import { syncReportingStatus } from "./sync-status.js";

/** How long what was due, and what was given, can be asked for, in days. */
const RETENTION_DAYS = 90;

/** A feed as it is offered to every account. */
const offering = (feed: ReportFeed): JsonObject => ({
  offering_id: feed.id,
  feed_purpose: feed.purpose,
  report_definition_id: feed.definition.id,
  report_definition_uri: feed.definition.uri,
  report_definition_sha256: feed.definition.sha256,
  reporting_profile: {
    id: feed.profile.id,
    version: feed.profile.version,
    schema_uri: feed.profile.uri,
    schema_sha256: feed.profile.sha256,
    schema_dialect: "https://json-schema.org/draft/2020-12/schema",
    schema_ref_policy: "local_fragment_only",
    grain: feed.profile.grain,
    primary_keys: feed.profile.primaryKeys,
  },
  schedule: {
    ...shownSchedule(feed),
    ...(feed.schedule.timezone !== undefined && { period_timezone_policy: "fixed" }),
  },
  supported_finality: [feed.finality],
  reconciliation_mode: "delivery_only",
});

/** Reports that come of themselves: what is due, what was given, and whether that was late. */
export const reportingBehaviour: Behaviour = {
  area: "reporting",
  needs: ["accounts", "delivery"],
  tools: {
    get_reporting_status: reportingStatus,
    sync_reporting_receipts: syncReportingReceipts,
    sync_reporting_status: syncReportingStatus,
  },
  capabilities: ({ ports, shapes }) => {
    const offered = ports.reporting.offered ?? [];
    if (offered.length === 0 || !shapes.offers("get_reporting_status")) return {};
    return {
      experimental_features: ["media_buy.reporting_delivery"],
      media_buy: {
        reporting_delivery: {
          supported: true,
          reliable_reporting_version: "1.0",
          configuration_task: "sync_accounts",
          status_task: "get_reporting_status",
          ...(shapes.offers("sync_reporting_status") && { consumer_status_task: "sync_reporting_status" }),
          ...(shapes.offers("sync_reporting_receipts") && { receipt_task: "sync_reporting_receipts" }),
          revision_content_task: "get_media_buy_delivery",
          offerings: offered.map(offering),
          automated_recovery_window_seconds: RECOVERY_SECONDS,
          status_retention_days: RETENTION_DAYS,
        },
      },
    };
  },
  scenarios: reportingProbes,
};
