/** What consumers have made of corrections, as it was recorded. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";

/** As the wire has it. */
export interface AdjustmentReceipt extends JsonObject {
  readonly reporting_receipt_id: string;
  readonly reporting_adjustment_id: string;
  readonly adjusts_reporting_revision_id: string;
  readonly supersedes_reporting_receipt_id?: string;
  readonly status: "accepted" | "rejected";
  /** Hex. */
  readonly observed_adjustment_sha256: string;
  readonly observed_at: string;
}

export interface RecordedReceipt {
  readonly receipt: AdjustmentReceipt;
  readonly obligationId: string;
  readonly receivedAt: string;
  /** Place among the changes of the ledger. */
  readonly sequence: number;
}

const kept = collection<RecordedReceipt>("report_receipt");

/** Oldest first. */
export const receiptsOf = async (call: BehaviourCall, owner: DocumentOwner): Promise<RecordedReceipt[]> =>
  (await kept.list(call, owner)).sort((a, b) => a.sequence - b.sequence);

export const keepAdjustmentReceipt = (call: BehaviourCall, owner: DocumentOwner, one: RecordedReceipt): void =>
  kept.put(call, owner, one.receipt.reporting_receipt_id, one);

export const dropReceipts = (call: BehaviourCall, owner: DocumentOwner): Promise<void> => kept.clear(call, owner);

export const shownReceipt = ({ receipt, receivedAt }: RecordedReceipt): JsonObject => ({
  ...receipt,
  received_at: receivedAt,
});
