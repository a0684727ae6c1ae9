/** Products made for one request: a product of the catalogue with the targeting that was agreed to, for a while. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { Product } from "../ports/catalogue.js";
import { intervalsWithin, type Overlay } from "./overlay.js";

export interface Configured {
  readonly product_id: string;
  /** The product it was made from: its price is the one that is asked for. */
  readonly base: string;
  readonly overlay: Overlay;
  readonly modifications: readonly JsonObject[];
  readonly expires_at: string;
}

const kept = collection<Configured>("configured_product");

/** How long what was configured may be ordered, in milliseconds. */
const HOLD_MS = 7 * 86_400_000;

export const findConfigured = (call: BehaviourCall, id: string): Promise<Configured | undefined> =>
  kept.get(call, call.principal, id);

/** The product as it was configured. */
export const configuredProduct = (base: Product, { product_id, modifications, expires_at }: Configured): Product => ({
  ...base,
  product_id,
  more: {
    ...base.more,
    is_custom: true,
    expires_at,
    ...(modifications.length > 0 && { targeting_resolution: { modifications } }),
  },
});

/**
 * What a product is to be for an overlay; the same for the same request. Undefined where nothing of it would be left. It can be
 * ordered once it is kept: see `keepConfigured`.
 */
export function configure(call: BehaviourCall, base: Product, wanted: Overlay): Configured | undefined {
  const resolved = resolve(base, wanted);
  if (resolved === undefined) return undefined;
  const digest = createHash("sha256")
    .update(`${base.product_id}\0${canonicalize(wanted)}`)
    .digest("hex")
    .slice(0, 12);
  return {
    product_id: `${base.product_id}_for_${digest}`,
    base: base.product_id,
    ...resolved,
    expires_at: new Date(call.now.getTime() + HOLD_MS).toISOString(),
  };
}

/** Keeps what was configured of the products that are shown: of thousands that fit a wish, a buyer has seen a page. */
export function keepConfigured(
  call: BehaviourCall,
  configured: ReadonlyMap<string, Configured>,
  shown: readonly string[],
): void {
  for (const id of new Set(shown)) {
    const one = configured.get(id);
    if (one !== undefined) kept.put(call, call.principal, id, one);
  }
}

/** What of an overlay can be done, and what was changed for that. */
function resolve(base: Product, wanted: Overlay): Pick<Configured, "overlay" | "modifications"> | undefined {
  const modifications: JsonObject[] = [];
  let overlay = wanted;
  const { demographics } = wanted;
  const intervals = demographics === undefined ? undefined : intervalsWithin(base, demographics);
  if (intervals !== undefined) {
    if (intervals.length === 0) return undefined;
    const age = {
      min: Math.min(...intervals.map((one) => one.age.min ?? 0)),
      max: Math.max(...intervals.map((one) => one.age.max ?? 0)),
      include_unknown: false,
    };
    if (age.min !== demographics?.age?.min || age.max !== demographics.age.max) {
      overlay = { ...overlay, demographics: { ...demographics, age } };
      const reason = "Ages are known by intervals, of which these lie wholly within what was asked for.";
      modifications.push({ operation: "replace", path: "/demographics/age", applied: age, reason });
    }
  }
  const { unavailable_families: none = [] } = (base.more?.browser_inventory ?? {}) as {
    unavailable_families?: string[];
  };
  const { browser, browser_exclude: excluded = [] } = wanted;
  const lost = (browser ?? []).filter((one) => none.includes(one) && !excluded.includes(one));
  if (browser !== undefined && lost.length > 0) {
    const left = browser.filter((one) => !lost.includes(one));
    if (left.length === 0) return undefined;
    overlay = { ...overlay, browser: left };
    modifications.push({
      operation: "remove_values",
      path: "/browser",
      values: lost,
      reason: "There is no inventory for it.",
    });
  }
  return { overlay, modifications };
}

/** How a package reaches the ages that it is for, where they are known by intervals. */
export function demographicResolution(product: Product, { demographics }: Overlay): JsonObject | undefined {
  const intervals = demographics === undefined ? undefined : intervalsWithin(product, demographics);
  if (intervals === undefined || intervals.length === 0) return undefined;
  return {
    demographics: {
      requested: demographics,
      applied: demographics,
      equivalent: true,
      execution: { type: "enumerated_intervals", interval_ids: intervals.map(({ interval_id }) => interval_id) },
    },
  };
}
