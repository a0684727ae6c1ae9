/** One entry of `authorized_agents`: what it says of the domain, and what it claims of others. */
import { agentUrlOf } from "../model.js";
import type { AgentEntry, AuthorizationType, DelegationType, PropertyRecord, PropertySelector } from "../types.js";
import { isObject, type JsonObject } from "./document.js";
import type { Via } from "./locate.js";
import { readProperty } from "./properties.js";
import { domainIn, instantOf, type Problems, sameSite, textOf, textsOf } from "./values.js";

/** Values of one list in an entry. */
const MAX_VALUES = 10_000;
const MAX_VALUE = 255;
/** registry-facts.md 7. */
const MAX_AUTHORIZED_FOR = 500;
const MAX_KEYS = 20;
const MAX_KEY_MEMBER = 2_048;

export interface Reading {
  readonly domain: string;
  readonly via: Via;
  readonly problems: Problems;
  /** The domain's properties in this file. */
  readonly own: readonly PropertyRecord[];
  /** Ids of properties in this file that are other publishers'. */
  readonly foreignIds: ReadonlySet<string>;
}

export interface ReadEntry {
  /** The entry can be used, whether or not it says anything of the domain. */
  readonly usable: boolean;
  readonly entry?: AgentEntry;
  readonly others: readonly { readonly publisherDomain: string; readonly agent: AgentEntry }[];
}

const selectorOf: Readonly<Record<AuthorizationType, string>> = {
  property_ids: "property_ids",
  property_tags: "property_tags",
  inline_properties: "properties",
  publisher_properties: "publisher_properties",
  signal_ids: "signal_ids",
  signal_tags: "signal_tags",
};
const types = Object.keys(selectorOf) as AuthorizationType[];

/** A message where a value leaves no safe reading. */
class Unusable {
  constructor(readonly message: string) {}
}

/** Files older than the types have a selector only, or none: the whole publisher. */
function typeOf(entry: JsonObject): AuthorizationType | null | Unusable {
  const given = entry.authorization_type;
  if (given === undefined || given === null) {
    const present = types.filter((type) => entry[selectorOf[type]] !== undefined);
    return present.length > 1
      ? new Unusable("authorization_type is missing, and there are two selectors")
      : (present[0] ?? null);
  }
  // What is not understood must not count as everything.
  return types.find((type) => type === given) ?? new Unusable("authorization_type is not one that is known");
}

const delegations: readonly string[] = ["direct", "delegated", "ad_network"];

function keysOf(value: unknown): object[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_KEYS).flatMap((key) => {
    if (!isObject(key) || textOf(key.kid, MAX_VALUE) === undefined || textOf(key.kty, MAX_VALUE) === undefined)
      return [];
    const members = Object.entries(key).filter(
      ([name, member]) => name.length <= MAX_VALUE && textOf(member, MAX_KEY_MEMBER) !== undefined,
    );
    return [Object.fromEntries(members)];
  });
}

type Base = Omit<AgentEntry, "authorizationType">;

/** What entries of every kind have. A limit that cannot be read makes the entry unusable: without it, it would say more. */
function baseOf(entry: JsonObject, pointer: string, problems: Problems): Base | Unusable {
  const text = textOf(entry.url, 2048);
  const agentUrl = text === undefined ? undefined : agentUrlOf(text);
  if (!agentUrl?.startsWith("https://")) return new Unusable("url is not an https URL");
  const authorizedFor = textOf(entry.authorized_for, MAX_AUTHORIZED_FOR) ?? null;
  if (authorizedFor === null && entry.authorized_for !== undefined)
    problems.add(`${pointer}/authorized_for`, "left out: it is not 1 to 500 characters of text");
  const countries = textsOf(entry.countries, 2, 300)
    ?.map((country) => country.toUpperCase())
    .filter((country) => /^[A-Z]{2}$/.test(country));
  if (entry.countries !== undefined && (countries === undefined || countries.length === 0))
    return new Unusable("countries has no two-letter code");
  const [from, until] = [entry.effective_from, entry.effective_until].map((value) =>
    value === undefined || value === null ? null : instantOf(value),
  );
  if (from === undefined || until === undefined) return new Unusable("effective_from or effective_until is no date");
  if (from !== null && until !== null && from! > until!) return new Unusable("effective_from is after effective_until");
  const placementIds = textsOf(entry.placement_ids, MAX_VALUE, MAX_VALUES);
  const delegationType = delegations.includes(entry.delegation_type as string)
    ? (entry.delegation_type as DelegationType)
    : null;
  const signingKeys = keysOf(entry.signing_keys);
  return {
    agentUrl,
    authorizedFor,
    ...(countries !== undefined && { countries }),
    ...(delegationType !== null && { delegationType }),
    ...(typeof entry.exclusive === "boolean" && { exclusive: entry.exclusive }),
    ...(from !== null && { effectiveFrom: from! }),
    ...(until !== null && { effectiveUntil: until! }),
    ...(placementIds !== undefined && placementIds.length > 0 && { placementIds }),
    ...(signingKeys.length > 0 && { signingKeys }),
  };
}

interface Selected {
  readonly domains: readonly string[];
  readonly selector: PropertySelector;
}

/** A selector of `publisher_properties` (registry-facts.md 1). */
function selectorIn(value: unknown): Selected | Unusable {
  if (!isObject(value)) return new Unusable("a selector is an object");
  const one = value.publisher_domain !== undefined;
  if (one === (value.publisher_domains !== undefined))
    return new Unusable("give one of publisher_domain and publisher_domains");
  const given: unknown = one ? [value.publisher_domain] : value.publisher_domains;
  const domains = (Array.isArray(given) ? given : []).flatMap((domain) => domainIn(domain) ?? []);
  if (domains.length === 0) return new Unusable("no domain that could be read");
  const ids = textsOf(value.property_ids, MAX_VALUE, MAX_VALUES);
  const tags = textsOf(value.property_tags ?? value.tags, MAX_VALUE, MAX_VALUES);
  const kind = value.selection_type ?? (ids !== undefined ? "by_id" : tags !== undefined ? "by_tag" : "all");
  switch (kind) {
    case "all":
      return { domains, selector: {} };
    case "by_id":
      if (!one) return new Unusable("by_id names properties of one publisher_domain");
      return ids?.length ? { domains, selector: { propertyIds: ids } } : new Unusable("by_id without property_ids");
    case "by_tag":
      return tags?.length ? { domains, selector: { tags } } : new Unusable("by_tag without property_tags");
    default:
      return new Unusable("selection_type is not one that is known");
  }
}

function publisherEntries(entry: JsonObject, base: Base, pointer: string, reading: Reading): ReadEntry {
  const { domain, via, problems } = reading;
  const bySite = new Map<string, PropertySelector[]>();
  let usable = false;
  const given: unknown[] = Array.isArray(entry.publisher_properties) ? entry.publisher_properties : [];
  given.slice(0, MAX_VALUES).forEach((value, index) => {
    const selected = selectorIn(value);
    if (selected instanceof Unusable) {
      problems.add(`${pointer}/publisher_properties/${index}`, selected.message);
      return;
    }
    usable = true;
    for (const publisher of selected.domains) {
      const name = sameSite(publisher, domain) ? domain : publisher;
      if (name !== domain && via !== "own") continue;
      bySite.set(name, [...(bySite.get(name) ?? []), selected.selector]);
    }
  });
  if (!usable) {
    problems.add(`${pointer}/publisher_properties`, "no selector that could be used");
    return { usable, others: [] };
  }
  const make = (publisherProperties: readonly PropertySelector[]): AgentEntry => ({
    ...base,
    authorizationType: "publisher_properties",
    publisherProperties,
  });
  const mine = bySite.get(domain);
  bySite.delete(domain);
  // Keys and placements are words of the file's own publisher; a claim about another needs neither.
  const others = [...bySite].map(([publisherDomain, selectors]) => {
    const { signingKeys: _, placementIds: __, ...agent } = make(selectors);
    return { publisherDomain, agent };
  });
  return { usable, others, ...(mine !== undefined && { entry: make(mine) }) };
}

function inlineEntry(entry: JsonObject, base: Base, pointer: string, reading: Reading): ReadEntry {
  const { domain, via, problems } = reading;
  const properties: PropertyRecord[] = [];
  let readable = 0;
  const given: unknown[] = Array.isArray(entry.properties) ? entry.properties : [];
  given.slice(0, MAX_VALUES).forEach((value, index) => {
    const at = `${pointer}/properties/${index}`;
    const read = readProperty(value, { domain, pointer: at, problems });
    if (read === undefined) return;
    readable += 1;
    if (read.owner === "domain" || (read.owner === "unlabelled" && via !== "manager")) properties.push(read.property);
    else if (via === "own") problems.add(at, "it is another publisher's: only that one's own file can declare it");
  });
  if (readable === 0) problems.add(`${pointer}/properties`, "no property that could be used");
  const made = { ...base, authorizationType: "inline_properties", properties } as const;
  return { usable: readable > 0, others: [], ...(properties.length > 0 && { entry: made }) };
}

/** Ids and tags select among the file's properties; only those of the domain are meant. */
function selectingEntry(
  entry: JsonObject,
  type: "property_ids" | "property_tags" | "signal_ids" | "signal_tags",
  base: Base,
  { via, own, foreignIds }: Reading,
): AgentEntry | undefined | Unusable {
  const values = textsOf(entry[type], MAX_VALUE, MAX_VALUES);
  if (values === undefined || values.length === 0) return new Unusable(`${type} is empty`);
  switch (type) {
    case "property_ids": {
      const propertyIds = values.filter((id) =>
        via === "manager" ? own.some((property) => property.id === id) : !foreignIds.has(id),
      );
      return propertyIds.length === 0 ? undefined : { ...base, authorizationType: type, propertyIds };
    }
    case "property_tags": {
      const reaches = own.some(({ tags }) => tags.some((tag) => values.includes(tag)));
      return via === "manager" && !reaches ? undefined : { ...base, authorizationType: type, propertyTags: values };
    }
    case "signal_ids":
      return via === "manager" ? undefined : { ...base, authorizationType: type, signalIds: values };
    case "signal_tags":
      return via === "manager" ? undefined : { ...base, authorizationType: type, signalTags: values };
  }
}

const none: ReadEntry = { usable: false, others: [] };

/** @param pointer of the entry, for problems */
export function readAgentEntry(value: unknown, pointer: string, reading: Reading): ReadEntry {
  const { problems, via } = reading;
  const refuse = ({ message }: Unusable): ReadEntry => {
    problems.add(pointer, message);
    return none;
  };
  if (!isObject(value)) return refuse(new Unusable("an agent is an object"));
  const base = baseOf(value, pointer, problems);
  if (base instanceof Unusable) return refuse(base);
  const type = typeOf(value);
  if (type instanceof Unusable) return refuse(type);
  switch (type) {
    case null:
      // All of a manager's publishers at once: it names none of them.
      return { usable: true, others: [], ...(via !== "manager" && { entry: { ...base, authorizationType: null } }) };
    case "publisher_properties":
      return publisherEntries(value, base, pointer, reading);
    case "inline_properties":
      return inlineEntry(value, base, pointer, reading);
    case "property_ids":
    case "property_tags":
    case "signal_ids":
    case "signal_tags": {
      const entry = selectingEntry(value, type, base, reading);
      if (entry instanceof Unusable) return refuse(entry);
      return { usable: true, others: [], ...(entry !== undefined && { entry }) };
    }
  }
}
