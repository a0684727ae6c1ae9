/** Catalogues that creatives are filled from: the account's own, as they were synced. */
import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, accountId } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { catalogs, type KeptCatalog } from "../library/catalogs.js";
import type { CreativeManifest } from "./manifest.js";
import type { CatalogItems } from "./render.js";

type Item = { readonly [field: string]: unknown };

/** Items of one preview where nobody says how many. */
const SAMPLE = 5;

const itemsOf = ({ items }: JsonObject): readonly Item[] => (items ?? []) as readonly Item[];

/** Those of the account that the call names, where it names one; else of all of the caller's. */
async function catalogsHere(call: BehaviourCall): Promise<KeptCatalog[]> {
  const ref = call.ctx.account as AccountRef | undefined;
  const named = ref?.account_id !== undefined || ref?.brand !== undefined;
  return catalogs.list(call, named ? await accountId(call, ref) : undefined);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The catalogue a message names, or one with an item it names; that item then stands alone. */
export async function catalogFor(
  call: BehaviourCall,
  message: string,
  limit = SAMPLE,
): Promise<CatalogItems | undefined> {
  const said = message.toLowerCase();
  const all = (await catalogsHere(call)).map(({ catalog_id, catalog }) => ({ catalog_id, items: itemsOf(catalog) }));
  const named = all.find(({ catalog_id }) => said.includes(catalog_id.toLowerCase()));
  if (named !== undefined) return { catalogId: named.catalog_id, items: named.items.slice(0, limit) };
  for (const { catalog_id, items } of all) {
    const item = items.find(({ title, name }) =>
      [title, name].some((one) => text(one) !== "" && said.includes(text(one).toLowerCase())),
    );
    if (item !== undefined) return { catalogId: catalog_id, items: [item] };
  }
  return undefined;
}

/** The catalogue a creative is bound to by one of its assets: its own items, or those of an account's catalogue. */
export async function catalogIn(
  call: BehaviourCall,
  { assets }: CreativeManifest,
  limit = SAMPLE,
): Promise<CatalogItems | undefined> {
  const bound = Object.values(assets).find(({ asset_type }) => asset_type === "catalog");
  if (bound === undefined) return undefined;
  const { catalog_id: id, items } = bound as { readonly catalog_id?: unknown; readonly items?: unknown };
  const own = Array.isArray(items) ? (items as readonly Item[]) : undefined;
  const named = own === undefined && (await catalogsHere(call)).find(({ catalog_id }) => catalog_id === id);
  const synced = named ? itemsOf(named.catalog) : own;
  return synced === undefined ? undefined : { catalogId: text(id), items: synced.slice(0, limit) };
}
