/** One entry of `authorized_agents`: what it says of the domain, and what it claims of others. */

import { isJsonObject } from "../../contract/json-object.js";
import type { FileProblems } from "../file-problems.js";
import { agentUrlOf, sameSite } from "../model.js";
import type { AgentEntry, AuthorizationType, DelegationType, PropertyRecord, PropertySelector } from "../types.js";
import type { JsonRecord } from "./document.js";
import { limitsOf, MAX_VALUE, MAX_VALUES, Unusable } from "./entry-limits.js";
import type { Via } from "./locate.js";
import { readProperty } from "./properties.js";
import { type ReadSignals, signalForm } from "./signals.js";
import { domainIn, instantOf, textOf, textsOf } from "./values.js";

/** docs/protocol/files.md#authorized-agents. */
const MAX_AUTHORIZED_FOR = 500;

export interface Reading {
  readonly domain: string;
  readonly via: Via;
  readonly problems: FileProblems;
  /** Ids of the domain's properties in this file. */
  readonly ownIds: ReadonlySet<string>;
  /** Their tags. */
  readonly ownTags: ReadonlySet<string>;
  /** Ids of properties in this file that are other publishers'. */
  readonly foreignIds: ReadonlySet<string>;
  readonly signals: ReadSignals;
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

/** What is not said, or not understood, must not count as everything. */
function typeOf(entry: JsonRecord): AuthorizationType | Unusable {
  const given = entry.authorization_type;
  if (given === undefined || given === null) return new Unusable("authorization_type", "authorization_type is missing");
  return (
    types.find((type) => type === given) ??
    new Unusable("authorization_type", "authorization_type is not one that is known")
  );
}

const delegations: readonly string[] = ["direct", "delegated", "ad_network"];

type Base = Omit<AgentEntry, "authorizationType">;

/** What entries of every kind have. A limit that cannot be read makes the entry unusable: without it, it would say more. */
function baseOf(entry: JsonRecord): Base | Unusable {
  const text = textOf(entry.url, 2048);
  const agentUrl = text === undefined ? undefined : agentUrlOf(text);
  if (!agentUrl?.startsWith("https://")) return new Unusable("agent_url", "url is not an https URL");
  const authorizedFor = textOf(entry.authorized_for, MAX_AUTHORIZED_FOR);
  if (authorizedFor === undefined)
    return new Unusable("authorized_for", "authorized_for is missing, or not 1 to 500 characters of text");
  const countries = textsOf(entry.countries, 2, 300)
    ?.map((country) => country.toUpperCase())
    .filter((country) => /^[A-Z]{2}$/.test(country));
  if (entry.countries !== undefined && (countries === undefined || countries.length === 0))
    return new Unusable("countries", "countries has no two-letter code");
  const [from, until] = [entry.effective_from, entry.effective_until].map((value) =>
    value === undefined || value === null ? null : instantOf(value),
  );
  if (from === undefined || until === undefined)
    return new Unusable("effective_dates", "effective_from or effective_until is no date");
  if (from !== null && until !== null && from! > until!)
    return new Unusable("effective_dates", "effective_from is after effective_until");
  const limits = limitsOf(entry);
  if (limits instanceof Unusable) return limits;
  const delegationType = delegations.includes(entry.delegation_type as string)
    ? (entry.delegation_type as DelegationType)
    : null;
  return {
    agentUrl,
    authorizedFor,
    ...(countries !== undefined && { countries }),
    ...(delegationType !== null && { delegationType }),
    ...(typeof entry.exclusive === "boolean" && { exclusive: entry.exclusive }),
    ...(from !== null && { effectiveFrom: from! }),
    ...(until !== null && { effectiveUntil: until! }),
    ...limits,
  };
}

interface Selected {
  readonly domains: readonly string[];
  readonly selector: PropertySelector;
}

/** A selector of `publisher_properties` (docs/protocol/registry.md#expansion). */
function selectorIn(value: unknown): Selected | Unusable {
  if (!isJsonObject(value)) return new Unusable("publisher_selector", "a selector is an object");
  const one = value.publisher_domain !== undefined;
  if (one === (value.publisher_domains !== undefined))
    return new Unusable("publisher_selector", "give one of publisher_domain and publisher_domains");
  const given: unknown = one ? [value.publisher_domain] : value.publisher_domains;
  const domains = [...new Set((Array.isArray(given) ? given : []).flatMap((domain) => domainIn(domain) ?? []))];
  if (domains.length === 0) return new Unusable("publisher_selector", "no domain that could be read");
  const ids = textsOf(value.property_ids, MAX_VALUE, MAX_VALUES);
  const tags = textsOf(value.property_tags ?? value.tags, MAX_VALUE, MAX_VALUES);
  const kind = value.selection_type ?? (ids !== undefined ? "by_id" : tags !== undefined ? "by_tag" : "all");
  switch (kind) {
    case "all":
      return { domains, selector: {} };
    case "by_id":
      if (!one) return new Unusable("publisher_selector", "by_id names properties of one publisher_domain");
      return ids?.length
        ? { domains, selector: { propertyIds: ids } }
        : new Unusable("publisher_selector", "by_id without property_ids");
    case "by_tag":
      return tags?.length
        ? { domains, selector: { tags } }
        : new Unusable("publisher_selector", "by_tag without property_tags");
    default:
      return new Unusable("publisher_selector", "selection_type is not one that is known");
  }
}

function publisherEntries(entry: JsonRecord, base: Base, pointer: string, reading: Reading): ReadEntry {
  const { domain, via, problems } = reading;
  const bySite = new Map<string, PropertySelector[]>();
  let usable = false;
  const given: unknown[] = Array.isArray(entry.publisher_properties) ? entry.publisher_properties : [];
  given.slice(0, MAX_VALUES).forEach((value, index) => {
    const selected = selectorIn(value);
    if (selected instanceof Unusable) {
      problems.add(selected.rule, `${pointer}/publisher_properties/${index}`, selected.message);
      return;
    }
    usable = true;
    for (const publisher of selected.domains) {
      const name = sameSite(publisher, domain) ? domain : publisher;
      if (name !== domain && via !== "own") continue;
      const known = bySite.get(name);
      // Added in place: a file may name one publisher as often as its length allows.
      if (known === undefined) bySite.set(name, [selected.selector]);
      else known.push(selected.selector);
    }
  });
  if (!usable) {
    problems.add("selector_empty", `${pointer}/publisher_properties`, "no selector that could be used");
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
    const { signingKeys: _, placementIds: __, placementTags: ___, ...agent } = make(selectors);
    return { publisherDomain, agent };
  });
  return { usable, others, ...(mine !== undefined && { entry: make(mine) }) };
}

function inlineEntry(entry: JsonRecord, base: Base, pointer: string, reading: Reading): ReadEntry {
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
    else if (via === "own")
      problems.add("property_foreign", at, "it is another publisher's: only that one's own file can declare it");
  });
  if (readable === 0) problems.add("selector_empty", `${pointer}/properties`, "no property that could be used");
  const made = { ...base, authorizationType: "inline_properties", properties } as const;
  return { usable: readable > 0, others: [], ...(properties.length > 0 && { entry: made }) };
}

/** Ids that select nothing are most often spelled wrong: they are told, and select nothing. */
function noteUnknown(
  rule: "property_id_unknown" | "signal_id_unknown",
  unknown: readonly string[],
  at: string,
  problems: FileProblems,
): void {
  if (unknown.length > 0)
    problems.add(rule, at, `not declared in this file: ${unknown.slice(0, 5).join(", ").slice(0, 200)}`);
}

/** Ids and tags select among the file's properties; only those of the domain are meant. */
function selectingEntry(
  { entry, type, pointer }: { entry: JsonRecord; type: "property_ids" | "property_tags"; pointer: string },
  base: Base,
  { via, ownIds, ownTags, foreignIds, problems }: Reading,
): AgentEntry | undefined | Unusable {
  const values = textsOf(entry[type], MAX_VALUE, MAX_VALUES);
  if (values === undefined || values.length === 0) return new Unusable("selector_empty", `${type} is missing or empty`);
  switch (type) {
    case "property_ids": {
      const propertyIds = values.filter((id) => (via === "manager" ? ownIds.has(id) : !foreignIds.has(id)));
      if (via !== "manager")
        noteUnknown(
          "property_id_unknown",
          propertyIds.filter((id) => !ownIds.has(id)),
          `${pointer}/${type}`,
          problems,
        );
      return propertyIds.length === 0 ? undefined : { ...base, authorizationType: type, propertyIds };
    }
    case "property_tags": {
      const reaches = values.some((tag) => ownTags.has(tag));
      return via === "manager" && !reaches ? undefined : { ...base, authorizationType: type, propertyTags: values };
    }
  }
}

/** Signals are those of the file's own domain: in a manager's file they are the manager's. */
function signalEntry(
  { entry, type, pointer }: { entry: JsonRecord; type: "signal_ids" | "signal_tags"; pointer: string },
  base: Base,
  { via, signals, problems }: Reading,
): AgentEntry | undefined | Unusable {
  const given = textsOf(entry[type], MAX_VALUE, MAX_VALUES) ?? [];
  const values = given.filter(signalForm[type]);
  if (given.length === 0) return new Unusable("selector_empty", `${type} is missing or empty`);
  if (values.length < given.length) return new Unusable("signal_pattern", `${type} has values of another form`);
  if (via === "manager") return undefined;
  const known = type === "signal_ids" ? signals.ids : signals.tags;
  noteUnknown(
    "signal_id_unknown",
    values.filter((value) => !known.has(value)),
    `${pointer}/${type}`,
    problems,
  );
  return type === "signal_ids"
    ? { ...base, authorizationType: type, signalIds: values }
    : { ...base, authorizationType: type, signalTags: values };
}

const none: ReadEntry = { usable: false, others: [] };

/** @param pointer of the entry, for problems */
export function readAgentEntry(value: unknown, pointer: string, reading: Reading): ReadEntry {
  const { problems } = reading;
  const refuse = ({ rule, message }: Unusable): ReadEntry => {
    problems.add(rule, pointer, message);
    return none;
  };
  const made = (entry: AgentEntry | undefined | Unusable): ReadEntry =>
    entry instanceof Unusable ? refuse(entry) : { usable: true, others: [], ...(entry !== undefined && { entry }) };
  if (!isJsonObject(value)) return refuse(new Unusable("agent_shape", "an agent is an object"));
  const base = baseOf(value);
  if (base instanceof Unusable) return refuse(base);
  const type = typeOf(value);
  if (type instanceof Unusable) return refuse(type);
  switch (type) {
    case "publisher_properties":
      return publisherEntries(value, base, pointer, reading);
    case "inline_properties":
      return inlineEntry(value, base, pointer, reading);
    case "property_ids":
    case "property_tags":
      return made(selectingEntry({ entry: value, type, pointer }, base, reading));
    case "signal_ids":
    case "signal_tags":
      return made(signalEntry({ entry: value, type, pointer }, base, reading));
  }
}
