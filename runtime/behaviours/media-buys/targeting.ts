/** Whom a package is for: what was bound before it, what the buyer says of it, and how a change leaves it. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import type { Product } from "../ports/catalogue.js";
import { concreteCollections } from "../products/collections.js";
import { demographicResolution } from "../products/configured.js";
import { checkOverlay, type Overlay, overlaySaid } from "../products/overlay.js";

interface Keyword extends JsonObject {
  readonly keyword: string;
  readonly match_type: string;
}

/** What a change says of a package's targeting. */
export interface WantedTargeting {
  readonly targeting_overlay?: unknown;
  readonly keyword_targets_add?: readonly Keyword[];
  readonly keyword_targets_remove?: readonly Keyword[];
  readonly negative_keywords_add?: readonly Keyword[];
  readonly negative_keywords_remove?: readonly Keyword[];
}

/** An overlay on what was bound before: what is not named stays, and null takes a dimension away. */
const overlaid = (bound: Overlay | undefined, given: Overlay): Overlay =>
  Object.fromEntries(Object.entries({ ...bound, ...given }).filter(([, value]) => value != null)) as Overlay;

/** The targeting of a new package, on what its product was configured for. */
export const boundOverlay = (bound: Overlay | undefined, given: unknown): Overlay | undefined =>
  given == null ? bound : overlaid(bound, given as Overlay);

/** A release that lets a dimension be null takes overlays dimension by dimension; an older one as a whole. */
const isPatched = ({ shapes }: BehaviourCall): boolean =>
  shapes.request("update_media_buy").takesNull("packages", "*", "targeting_overlay", "geo_countries");

const keyOf = ({ keyword, match_type }: Keyword): string => JSON.stringify([keyword, match_type]);

const lists = [
  { name: "keyword_targets", add: "keyword_targets_add", remove: "keyword_targets_remove" },
  { name: "negative_keywords", add: "negative_keywords_add", remove: "negative_keywords_remove" },
] as const;

type List = (typeof lists)[number];

/** @throws ToolError VALIDATION_ERROR for keywords that are said twice, and not the same */
function checkKeywords(call: BehaviourCall, { name, add, remove }: List, wanted: WantedTargeting, at: string): void {
  const { [add]: added = [], [remove]: removed = [], targeting_overlay: given } = wanted;
  const dropped = new Set(removed.map(keyOf));
  const both = added.findIndex((one) => dropped.has(keyOf(one)));
  const whole = added.length + removed.length > 0 && Object.hasOwn((given as object | undefined) ?? {}, name);
  if (both < 0 && !whole) return;
  throw whole
    ? invalid(call, `${name} are given as a whole and changed beside that`, `${at}.targeting_overlay.${name}`)
    : invalid(call, "this keyword is added and removed at once", `${at}.${add}[${both}]`);
}

/** The keywords that are left: of those added, one that is there already takes the place of what is there. */
function keywordsAfter({ name, add, remove }: List, overlay: Overlay | undefined, wanted: WantedTargeting): JsonObject {
  const { [add]: added = [], [remove]: removed = [] } = wanted;
  if (added.length + removed.length === 0) return {};
  const left = new Map(((overlay?.[name] ?? []) as readonly Keyword[]).map((one) => [keyOf(one), one]));
  for (const one of removed) left.delete(keyOf(one));
  for (const one of added) left.set(keyOf(one), { ...left.get(keyOf(one)), ...one });
  return { [name]: left.size === 0 ? null : [...left.values()] };
}

/**
 * The targeting of a package after a change; undefined where the change says nothing of it.
 * @param before what the package has, beside what its product was configured for
 * @throws ToolError UNSUPPORTED_FEATURE, INVALID_REQUEST, VALIDATION_ERROR
 */
export function overlayAfter(
  call: BehaviourCall,
  before: Overlay | undefined,
  wanted: WantedTargeting,
  { product, bound, field }: { readonly product: Product; readonly bound: Overlay | undefined; readonly field: string },
): Overlay | undefined {
  for (const list of lists) checkKeywords(call, list, wanted, field);
  const given = (wanted.targeting_overlay ?? undefined) as Overlay | undefined;
  const whole = given === undefined ? before : overlaid(isPatched(call) ? before : undefined, given);
  const keywords = Object.assign({}, ...lists.map((list) => keywordsAfter(list, whole, wanted))) as Overlay;
  if (given === undefined && Object.keys(keywords).length === 0) return undefined;
  const after = overlaid(whole, keywords);
  const accepted = { ...bound, ...before };
  checkOverlay(product, after, { at: `${field}.targeting_overlay`, accepted, ...overlaySaid(call) });
  return concreteCollections(product, after);
}

/** How answers and the ad server have it. */
export function targetingTerms(product: Product, overlay: Overlay | undefined): JsonObject {
  if (overlay === undefined) return {};
  const resolution = demographicResolution(product, overlay);
  const empty = Object.keys(overlay).length === 0;
  return {
    targeting_overlay: empty ? null : overlay,
    targeting_resolution: resolution ?? null,
  };
}
