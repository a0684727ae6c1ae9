/** The caller's creative library: one for all of its accounts, each creative synced by one of them. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeAssets, FormatId } from "../ports/creatives.js";

export const creativeStates = [
  "processing",
  "pending_review",
  "approved",
  "suspended",
  "rejected",
  "archived",
] as const;
export type CreativeState = (typeof creativeStates)[number];

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
  readonly format_id?: FormatId;
  readonly status: CreativeState;
  readonly assets: CreativeAssets;
  readonly tags?: readonly string[];
  /** What serving it costs, where that is billed here. */
  readonly pricing_options?: readonly [CreativePrice, ...CreativePrice[]];
  readonly created_date: string;
  readonly updated_date: string;
  readonly rejection_reason?: string;
  /** Digest of what the buyer sent, to tell a change from a repeat. */
  readonly content: string;
  /** More of what the buyer sent, as on the wire. */
  readonly more?: JsonObject;
}

const kept = collection<Creative>("creative");

/** What follows what. An upload begins anew from anywhere. */
export const nextCreativeStates: { readonly [S in CreativeState]: readonly CreativeState[] } = {
  processing: ["pending_review", "approved", "rejected"],
  pending_review: ["approved", "rejected"],
  approved: ["suspended", "rejected", "archived"],
  suspended: ["approved", "rejected", "archived"],
  rejected: ["processing", "pending_review"],
  archived: ["approved"],
};

export const findCreative = (call: BehaviourCall, id: string): Promise<Creative | undefined> =>
  kept.get(call, call.principal, id);

export const creativesOf = (call: BehaviourCall): Promise<Creative[]> => kept.list(call, call.principal);

export const keepCreative = (call: BehaviourCall, creative: Creative): void =>
  kept.put(call, call.principal, creative.creative_id, creative);

export const removeCreative = (call: BehaviourCall, id: string): void => kept.remove(call, call.principal, id);
