/** The chain brand file -> `agents[]` entry -> key set (service.md "Authentication", 4; webhooks-facts 2, path A). */
import type { MaybePromise } from "../../contract.js";
import { registrableDomain } from "../../net/index.js";
import type { KeyResolution, KeySource } from "../types.js";
import type { DocumentState, Load, RemoteDocument } from "./document.js";
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
  /** The operator's domain, where `/.well-known/brand.json` is. Default: the registrable domain of `agentUrl`. */
  readonly operator?: string;
  /** The brand file's own URL, instead of `operator`. */
  readonly brandUrl?: string;
  /** Longest time the brand file and the key set are used, in seconds: 60 to 1800, default 600. */
  readonly ttlSeconds?: number;
  /** Called when the brand file names another key set than before: worth an alarm (webhooks-facts 1.10). */
  readonly onJwksUriChange?: (change: {
    readonly agentUrl: string;
    readonly before: string;
    readonly after: string;
  }) => void;
}

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

async function loadBrand({ fetch }: Discovery, url: string, ttl: number): Promise<Load<BrandDocument>> {
  const first = await fetchJson(fetch, url, { maxBytes: MAX_BRAND_BYTES });
  if (!first.ok) return first;
  const pointer = brandPointer(first.value);
  if (pointer === undefined) {
    return { ok: true, value: readAgents(first.value), ttlSeconds: ttlOf(first.headers, ttl) };
  }
  const second = await fetchJson(fetch, pointer, { maxBytes: MAX_BRAND_BYTES });
  if (!second.ok) return second;
  if (brandPointer(second.value) !== undefined)
    return failure("refused", "the brand file is more than one redirect away");
  const ttlSeconds = Math.min(ttlOf(first.headers, ttl), ttlOf(second.headers, ttl));
  return { ok: true, value: readAgents(second.value), ttlSeconds };
}

type Located = { readonly ok: true; readonly jwksUri: string } | { readonly ok: false; readonly detail: string };

/**
 * The key set of an agent. URLs are compared byte for byte. The same URL twice in one list is ambiguous; in the lists of
 * several brands it is one agent that serves them all, so long as they agree on its keys.
 */
function locate(agents: BrandDocument, agentUrl: string): Located {
  const matches = agents.filter((entry) => entry.url === agentUrl);
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

/**
 * Keys of an agent, found through its operator's brand file.
 * An agent that is not listed, or twice, is `untrusted`; a file that cannot be fetched is `unavailable`.
 * @throws AdbindError `discovery_option_invalid`
 */
export function brandKeys(options: BrandKeysOptions): KeySource {
  const shared = discovery(options);
  const agentUrl = checkedUrl(options.agentUrl, "agentUrl");
  const operator = options.operator ?? registrableDomain(new URL(agentUrl).hostname);
  const brandUrl =
    options.brandUrl === undefined
      ? brandUrlOf(checkedDomain(operator, "operator"))
      : checkedUrl(options.brandUrl, "brandUrl");
  const ttl = checkedTtl(options.ttlSeconds ?? DEFAULT_BRAND_TTL_S, MAX_JWKS_TTL_S);
  const brand = shared.cache.document("brand", brandUrl, () => ({
    load: () => loadBrand(shared, brandUrl, ttl),
    now: shared.now,
  }));
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
    state: DocumentState<BrandDocument>,
    keyid: string,
    again: boolean,
  ): MaybePromise<KeyResolution> => {
    if (!state.ok) return unresolved(state, "brand file");
    if (found?.in !== state.value) found = { in: state.value, located: locate(state.value, agentUrl) };
    const { located } = found;
    if (located.ok) return resolveIn(keySet(located.jwksUri), keyid, agentUrl);
    if (!again || state.fresh) return notVouchedFor(located.detail);
    return chain(brand.refresh(), (next) => fromBrand(next, keyid, false));
  };

  return { resolve: (keyid) => chain(brand.get(), (state) => fromBrand(state, keyid, true)) };
}
