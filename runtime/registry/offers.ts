/**
 * Publishers' properties as expansions need them. Making them from rows is most of an expansion's work, so they are kept
 * as long as what their sources said stays the same.
 */
import { LRUCache } from "lru-cache";
import type { Flow } from "../signing/flow.js";
import { type OfferedRow, offeredPropertiesOf } from "../store/registry-lookups.js";
import type { PropertySource, PublisherRow } from "../store/registry-publishers.js";
import type { Query } from "../store/registry-query.js";
import { JsonItems } from "./json-items.js";
import { byCodePoint } from "./model.js";
import { effective, identifiersOfRow } from "./project.js";

/** A property by what selectors ask of it. */
export class Offer {
  readonly source: PropertySource;
  readonly key: string;
  readonly id: string | null;
  readonly type: string;
  readonly name: string;
  #tags: string | readonly string[];

  constructor({ source, key, slug, type, name, tags }: OfferedRow) {
    [this.source, this.key, this.id, this.type, this.name] = [source, key, slug, type, name];
    // Read where a selector asks for some.
    this.#tags = tags;
  }

  get tags(): readonly string[] {
    if (typeof this.#tags === "string") this.#tags = JSON.parse(this.#tags) as string[];
    return this.#tags;
  }
}

/** What a publisher offers, by the order of answers, and what an answer says of each. */
export interface Offered {
  readonly offers: readonly Offer[];
  readonly properties: JsonItems;
  readonly identifiers: JsonItems;
  /** How many identifiers each has. */
  readonly counts: readonly number[];
  /** Identifiers one by one, where offers share some. */
  readonly shared: readonly (readonly string[])[] | undefined;
}

/** Of JSON `[[type, value], ...]`: types and values in turn, as JSON. */
const stringInJson = /"(?:[^"\\]|\\.)*"/g;

/**
 * What an answer says of a property, and of its identifiers, each once. What is stored as JSON is taken as it is: reading
 * and writing it again costs twice as much.
 * @param domain JSON of the publisher's
 */
function itemsOf({ slug, type, name, identifiers, tags }: OfferedRow, domain: string): [string, readonly string[]] {
  const id = JSON.stringify(slug ?? "");
  const whose = `,"property_id":${id},"publisher_domain":${domain}}`;
  const strings = identifiers.match(stringInJson) ?? [];
  const texts: string[] = [];
  let list = "";
  for (let at = 0; at < strings.length; at += 2) {
    const pair = `{"type":${strings[at]},"value":${strings[at + 1]}`;
    list += `${at === 0 ? "" : ","}${pair}}`;
    texts.push(pair + whose);
  }
  const property =
    `{"publisher_domain":${domain},"property_id":${id},"property_name":${JSON.stringify(name)},` +
    `"property_type":${JSON.stringify(type)},"identifiers":[${list}],"tags":${tags}}`;
  return [property, texts.length > 1 ? [...new Set(texts)] : texts];
}

function offeredOf(rows: readonly OfferedRow[], { domain, valid }: OfferingPublisher): Offered {
  const known = effective(rows, valid === 1, identified).sort(byAnswer);
  const quoted = JSON.stringify(domain);
  const items = known.map((row) => itemsOf(row, quoted));
  const identifiers = items.map(([, each]) => each);
  // Told apart by the publisher's own names, no two share one.
  const distinct = new Set(known.map(({ slug }) => slug ?? "")).size === known.length;
  return {
    offers: known.map((row) => new Offer(row)),
    properties: new JsonItems(items.map(([property]) => property)),
    identifiers: new JsonItems(identifiers.map((each) => each.join(","))),
    counts: identifiers.map(({ length }) => length),
    shared: distinct ? undefined : identifiers,
  };
}

const identified = (row: OfferedRow) => ({ ...row, identifiers: identifiersOfRow(row) });

/** Keys tell apart what is called the same. */
const byAnswer = (a: OfferedRow, b: OfferedRow): number =>
  byCodePoint(a.type, b.type) ||
  byCodePoint(a.name, b.name) ||
  byCodePoint(a.slug ?? "", b.slug ?? "") ||
  byCodePoint(a.source, b.source) ||
  byCodePoint(a.key, b.key);

/** Most characters of answers kept: fifty thousand usual properties, and some 40 MB with what hangs on them. */
const KEPT_LIMIT_CHARACTERS = 20_000_000;

/** Publishers remembered for having been asked for. */
const REMEMBERED_PUBLISHERS = 20_000;

/** A publisher, and what says which of its properties count. */
export type OfferingPublisher = Pick<PublisherRow, "id" | "domain" | "valid" | "digests">;

interface Kept extends Offered {
  /** What the offers were made of. */
  readonly state: string;
}

/** The properties that count of some publishers. */
export class Offers {
  readonly #kept = new LRUCache<number, Kept>({
    maxSize: KEPT_LIMIT_CHARACTERS,
    sizeCalculation: ({ state, properties, identifiers }) =>
      state.length + properties.text.length + identifiers.text.length,
  });

  /** Publishers asked for once. What is asked for but once would be kept for nothing, and cost the collector more. */
  readonly #asked = new LRUCache<number, true>({ max: REMEMBERED_PUBLISHERS });

  /** @param publishers rows read in the caller's transaction: their digests tell whether what is kept still holds */
  *of(q: Query, publishers: readonly OfferingPublisher[]): Flow<Map<number, Offered>> {
    const found = new Map<number, Offered>();
    const missing: OfferingPublisher[] = [];
    for (const row of publishers) {
      const kept = this.#kept.get(row.id);
      if (kept?.state === stateOf(row)) found.set(row.id, kept);
      else missing.push(row);
    }
    if (missing.length === 0) return found;
    const ids = missing.map(({ id }) => id);
    const rows = Map.groupBy(yield* offeredPropertiesOf(q, ids), ({ publisher }) => publisher);
    for (const row of missing) {
      const offered = offeredOf(rows.get(row.id) ?? [], row);
      if (this.#asked.has(row.id)) this.#kept.set(row.id, { ...offered, state: stateOf(row) });
      else this.#asked.set(row.id, true);
      found.set(row.id, offered);
    }
    return found;
  }
}

/** All that a publisher's offers follow from. */
const stateOf = ({ valid, digests }: OfferingPublisher): string => `${valid} ${digests}`;
