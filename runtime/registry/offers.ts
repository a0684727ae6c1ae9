/**
 * Publishers' properties as expansions need them. Making them from rows is most of an expansion's work, so they are kept
 * as long as what their sources said stays the same.
 */
import { LRUCache } from "lru-cache";
import type { Flow } from "../signing/flow.js";
import { type OfferedProperty, type OfferingRow, offeredPropertiesOf } from "../store/registry-lookups.js";
import type { PropertySource } from "../store/registry-publishers.js";
import type { Query } from "../store/registry-query.js";
import { byCodePoint } from "./model.js";
import { effective } from "./project.js";
import type { KnownProperty } from "./publisher.js";
import type { ExpandResult } from "./types.js";

/** A property by what selectors ask of it, with its part of an answer; nothing else of it is worth keeping. */
export interface Offer {
  readonly source: PropertySource;
  readonly key: string;
  readonly id: string | null;
  readonly type: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** JSON of an item of `properties`. */
  readonly text: string;
  /** JSON of items of `identifiers`, each once. */
  readonly identifierTexts: readonly string[];
}

/** Most characters of answers kept: fifty thousand usual properties, and some 40 MB with what hangs on them. */
const KEPT_LIMIT_CHARACTERS = 20_000_000;

/** Publishers remembered for having been asked for. */
const REMEMBERED_PUBLISHERS = 20_000;

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

  /** Publishers asked for once. What is asked for but once would be kept for nothing, and cost the collector more. */
  readonly #asked = new LRUCache<number, true>({ max: REMEMBERED_PUBLISHERS });

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
    const rows = new Map((yield* offeredPropertiesOf(q, ids)).map((row) => [row.publisher, row.properties]));
    const pool = new Map<string, string>();
    for (const row of missing) {
      const all = (JSON.parse(rows.get(row.id) ?? "[]") as OfferedProperty[]).map(knownOf);
      const known = effective(all, row.valid === 1);
      const offers = known.map((one) => offerOf(one, row.domain, pool)).sort(byAnswer);
      if (this.#asked.has(row.id)) this.#kept.set(row.id, { state: stateOf(row), offers });
      else this.#asked.set(row.id, true);
      found.set(row.id, offers);
    }
    return found;
  }
}

/** All that a publisher's offers follow from. */
const stateOf = ({ valid, digests }: OfferingRow): string => `${valid} ${digests}`;

const charactersOf = ({ text, identifierTexts }: Offer): number =>
  identifierTexts.reduce((sum, one) => sum + one.length, text.length);

const byAnswer = (a: Offer, b: Offer): number =>
  byCodePoint(a.type, b.type) || byCodePoint(a.name, b.name) || byCodePoint(a.id ?? "", b.id ?? "");

const knownOf = ([source, key, id, type, name, pairs, tags]: OfferedProperty): KnownProperty => ({
  source,
  key,
  property: { id, type, name, identifiers: pairs.map(([kind, value]) => ({ type: kind, value })), tags },
});

/** One copy of texts that many properties share. */
function shared(pool: Map<string, string>, text: string): string {
  const known = pool.get(text);
  if (known !== undefined) return known;
  pool.set(text, text);
  return text;
}

/** @param pool texts seen so far, of types and tags */
function offerOf({ source, key, property }: KnownProperty, domain: string, pool: Map<string, string>): Offer {
  const { id, name, identifiers } = property;
  const type = shared(pool, property.type);
  const tags = property.tags.map((tag) => shared(pool, tag));
  const whose = { property_id: id ?? "", publisher_domain: domain };
  const item: ExpandResult["properties"][number] = {
    publisher_domain: domain,
    property_id: id ?? "",
    property_name: name,
    property_type: type,
    identifiers,
    tags,
  };
  const texts = identifiers.map((identifier) =>
    JSON.stringify({ ...identifier, ...whose } satisfies ExpandResult["identifiers"][number]),
  );
  const identifierTexts = texts.length > 1 ? [...new Set(texts)] : texts;
  return { source, key, id, type, name, tags, text: JSON.stringify(item), identifierTexts };
}
