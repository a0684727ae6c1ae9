/** What a publisher offers: its properties that count, and what an answer says of those that are picked. */
import type { OfferedRow } from "../store/registry-offerings.js";
import type { PropertySource } from "../store/registry-publishers.js";
import { JsonItems } from "./json-items.js";
import { byCodePoint } from "./model.js";
import { effective, identifiersOfRow } from "./project.js";
import { mapped, type Steps, sorted } from "./steps.js";

/** A property by what selectors ask of it. */
export class Offer {
  readonly source: PropertySource;
  readonly key: string;
  readonly id: string | null;
  readonly type: string;
  readonly name: string;
  #tags: string | readonly string[];

  constructor({ source, key, slug, type, name, tags }: OfferedRow) {
    this.source = source;
    this.key = key;
    this.id = slug;
    this.type = type;
    this.name = name;
    // Read where a selector asks for some.
    this.#tags = tags;
  }

  get tags(): readonly string[] {
    if (typeof this.#tags === "string") this.#tags = JSON.parse(this.#tags) as string[];
    return this.#tags;
  }
}

/** Lists of an answer, as JSON: some texts may hold several items, with commas between. */
export interface Serialized {
  readonly properties: readonly string[];
  readonly identifiers: readonly string[];
  readonly propertyCount: number;
  readonly identifierCount: number;
}

export interface Offered {
  /** By the order of answers. */
  readonly offers: readonly Offer[];
  /** @param picks which of the offers are told */
  serialized(picks: readonly boolean[]): Steps<Serialized>;
}

/** What an answer says of a property, and of its identifiers, each once, as JSON. */
function itemsOf(row: OfferedRow, publisher_domain: string): [property: string, identifiers: readonly string[]] {
  const property_id = row.slug ?? "";
  const identifiers = identifiersOfRow(row);
  const property = JSON.stringify({
    ...{ publisher_domain, property_id, property_name: row.name, property_type: row.type, identifiers },
    tags: JSON.parse(row.tags) as string[],
  });
  const texts = identifiers.map(({ type, value }) => JSON.stringify({ type, value, property_id, publisher_domain }));
  return [property, texts.length > 1 ? [...new Set(texts)] : texts];
}

const identified = (row: OfferedRow) => ({ ...row, identifiers: identifiersOfRow(row) });

/** Keys tell apart what is called the same. */
const byAnswer = (a: OfferedRow, b: OfferedRow): number =>
  byCodePoint(a.type, b.type) ||
  byCodePoint(a.name, b.name) ||
  byCodePoint(a.slug ?? "", b.slug ?? "") ||
  byCodePoint(a.source, b.source) ||
  byCodePoint(a.key, b.key);

/** What is said of each of some offers. */
type OfferItems = readonly [property: string, identifiers: readonly string[]][];

/** Offers for one answer: what is not picked is never written. */
export class FreshOffers implements Offered {
  readonly offers: readonly Offer[];
  readonly #rows: readonly OfferedRow[];
  readonly #domain: string;

  private constructor(domain: string, rows: readonly OfferedRow[], offers: readonly Offer[]) {
    this.#domain = domain;
    this.#rows = rows;
    this.offers = offers;
  }

  /**
   * @param properties rows of all sources
   * @param valid whether the publisher's own file is
   */
  static *of(domain: string, properties: readonly OfferedRow[], valid: boolean): Steps<FreshOffers> {
    const rows = yield* sorted(effective(properties, valid, identified), byAnswer);
    const offers = yield* mapped(rows, (row) => new Offer(row));
    return new FreshOffers(domain, rows, offers);
  }

  /** Told apart by the publisher's own names, no two share an identifier's item. */
  get distinct(): boolean {
    return new Set(this.#rows.map(({ slug }) => slug ?? "")).size === this.#rows.length;
  }

  /** What is said of those that are picked, one by one. */
  *items(picks?: readonly boolean[]): Steps<OfferItems> {
    const rows = picks === undefined ? this.#rows : this.#rows.filter((_, at) => picks[at]);
    return yield* mapped(rows, (row) => itemsOf(row, this.#domain));
  }

  *serialized(picks: readonly boolean[]): Steps<Serialized> {
    const items = yield* this.items(picks);
    const all = items.flatMap(([, identifiers]) => identifiers);
    yield;
    const identifiers = this.distinct ? all : [...new Set(all)];
    yield;
    return {
      properties: yield* joined(items.map(([property]) => property)),
      identifiers: yield* joined(identifiers),
      propertyCount: items.length,
      identifierCount: identifiers.length,
    };
  }
}

/** Items of one text: it costs as much to write as one of them. */
const JOINED_ITEMS = 2_000;

function* joined(items: readonly string[]): Steps<string[]> {
  const texts: string[] = [];
  for (let at = 0; at < items.length; at += JOINED_ITEMS) {
    texts.push(items.slice(at, at + JOINED_ITEMS).join(","));
    yield;
  }
  return texts;
}

/** Offers for many answers: each item is written once. */
export class KeptOffers implements Offered {
  readonly offers: readonly Offer[];
  readonly #properties: JsonItems;
  readonly #identifiers: JsonItems;
  /** How many identifiers each has. */
  readonly #counts: readonly number[];
  /** Identifiers one by one, where offers share some. */
  readonly #shared: readonly (readonly string[])[] | undefined;

  private constructor(fresh: FreshOffers, items: OfferItems) {
    const identifiers = items.map(([, each]) => each);
    this.offers = fresh.offers;
    this.#properties = new JsonItems(items.map(([property]) => property));
    this.#identifiers = new JsonItems(identifiers.map((each) => each.join(",")));
    this.#counts = identifiers.map(({ length }) => length);
    this.#shared = fresh.distinct ? undefined : identifiers;
  }

  /** @returns undefined where they take more characters than can be kept */
  static *of(fresh: FreshOffers, limit: number): Steps<KeptOffers | undefined> {
    const items = yield* fresh.items();
    const length = items.reduce(
      (sum, [property, each]) => each.reduce((all, one) => all + one.length, sum + property.length),
      0,
    );
    return length > limit ? undefined : new KeptOffers(fresh, items);
  }

  /** What it takes to keep them. */
  get characters(): number {
    return this.#properties.text.length + this.#identifiers.text.length;
  }

  *serialized(picks: readonly boolean[]): Steps<Serialized> {
    const properties = this.#properties.picked(picks);
    const propertyCount = picks.filter((pick) => pick).length;
    if (this.#shared !== undefined) {
      const identifiers = [...new Set(this.#shared.filter((_, at) => picks[at]).flat())];
      return { properties, identifiers, propertyCount, identifierCount: identifiers.length };
    }
    const identifierCount = this.#counts.reduce((sum, one, at) => sum + (picks[at] ? one : 0), 0);
    return { properties, identifiers: this.#identifiers.picked(picks), propertyCount, identifierCount };
  }
}
