/** The caller's creative library: one for all of its accounts, each creative synced by one of them. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import { listeners } from "../../listeners.js";
import type { FormatId } from "../formats/formats.js";

export const creativeStates = ["processing", "pending_review", "approved", "rejected", "archived"] as const;
export type CreativeState = (typeof creativeStates)[number];

export interface Asset extends JsonObject {
  readonly asset_type?: string;
}

/** A price per thousand impressions. */
export interface CreativePrice {
  readonly pricing_option_id: string;
  readonly model: "cpm";
  readonly cpm: number;
  readonly currency: string;
}

/** Account of a creative that the library has of itself: every account of the caller may use it. */
export const EVERY_ACCOUNT = "";

export interface Creative {
  readonly creative_id: string;
  readonly account_id: string;
  readonly name: string;
  readonly format_id: FormatId;
  readonly status: CreativeState;
  readonly assets: { readonly [id: string]: Asset | readonly Asset[] };
  readonly tags?: readonly string[];
  /** What serving it costs, where that is billed here. */
  readonly pricing_options?: readonly [CreativePrice, ...CreativePrice[]];
  readonly created_date: string;
  readonly updated_date: string;
  readonly rejection_reason?: string;
  /** Digest of what the buyer sent, to tell a change from a repeat. */
  readonly content: string;
}

const KIND = "creative";

/** What follows what. An upload begins anew from anywhere. */
export const nextStates: { readonly [S in CreativeState]: readonly CreativeState[] } = {
  processing: ["pending_review", "approved", "rejected"],
  pending_review: ["approved", "rejected"],
  approved: ["rejected", "archived"],
  rejected: ["processing", "pending_review"],
  archived: ["approved"],
};

export const creative = (call: Call, id: string): Creative | undefined =>
  call.documents.get<Creative>(KIND, call.principal, id);

export const creatives = (call: Call): Creative[] => call.documents.list<Creative>(KIND, call.principal);

/** Keeps a creative; whoever depends on it is told when its state has changed. */
export function saveCreative(call: Call, kept: Creative): void {
  const { creative_id: id, status, rejection_reason: reason } = kept;
  const before = creative(call, id)?.status;
  call.documents.put(KIND, call.principal, id, kept);
  if (before === undefined || before === status) return;
  for (const listener of listeners) listener(call, { id, status, ...(reason !== undefined && { reason }) });
}

export const removeCreative = (call: Call, id: string): void => call.documents.remove(KIND, call.principal, id);
