/** Properties of an authorization file. */

import { isJsonObject } from "../../contract/json-object.js";
import type { FileProblems, ProblemRule } from "../file-problems.js";
import { sameSite } from "../model.js";
import type { Identifier, PropertyRecord } from "../types.js";
import { coversDomain, domainIn, textOf, textsOf } from "./values.js";

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

interface Place {
  /** Whom the file speaks for. */
  readonly domain: string;
  /** Of the property. */
  readonly pointer: string;
  readonly problems: FileProblems;
}

/** Identifiers that are names in DNS: they have an owner whom anyone can tell. */
const domainTypes: readonly string[] = ["domain", "subdomain"];

/** @returns none where there were some, and any is somebody else's: whoever names another's domain is not believed in part */
function identifiersOf(value: unknown, { domain, pointer, problems }: Place): Identifier[] | undefined {
  const found = new Map<string, Identifier>();
  const given: unknown[] = Array.isArray(value) ? value : [];
  let foreign = false;
  if (given.length === 0) problems.add("identifiers_missing", `${pointer}/identifiers`, "it has no identifiers");
  for (const [index, one] of given.entries()) {
    if (found.size === MAX_IDENTIFIERS) break;
    const at = `${pointer}/identifiers/${index}`;
    const type = isJsonObject(one) ? textOf(one.type, MAX_ID) : undefined;
    const text = isJsonObject(one) ? textOf(one.value, MAX_NAME) : undefined;
    if (type === undefined || text === undefined)
      problems.add("identifier_shape", at, "an identifier has a type and a value");
    else if (domainTypes.includes(type.toLowerCase()) && !coversDomain(domain, text)) {
      foreign = true;
      problems.add("identifier_foreign", `${at}/value`, `${text.slice(0, 100)} is not ${domain}, and not under it`);
    } else found.set(`${type}:${text.toLowerCase()}`, { type, value: text });
  }
  return foreign || (given.length > 0 && found.size === 0) ? undefined : [...found.values()];
}

/** Reads one property; without a type and a name it is none (docs/protocol/files.md#properties). */
export function readProperty(value: unknown, place: Place): ReadProperty | undefined {
  const { domain, pointer, problems } = place;
  const leave = (rule: ProblemRule, message: string): undefined => void problems.add(rule, pointer, message);
  if (!isJsonObject(value)) return leave("property_shape", "a property is an object");
  const type = textOf(value.property_type, MAX_ID);
  if (type === undefined) return leave("property_type", "property_type is missing");
  const name = textOf(value.name, MAX_NAME);
  if (name === undefined) return leave("property_name", "name is missing, or too long");
  const labelled = value.publisher_domain !== undefined && value.publisher_domain !== null;
  const publisher = domainIn(value.publisher_domain);
  if (labelled && publisher === undefined) return leave("property_domain", "publisher_domain is no domain");
  const owner = publisher === undefined ? "unlabelled" : sameSite(publisher, domain) ? "domain" : "other";
  // Another publisher's property is left out whole, or is a manager's for a domain of its own.
  const identifiers = owner === "other" ? [] : identifiersOf(value.identifiers, place);
  if (identifiers === undefined) return undefined;
  const property: PropertyRecord = {
    id: textOf(value.property_id, MAX_ID) ?? null,
    type,
    name,
    identifiers,
    tags: textsOf(value.tags, MAX_ID, MAX_TAGS) ?? [],
    channels: textsOf(value.supported_channels, MAX_ID, MAX_TAGS) ?? [],
  };
  return { property, owner };
}
