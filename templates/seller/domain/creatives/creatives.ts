/** An account's creative library. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import type { FormatId } from "../formats/formats.js";

export const creativeStates = ["processing", "pending_review", "approved", "rejected", "archived"] as const;
export type CreativeState = (typeof creativeStates)[number];

export interface Asset extends JsonObject {
  readonly asset_type?: string;
}

export interface Creative {
  readonly creative_id: string;
  readonly name: string;
  readonly format_id: FormatId;
  readonly status: CreativeState;
  readonly assets: { readonly [id: string]: Asset | readonly Asset[] };
  readonly tags?: readonly string[];
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

export const creative = (call: Call, owner: string, id: string): Creative | undefined =>
  call.documents.get<Creative>(KIND, owner, id);

export const creatives = (call: Call, owner: string): Creative[] => call.documents.list<Creative>(KIND, owner);

/** Also finds it for the test controller, which knows no account. */
export function saveCreative(call: Call, owner: string, kept: Creative): void {
  call.documents.put(KIND, owner, kept.creative_id, kept);
  call.documents.put("creative_owner", call.principal, kept.creative_id, { owner });
}

export const removeCreative = (call: Call, owner: string, id: string): void => call.documents.remove(KIND, owner, id);

/** A creative by its id alone: the one saved last. */
export function ownCreative(call: Call, id: string): { owner: string; kept: Creative } | undefined {
  const index = call.documents.get<{ owner: string }>("creative_owner", call.principal, id);
  const kept = index === undefined ? undefined : creative(call, index.owner, id);
  return index === undefined || kept === undefined ? undefined : { owner: index.owner, kept };
}
