import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall, BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { forcedAnswer, forcedReply } from "../frame/forced.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { Product } from "../ports/catalogue.js";
import { keepConfigured } from "./configured.js";
import { divergences } from "./divergence.js";
import { keepPlans } from "./draft.js";
import { filtered, inWantedPrices, type ProductFilters } from "./filters.js";
import { priceForecast } from "./forecast.js";
import { onOffer, productsOf, queryOf, shownProduct } from "./products.js";
import { proposalsFor } from "./proposals.js";
import { applyRefinements, type Refinement } from "./refine.js";
import { briefWords, relevance } from "./relevance.js";
import { type TargetedRequest, targeted } from "./targeted.js";

interface Wanted extends TargetedRequest {
  readonly filters?: ProductFilters & TargetedRequest["filters"];
  readonly brand?: JsonObject;
  readonly account?: { readonly brand?: JsonObject };
  readonly fields?: readonly string[];
  readonly refine?: readonly Refinement[];
  readonly property_list?: unknown;
  readonly catalog?: unknown;
  readonly pagination?: PageWanted;
}

/** `get_products`: what answers a brief, the whole catalogue, or what became of an earlier answer. */
export async function findProducts(request: Wanted, call: BehaviourToolCall): Promise<BehaviourReply> {
  const forced = await forcedAnswer(call);
  if (forced !== undefined) return forcedReply(call, forced);
  if (request.buying_mode === "brief" && (request.brief ?? "").trim() === "")
    throw new ToolError("INVALID_REQUEST", "buying_mode brief needs a brief", { field: "brief" });
  const refined = request.buying_mode === "refine";
  const { products: found, configured, resolution } = targeted(call, await ranked(call, request), request);
  const { kept, proposals, applied } = refined
    ? await applyRefinements(call, request.refine ?? [], {
        found,
        known: await filtered(call, request.filters, await productsOf(call)),
      })
    : { kept: found, proposals: [], applied: undefined };
  const { items, pagination } = listPage(
    kept,
    refined ? undefined : request.pagination,
    ({ product_id }) => product_id,
  );
  const plans = request.buying_mode === "brief" ? await proposalsFor(call, items) : proposals;
  const planned = plans.flatMap(({ allocations }) => allocations.map(({ product_id }) => product_id));
  keepConfigured(call, configured, [...items.map(({ product_id }) => product_id), ...planned]);
  await keepPlans(call, plans, { brief: request.brief, brand: request.brand ?? request.account?.brand });
  const products = await Promise.all(items.map((one) => shown(call, inWantedPrices(one, request.filters), request)));
  const errors = call.shapes.knowsError("FORMAT_DECLARATION_DIVERGENT") ? divergences(products) : [];
  return call.answer({
    products,
    ...(resolution !== undefined && { targeting_resolution: resolution }),
    ...(errors.length > 0 && { errors }),
    ...(plans.length > 0 && { proposals: plans }),
    ...(request.property_list !== undefined && { property_list_applied: false }),
    ...(request.catalog !== undefined && { catalog_applied: false }),
    ...(applied === undefined ? { pagination } : { refinement_applied: applied }),
    // What is shown depends on who asks, as far as the catalogue is told.
    cache_scope: call.ctx.account === undefined ? "public" : "account",
  });
}

/** What answers a brief, best first; all of it, in its own order, where nothing does. */
export function relevantTo<T extends { readonly product: Product }>(brief: string, all: readonly T[]): T[] {
  const words = briefWords(brief);
  const scored = all.map((one, index) => ({ one, index, score: answers(words, one.product) }));
  const matching = scored.filter(({ score }) => score > 0);
  return (matching.length > 0 ? matching : scored)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ one }) => one);
}

/** What a medium that is asked for is worth, in words. */
const MEDIUM = 2;

/** How well a product answers a brief: by its words, and by the medium above all. */
const answers = (words: ReadonlySet<string>, one: Product): number =>
  relevance(words, textOf(one)) + MEDIUM * relevance(words, one.channels.join(" "));

const textOf = (one: Product): string =>
  `${one.product_id} ${one.name} ${one.description} ${one.channels.join(" ")} ${one.delivery_type}`;

/** What meets the filters, what answers the brief best first; the catalogue's order where nothing does. */
async function ranked(
  call: BehaviourCall,
  request: Pick<Wanted, "buying_mode" | "brief" | "filters">,
): Promise<Product[]> {
  const all = request.buying_mode === "brief" ? await productsOf(call, request) : await onOffer(call, request);
  const products = (await filtered(call, request.filters, all)).map((product) => ({ product }));
  return relevantTo(request.brief ?? "", products).map(({ product }) => product);
}

/** Only the fields asked for; what every product must have is always there. */
async function shown(
  call: BehaviourToolCall,
  one: Product,
  { buying_mode, brief, fields }: Wanted,
): Promise<JsonObject> {
  const query = { ...queryOf(call, { brief: brief ?? "" }), product: one };
  const custom = one.more?.is_custom === true ? priceForecast(call, one) : undefined;
  const forecast = (await call.ports.catalogue.forecast?.(query)) ?? custom;
  const all: JsonObject = {
    ...(await shownProduct(call, one)),
    ...(forecast !== undefined && { forecast }),
    ...(buying_mode === "brief" && { brief_relevance: `Answers "${brief?.slice(0, 100)}" with ${one.description}` }),
  };
  if (fields === undefined) return all;
  const wanted = (name: string): boolean => fields.includes(name) || call.shape.requires("products", "*", name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted(name)));
}
