/** What a product can do with a buyer's targeting, as it declares it, and what is wrong with an overlay that asks for more. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Product } from "../ports/catalogue.js";
import { type CollectionSelection, checkCollections, restatesCollections } from "./collections.js";
import { coversValue } from "./dimension-support.js";
import { isCounted, packageCounters } from "./shared-caps.js";

export interface PlacementRef {
  readonly publisher_domain?: string;
  readonly placement_id?: string;
}

export interface AgeRange {
  readonly min?: number;
  readonly max?: number;
  readonly include_unknown?: boolean;
}

/** Targeting as the wire has it; other members are looked at by their names. */
export interface Overlay extends JsonObject {
  readonly geo_countries?: readonly string[];
  readonly browser?: readonly string[];
  readonly browser_exclude?: readonly string[];
  readonly device_platform?: readonly string[];
  readonly demographics?: { readonly age?: AgeRange };
  readonly collection_selection?: CollectionSelection | null;
  readonly placement_selection?: { readonly placement_refs?: readonly PlacementRef[] };
}

interface AgeCapability {
  readonly execution_modes?: readonly string[];
  readonly intervals?: readonly { readonly interval_id: string; readonly age: AgeRange }[];
}

/** Members of a product that speak of targeting. */
interface TargetingTerms {
  readonly overlay_support?: Readonly<Record<string, unknown>>;
  readonly placements?: readonly (PlacementRef & { readonly mode?: string })[];
  readonly demographic_targeting?: { readonly age?: AgeCapability };
  readonly identity?: { readonly persistent_identifier?: boolean };
  /** What of a browser's traffic there is; the seller's own, and no part of any answer. */
  readonly browser_inventory?: {
    readonly unavailable_families?: readonly string[];
    readonly platform_compatibility?: Readonly<Record<string, readonly string[]>>;
  };
}

export const termsOf = ({ more = {} }: Product): TargetingTerms => more as TargetingTerms;

/** Does what is declared cover what is asked for? True is support without limits; lists have to have all that is asked for. */
export function supportsAll(declared: unknown, wanted: unknown): boolean {
  if (wanted === false || declared === true) return true;
  if (wanted === true) return isJsonObject(declared);
  if (Array.isArray(wanted)) return Array.isArray(declared) && wanted.every((one) => declared.includes(one));
  if (!isJsonObject(wanted)) return declared === wanted;
  return isJsonObject(declared) && Object.entries(wanted).every(([name, one]) => supportsAll(declared[name], one));
}

const keyOf = ({ publisher_domain, placement_id }: PlacementRef): string => `${publisher_domain}/${placement_id}`;

/** The placements that come with the product as a whole, and that nobody picks from. */
const included = (product: Product): string[] =>
  (termsOf(product).placements ?? []).filter(({ mode }) => mode === "included").map(keyOf);

/** The overlay asks for just the placements that the product consists of. */
function restatesPlacements(product: Product, overlay: Overlay): boolean {
  const wanted = (overlay.placement_selection?.placement_refs ?? []).map(keyOf);
  const own = included(product);
  return own.length > 0 && wanted.length === own.length && own.every((one) => wanted.includes(one));
}

const unsupported = (message: string, field: string): ToolError =>
  new ToolError("UNSUPPORTED_FEATURE", message, { field });

const mostOf = (declared: unknown): number => {
  const most = isJsonObject(declared) ? declared.max_values_per_package : undefined;
  return typeof most === "number" ? most : Number.POSITIVE_INFINITY;
};

function checkPlacements(product: Product, overlay: Overlay, at: string): void {
  const { placements = [], overlay_support: support = {} } = termsOf(product);
  const refs = overlay.placement_selection?.placement_refs;
  if (refs === undefined || placements.length === 0) return;
  const known = new Set(placements.map(keyOf));
  const foreign = refs.findIndex((one) => !known.has(keyOf(one)));
  if (foreign >= 0)
    throw new ToolError("INVALID_REQUEST", `product ${product.product_id} has no placement ${keyOf(refs[foreign]!)}`, {
      field: `${at}.placement_selection.placement_refs[${foreign}]`,
    });
  if (restatesPlacements(product, overlay)) return;
  if (support.placement_selection === undefined)
    throw unsupported("this product is sold with all of its placements", `${at}.placement_selection`);
  if (refs.length > mostOf(support.placement_selection))
    throw unsupported("more placements than one package takes", `${at}.placement_selection`);
}

/** Who cannot be told apart cannot be counted. */
function checkCountable(product: Product, { frequency_cap: cap }: Overlay, { at, counters }: OverlayTerms): void {
  if (cap != null && !isCounted(counters, cap))
    throw unsupported("packages are not counted here by that unit, or for such a time", `${at}.frequency_cap`);
  if (cap != null && termsOf(product).identity?.persistent_identifier === false)
    throw unsupported("nobody is told apart where this product is shown: leave the cap out", `${at}.frequency_cap`);
}

/** A browser that does not run on any of the platforms asked for delivers nothing. */
function checkBrowsers(product: Product, { browser, device_platform: platforms }: Overlay, at: string): void {
  const runsOn = termsOf(product).browser_inventory?.platform_compatibility ?? {};
  if (browser === undefined || platforms === undefined) return;
  const lost = browser.find((one) => runsOn[one] !== undefined && !platforms.some((on) => runsOn[one]?.includes(on)));
  if (lost !== undefined) throw unsupported(`${lost} does not run on ${platforms.join(", ")}`, `${at}.browser`);
}

/** Where a product says of a dimension that it may be chosen. */
function supportOf(product: Product, name: string): unknown {
  const { overlay_support: support = {} } = termsOf(product);
  if (support[name] !== undefined) return support[name];
  if (name === "frequency_cap") return support.frequency_cap_support;
  const older = allowances[name];
  return older !== undefined && product.more?.[older] === true;
}

/** Dimensions that products allow by a word of their own, too. */
const allowances: Readonly<Record<string, string>> = {
  property_list: "property_targeting_allowed",
  collection_list: "collection_targeting_allowed",
  signal_targeting_groups: "signal_targeting_allowed",
};

function checkDeclared(product: Product, name: string, value: unknown, at: string): void {
  const support = supportOf(product, name);
  if (!support) throw unsupported(`packages of this product are not sold by ${name}`, `${at}.${name}`);
  if (!coversValue(name, support, value))
    throw unsupported(`packages of this product are sold by ${name}, and not by that`, `${at}.${name}`);
  if (Array.isArray(value) && value.length > mostOf(support))
    throw unsupported(`${name} takes ${mostOf(support)} values in a package of this product`, `${at}.${name}`);
}

/** What an overlay is looked through by, beside the product. */
export interface OverlayTerms {
  /** Where the overlay stands in the request. */
  readonly at: string;
  /** Targeting that was agreed to before: what is the same in the overlay is agreed to. */
  readonly accepted?: Overlay | undefined;
  /** What the seller says of counters of packages. */
  readonly counters?: JsonObject | undefined;
  /** Is this a dimension that products of the release say whether they take? */
  declares(name: string): boolean;
}

/** What the release and the seller say. Products of releases before 3.2 have no word for what may be chosen. */
export const overlaySaid = (
  call: Pick<BehaviourCall, "shapes" | "declared">,
): Pick<OverlayTerms, "declares" | "counters"> => ({
  declares: (name) => call.shapes.answer("get_products").has("products", "*", "overlay_support", name),
  counters: packageCounters(call),
});

/**
 * Looks an overlay through, by what the product declares; a product that declares nothing takes what it is given.
 * @throws ToolError UNSUPPORTED_FEATURE, INVALID_REQUEST for a placement that is not the product's
 */
export function checkOverlay(product: Product, overlay: Overlay | undefined, terms: OverlayTerms): void {
  if (overlay === undefined) return;
  const { at, accepted, declares } = terms;
  checkPlacements(product, overlay, at);
  checkCollections(product, overlay.collection_selection, at);
  if (!isDeepStrictEqual(overlay.frequency_cap, accepted?.frequency_cap)) checkCountable(product, overlay, terms);
  if (termsOf(product).overlay_support === undefined) return;
  for (const [name, value] of Object.entries(overlay)) {
    if (value == null || !declares(name) || isDeepStrictEqual(value, accepted?.[name])) continue;
    if (name === "placement_selection" && restatesPlacements(product, overlay)) continue;
    checkDeclared(product, name, value, at);
  }
  checkBrowsers(product, overlay, at);
}

/** Can the product be delivered to what the overlay asks for, as far as it says? */
export function reaches(product: Product, overlay: Overlay): "as it is" | "configured" | undefined {
  const names = Object.keys(overlay).filter(
    (name) =>
      !(name === "placement_selection" && restatesPlacements(product, overlay)) &&
      !(name === "collection_selection" && restatesCollections(product, overlay.collection_selection)),
  );
  if (names.length === 0) return "as it is";
  if (termsOf(product).overlay_support === undefined) return undefined;
  try {
    checkOverlay(product, overlay, { at: "", declares: () => true });
    return "configured";
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

/** The intervals that lie wholly within what is asked for, where ages are known by intervals alone. */
export function intervalsWithin(product: Product, { age }: NonNullable<Overlay["demographics"]>) {
  const capability = termsOf(product).demographic_targeting?.age;
  if (age === undefined || capability?.execution_modes?.includes("enumerated_intervals") !== true) return undefined;
  const { min = 0, max = Number.POSITIVE_INFINITY } = age;
  return (capability.intervals ?? []).filter(
    (one) => (one.age.min ?? 0) >= min && (one.age.max ?? Number.POSITIVE_INFINITY) <= max,
  );
}
