/** Catalogues of what buyers sell: their items are checked one by one, and fill the creatives that name them. */
import { createHash } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { spendingAccount } from "../accounts/accounts.js";

type Wanted = Request<"sync_catalogs">;
type Upload = NonNullable<Wanted["catalogs"]>[number];

export interface Catalog {
  readonly catalog_id: string;
  readonly account_id: string;
  /** As the buyer sent it. */
  readonly catalog: JsonObject;
  readonly approved: number;
  readonly rejected: number;
  readonly last_synced_at: string;
  /** Digest of what was sent, to tell a change from a repeat. */
  readonly content: string;
}

const KIND = "catalog";

/** Items of one request that are looked at. */
const MAX_ITEMS = 10_000;

export const catalog = (call: Call, id: string): Catalog | undefined =>
  call.documents.get<Catalog>(KIND, call.principal, id);

export const catalogs = (call: Call): Catalog[] => call.documents.list<Catalog>(KIND, call.principal);

/** `sync_catalogs`: each catalogue with its own outcome; without any, what is there. */
export function syncCatalogs(call: Call, request: Wanted): JsonObject {
  const { account_id: accountId } = spendingAccount(call, request.account);
  const dryRun = request.dry_run === true;
  const wanted = request.catalog_ids === undefined ? undefined : new Set<string>(request.catalog_ids as string[]);
  const uploads = request.catalogs?.filter(({ catalog_id }) => wanted?.has(catalog_id ?? "") ?? true);
  if (uploads === undefined) {
    const own = catalogs(call).filter(({ account_id }) => account_id === accountId);
    return { catalogs: own.map((one) => shown(one, "unchanged", [])) };
  }
  const results = uploads.map((upload) => syncOne(call, accountId, upload, dryRun));
  if (request.delete_missing === true && !dryRun) {
    const kept = new Set(results.map(({ catalog_id }) => catalog_id));
    for (const { catalog_id, account_id } of catalogs(call)) {
      if (account_id !== accountId || kept.has(catalog_id)) continue;
      call.documents.remove(KIND, call.principal, catalog_id);
      results.push({ catalog_id, action: "deleted" });
    }
  }
  return { catalogs: results, ...(dryRun && { dry_run: true }) };
}

function syncOne(call: Call, accountId: string, upload: Upload, dryRun: boolean): JsonObject {
  const id = upload.catalog_id ?? call.id("cat");
  const content = createHash("sha256").update(JSON.stringify(upload)).digest("hex");
  const before = catalog(call, id);
  const items = ((upload.items ?? []) as JsonObject[]).slice(0, MAX_ITEMS);
  const issues = items.flatMap(itemIssues);
  if (before?.content === content) return shown(before, "unchanged", issues);
  const kept: Catalog = {
    catalog_id: id,
    account_id: accountId,
    catalog: { ...upload },
    approved: items.length - issues.length,
    rejected: issues.length,
    last_synced_at: call.now.toISOString(),
    content,
  };
  if (!dryRun) call.documents.put(KIND, call.principal, id, kept);
  return shown(kept, before === undefined ? "created" : "updated", issues);
}

const shown = (kept: Catalog, action: string, issues: readonly JsonObject[]): JsonObject => ({
  catalog_id: kept.catalog_id,
  action,
  item_count: kept.approved + kept.rejected,
  items_approved: kept.approved,
  items_pending: 0,
  items_rejected: kept.rejected,
  last_synced_at: kept.last_synced_at,
  ...(issues.length > 0 && { item_issues: issues }),
});

/** An item needs a name of its own to be shown, and what it costs, if it says so, in full. */
function itemIssues(item: JsonObject, index: number): JsonObject[] {
  const id = String(item.item_id ?? item.offering_id ?? item.id ?? item.sku ?? index);
  const reasons: string[] = [];
  if ([item.title, item.name, item.headline].every((one) => typeof one !== "string" || one === ""))
    reasons.push("an item needs a title or a name");
  const { amount, currency } = (item.price ?? {}) as JsonObject;
  if (item.price !== undefined && (typeof amount !== "number" || amount < 0 || typeof currency !== "string"))
    reasons.push("a price has an amount of at least 0 and a currency");
  return reasons.length === 0 ? [] : [{ item_id: id, status: "rejected", reasons }];
}
