/** The chain brand file -> `agents[]` entry -> key set (service.md "Authentication", 4; webhooks-facts 2, path A). */
import type { MaybePromise } from "../../contract/index.js";
import { registrableDomain } from "../../net/index.js";
import { canonicalAgentUrl } from "../../url.js";
import type { KeyResolution, KeySource } from "../types.js";
import { type DocumentState, type Load, type RemoteDocument, remoteDocument } from "./document.js";
import { failure, fetchJson, isObject, type JsonObject, ttlOf } from "./fetch-json.js";
import { type JwksDocument, jwksDocument, MAX_JWKS_TTL_S, resolveIn, unresolved } from "./jwks.js";
import { chain } from "./maybe.js";
import { checkedDomain, checkedTtl, checkedUrl, type Discovery, type DiscoveryOptions, discovery } from "./options.js";

/** 256 KiB, webhooks-facts 1.11 rule 5. */
export const MAX_BRAND_BYTES = 256 * 1024;
const DEFAULT_BRAND_TTL_S = 600;

export interface BrandKeysOptions extends DiscoveryOptions {
  /** The seller's agent URL, from the integration and never from a payload. Identity of its webhooks. */
  readonly agentUrl: string;
  /**
   * The operator's domain, where `/.well-known/brand.json` is. Default: the registrable domain of `agentUrl`, and where that has
   * no file (404, 410), the agent's own host.
   */
  readonly operator?: string;
  /** The brand file's own URL, instead of `operator`. */
  readonly brandUrl?: string;
  /**
   * Asks the agent for its capabilities' `identity.brand_json_url`; undefined where it declares none. What it names is the brand
   * file, and no other is looked for; only where there is none, the places above are. It is asked
   * as seldom as the file itself, and again when the file does not vouch for the agent. A rejection is an outage.
   */
  readonly declared?: () => Promise<string | undefined>;
  /** What the release of the agent says; that of the 3.1 line by default. `release.facts.discovery` has the values. */
  readonly rules?: BrandRules;
  /** Longest time the brand file and the key set are used, in seconds: 60 to 1800, default 600. */
  readonly ttlSeconds?: number;
  /** Called when the brand file names another key set than before: worth an alarm (webhooks-facts 1.10). */
  readonly onJwksUriChange?: (change: {
    readonly agentUrl: string;
    readonly before: string;
    readonly after: string;
  }) => void;
}

/** What releases decide of brand files. */
export interface BrandRules {
  /** How agent URLs are compared. */
  readonly urlMatch: "bytes" | "canonical";
  /** Largest brand file, in bytes. */
  readonly brandBytes: number;
  /** Where nothing is declared: the operator's file first, or, as from 3.3 on (`capabilities`), that of the agent's host. */
  readonly webhooks: "host" | "capabilities";
}

const rulesOf31: BrandRules = { urlMatch: "bytes", brandBytes: MAX_BRAND_BYTES, webhooks: "host" };

/** One `agents[]` entry, as far as keys go. */
interface AgentEntry {
  readonly url: string;
  /** Absent: the default place. */
  readonly jwksUri: string | undefined;
  /** The array it stands in: URLs are unique within one. */
  readonly list: number;
}

type BrandDocument = readonly AgentEntry[];

/** Agents of a document: its own, its house's and those of its brands. */
function readAgents(document: JsonObject): BrandDocument {
  const owners = [document, document.house, ...(Array.isArray(document.brands) ? document.brands : [])];
  return owners.filter(isObject).flatMap((owner, list) =>
    (Array.isArray(owner.agents) ? owner.agents : []).flatMap((entry): AgentEntry[] => {
      if (!isObject(entry) || typeof entry.url !== "string") return [];
      // A jwks_uri of the wrong type is kept as an unusable one: the default must not stand in for a mistake.
      const { jwks_uri } = entry;
      return [{ url: entry.url, list, jwksUri: jwks_uri === undefined ? undefined : String(jwks_uri) }];
    }),
  );
}

/** Where a brand file that only points elsewhere points to; undefined when it is the file itself. */
export function brandPointer(document: JsonObject): string | undefined {
  if (typeof document.authoritative_location === "string") return document.authoritative_location;
  return typeof document.house === "string" ? brandUrlOf(document.house) : undefined;
}

export const brandUrlOf = (domain: string): string => `https://${domain}/.well-known/brand.json`;

async function loadBrand(
  { fetch }: Discovery,
  url: string,
  { ttl, maxBytes }: { readonly ttl: number; readonly maxBytes: number },
): Promise<Load<BrandDocument>> {
  const first = await fetchJson(fetch, url, { maxBytes });
  if (!first.ok) return first;
  const pointer = brandPointer(first.value);
  if (pointer === undefined) {
    return { ok: true, value: readAgents(first.value), ttlSeconds: ttlOf(first.headers, ttl) };
  }
  const second = await fetchJson(fetch, pointer, { maxBytes });
  if (!second.ok) return second;
  if (brandPointer(second.value) !== undefined)
    return failure("refused", "the brand file is more than one redirect away");
  const ttlSeconds = Math.min(ttlOf(first.headers, ttl), ttlOf(second.headers, ttl));
  return { ok: true, value: readAgents(second.value), ttlSeconds };
}

type Located = { readonly ok: true; readonly jwksUri: string } | { readonly ok: false; readonly detail: string };

/** A URL as it is compared; one without a canonical form equals nothing but itself. */
const compared = (url: string, { urlMatch }: BrandRules): string =>
  urlMatch === "bytes" ? url : (canonicalAgentUrl(url) ?? url);

/**
 * The key set of an agent. The same URL twice in one list is ambiguous; in the lists of several brands it is one agent that
 * serves them all, so long as they agree on its keys.
 */
function locate(agents: BrandDocument, agentUrl: string, rules: BrandRules): Located {
  const wanted = compared(agentUrl, rules);
  const matches = agents.filter((entry) => compared(entry.url, rules) === wanted);
  if (matches.length === 0) return { ok: false, detail: "the brand file does not list this agent" };
  const lists = new Set(matches.map((entry) => entry.list));
  const uris = new Set(matches.map((entry) => entry.jwksUri ?? `${new URL(agentUrl).origin}/.well-known/jwks.json`));
  const [jwksUri, ...others] = uris;
  if (lists.size < matches.length || others.length > 0 || jwksUri === undefined) {
    return { ok: false, detail: "the brand file lists this agent more than once" };
  }
  return { ok: true, jwksUri };
}

/** An agent the brand file does not vouch for has no keys, whatever its key set says; a pin does not change that. */
const notVouchedFor = (detail: string): KeyResolution => ({ ok: false, code: "untrusted", detail });

/** Where the brand file may be, in the order it is looked for; the next is asked only where one has no file at all. */
function placesOf({ agentUrl, operator, brandUrl, rules = rulesOf31 }: BrandKeysOptions): string[] {
  if (brandUrl !== undefined) return [checkedUrl(brandUrl, "brandUrl")];
  if (operator !== undefined) return [brandUrlOf(checkedDomain(operator, "operator"))];
  const { hostname, host } = new URL(agentUrl);
  const domain = brandUrlOf(checkedDomain(registrableDomain(hostname), "operator"));
  const places = rules.webhooks === "host" ? [domain, brandUrlOf(host)] : [brandUrlOf(host), domain];
  return [...new Set(places)];
}

/**
 * Keys of an agent, found through its operator's brand file.
 * An agent that is not listed, or twice, is `untrusted`; a file that cannot be fetched is `unavailable`.
 * @throws AdbindError `discovery_option_invalid`
 */
export function brandKeys(options: BrandKeysOptions): KeySource {
  const shared = discovery(options);
  const agentUrl = checkedUrl(options.agentUrl, "agentUrl");
  const { rules = rulesOf31, declared } = options;
  const places = placesOf(options);
  const ttl = checkedTtl(options.ttlSeconds ?? DEFAULT_BRAND_TTL_S, MAX_JWKS_TTL_S);
  const documentAt = (url: string): RemoteDocument<BrandDocument> =>
    shared.cache.document("brand", url, () => ({
      load: () => loadBrand(shared, url, { ttl, maxBytes: rules.brandBytes }),
      now: shared.now,
    }));
  const candidates = places.map(documentAt);
  let keys: { readonly uri: string; readonly document: RemoteDocument<JwksDocument> } | undefined;

  /** The agent's place in the file at hand, looked up once per file. */
  let found: { readonly in: BrandDocument; readonly located: Located } | undefined;

  const keySet = (uri: string): RemoteDocument<JwksDocument> => {
    if (keys?.uri === uri) return keys.document;
    if (keys !== undefined) options.onJwksUriChange?.({ agentUrl, before: keys.uri, after: uri });
    keys = { uri, document: jwksDocument(shared, uri, ttl) };
    return keys.document;
  };

  const fromBrand = (
    brand: RemoteDocument<BrandDocument>,
    state: DocumentState<BrandDocument>,
    asked: { readonly keyid: string; readonly again: boolean },
  ): MaybePromise<KeyResolution> => {
    if (!state.ok) return unresolved(state, "brand file");
    if (found?.in !== state.value) found = { in: state.value, located: locate(state.value, agentUrl, rules) };
    const { located } = found;
    if (located.ok) return resolveIn(keySet(located.jwksUri), asked.keyid, agentUrl);
    if (!asked.again || state.fresh) return notVouchedFor(located.detail);
    return chain(brand.refresh(), (next) => fromBrand(brand, next, { ...asked, again: false }));
  };

  /** Down the places: one that has no file leaves the word to the next, one that cannot be asked does not. */
  const lookFrom = (at: number, keyid: string): MaybePromise<KeyResolution> => {
    const brand = candidates[at]!;
    return chain(brand.get(), (state) =>
      !state.ok && state.kind === "absent" && at + 1 < candidates.length
        ? lookFrom(at + 1, keyid)
        : fromBrand(brand, state, { keyid, again: true }),
    );
  };
  if (declared === undefined) return { resolve: (keyid) => lookFrom(0, keyid) };
  return declaredKeys(declaredPlace(declared, shared, ttl), (place, keyid) => {
    if (place === null) return lookFrom(0, keyid);
    const brand = documentAt(place);
    return chain(brand.get(), (state) => fromBrand(brand, state, { keyid, again: true }));
  });
}

/** An agent may have moved its file: where the one at hand does not vouch for it, it is asked once more. */
function declaredKeys(
  declaration: RemoteDocument<string | null>,
  at: (place: string | null, keyid: string) => MaybePromise<KeyResolution>,
): KeySource {
  const from = (state: DocumentState<string | null>, keyid: string): MaybePromise<KeyResolution> => {
    if (!state.ok) return unresolved(state, "capabilities");
    return chain(at(state.value, keyid), (resolution) => {
      if (resolution.ok || resolution.code !== "untrusted" || state.fresh) return resolution;
      return chain(declaration.refresh(), (next) =>
        next.ok && next.value !== state.value ? at(next.value, keyid) : resolution,
      );
    });
  };
  return { resolve: (keyid) => chain(declaration.get(), (state) => from(state, keyid)) };
}

/** Where an agent says its brand file is, kept and asked for again as any document; null where it declares none. */
const declaredPlace = (
  declared: () => Promise<string | undefined>,
  { now }: Discovery,
  ttlSeconds: number,
): RemoteDocument<string | null> =>
  remoteDocument({
    now,
    async load(): Promise<Load<string | null>> {
      const url = await declared();
      if (url === undefined) return { ok: true, value: null, ttlSeconds };
      return typeof url === "string" && /^https:\/\/[^/]/.test(url) && URL.canParse(url)
        ? { ok: true, value: url, ttlSeconds }
        : failure("refused", "the declared brand file is at no https URL");
    },
  });
