/** A publisher's properties, read as far as somebody looks at them: a file may have a hundred thousand. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { propertiesFrom, propertiesOf, propertyCount, propertySources } from "../store/registry-lookups.js";
import type { EdgeSource, PropertyRow, PropertySource, PublisherRow } from "../store/registry-publishers.js";
import type { SetProperty } from "./matching.js";
import { effective, propertyOfRow } from "./project.js";

/** A property with where it comes from and what its source calls it. */
export interface KnownProperty {
  readonly source: PropertyRow["source"];
  readonly key: string;
  readonly property: SetProperty;
}

/** A file may have a hundred thousand, of which an answer tells a thousand: one is read where it is looked at. */
export function knownProperty(row: PropertyRow): KnownProperty {
  const { source, key } = row;
  let property: SetProperty | undefined;
  return {
    source,
    key,
    get property() {
      property ??= propertyOfRow(row);
      return property;
    },
  };
}

/** Those of the properties that count. */
export const counting = (known: readonly KnownProperty[], valid: boolean): KnownProperty[] =>
  effective(known, valid, ({ property }) => property);

/** Properties of a publisher that are told together, in their order. */
export interface PropertyList {
  readonly total: number;
  /** Where all are of one source, and have not been read. */
  readonly source: PropertySource | undefined;
  /** Else they. */
  readonly read: readonly KnownProperty[];
}

const none: PropertyList = { total: 0, source: undefined, read: [] };

function* listOf(q: Query, publisher: number, source: PropertySource): Coroutine<PropertyList> {
  return { total: yield* propertyCount(q, publisher, source), source, read: [] };
}

export interface KnownLists {
  /** Those that count. */
  readonly counted: PropertyList;
  /** Those of the brand file, which never do. */
  readonly brand: PropertyList;
}

/** What a publisher has, by its row; as `counting` has it. */
export function* knownLists(
  q: Query,
  row: Pick<PublisherRow, "id" | "valid" | "property_count"> | undefined,
): Coroutine<KnownLists> {
  if (row === undefined) return { counted: none, brand: none };
  const there = new Set((yield* propertySources(q, row.id)).map(({ source }) => source));
  const brand = there.has("brand_json") ? yield* listOf(q, row.id, "brand_json") : none;
  // What was found elsewhere counts where the file does not name it: that takes both.
  if (there.has("discovered")) {
    const read = counting((yield* propertiesOf(q, [row.id])).map(knownProperty), row.valid === 1);
    return { counted: { total: read.length, source: undefined, read }, brand };
  }
  const source = row.valid === 1 || there.has("adagents_json") ? "adagents_json" : "aao_hosted";
  // Those of one source are all that the row counts: a hundred thousand rows need not be.
  return { counted: there.has(source) ? { total: row.property_count, source, read: [] } : none, brand };
}

/** Whether some of a list come from a source. */
export const comesFrom = ({ source, read }: PropertyList, wanted: EdgeSource): boolean =>
  source === wanted || read.some((one) => one.source === wanted);

/** A part of a list. */
export function* propertiesPart(
  q: Query,
  publisher: number,
  { source, read }: PropertyList,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Coroutine<readonly KnownProperty[]> {
  if (source === undefined) return read.slice(offset, offset + limit);
  return (yield* propertiesFrom(q, { publisher, source, offset, limit })).map(knownProperty);
}
