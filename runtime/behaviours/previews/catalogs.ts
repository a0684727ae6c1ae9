/** Catalogues that creatives are filled from: the account's own, as they were synced. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeManifest } from "./manifest.js";
import type { CatalogItems } from "./render.js";

type Item = { readonly [field: string]: unknown };

/** As sync_catalogs keeps it. */
interface KeptCatalog {
  readonly catalog_id: string;
  readonly catalog: { readonly items?: readonly Item[] };
}

const kept = collection<KeptCatalog>("catalog");

/** Items of one preview where nobody says how many. */
const SAMPLE = 5;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The catalogue a message names, or one with an item it names; that item then stands alone. */
export async function catalogFor(
  call: BehaviourCall,
  message: string,
  limit = SAMPLE,
): Promise<CatalogItems | undefined> {
  const said = message.toLowerCase();
  const catalogs = (await kept.list(call, call.principal)).map(({ catalog_id, catalog }) => ({
    catalog_id,
    items: catalog.items ?? [],
  }));
  const named = catalogs.find(({ catalog_id }) => said.includes(catalog_id.toLowerCase()));
  if (named !== undefined) return { catalogId: named.catalog_id, items: named.items.slice(0, limit) };
  for (const { catalog_id, items } of catalogs) {
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
  const synced = own ?? (await kept.get(call, call.principal, text(id)))?.catalog.items;
  return synced === undefined ? undefined : { catalogId: text(id), items: synced.slice(0, limit) };
}
