/** Which of a product's collections a package is for: named by their owners' domains, and never more than the product has. */
import { ToolError } from "../../seller/tool-error.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";

interface Selector {
  readonly publisher_domain: string;
  readonly collection_ids?: readonly string[];
}

/** What an overlay says of them: a complete set, or by `default` all that there are. */
export interface CollectionSelection {
  readonly mode?: string;
  readonly collections?: readonly Selector[];
}

const keysOf = (all: readonly Selector[]): string[] =>
  all.flatMap(({ publisher_domain: domain, collection_ids: ids = [] }) => ids.map((id) => `${domain}/${id}`));

const bundleOf = ({ more = {} }: Product): readonly Selector[] => itemsIn<Selector>(more.collections);

/** The overlay asks for just the collections that the product consists of. */
export function restatesCollections(product: Product, given: CollectionSelection | null | undefined): boolean {
  if (given?.mode !== "selected") return given?.mode === "default";
  const own = keysOf(bundleOf(product));
  const wanted = new Set(keysOf(given.collections ?? []));
  return own.length === wanted.size && own.every((one) => wanted.has(one));
}

/**
 * @param at where the overlay stands in the request
 * @throws ToolError REFERENCE_NOT_FOUND for a collection that the product does not have, INVALID_REQUEST for one that is named
 * twice, UNSUPPORTED_FEATURE for some of a product that is sold with all of its collections
 */
export function checkCollections(product: Product, given: CollectionSelection | null | undefined, at: string): void {
  if (given?.mode !== "selected") return;
  const known = new Set(keysOf(bundleOf(product)));
  const seen = new Set<string>();
  for (const [index, selector] of (given.collections ?? []).entries())
    for (const [place, key] of keysOf([selector]).entries()) {
      const field = `${at}.collection_selection.collections[${index}].collection_ids[${place}]`;
      if (!known.has(key))
        throw new ToolError("REFERENCE_NOT_FOUND", `product ${product.product_id} has no collection ${key}`, { field });
      if (seen.has(key)) throw new ToolError("INVALID_REQUEST", `collection ${key} is named twice`, { field });
      seen.add(key);
    }
  if (product.more?.collection_targeting_allowed === true || restatesCollections(product, given)) return;
  throw new ToolError("UNSUPPORTED_FEATURE", "this product is sold with all of its collections", {
    field: `${at}.collection_selection`,
  });
}

/** The collections by their names, as they are bought: a product's own set may be another tomorrow. */
export function concreteCollections<T extends { readonly collection_selection?: CollectionSelection | null }>(
  product: Product,
  overlay: T | undefined,
): T | undefined {
  if (overlay?.collection_selection?.mode !== "default") return overlay;
  const { collection_selection: _, ...rest } = overlay;
  const collections = bundleOf(product);
  return (collections.length === 0 ? rest : { ...rest, collection_selection: { mode: "selected", collections } }) as T;
}
