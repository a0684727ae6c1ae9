/** Catalogues of what buyers sell: their items are checked one by one, and fill the creatives that name them. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import { type Dependency, toldOf } from "../buys/impairments.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { lineErrors } from "../frame/line-error.js";
import { catalogs, type KeptCatalog } from "../library/catalogs.js";

interface Upload extends JsonObject {
  readonly catalog_id?: string;
  readonly items?: readonly JsonObject[];
}

interface Wanted {
  readonly account: AccountRef;
  readonly catalogs?: readonly Upload[];
  readonly catalog_ids?: readonly string[];
  readonly delete_missing?: boolean;
  readonly dry_run?: boolean;
  readonly validation_mode?: string;
  readonly item_availability_updates?: readonly JsonObject[];
  readonly item_availability_queries?: readonly JsonObject[];
}

/** Items of one catalogue that are taken. */
const MAX_ITEMS = 10_000;

/** @throws ToolError INVALID_REQUEST for a catalogue that one request has twice: nothing says which of them is meant */
function refuseTwice(uploads: readonly Upload[]): void {
  const seen = new Set<string>();
  for (const [index, { catalog_id: id }] of uploads.entries()) {
    if (id !== undefined && seen.has(id))
      throw new ToolError("INVALID_REQUEST", `catalogue ${id} is there twice: send it once`, {
        field: `catalogs[${index}].catalog_id`,
      });
    if (id !== undefined) seen.add(id);
  }
}

/** What is wrong with a catalogue as a whole: none is taken in part. What is wrong with items, each of them is told. */
function faultOf({ items = [] }: Upload): ToolError | undefined {
  if (items.length <= MAX_ITEMS) return undefined;
  const message = `a catalogue takes ${MAX_ITEMS} items, and this has ${items.length}: send it in parts`;
  return new ToolError("INVALID_REQUEST", message, { field: "items" });
}

/** @throws ToolError of the first catalogue that cannot be taken, which in strict mode stops all */
function refuseFaulty(uploads: readonly Upload[]): void {
  for (const [index, upload] of uploads.entries()) {
    const fault = faultOf(upload);
    if (fault === undefined) continue;
    const { code, message, field } = fault.error;
    throw new ToolError(code, message, { field: `catalogs[${index}].${field}` });
  }
}

/** What goes for single items, and has to be in force when it is answered. */
const ofItems = ["item_availability_updates", "item_availability_queries"] as const;

/**
 * What was made of an item is not traced here: an item that nobody can take off the air is not said to be off.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
function refuseItems(request: Wanted, { shapes, tool }: BehaviourToolCall): void {
  const field = ofItems.find((name) => request[name] !== undefined && shapes.request(tool).has(name));
  if (field === undefined) return;
  const message = "items are not switched one by one here: sync the catalogue without those that are gone";
  throw new ToolError("UNSUPPORTED_FEATURE", message, { field });
}

/**
 * `sync_catalogs`: each catalogue with its own outcome; without any, what is there.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
export const syncCatalogs: ToolBehaviour = async (request: Wanted, call) => {
  refuseItems(request, call);
  const dryRun = request.dry_run === true;
  refuseTwice(request.catalogs ?? []);
  const { account_id: accountId } = await spendingAccount(call, request.account, dryRun);
  const wanted = request.catalog_ids === undefined ? undefined : new Set(request.catalog_ids);
  const uploads = request.catalogs?.filter(({ catalog_id }) => wanted?.has(catalog_id ?? "") ?? true);
  if (uploads === undefined) {
    const own = await catalogs.list(call, accountId);
    return call.answer({ catalogs: own.map((one) => shown(one, "unchanged", [])) });
  }
  if (request.validation_mode !== "lenient") refuseFaulty(uploads);
  const results: JsonObject[] = [];
  const changes: Dependency[] = [];
  for (const upload of uploads) results.push(await syncOne(call, { accountId, upload, dryRun, changes }));
  // Asked for by id, the others are left as they are.
  if (request.delete_missing === true && wanted === undefined) {
    const named = new Set(results.map(({ catalog_id }) => catalog_id));
    for (const { catalog_id } of await catalogs.list(call, accountId)) {
      if (named.has(catalog_id)) continue;
      if (!dryRun) changes.push(removed(call, accountId, catalog_id));
      results.push({ catalog_id, action: "deleted" });
    }
  }
  await toldOf(call, changes);
  return call.answer({ catalogs: results, ...(dryRun && { dry_run: true }) });
};

/** An impairment has no word for a whole catalogue: its items are withdrawn with it. */
function removed(call: BehaviourCall, account: string, id: string): Dependency {
  catalogs.remove(call, account, id);
  const offline = { to: "withdrawn", reason_code: "seller_removed", reason: "The catalogue was deleted." };
  return { type: "catalog_item", id, account, offline };
}

interface SyncedCatalog {
  readonly accountId: string;
  readonly upload: Upload;
  readonly dryRun: boolean;
  /** What the buys that are filled from catalogues are to be told of. */
  readonly changes: Dependency[];
}

async function syncOne(
  call: BehaviourCall,
  { accountId, upload, dryRun, changes }: SyncedCatalog,
): Promise<JsonObject> {
  const id = upload.catalog_id ?? call.id("cat");
  const fault = faultOf(upload);
  if (fault !== undefined) return { catalog_id: id, action: "failed", errors: lineErrors(call, fault) };
  const content = createHash("sha256").update(JSON.stringify(upload)).digest("hex");
  const before = await catalogs.get(call, accountId, id);
  const { items = [] } = upload;
  const issues = items.flatMap(itemIssues);
  if (before?.content === content) return shown(before, "unchanged", issues);
  const made: KeptCatalog = {
    catalog_id: id,
    account_id: accountId,
    catalog: { ...upload },
    approved: items.length - issues.length,
    rejected: issues.length,
    last_synced_at: call.time,
    content,
  };
  if (!dryRun) {
    catalogs.put(call, id, made);
    if (before === undefined) changes.push({ type: "catalog_item", id, account: accountId, offline: undefined });
  }
  return shown(made, before === undefined ? "created" : "updated", issues);
}

const shown = (kept: KeptCatalog, action: string, issues: readonly JsonObject[]): JsonObject => ({
  catalog_id: kept.catalog_id,
  action,
  item_count: kept.approved + kept.rejected,
  items_approved: kept.approved,
  items_pending: 0,
  items_rejected: kept.rejected,
  last_synced_at: kept.last_synced_at,
  ...(issues.length > 0 && { item_issues: issues }),
});

/** How items of each kind name themselves. */
const identities = [
  ...["item_id", "offering_id", "store_id", "hotel_id", "flight_id", "job_id", "vehicle_id", "listing_id"],
  ...["program_id", "destination_id", "app_id", "id", "sku"],
];

const isSaid = (value: unknown): boolean => typeof value === "string" && value !== "";

/** A flight is called by where it goes. */
const isCalled = ({ title, name, headline, origin, destination }: JsonObject): boolean =>
  [title, name, headline].some(isSaid) || (isJsonObject(origin) && isJsonObject(destination));

/** An item needs a name of its own to be shown, and what it costs, if it says so, in full. */
function itemIssues(item: JsonObject, index: number): JsonObject[] {
  const id = String(identities.map((name) => item[name]).find((one) => one != null) ?? index);
  const reasons: string[] = [];
  if (!isCalled(item)) reasons.push("an item needs a title or a name");
  const { amount, currency } = (item.price ?? {}) as JsonObject;
  if (item.price !== undefined && (typeof amount !== "number" || amount < 0 || typeof currency !== "string"))
    reasons.push("a price has an amount of at least 0 and a currency");
  return reasons.length === 0 ? [] : [{ item_id: id, status: "rejected", reasons }];
}
