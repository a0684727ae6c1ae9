/** Brands by what they are called and what they do. */
import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { stems } from "../frame/words.js";
import type { OwnBrand } from "../ports/brands.js";
import { knownBrands } from "./brands.js";

interface Sought {
  readonly query: string;
  readonly industries?: readonly string[];
  readonly countries?: readonly string[];
  readonly pagination?: PageWanted;
}

const overlap = (asked: readonly string[] | undefined, own: unknown): boolean =>
  asked === undefined || !Array.isArray(own) || asked.some((one) => own.includes(one));

/** What tells enough to choose a brand by. */
function stub({ brand_id, house, names, identity }: OwnBrand, score: number): JsonObject {
  const { description, industries, tagline, logos } = identity;
  const parts = { description, industries, tagline, logos };
  const stated = Object.entries(parts).filter(([, part]) => part !== undefined);
  return { brand_id, house, names, ...Object.fromEntries(stated), match_score: score };
}

/** `search_brands`: those of the roster that the words are of, best match first; the whole of it where they are of none. */
export const searchBrands: ToolBehaviour = async (request: Sought, call) => {
  const query = stems(request.query);
  const scored = (await knownBrands(call))
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
