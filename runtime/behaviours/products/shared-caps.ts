/** Counters of how often somebody is shown something: what the seller says of them, and which products take part in one of a whole buy. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { declaredObject } from "../frame/declared-object.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import { capFits } from "./dimension-support.js";

/** What the seller says of counters over a whole buy; undefined where it keeps none. */
export const sharedCounters = (call: Pick<BehaviourCall, "declared">): JsonObject | undefined =>
  declaredObject(call, "media_buy", "aggregate_frequency_capping");

/** What the seller says of counters of packages, whatever the product; undefined where it says nothing. */
export const packageCounters = (call: Pick<BehaviourCall, "declared">): JsonObject | undefined =>
  declaredObject(call, "media_buy", "frequency_capping");

/** Does the seller count by such units, and for such a time? Units that it does not list are all of them. */
export function isCounted(counters: JsonObject | undefined, cap: unknown): boolean {
  const { supported_per_units: units, supported_window_units: spans } = counters ?? {};
  const { per, window } = (cap ?? {}) as JsonObject;
  const { unit } = (window ?? {}) as JsonObject;
  const has = (list: unknown, one: unknown): boolean => one === undefined || !Array.isArray(list) || list.includes(one);
  return has(units, per) && has(spans, unit);
}

/** What a product supports, with what it leaves to the seller to say of its counters. */
export function withCounters(call: Pick<BehaviourCall, "declared">, support: JsonObject): JsonObject {
  const { frequency_cap_support: own } = support;
  const wide = packageCounters(call);
  if (!isJsonObject(own) || wide === undefined) return support;
  const spans = Array.isArray(own.window_constraints) ? itemsIn<JsonObject>(own.window_constraints) : undefined;
  const all = { supported_per_units: true, supported_window_units: true, ...wide };
  const narrowed = { ...all, ...own, ...(spans && { supported_window_units: spans.map(({ unit }) => unit) }) };
  return { ...support, frequency_cap_support: narrowed };
}

/** Does a product take part in the counter of such a cap, by its own word? The seller's is another matter. */
export function takesPart(product: Product | undefined, cap: unknown): boolean {
  const support = (product?.more?.media_buy_support ?? {}) as JsonObject;
  return support.frequency_cap === true && capFits((support.frequency_cap_constraints ?? {}) as JsonObject, cap);
}

/** Can the cap be kept over these products together? */
export function sharesCap(
  call: Pick<BehaviourCall, "declared">,
  products: readonly (Product | undefined)[],
  cap: unknown,
) {
  const declared = sharedCounters(call);
  return declared !== undefined && capFits(declared, cap) && products.every((one) => takesPart(one, cap));
}
