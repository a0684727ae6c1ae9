/** The caller's creative library: one for all of its accounts, each creative synced by one of them. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";
import type { CreativeAssets, FormatId } from "../ports/creatives.js";
import type { Localization } from "./localization.js";

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
  /** It was uploaded in a release that has no other identity than the name of a format. */
  readonly byName?: true;
  readonly status: CreativeState;
  readonly assets: CreativeAssets;
  readonly tags?: readonly string[];
  /** What serving it costs, where that is billed here. */
  readonly pricing_options?: readonly [CreativePrice, ...CreativePrice[]];
  readonly created_date: string;
  readonly updated_date: string;
  readonly rejection_reason?: string;
  /** A creative that was destroyed: nothing of it is left but that it was there. */
  readonly purge?: { readonly kind: "soft"; readonly at: string; readonly reason_code: string };
  /** Its languages, as the buyer gave them. */
  readonly localization?: Localization;
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
  approved: ["pending_review", "suspended", "rejected", "archived"],
  suspended: ["approved", "rejected", "archived"],
  rejected: ["processing", "pending_review"],
  archived: ["approved"],
};

/** A creative that is there; one that was destroyed is not. */
export async function findCreative(call: BehaviourCall, id: string): Promise<Creative | undefined> {
  const found = await kept.get(call, call.principal, id);
  return found?.purge === undefined ? found : undefined;
}

/** Reads many at once, where each is looked for hereafter. */
export const readCreatives = (call: BehaviourCall, ids: readonly string[]): Promise<void> =>
  kept.read(call, call.principal, ids);

/** An account uses its own, and what the library has of itself. */
export const mayUse = (accountId: string, { account_id }: Pick<Creative, "account_id">): boolean =>
  account_id === accountId || account_id === EVERY_ACCOUNT;

/** Who names no account uses what all of its accounts have. */
export const ownerMayUse = (owner: DocumentOwner, creative: Creative): boolean =>
  typeof owner === "string" || mayUse(owner.part, creative);

/** A creative that an account may use; another account's is no different from none. */
export async function creativeFor(call: BehaviourCall, id: string, accountId: string): Promise<Creative | undefined> {
  const found = await findCreative(call, id);
  return found !== undefined && mayUse(accountId, found) ? found : undefined;
}

/** How long a tombstone stands, in days: as long as `webhook_activity[]` is kept. */
const TOMBSTONE_DAYS = 30;

/** The library; `purged`: with the tombstones of what was destroyed. */
export async function creativesOf(call: BehaviourCall, { purged = false } = {}): Promise<Creative[]> {
  const all = await kept.list(call, call.principal);
  const since = call.now.getTime() - TOMBSTONE_DAYS * 86_400_000;
  return all.filter(({ purge }) => purge === undefined || (purged && Date.parse(purge.at) >= since));
}

export const keepCreative = (call: BehaviourCall, creative: Creative): void =>
  kept.put(call, call.principal, creative.creative_id, creative);

export const removeCreative = (call: BehaviourCall, id: string): void => kept.remove(call, call.principal, id);
