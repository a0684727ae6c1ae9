/** Brands this agent speaks for: what they look and sound like. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { stems } from "../frame/words.js";
import type { KnownBrand } from "../ports/brands.js";

const brandsOf = (call: BehaviourCall): Promise<readonly KnownBrand[]> =>
  call.once("brands", () => call.ports.brands.brands({ principal: call.principal }));

/** The brand of an id, or of the domain of its house. */
export async function findBrand(call: BehaviourCall, id: string): Promise<KnownBrand | undefined> {
  const all = await brandsOf(call);
  return all.find(({ brand_id }) => brand_id === id) ?? all.find(({ house }) => house.domain === id);
}

/** `get_brand_identity`: the parts asked for, or all that are public. */
export const getBrandIdentity: ToolBehaviour = async (
  request: { readonly brand_id: string; readonly fields?: readonly string[] },
  call,
) => {
  const found = await findBrand(call, request.brand_id);
  if (found === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "there is no such brand here", { field: "brand_id" });
  const { brand_id, house, names, identity, withheld = [] } = found;
  const wanted: readonly string[] = request.fields ?? Object.keys(identity);
  const shown = Object.entries(identity).filter(([part]) => wanted.includes(part) && !withheld.includes(part));
  const kept = withheld.filter((part) => wanted.includes(part));
  return call.answer({
    brand_id,
    house,
    names,
    ...Object.fromEntries(shown),
    ...(kept.length > 0 && { available_fields: kept }),
  });
};

interface Sought {
  readonly query: string;
  readonly industries?: readonly string[];
  readonly countries?: readonly string[];
  readonly pagination?: PageWanted;
}

const overlap = (asked: readonly string[] | undefined, own: unknown): boolean =>
  asked === undefined || !Array.isArray(own) || asked.some((one) => own.includes(one));

/** What tells enough to choose a brand by. */
function stub({ brand_id, house, names, identity }: KnownBrand, score: number): JsonObject {
  const { description, industries, tagline, logos } = identity;
  const parts = { description, industries, tagline, logos };
  const stated = Object.entries(parts).filter(([, part]) => part !== undefined);
  return { brand_id, house, names, ...Object.fromEntries(stated), match_score: score };
}

/** `search_brands`: those of the roster that the words are of, best match first; the whole of it where they are of none. */
export const searchBrands: ToolBehaviour = async (request: Sought, call) => {
  const query = stems(request.query);
  const scored = (await brandsOf(call))
    .filter(({ identity }) => {
      const rights = identity.rights as JsonObject | undefined;
      return overlap(request.industries, identity.industries) && overlap(request.countries, rights?.countries);
    })
    .map((one) => {
      const own = stems(JSON.stringify([one.names, one.identity.description, one.identity.industries]));
      const score = query.size === 0 ? 0 : [...query].filter((word) => own.has(word)).length / query.size;
      return { one, score };
    })
    .sort((a, b) => b.score - a.score);
  const { items, pagination } = listPage(scored, request.pagination, ({ one }) => one.brand_id);
  return call.answer({ brands: items.map(({ one, score }) => stub(one, score)), pagination });
};
