import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage } from "../frame/page.js";
import type { Product } from "../ports/catalogue.js";
import { keepConfigured } from "../products/configured.js";
import { filtered, inWantedPrices, type ProductFilters } from "../products/filters.js";
import type { Overlay } from "../products/overlay.js";
import { onOffer, productsOf, shownProduct } from "../products/products.js";
import { targeted } from "../products/targeted.js";

export interface Criteria {
  readonly product_ids?: readonly string[];
  readonly offer_filters?: ProductFilters & { readonly property_list?: unknown };
  readonly targeting_overlay?: Overlay;
  readonly required_overlay_support?: JsonObject;
  readonly media_buy_frequency_cap?: JsonObject;
  readonly required_media_buy_support?: JsonObject;
  /** A result that a budget is to be found for; where no proposals are made it says nothing. */
  readonly outcome_target?: JsonObject;
}

interface Wanted {
  readonly criteria?: Criteria;
  readonly fields?: readonly string[];
  readonly cursor?: string;
  readonly max_results?: number;
  readonly if_feed_version?: string;
  readonly if_pricing_version?: string;
}

/** Products of a page where the request does not say, and at most. */
const SIZE = { items: 25, most: 100 };

/**
 * A budget is planned to a sum, and not to a result: who would ask for one is told so, not given any plan.
 * @param at where the criteria stand in the request
 * @throws ToolError UNSUPPORTED_FEATURE
 */
export function refuseResults({ outcome_target: target }: Criteria, at: string): void {
  if (target === undefined) return;
  throw new ToolError("UNSUPPORTED_FEATURE", "no budget is worked out from a result here: name a sum in the brief", {
    field: `${at}.outcome_target`,
  });
}

/**
 * What is on offer and meets the criteria, at the prices that were asked for.
 * @throws ToolError UNSUPPORTED_FEATURE for a list of properties: nobody here looks it up, and no answer says that nobody did
 */
export async function offered(call: BehaviourCall, criteria: Criteria = {}): Promise<Product[]> {
  const { product_ids: ids, offer_filters: filters } = criteria;
  if (filters?.property_list != null)
    throw new ToolError("UNSUPPORTED_FEATURE", "offers are not looked up by a list of properties here", {
      field: "criteria.offer_filters.property_list",
    });
  const all = ids === undefined ? await onOffer(call) : await productsOf(call);
  const named = all.filter(({ product_id: id }) => ids === undefined || ids.includes(id));
  const wanted = await filtered(call, filters, named);
  return wanted.map((one) => inWantedPrices(one, filters));
}

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);

/**
 * What the whole feed is at, and its prices alone. A new price is a new feed too: who names but the feed that he has seen does
 * not buy at another price.
 */
export async function feedVersions(call: BehaviourCall): Promise<{ feed_version: string; pricing_version: string }> {
  const all = await productsOf(call);
  const bare = all.map(({ pricing_options, ...rest }) => ({
    ...rest,
    options: pricing_options.map((one) => one.pricing_option_id),
  }));
  const pricing_version = digest(all.map(({ product_id, pricing_options }) => [product_id, pricing_options]));
  return { feed_version: `${digest(bare)}.${pricing_version}`, pricing_version };
}

const offersOf = (feedVersion: string): string | undefined => feedVersion.split(".")[0];

/** Are these the offers that a buyer has seen? Prices are named by themselves, or by the feed that they were seen in. */
export const isSameFeed = (
  seen: string,
  { feed_version: now }: { readonly feed_version: string },
  priced: boolean,
): boolean => (priced ? offersOf(seen) === offersOf(now) : seen === now);

/** `list_products`: the published offers, as they are; nothing where the caller has this version of them. */
export const listProducts: ToolBehaviour = async (request: Wanted, call) => {
  const versions = await feedVersions(call);
  const scope = { cache_scope: call.ctx.account === undefined ? "public" : "account" };
  const { if_feed_version: seen, if_pricing_version: price } = request;
  const same =
    seen !== undefined &&
    isSameFeed(seen, versions, price !== undefined) &&
    (price ?? versions.pricing_version) === versions.pricing_version;
  if (same) return call.answer({ outcome: "unchanged", ...versions, ...scope });
  const { products, configured } = targeted(call, await offered(call, request.criteria), request.criteria ?? {});
  const wanted = {
    ...(request.max_results !== undefined && { max_results: request.max_results }),
    ...(request.cursor !== undefined && { cursor: request.cursor }),
  };
  const { items, pagination } = listPage(products, wanted, ({ product_id }) => product_id, SIZE);
  keepConfigured(
    call,
    configured,
    items.map(({ product_id }) => product_id),
  );
  const shown = await Promise.all(items.map((one) => shownProduct(call, one)));
  const isWanted = (name: string): boolean =>
    request.fields === undefined || request.fields.includes(name) || call.shape.requires("products", "*", name);
  return call.answer({
    outcome: "listed",
    products: shown.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => isWanted(name)))),
    ...(pagination.cursor !== undefined && { next_cursor: pagination.cursor }),
    ...versions,
    ...scope,
  });
};
