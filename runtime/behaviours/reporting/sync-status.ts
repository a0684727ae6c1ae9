/** `sync_reporting_status`: what a consumer made of the reports it was to get is written down, and changes none of them. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import { lineErrors } from "../frame/line-error.js";
import type { ConsumerStatement } from "../ports/report-feeds.js";
import { SKEW_MS } from "./checkpoints.js";
import {
  currentOf,
  isOf,
  keepStatement,
  type RecordedStatement,
  shownStatement,
  statementSubject,
  statementsOf,
} from "./consumer-status.js";
import { advance, type Obligation, type ReportLedger } from "./ledger.js";
import { timezoneOf } from "./shown.js";
import { callersLedger, ledgerTime, noSuchReport } from "./status.js";

interface Wanted {
  readonly account: AccountRef;
  readonly statuses: readonly ConsumerStatement[];
}

/** The period it is of, where what it names beside is there too. @throws ToolError */
function obligationOf(call: BehaviourCall, ledger: ReportLedger, given: ConsumerStatement): Obligation {
  const { delivery_config_id: id, delivery_config_version: version, report_definition_id: definition } = given;
  const feed = ledger.feeds.find((one) => one.id === id && one.version === version && one.definition.id === definition);
  if (feed === undefined) throw noSuchReport();
  const found = ledger.obligations.find(({ feed: of, period }) => of.id === feed.id && isOf(given, of, period));
  if (found === undefined || given.period.source_timezone !== timezoneOf(feed))
    throw invalid(call, "that is no period of this configuration which has ended", "period");
  const { reporting_obligation_id: obligation, reporting_revision_id: revision } = given;
  if (obligation !== undefined && obligation !== found.id) throw noSuchReport();
  if (revision !== undefined && revision !== found.revision?.id) throw noSuchReport();
  return found;
}

/** @throws ToolError where the statement contradicts itself, or the time */
function checkStatement(call: BehaviourCall, { now }: ReportLedger, of: Obligation, given: ConsumerStatement): void {
  const { consumer_status: status, status_as_of: asOf, observed_revision_content_sha256: digest } = given;
  if (Date.parse(asOf) > now + SKEW_MS) throw invalid(call, "it is of a time that has not come", "status_as_of");
  if (status.endsWith("_missing") && Date.parse(asOf) < Date.parse(of.expectedAt))
    throw invalid(call, `the report is not due before ${of.expectedAt}`, "status_as_of");
  if (digest !== undefined && digest.toLowerCase() !== of.revision?.digest)
    throw invalid(call, "that is not the digest of this report", "observed_revision_content_sha256");
}

/** A ledger that was seen is one that was given. @throws ToolError */
function checkSnapshot({ sequence, now }: ReportLedger, given: ConsumerStatement): void {
  const { seller_ledger_snapshot_id: id, seller_ledger_as_of: asOf } = given;
  if (id === undefined) return;
  const [, of, at] = /^ledger\.(\d{1,15})\.(\d{1,15})$/.exec(id) ?? [];
  const known = of !== undefined && Number(of) <= sequence && Number(at) <= now + SKEW_MS;
  if (!known || asOf === undefined || Date.parse(asOf) !== Number(at)) throw noSuchReport();
}

/** @throws ToolError CONFLICT where another statement is the current one */
function checkChain(call: BehaviourCall, given: ConsumerStatement, current: RecordedStatement | undefined): void {
  const { supersedes_reporting_status_id: named, status_as_of: asOf } = given;
  if (named !== current?.statement.reporting_status_id)
    throw new ToolError("CONFLICT", "name the current statement of this period in supersedes_reporting_status_id", {
      field: "supersedes_reporting_status_id",
    });
  if (current !== undefined && Date.parse(asOf) < Date.parse(current.statement.status_as_of))
    throw invalid(call, "it is older than the statement it takes the place of", "status_as_of");
}

async function record(call: BehaviourCall, ledger: ReportLedger, given: ConsumerStatement): Promise<JsonObject> {
  const all = await statementsOf(call, ledger.owner);
  const before = all.find(({ statement }) => statement.reporting_status_id === given.reporting_status_id);
  if (before !== undefined) {
    if (isDeepStrictEqual(before.statement, given))
      return { result: "unchanged", consumer_status: shownStatement(before) };
    throw new ToolError("IDEMPOTENCY_CONFLICT", "another statement has this id", { field: "reporting_status_id" });
  }
  const of = obligationOf(call, ledger, given);
  checkStatement(call, ledger, of, given);
  checkSnapshot(ledger, given);
  const { feed, period } = of;
  checkChain(call, given, currentOf(all.filter(({ statement }) => isOf(statement, feed, period))));
  await call.ports.reporting.consumerStatus?.(given, ledger.account);
  const made = { statement: given, recordedAt: ledgerTime(ledger.now), sequence: await advance(call, ledger.owner) };
  keepStatement(call, ledger.owner, made);
  return { result: "recorded", consumer_status: shownStatement(made) };
}

const failed = (
  call: BehaviourCall,
  { reporting_status_id }: ConsumerStatement,
  error: ToolError,
  at: string,
): JsonObject => ({
  result: "failed",
  reporting_status_id,
  errors: lineErrors(call, error, at),
});

/** Each statement by itself: one that cannot be recorded leaves the others alone. */
export const syncReportingStatus: ToolBehaviour = async (request: Wanted, call) => {
  const { statuses } = request;
  const ids = new Set(statuses.map(({ reporting_status_id }) => reporting_status_id));
  if (ids.size < statuses.length)
    throw new ToolError("INVALID_REQUEST", "every statement has an id of its own", { field: "statuses" });
  const chains = statuses.map(statementSubject);
  const ledger = await callersLedger(call, request.account);
  const results: JsonObject[] = [];
  for (const [index, given] of statuses.entries()) {
    const twice = chains.filter((one) => one === chains[index]).length > 1;
    try {
      if (twice) throw invalid(call, "one statement of a period at a time", "period");
      results.push(await record(call, ledger, given));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      results.push(failed(call, given, error, `statuses[${index}]`));
    }
  }
  return call.answer({ results });
};
