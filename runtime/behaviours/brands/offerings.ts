/** Rights that can be licensed, and which of them answer a search. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { stems } from "../frame/words.js";
import type { RightsOffering, RightsPrice } from "../ports/brands.js";
import { findBrand } from "./brands.js";
import { exclusiveNow } from "./calendar.js";

const offeringsOf = (call: BehaviourCall): Promise<readonly RightsOffering[]> =>
  call.once("rights offerings", () => call.ports.brands.offerings({ principal: call.principal }));

export const findOffering = async (call: BehaviourCall, id: string): Promise<RightsOffering | undefined> =>
  (await offeringsOf(call)).find(({ rights_id }) => rights_id === id);

/** @throws ToolError REFERENCE_NOT_FOUND */
export async function offeringNamed(call: BehaviourCall, id: string): Promise<RightsOffering> {
  const found = await findOffering(call, id);
  if (found !== undefined) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "there are no such rights; get_rights lists them", {
    field: "rights_id",
  });
}

/** @throws ToolError INVALID_REQUEST */
export function priceNamed({ pricing, rights_id }: RightsOffering, id: string): RightsPrice {
  const found = pricing.find(({ pricing_option_id }) => pricing_option_id === id);
  if (found !== undefined) return found;
  throw new ToolError("INVALID_REQUEST", `${id} is no pricing option of ${rights_id}`, { field: "pricing_option_id" });
}

/** Why a buyer cannot have rights; suggestions where something else would do. */
export interface Obstacle {
  readonly reason: string;
  readonly suggestions?: readonly string[];
}

export interface WantedRights {
  readonly uses: readonly string[];
  readonly countries?: readonly string[];
  /** The domain of the buyer's brand. */
  readonly buyer?: string;
}

/** What the offering itself says against it; undefined where nothing does. */
export function obstacle(
  { available_uses, countries, closedTo }: RightsOffering,
  wanted: WantedRights,
): Obstacle | undefined {
  if (wanted.buyer !== undefined && closedTo?.includes(wanted.buyer))
    return { reason: "The rights are not licensed to this brand." };
  const other = wanted.uses.filter((use) => !available_uses.includes(use));
  if (other.length > 0)
    return {
      reason: `Not licensed for ${other.join(", ")}.`,
      suggestions: [`Available uses: ${available_uses.join(", ")}.`],
    };
  const abroad = (wanted.countries ?? []).filter((country) => countries !== undefined && !countries.includes(country));
  return abroad.length === 0
    ? undefined
    : { reason: `Not licensed in ${abroad.join(", ")}.`, suggestions: [`Available in ${countries?.join(", ")}.`] };
}

async function shown(call: BehaviourCall, one: RightsOffering, wanted: ReadonlySet<string>): Promise<JsonObject> {
  const own = stems(`${one.name} ${one.description} ${one.right_type} ${one.available_uses.join(" ")}`);
  const found = [...wanted].filter((word) => own.has(word));
  const taken = await exclusiveNow(call, one.rights_id);
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
    exclusivity_status: {
      available: !taken && one.pricing.some(({ exclusive }) => exclusive === true),
      // Whose it is, is nobody else's business.
      ...(taken && { existing_exclusives: ["An exclusive licence runs."] }),
    },
    match_score: wanted.size === 0 ? 0 : found.length / wanted.size,
    ...(found.length > 0 && { match_reasons: [`Matches: ${found.join(", ")}.`] }),
  };
}

/**
 * Whose rights are searched. A domain is nobody's id: who sends one that is none of ours names itself, as clients do that
 * fill in their own brand, and searches the whole roster.
 */
async function holderOf(call: BehaviourCall, brandId: string | undefined): Promise<string | undefined> {
  if (brandId === undefined) return undefined;
  const known = (await findBrand(call, brandId))?.brand_id;
  return known ?? (brandId.includes(".") ? undefined : brandId);
}

interface Search {
  readonly query: string;
  readonly uses: readonly string[];
  readonly countries?: readonly string[];
  readonly buyer_brand?: { readonly domain: string };
  readonly brand_id?: string;
  readonly right_type?: string;
  readonly include_excluded?: boolean;
  readonly pagination?: PageWanted;
}

/** `get_rights`: what can be licensed for the uses, best match first; and on request what cannot, and why. */
export const findRights: ToolBehaviour = async (request: Search, call) => {
  const { uses, countries, buyer_brand: buyer, right_type: type } = request;
  const holder = await holderOf(call, request.brand_id);
  const asked = (await offeringsOf(call)).filter(
    (one) => (holder === undefined || one.brand_id === holder) && (type === undefined || one.right_type === type),
  );
  const wanted: WantedRights = { uses, ...(countries && { countries }), ...(buyer && { buyer: buyer.domain }) };
  const judged = asked.map((one) => ({ one, against: obstacle(one, wanted) }));
  const query = stems(request.query);
  const fitting = await Promise.all(
    judged.filter(({ against }) => against === undefined).map(({ one }) => shown(call, one, query)),
  );
  fitting.sort((a, b) => Number(b.match_score) - Number(a.match_score));
  const { items, pagination } = listPage(fitting, request.pagination, ({ rights_id }) => String(rights_id));
  const excluded = judged.flatMap(({ one: { brand_id, name }, against }) =>
    against === undefined ? [] : [{ brand_id, name, ...against }],
  );
  return call.answer({
    rights: items,
    ...(request.pagination !== undefined && { pagination }),
    ...(request.include_excluded === true && { excluded }),
  });
};
