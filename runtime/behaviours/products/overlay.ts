/** What a product can do with a buyer's targeting, as it declares it, and what is wrong with an overlay that asks for more. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { Product } from "../ports/catalogue.js";

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

/** A browser that does not run on any of the platforms asked for delivers nothing. */
function checkBrowsers(product: Product, { browser, device_platform: platforms }: Overlay, at: string): void {
  const runsOn = termsOf(product).browser_inventory?.platform_compatibility ?? {};
  if (browser === undefined || platforms === undefined) return;
  const lost = browser.find((one) => runsOn[one] !== undefined && !platforms.some((on) => runsOn[one]?.includes(on)));
  if (lost !== undefined) throw unsupported(`${lost} does not run on ${platforms.join(", ")}`, `${at}.browser`);
}

/**
 * Looks an overlay through, by what the product declares; a product that declares nothing takes what it is given.
 * @param at where the overlay stands in the request
 * @throws ToolError UNSUPPORTED_FEATURE, INVALID_REQUEST for a placement that is not the product's
 */
export function checkOverlay(product: Product, overlay: Overlay | undefined, at: string): void {
  if (overlay === undefined) return;
  const { overlay_support: support } = termsOf(product);
  checkPlacements(product, overlay, at);
  if (support === undefined) return;
  for (const [name, value] of Object.entries(overlay)) {
    if (!Array.isArray(value)) continue;
    const most = mostOf(support[name]);
    if (value.length > most)
      throw unsupported(`${name} takes ${most} values in a package of this product`, `${at}.${name}`);
  }
  checkBrowsers(product, overlay, at);
}

/** Can the product be delivered to what the overlay asks for, as far as it says? */
export function reaches(product: Product, overlay: Overlay): "as it is" | "configured" | undefined {
  const { overlay_support: support = {} } = termsOf(product);
  const names = Object.keys(overlay).filter(
    (name) => !(name === "placement_selection" && restatesPlacements(product, overlay)),
  );
  if (names.length === 0) return "as it is";
  if (names.some((name) => !support[name])) return undefined;
  for (const name of ["browser", "browser_exclude"] as const)
    if (overlay[name] !== undefined && !supportsAll(support[name], { families: overlay[name] })) return undefined;
  try {
    checkOverlay(product, overlay, "");
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
