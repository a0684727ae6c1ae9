/** A creative that the seller moves on, or destroys: its buyers hear of it, and of nothing that they did themselves. */
import type { JsonObject } from "../../contract/index.js";
import { saveCreative } from "../buys/impairments.js";
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";
import {
  type Creative,
  type CreativeState,
  EVERY_ACCOUNT,
  keepCreative,
  removeCreative,
} from "../library/creatives.js";
import { emptyTags } from "../previews/tags.js";

const STATUS_CHANGED = "creative.status_changed";
const PURGED = "creative.purged";

/** Why something happened to a creative, in the words of the release's list. */
export interface CreativeReason {
  readonly code?: string | undefined;
  /** For people; no data of persons. */
  readonly detail?: string | undefined;
}

/** What the webhooks about a creative are listed under. */
export const activitySubject = (creativeId: string): string => `creative:${creativeId}`;

/** What a seller may say of each change, where it says nothing closer; a change that is not here is the buyer's. */
const usualReasons: Readonly<Partial<Record<CreativeState, Readonly<Partial<Record<CreativeState, string>>>>>> = {
  processing: { pending_review: "review_passed", rejected: "processing_failure" },
  pending_review: { approved: "review_passed", rejected: "review_failure" },
  approved: {
    pending_review: "seller_rereview",
    suspended: "identity_authorization_expired",
    rejected: "policy_revocation",
    archived: "seller_archive",
  },
  suspended: { approved: "review_passed", rejected: "identity_authorization_revoked" },
};

/** Longest detail that travels, in characters. */
const MAX_DETAIL = 500;

function tell(
  call: BehaviourCall,
  kind: string,
  { creative_id, account_id }: Creative,
  body: JsonObject & { readonly reason: CreativeReason },
): void {
  const { sender } = call.ctx;
  // What belongs to every account is nobody's in particular.
  if (sender === undefined || account_id === EVERY_ACCOUNT || !sender.notifications.tells("account", kind)) return;
  const { reason, ...more } = body;
  const event = {
    kind,
    account: account_id,
    // Accounts are a caller's own: others under one id are not told of it.
    principal: call.principal,
    subject: activitySubject(creative_id),
    body: {
      ...more,
      creative_id,
      reason_code: reason.code ?? "review_passed",
      ...(reason.detail !== undefined && { reason_detail: reason.detail.slice(0, MAX_DETAIL) }),
      initiator: "seller",
    },
  };
  call.ctx.effect((tx) => written(sender.notifications.notify(event, { tx })));
}

/** Moves a creative on as its seller decides; the buys it is in, and who listens to its account, are told. */
export async function moveCreative(
  call: BehaviourCall,
  before: Creative,
  to: CreativeState,
  reason: CreativeReason & { readonly rejection?: string | undefined } = {},
): Promise<Creative> {
  const { rejection_reason: _, ...rest } = before;
  const { rejection } = reason;
  const after: Creative = {
    ...rest,
    status: to,
    updated_date: call.time,
    ...(rejection !== undefined && { rejection_reason: rejection }),
  };
  await saveCreative(call, after);
  const usual = usualReasons[before.status]?.[to];
  if (usual === undefined) return after;
  tell(call, STATUS_CHANGED, after, {
    transition: { from: before.status, to, observed_at: call.time },
    reason: { code: reason.code ?? usual, detail: reason.detail ?? rejection },
  });
  return after;
}

/** What a creative is known by, without what it is made of: not in other languages either, nor under other names. */
function tombstone({ localization: _, tags: _tags, more, ...creative }: Creative): Creative {
  const known = ["format_kind", "format_option_ref"].filter((name) => more?.[name] !== undefined);
  const kept = { more: Object.fromEntries(known.map((name) => [name, more?.[name]])) };
  return { ...creative, assets: {}, content: "", ...(known.length > 0 && kept) };
}

/** Destroys a creative: `soft` leaves a tombstone that says so, `hard` nothing at all. */
export async function purgeCreative(
  call: BehaviourCall,
  creative: Creative,
  kind: "soft" | "hard",
  { code = "retention_expired", detail }: CreativeReason = {},
): Promise<void> {
  // Its buys lose it as they lose one that is withdrawn.
  if (creative.status !== "archived") await saveCreative(call, { ...creative, status: "archived" });
  await emptyTags(call, creative.creative_id);
  if (kind === "hard") removeCreative(call, creative.creative_id);
  else keepCreative(call, { ...tombstone(creative), purge: { kind, at: call.time, reason_code: code } });
  tell(call, PURGED, creative, { purge_kind: kind, purged_at: call.time, reason: { code, detail } });
}
