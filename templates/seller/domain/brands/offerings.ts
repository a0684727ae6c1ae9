/** Rights that can be licensed, and which of them answer a search. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { stems } from "../../words.js";
import { brand } from "./brands.js";

export interface RightsPrice {
  readonly pricing_option_id: string;
  readonly model: "cpm" | "flat_rate";
  readonly price: number;
  readonly currency: string;
  readonly period?: "monthly" | "quarterly" | "annual" | "one_time";
  readonly uses: readonly string[];
  readonly impression_cap?: number;
  readonly overage_cpm?: number;
}

export interface Offering {
  readonly rights_id: string;
  readonly brand_id: string;
  readonly name: string;
  readonly description: string;
  readonly right_type: string;
  readonly available_uses: readonly string[];
  /** Everywhere where left out. */
  readonly countries?: readonly string[];
  readonly restrictions?: readonly string[];
  /** What has to be said where it is used. */
  readonly disclosure?: string;
  /** Domains of brands it is not licensed to. */
  readonly closedTo?: readonly string[];
  readonly pricing: readonly [RightsPrice, ...RightsPrice[]];
}

const offerings = (call: Call): Offering[] => call.documents.list<Offering>("rights_offering", "");

/** @throws ToolError REFERENCE_NOT_FOUND */
export function offering(call: Call, id: string): Offering {
  const found = call.documents.get<Offering>("rights_offering", "", id);
  if (found !== undefined) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "there are no such rights; get_rights lists them", {
    field: "rights_id",
  });
}

/** Why a buyer cannot have the rights, and what could be done about it; nothing where it can. */
export function obstacle(
  { available_uses, countries, closedTo }: Offering,
  wanted: { readonly uses: readonly string[]; readonly countries?: readonly string[]; readonly buyer?: string },
): { readonly reason: string; readonly suggestions?: string[] } | undefined {
  if (wanted.buyer !== undefined && closedTo?.includes(wanted.buyer)) {
    return { reason: "The rights are not licensed to this brand." };
  }
  const other = wanted.uses.filter((use) => !available_uses.includes(use));
  if (other.length > 0) {
    return {
      reason: `Not licensed for ${other.join(", ")}.`,
      suggestions: [`Available uses: ${available_uses.join(", ")}.`],
    };
  }
  const abroad = (wanted.countries ?? []).filter((country) => countries !== undefined && !countries.includes(country));
  return abroad.length === 0
    ? undefined
    : { reason: `Not licensed in ${abroad.join(", ")}.`, suggestions: [`Available in ${countries?.join(", ")}.`] };
}

function shown(one: Offering, wanted: ReadonlySet<string>): JsonObject {
  const own = stems(`${one.name} ${one.description} ${one.right_type} ${one.available_uses.join(" ")}`);
  const found = [...wanted].filter((word) => own.has(word));
  return {
    rights_id: one.rights_id,
    brand_id: one.brand_id,
    name: one.name,
    description: one.description,
    right_type: one.right_type,
    available_uses: one.available_uses,
    ...(one.countries !== undefined && { countries: one.countries }),
    ...(one.restrictions !== undefined && { content_restrictions: one.restrictions }),
    pricing_options: one.pricing,
    exclusivity_status: { available: false },
    match_score: wanted.size === 0 ? 0 : found.length / wanted.size,
    ...(found.length > 0 && { match_reasons: [`Matches: ${found.join(", ")}.`] }),
  };
}

/**
 * Whose rights are searched. A domain is nobody's id: who sends one that is none of ours names itself, as clients do that
 * fill in their own brand, and searches the whole roster.
 */
function holderOf(call: Call, brandId: string | undefined): string | undefined {
  if (brandId === undefined) return undefined;
  const known = brand(call, brandId)?.brand_id;
  return known ?? (brandId.includes(".") ? undefined : brandId);
}

/** `get_rights`: what can be licensed for the uses, best match first; and on request what cannot, and why. */
export function findRights(call: Call, request: Request<"get_rights">): JsonObject {
  const { uses, countries, buyer_brand: buyer, brand_id: brandId, right_type: type } = request;
  const holder = holderOf(call, brandId);
  const asked = offerings(call).filter(
    (one) => (holder === undefined || one.brand_id === holder) && (type === undefined || one.right_type === type),
  );
  const wanted = {
    uses,
    ...(countries !== undefined && { countries }),
    ...(buyer?.domain !== undefined && { buyer: buyer.domain }),
  };
  const judged = asked.map((one) => ({ one, against: obstacle(one, wanted) }));
  const query = stems(request.query);
  const fitting = judged
    .filter(({ against }) => against === undefined)
    .map(({ one }) => shown(one, query))
    .sort((a, b) => Number(b.match_score) - Number(a.match_score));
  const { items, pagination } = page(fitting, request.pagination, ({ rights_id }) => String(rights_id));
  const excluded = judged.flatMap(({ one: { brand_id, name }, against }) =>
    against === undefined ? [] : [{ brand_id, name, ...against }],
  );
  return {
    rights: items,
    ...(request.pagination !== undefined && { pagination }),
    ...(request.include_excluded === true && { excluded }),
  };
}
