/**
 * `sync_reporting_receipts`: what a consumer makes of corrections, one by one, under their digests. Reports are read here, and
 * delivered nowhere: a receipt of a delivered copy names one that is not there.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import { lineErrors } from "../frame/line-error.js";
import { SKEW_MS } from "./checkpoints.js";
import {
  type AdjustmentReceipt,
  keepAdjustmentReceipt,
  type RecordedReceipt,
  receiptsOf,
  shownReceipt,
} from "./kept-receipts.js";
import { advance, type ReportAdjustment, type ReportLedger } from "./ledger.js";
import { adjustmentDigest } from "./shown.js";
import { callersLedger, ledgerTime, noSuchReport } from "./status.js";

interface Wanted {
  readonly account: AccountRef;
  readonly receipts?: readonly { readonly reporting_receipt_id: string }[];
  readonly adjustment_receipts?: readonly AdjustmentReceipt[];
}

/** Receipts of one request, of both kinds. */
const MAX_RECEIPTS = 100;

function adjustmentOf({ obligations }: ReportLedger, given: AdjustmentReceipt): ReportAdjustment {
  const found = obligations
    .flatMap(({ adjustments }) => adjustments)
    .find(
      ({ id, revisionId }) =>
        id === given.reporting_adjustment_id && revisionId === given.adjusts_reporting_revision_id,
    );
  if (found === undefined) throw noSuchReport();
  return found;
}

/** @throws ToolError CONFLICT where another receipt is the current one, or was the last */
function checkChain(given: AdjustmentReceipt, of: readonly RecordedReceipt[]): void {
  const replaced = new Set(of.map(({ receipt }) => receipt.supersedes_reporting_receipt_id));
  const current = of.find(({ receipt }) => !replaced.has(receipt.reporting_receipt_id))?.receipt;
  const field = "supersedes_reporting_receipt_id";
  if (current?.status === "accepted") throw new ToolError("CONFLICT", "the adjustment was accepted before", { field });
  if (given.supersedes_reporting_receipt_id !== current?.reporting_receipt_id)
    throw new ToolError("CONFLICT", `name the current receipt of this adjustment in ${field}`, { field });
}

async function record(call: BehaviourCall, ledger: ReportLedger, given: AdjustmentReceipt): Promise<JsonObject> {
  const all = await receiptsOf(call, ledger.owner);
  const before = all.find(({ receipt }) => receipt.reporting_receipt_id === given.reporting_receipt_id);
  if (before !== undefined) {
    if (isDeepStrictEqual(before.receipt, given))
      return { result: "unchanged", adjustment_receipt: shownReceipt(before) };
    throw new ToolError("IDEMPOTENCY_CONFLICT", "another receipt has this id", { field: "reporting_receipt_id" });
  }
  const of = adjustmentOf(ledger, given);
  if (Date.parse(given.observed_at) > ledger.now + SKEW_MS)
    throw invalid(call, "it is of a time that has not come", "observed_at");
  // What a consumer rejects he may have read otherwise.
  if (given.status === "accepted" && given.observed_adjustment_sha256.toLowerCase() !== adjustmentDigest(of))
    throw invalid(call, "that is not the digest of this adjustment", "observed_adjustment_sha256");
  checkChain(
    given,
    all.filter(({ receipt }) => receipt.reporting_adjustment_id === of.id),
  );
  const sequence = await advance(call, ledger.owner);
  const made = { receipt: given, obligationId: of.obligationId, receivedAt: ledgerTime(ledger.now), sequence };
  keepAdjustmentReceipt(call, ledger.owner, made);
  return { result: "recorded", adjustment_receipt: shownReceipt(made) };
}

const failed = (call: BehaviourCall, reporting_receipt_id: string, error: ToolError, at: string): JsonObject => ({
  result: "failed",
  reporting_receipt_id,
  errors: lineErrors(call, error, at),
});

/** Each receipt by itself: one that cannot be recorded leaves the others alone. */
export const syncReportingReceipts: ToolBehaviour = async (request: Wanted, call) => {
  const { receipts = [], adjustment_receipts: own = [] } = request;
  const ids = [...receipts, ...own].map(({ reporting_receipt_id: id }) => id);
  if (new Set(ids).size < ids.length || ids.length > MAX_RECEIPTS)
    throw new ToolError("INVALID_REQUEST", `at most ${MAX_RECEIPTS} receipts at a time, each with an id of its own`, {
      field: receipts.length > 0 ? "receipts" : "adjustment_receipts",
    });
  const ledger = await callersLedger(call, request.account);
  const results = receipts.map(({ reporting_receipt_id: id }, index) =>
    failed(call, id, noSuchReport(), `receipts[${index}]`),
  );
  for (const [index, given] of own.entries()) {
    try {
      results.push(await record(call, ledger, given));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      results.push(failed(call, given.reporting_receipt_id, error, `adjustment_receipts[${index}]`));
    }
  }
  return call.answer({ status: "completed", results });
};
