import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { checkpointIn, checkpointOf, type LedgerFilters, walkOf, walkText } from "./checkpoints.js";
import { shownStatement } from "./consumer-status.js";
import { shownReceipt } from "./kept-receipts.js";
import {
  bringUpToDate,
  findRevision,
  type Obligation,
  openReportLedger,
  type ReportHealth,
  type ReportLedger,
} from "./ledger.js";
import { nextExpectedAt } from "./schedule.js";
import { fullCoverage, issueOf, shownAdjustment, shownObligation, shownRevision } from "./shown.js";

interface Wanted extends LedgerFilters {
  readonly account: AccountRef;
  readonly view: "summary" | "periods" | "revision";
  readonly reporting_revision_id?: string;
  readonly changes_after?: string;
  readonly pagination?: PageWanted;
}

/** The caller's own books of an account. */
export async function callersLedger(call: BehaviourCall, ref: AccountRef): Promise<ReportLedger> {
  const { account_id: accountId } = await resolveAccount(call, ref);
  return bringUpToDate(call, { principal: call.principal, accountId });
}

/** What is not there, and what is somebody else's, are not told apart. @throws ToolError */
export const noSuchReport = (): ToolError => new ToolError("NOT_FOUND", "Reporting status resource is unavailable.");

const among = (wanted: readonly string[] | undefined, value: string): boolean =>
  wanted === undefined || wanted.includes(value);

const fits = ({ feed, period, health }: Obligation, wanted: Wanted): boolean =>
  among(wanted.delivery_config_ids, feed.id) &&
  among(wanted.feed_purposes, feed.purpose) &&
  among(wanted.finality, feed.finality) &&
  among(wanted.health, health) &&
  (wanted.media_buy_ids === undefined || feed.mediaBuyIds.some((id) => wanted.media_buy_ids?.includes(id))) &&
  (wanted.period === undefined ||
    (Date.parse(period.start) >= Date.parse(wanted.period.start) &&
      Date.parse(period.end) <= Date.parse(wanted.period.end)));

export const ledgerTime = (ms: number): string => new Date(ms).toISOString();

const ledgerOf = ({ account, sequence, now }: ReportLedger, view: string): JsonObject => ({
  view,
  ledger_snapshot_id: `ledger.${sequence}.${now}`,
  ledger_as_of: ledgerTime(now),
  account_id: account.accountId,
});

function scopeOf({ feeds, obligations, now }: ReportLedger, wanted: Wanted): JsonObject {
  const { period, media_buy_ids: buys } = wanted;
  const [first] = obligations;
  const start = period?.start ?? first?.period.start ?? ledgerTime(now);
  const end = period?.end ?? ledgerTime(now);
  const chosen = feeds.filter(
    ({ id, purpose }) => among(wanted.delivery_config_ids, id) && among(wanted.feed_purposes, purpose),
  );
  return {
    period_start: start,
    period_end: end,
    scope_closed: period !== undefined && Date.parse(period.end) <= now,
    ...(buys !== undefined && { media_buy_ids: buys }),
    all_accessible_media_buys: buys === undefined,
    delivery_config_generations: chosen.map(({ id, version, purpose }) => ({
      delivery_config_id: id,
      delivery_config_version: version,
      feed_purpose: purpose,
    })),
    feed_purposes: [...new Set(chosen.map(({ purpose }) => purpose))],
    finality: [...new Set(chosen.map(({ finality }) => finality))],
    ledger_retained_from: first?.period.start ?? start,
    coverage_complete: true,
  };
}

const worst: readonly ReportHealth[] = ["action_required", "delayed", "waiting"];

function summary(ledger: ReportLedger, wanted: Wanted): JsonObject {
  const own = ledger.obligations.filter((one) => fits(one, wanted));
  const scope = scopeOf(ledger, wanted);
  const counted = (health: ReportHealth): number => own.filter((one) => one.health === health).length;
  const given = scope.scope_closed === true ? "complete" : "healthy";
  const health = worst.find((one) => counted(one) > 0) ?? (own.length === 0 ? "waiting" : given);
  const published = own.flatMap(({ revision, period }) => (revision === undefined ? [] : [period.end])).sort();
  const next = ledger.feeds.map(({ schedule }) => nextExpectedAt(schedule, ledger.now)).sort()[0];
  return {
    ...ledgerOf(ledger, "summary"),
    scope,
    health,
    coverage: fullCoverage(ledger.feeds, ledgerTime(ledger.now)),
    data_through: published.at(-1) ?? null,
    ...(next !== undefined && { next_expected_at: next }),
    obligation_counts: {
      total: own.length,
      waiting: counted("waiting"),
      healthy: counted("healthy"),
      delayed: counted("delayed"),
      action_required: counted("action_required"),
      complete: counted("complete"),
      // Silence is counted, and is nobody's fault yet.
      consumer_status_pending: own.filter(
        ({ statement, deadline }) => statement === undefined && Date.parse(deadline) < ledger.now,
      ).length,
    },
    issues: own.flatMap(issueOf),
  };
}

/** Obligations since a checkpoint: those that came due, and those that something has happened to. */
function changedSince(ledger: ReportLedger, all: readonly Obligation[], wanted: Wanted): readonly Obligation[] {
  const { changes_after: after } = wanted;
  if (after === undefined) return all;
  const { sequence, now } = checkpointIn(after, { ledger, wanted, field: "changes_after" });
  return all.filter(
    ({ period, revision, adjustments, statements, receipts }) =>
      Date.parse(period.end) > now ||
      (revision?.sequence ?? 0) > sequence ||
      statements.some((one) => one.sequence > sequence) ||
      receipts.some((one) => one.sequence > sequence) ||
      adjustments.some((one) => one.sequence > sequence),
  );
}

/** All pages are of the books as they stood for the first: what comes meanwhile is after the checkpoint that they share. */
async function periods(call: BehaviourCall, live: ReportLedger, wanted: Wanted): Promise<JsonObject> {
  const begun = walkOf(wanted.pagination?.cursor);
  const point = begun === undefined ? live : checkpointIn(begun, { ledger: live, wanted, field: "pagination.cursor" });
  const ledger = begun === undefined ? live : await openReportLedger(call, live.account, point);
  const checkpoint = checkpointOf(ledger, wanted);
  const own = ledger.obligations.filter((one) => fits(one, wanted));
  const walked = ({ id }: Obligation): string => walkText(checkpoint, wanted.changes_after, id);
  const { items, pagination } = listPage(changedSince(ledger, own, wanted), wanted.pagination, walked);
  return {
    ...ledgerOf(ledger, "periods"),
    changes_checkpoint: checkpoint,
    scope: scopeOf(ledger, wanted),
    periods: items.map((one) => shownObligation(ledger, one)),
    revisions: items.flatMap(({ revision }) => (revision === undefined ? [] : [shownRevision(ledger, revision)])),
    adjustments: items.flatMap((one) => one.adjustments.map(shownAdjustment)),
    materializations: [],
    receipts: [],
    adjustment_receipts: items.flatMap((one) => one.receipts.map(shownReceipt)),
    consumer_statuses: items.flatMap((one) => one.statements.map(shownStatement)),
    pagination,
  };
}

async function revision(call: BehaviourCall, ledger: ReportLedger, id: string): Promise<JsonObject> {
  const found = await findRevision(call, ledger, id);
  if (found === undefined) throw noSuchReport();
  const own = ledger.obligations.find((one) => one.id === found.obligationId);
  return {
    ...ledgerOf(ledger, "revision"),
    revision: shownRevision(ledger, found),
    adjustments: (own?.adjustments ?? []).map(shownAdjustment),
    materializations: [],
    receipts: [],
    adjustment_receipts: (own?.receipts ?? []).map(shownReceipt),
    consumer_statuses: (own?.statements ?? [])
      .filter(({ statement }) => statement.reporting_revision_id === found.id)
      .map(shownStatement),
    pagination: { has_more: false, total_count: 0 },
  };
}

/** `get_reporting_status`: what is due and what was given, as a whole, period by period, or of one report. */
export const reportingStatus: ToolBehaviour = async (request: Wanted, call) => {
  const ledger = await callersLedger(call, request.account);
  if (request.view === "summary") return call.answer(summary(ledger, request));
  if (request.view === "periods") return call.answer(await periods(call, ledger, request));
  return call.answer(await revision(call, ledger, request.reporting_revision_id ?? ""));
};
