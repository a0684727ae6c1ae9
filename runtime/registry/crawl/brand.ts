/** A domain's brand file in its five variants (docs/protocol/files.md#brandjson): two that point on, three that say something. */
import { isJsonObject } from "../../contract/json-object.js";
import { type Fetcher, registrableDomain, wellKnownRedirects } from "../../net/index.js";
import { brandPointer, brandUrlOf, MAX_BRAND_BYTES } from "../../signing/discovery/brand-file.js";
import { agentTypes, agentUrlOf, sameSite } from "../model.js";
import type { BrandAgent, BrandProperty, CrawlResult, DelegationType, KeptBrandFile } from "../types.js";
import { fetchDocument, type JsonRecord, type NotFetched, notFetched } from "./document.js";
import { domainIn, textOf } from "./values.js";

/** Pointers followed (docs/protocol/files.md#brandjson). */
const MAX_POINTERS = 3;
const MAX_PROPERTIES = 5_000;
const MAX_AGENTS = 200;
const MAX_NAMES = 200;
const MAX_TEXT = 500;

const relationships: readonly string[] = ["owned", "direct", "delegated", "ad_network"];

export interface BrandOrigin {
  readonly fetch: Fetcher;
  readonly signal?: AbortSignal | undefined;
}

interface FoundBrand {
  readonly ok: true;
  readonly value: JsonRecord;
  readonly url: string;
  /** A house of another site: it speaks of many brands, of which some are the domain's. */
  readonly elsewhere: boolean;
}

/** Another site's own brand file is that site's, whoever points to it; one at any other place may be a copy for the domain. */
const isOthers = (url: string, domain: string): boolean => {
  const { hostname } = new URL(url);
  return url === brandUrlOf(hostname) && registrableDomain(hostname) !== registrableDomain(domain);
};

async function locateBrand({ fetch, signal }: BrandOrigin, domain: string): Promise<FoundBrand | NotFetched> {
  const visited = new Set<string>();
  let url = brandUrlOf(domain);
  let elsewhere = false;
  for (let pointers = 0; ; pointers += 1) {
    if (visited.has(url)) return notFetched("shape", "brand files point in a circle");
    visited.add(url);
    const redirects = pointers === 0 ? { redirects: wellKnownRedirects } : {};
    const found = await fetchDocument(fetch, url, { maxBytes: MAX_BRAND_BYTES, signal, ...redirects });
    if (!found.ok) return pointers > 0 && found.kind === "absent" ? { ...found, kind: "status" } : found;
    const pointer = brandPointer(found.value);
    if (pointer === undefined) return { ok: true, value: found.value, url, elsewhere };
    if (pointers === MAX_POINTERS) return notFetched("shape", `brand files point on more than ${MAX_POINTERS} times`);
    if (typeof found.value.house === "string") {
      const house = domainIn(found.value.house);
      if (house === undefined) return notFetched("shape", "house is no domain");
      elsewhere ||= registrableDomain(house) !== registrableDomain(domain);
      url = brandUrlOf(house);
      continue;
    }
    if (!pointer.startsWith("https://") || !URL.canParse(pointer))
      return notFetched("shape", "authoritative_location is not an https URL");
    url = new URL(pointer).href;
    elsewhere ||= isOthers(url, domain);
  }
}

const objectsIn = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** The name and the localised names, in their order. */
const namesOf = (owner: JsonRecord): string[] =>
  [owner.name, ...objectsIn(owner.names).flatMap((names) => Object.values(names))].flatMap(
    (name) => textOf(name, MAX_TEXT) ?? [],
  );

function hostOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  return new URL(value).hostname;
}

/** Is a brand of a house that domain's? By its URL, or by a website among its properties. */
const isOf = (brand: JsonRecord, domain: string): boolean =>
  [hostOf(brand.url), ...objectsIn(brand.properties).map(({ identifier }) => domainIn(identifier))].some(
    (host) => host !== undefined && sameSite(host, domain),
  );

function propertiesIn(owners: readonly JsonRecord[]): BrandProperty[] {
  const found: BrandProperty[] = [];
  for (const value of owners.flatMap((owner) => objectsIn(owner.properties))) {
    const identifier = textOf(value.identifier, MAX_TEXT);
    if (identifier === undefined) continue;
    if (found.length === MAX_PROPERTIES) break;
    const { relationship } = value;
    found.push({
      type: textOf(value.type, 100) ?? null,
      identifier,
      relationship: relationships.includes(relationship as string) ? (relationship as "owned" | DelegationType) : null,
    });
  }
  return found;
}

function agentsIn(owners: readonly JsonRecord[]): BrandAgent[] {
  const found = new Map<string, BrandAgent>();
  for (const owner of owners) {
    const single: JsonRecord[] = isJsonObject(owner.brand_agent) ? [{ type: "brand", ...owner.brand_agent }] : [];
    for (const value of [...objectsIn(owner.agents), ...single]) {
      const url = typeof value.url === "string" ? agentUrlOf(value.url) : undefined;
      const id = textOf(value.id, 100);
      const type = agentTypes.find((one) => one === value.type);
      if (!url?.startsWith("https://") || id === undefined || type === undefined || found.size === MAX_AGENTS) continue;
      const description = textOf(value.description, MAX_TEXT);
      found.set(`${url} ${id}`, { url, type, id, ...(description !== undefined && { description }) });
    }
  }
  return [...found.values()];
}

const saysSomething = (document: JsonRecord): boolean =>
  isJsonObject(document.house) ||
  ["agents", "brands", "brand_refs", "names", "properties"].some((name) => Array.isArray(document[name])) ||
  isJsonObject(document.brand_agent);

function variantOf(document: JsonRecord): KeptBrandFile["variant"] {
  if (isJsonObject(document.house)) return "house_portfolio";
  const named = ["names", "name", "id", "properties", "brands"].some((name) => document[name] !== undefined);
  return named ? "brand_canonical" : "brand_agent";
}

const nothing = { name: null, properties: [], agents: [] } as const;

function outcomeOf({ kind }: NotFetched): "absent" | "invalid" | "unreachable" {
  switch (kind) {
    case "absent":
      return "absent";
    case "shape":
    case "syntax":
    case "too_large":
      return "invalid";
    case "timeout":
    case "connection":
    case "redirect":
    case "status":
    case "answer":
    case "aborted":
    case "opted_out":
      return "unreachable";
  }
}

/** Fetches a domain's brand file and takes from it what is the domain's. */
export async function crawlBrand(origin: BrandOrigin, domain: string): Promise<CrawlResult["brand"]> {
  const found = await locateBrand(origin, domain);
  if (!found.ok) return { outcome: outcomeOf(found), ...nothing };
  const { value, url, elsewhere } = found;
  if (!saysSomething(value)) return { outcome: "invalid", ...nothing };
  const house = isJsonObject(value.house) ? value.house : undefined;
  const brands = objectsIn(value.brands).filter((brand) => !elsewhere || isOf(brand, domain));
  // Whoever merely points to a house, or to somebody else's file, is no brand of it, and has none of its names.
  if (elsewhere && brands.length === 0) return { outcome: "present", ...nothing };
  const owners = elsewhere ? brands : [value, ...brands];
  const named = (elsewhere ? [...brands, house] : [house, value, ...brands]).filter((owner) => owner !== undefined);
  const names = [...new Set(named.flatMap(namesOf))].slice(0, MAX_NAMES);
  return {
    outcome: "present",
    name: names[0] ?? null,
    properties: propertiesIn(owners),
    agents: agentsIn(house === undefined ? owners : [house, ...owners]),
    document: { url, variant: variantOf(value), file: value, names },
  };
}
