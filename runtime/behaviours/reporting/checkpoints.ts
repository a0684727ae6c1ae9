/** Where in the books a caller has read to: by the changes it saw, and the time it saw them, of what it asked for. */
import { ToolError } from "../../seller/tool-error.js";
import { ownerText } from "../frame/collection.js";
import type { FeedPeriod } from "../ports/report-feeds.js";
import { canonicalDigest, type LedgerPoint, type ReportLedger } from "./ledger.js";

/** What of the books is asked for. */
export interface LedgerFilters {
  readonly media_buy_ids?: readonly string[];
  readonly delivery_config_ids?: readonly string[];
  readonly feed_purposes?: readonly string[];
  readonly period?: FeedPeriod;
  readonly health?: readonly string[];
  readonly finality?: readonly string[];
}

/** How far another's clock may be ahead of ours, in milliseconds: a consumer's, or that of another process of the seller. */
export const SKEW_MS = 60_000;

/** Read with other filters, or of another account, what lies between would be passed over. */
function scopeDigest({ owner }: ReportLedger, filters: LedgerFilters): string {
  const { media_buy_ids, delivery_config_ids, feed_purposes, period, health, finality } = filters;
  const said = [media_buy_ids, delivery_config_ids, feed_purposes, period, health, finality].map((one) => one ?? null);
  return canonicalDigest([ownerText(owner), ...said]).slice(0, 16);
}

export const checkpointOf = (ledger: ReportLedger, filters: LedgerFilters): string =>
  Buffer.from(`${ledger.sequence}.${ledger.now}.${scopeDigest(ledger, filters)}`).toString("base64url");

/** @throws ToolError INVALID_REQUEST for a checkpoint of another account or other filters, or of nobody's */
export function checkpointIn(
  text: string,
  { ledger, wanted, field }: { readonly ledger: ReportLedger; readonly wanted: LedgerFilters; readonly field: string },
): LedgerPoint {
  const found = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{16})$/.exec(Buffer.from(text, "base64url").toString());
  const [sequence, now] = [Number(found?.[1]), Number(found?.[2])];
  if (found?.[3] === scopeDigest(ledger, wanted) && sequence <= ledger.sequence && now <= ledger.now + SKEW_MS)
    return { sequence, now };
  throw new ToolError("INVALID_REQUEST", "it is not one that this seller gave for this account and these filters", {
    field,
  });
}

/** What a cursor is made of: the walk that it goes on with, and the item after which it does. */
export const walkText = (checkpoint: string, after: string | undefined, id: string): string =>
  [checkpoint, after ?? "", id].join(" ");

/** The checkpoint of the walk that a cursor goes on with. */
export const walkOf = (cursor: string | undefined): string | undefined =>
  cursor === undefined ? undefined : Buffer.from(cursor, "base64url").toString().split(" ")[0];
