import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { isAuction, type Product, products, shownProduct } from "./products.js";
import { proposalsFor } from "./proposals.js";
import { applyRefinements } from "./refine.js";
import { relevance, wordsOf } from "./relevance.js";

type Wanted = Request<"get_products">;

/** `get_products`: what answers a brief, the whole catalogue, or what became of an earlier answer. */
export function findProducts(call: Call, request: Wanted): JsonObject {
  if (request.buying_mode === "brief" && (request.brief ?? "").trim() === "")
    throw new ToolError("INVALID_REQUEST", "buying_mode brief needs a brief", { field: "brief" });
  if (request.buying_mode === "refine") return refined(call, request);
  const found = ranked(call, request);
  const { items, pagination } = page(found, request.pagination, ({ product_id }) => product_id);
  const proposals = request.buying_mode === "brief" ? proposalsFor(call, items) : [];
  return {
    products: items.map((one) => shown(call, one, request)),
    ...(proposals.length > 0 && { proposals }),
    ...(request.property_list !== undefined && { property_list_applied: false }),
    ...(request.catalog !== undefined && { catalog_applied: false }),
    pagination,
  };
}

function refined(call: Call, request: Wanted): JsonObject {
  const { kept, proposals, applied } = applyRefinements(call, request.refine ?? [], ranked(call, request));
  return {
    products: kept.map((one) => shown(call, one, request)),
    ...(proposals.length > 0 && { proposals }),
    refinement_applied: applied,
  };
}

/** What passes the filters, what answers the brief best first; the catalogue's order where nothing does. */
function ranked(call: Call, request: Wanted): Product[] {
  const fitting = products(call).filter((one) => passes(one, request.filters));
  const brief = wordsOf(request.brief ?? "");
  const scored = fitting.map((one, index) => ({
    one,
    index,
    score: relevance(
      brief,
      `${one.product_id} ${one.name} ${one.description} ${one.channels.join(" ")} ${one.delivery_type}`,
    ),
  }));
  const matching = scored.filter(({ score }) => score > 0);
  return (matching.length > 0 ? matching : scored)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ one }) => one);
}

function passes(one: Product, filters: Wanted["filters"]): boolean {
  if (filters === undefined) return true;
  const { delivery_type, is_fixed_price, channels, format_ids, budget_range } = filters;
  return (
    (delivery_type === undefined || delivery_type === one.delivery_type) &&
    (is_fixed_price === undefined || one.pricing_options.some((option) => isAuction(option) !== is_fixed_price)) &&
    (channels === undefined || channels.some((channel) => one.channels.includes(channel))) &&
    (format_ids === undefined || format_ids.some(({ id }) => one.formats.includes(id))) &&
    (budget_range?.max === undefined ||
      one.pricing_options.some(({ min_spend_per_package }) => (min_spend_per_package ?? 0) <= budget_range.max!))
  );
}

/** Only the fields asked for; what every product must have is always there. */
const REQUIRED = [
  "product_id",
  "name",
  "description",
  "publisher_properties",
  "format_ids",
  "delivery_type",
  "pricing_options",
  "reporting_capabilities",
];

function shown(call: Call, one: Product, { buying_mode, brief, fields }: Wanted): JsonObject {
  const all: JsonObject = {
    ...shownProduct(call, one),
    ...(buying_mode === "brief" && { brief_relevance: `Answers "${brief?.slice(0, 100)}" with ${one.description}` }),
  };
  if (fields === undefined) return all;
  const wanted = new Set<string>([...fields, ...REQUIRED]);
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)));
}
