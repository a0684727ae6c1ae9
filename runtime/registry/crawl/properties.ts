/** Properties of an authorization file. */
import type { Identifier, PropertyRecord } from "../types.js";
import { isObject } from "./document.js";
import { domainIn, type Problems, sameSite, textOf, textsOf } from "./values.js";

const MAX_IDENTIFIERS = 1_000;
const MAX_TAGS = 200;
/** Names and identifiers, in characters. */
const MAX_NAME = 500;
const MAX_ID = 255;

export interface ReadProperty {
  readonly property: PropertyRecord;
  /** Whose it is by `publisher_domain`; `unlabelled` without one. */
  readonly owner: "domain" | "other" | "unlabelled";
}

function identifiersOf(value: unknown): Identifier[] {
  const found = new Map<string, Identifier>();
  for (const one of Array.isArray(value) ? value : []) {
    if (found.size === MAX_IDENTIFIERS) break;
    const type = isObject(one) ? textOf(one.type, MAX_ID) : undefined;
    const text = isObject(one) ? textOf(one.value, MAX_NAME) : undefined;
    if (type !== undefined && text !== undefined) found.set(`${type}:${text.toLowerCase()}`, { type, value: text });
  }
  return [...found.values()];
}

/** Reads one property; without a type and a name it is none (registry-facts.md 7). */
export function readProperty(
  value: unknown,
  { domain, pointer, problems }: { readonly domain: string; readonly pointer: string; readonly problems: Problems },
): ReadProperty | undefined {
  const leave = (message: string): undefined => void problems.add(pointer, message);
  if (!isObject(value)) return leave("a property is an object");
  const type = textOf(value.property_type, MAX_ID);
  if (type === undefined) return leave("property_type is missing");
  const name = textOf(value.name, MAX_NAME);
  if (name === undefined) return leave("name is missing, or too long");
  const labelled = value.publisher_domain !== undefined && value.publisher_domain !== null;
  const publisher = domainIn(value.publisher_domain);
  if (labelled && publisher === undefined) return leave("publisher_domain is no domain");
  const property: PropertyRecord = {
    id: textOf(value.property_id, MAX_ID) ?? null,
    type,
    name,
    identifiers: identifiersOf(value.identifiers),
    tags: textsOf(value.tags, MAX_ID, MAX_TAGS) ?? [],
    channels: textsOf(value.supported_channels, MAX_ID, MAX_TAGS) ?? [],
  };
  const owner = publisher === undefined ? "unlabelled" : sameSite(publisher, domain) ? "domain" : "other";
  return { property, owner };
}
