/**
 * Publishers' properties as expansions need them. Making them from rows is most of an expansion's work, so they are kept
 * as long as what their sources said stays the same.
 */
import { LRUCache } from "lru-cache";
import type { Flow } from "../signing/flow.js";
import { type OfferingRow, offeredPropertiesOf } from "../store/registry-lookups.js";
import type { Query } from "../store/registry-query.js";
import { byCodePoint } from "./model.js";
import { effective, type SetProperty } from "./project.js";
import { type KnownProperty, knownProperty } from "./publisher.js";
import type { ExpandResult } from "./types.js";

/** A property with its part of an answer. */
export interface Offer extends KnownProperty {
  /** JSON of an item of `properties`. */
  readonly text: string;
  /** JSON of items of `identifiers`, each once. */
  readonly identifierTexts: readonly string[];
}

/** Most characters of answers kept: fifty thousand usual properties, and some 40 MB with what hangs on them. */
const KEPT_LIMIT_CHARACTERS = 20_000_000;

interface Kept {
  /** What the offers were made of. */
  readonly state: string;
  readonly offers: readonly Offer[];
}

/** The properties that count of some publishers, by the order of answers. */
export class Offers {
  readonly #kept = new LRUCache<number, Kept>({
    maxSize: KEPT_LIMIT_CHARACTERS,
    sizeCalculation: ({ state, offers }) => offers.reduce((sum, offer) => sum + charactersOf(offer), state.length),
  });

  /** @param publishers rows read in the caller's transaction: their digests tell whether what is kept still holds */
  *of(q: Query, publishers: readonly OfferingRow[]): Flow<Map<number, readonly Offer[]>> {
    const found = new Map<number, readonly Offer[]>();
    const missing: OfferingRow[] = [];
    for (const row of publishers) {
      const kept = this.#kept.get(row.id);
      if (kept?.state === stateOf(row)) found.set(row.id, kept.offers);
      else missing.push(row);
    }
    if (missing.length === 0) return found;
    const ids = missing.map(({ id }) => id);
    const rows = Map.groupBy(yield* offeredPropertiesOf(q, ids), ({ publisher }) => publisher);
    for (const row of missing) {
      const known = effective((rows.get(row.id) ?? []).map(knownProperty), row.valid === 1);
      const offers = known.map((one) => offerOf(one, row.domain)).sort(byAnswer);
      this.#kept.set(row.id, { state: stateOf(row), offers });
      found.set(row.id, offers);
    }
    return found;
  }
}

/** All that a publisher's offers follow from. */
const stateOf = ({ valid, digests }: OfferingRow): string => `${valid} ${digests}`;

const charactersOf = ({ text, identifierTexts }: Offer): number =>
  identifierTexts.reduce((sum, one) => sum + one.length, text.length);

const byAnswer = ({ property: a }: Offer, { property: b }: Offer): number =>
  byCodePoint(a.type, b.type) || byCodePoint(a.name, b.name) || byCodePoint(a.id ?? "", b.id ?? "");

function offerOf(known: KnownProperty, domain: string): Offer {
  const { property } = known;
  const identifiers = property.identifiers.map(({ type, value }) =>
    JSON.stringify({
      type,
      value,
      property_id: property.id ?? "",
      publisher_domain: domain,
    } satisfies ExpandResult["identifiers"][number]),
  );
  const text = JSON.stringify(expandedProperty(property, domain));
  return { ...known, text, identifierTexts: [...new Set(identifiers)] };
}

const expandedProperty = (property: SetProperty, domain: string): ExpandResult["properties"][number] => ({
  publisher_domain: domain,
  property_id: property.id ?? "",
  property_name: property.name,
  property_type: property.type,
  identifiers: property.identifiers.map(({ type, value }) => ({ type, value })),
  tags: property.tags,
});
