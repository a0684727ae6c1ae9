/** The chain brand file -> `agents[]` entry -> key set (docs/protocol/signing.md#key-discovery). */
import type { MaybePromise } from "../../contract/index.js";
import { safely } from "../../listener.js";
import { registrableDomain } from "../../net/index.js";
import { canonicalAgentUrl } from "../../url.js";
import type { Jwk, KeyResolution, KeySource } from "../types.js";
import { type BrandDocument, brandLoader, brandUrlOf, MAX_BRAND_BYTES } from "./brand-file.js";
import { type DocumentState, type Load, type RemoteDocument, remoteDocument } from "./document.js";
import { failure } from "./fetch-json.js";
import { type JwksDocument, jwksDocument, MAX_JWKS_TTL_S, resolveIn, unresolved } from "./jwks.js";
import { chain } from "./maybe.js";
import { checkedDomain, checkedTtl, checkedUrl, type Discovery, type DiscoveryOptions, discovery } from "./options.js";

const DEFAULT_BRAND_TTL_S = 600;

/** Whose keys to find through a brand file. `ttlSeconds`: how long what was found is used. */
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
   * Asks the agent for what its capabilities say of its identity; `askIdentity` does so over MCP. The file it names is the brand
   * file, and no other is looked for; only where there is none, the places above are. It is asked
   * as seldom as the file itself, and again when the file does not vouch for the agent. A rejection is an outage.
   */
  readonly declared?: () => Promise<DeclaredIdentity>;
  /** What the keys sign, which is how the agent declares their origin. Default `webhook_signing`. */
  readonly purpose?: "webhook_signing" | "request_signing";
  /** What the release of the agent says; that of the 3.1 line by default. `release.facts.discovery` has the values. */
  readonly rules?: BrandRules;
  /** Longest time the brand file and the key set are used, in seconds: 60 to 1800, default 600. */
  readonly ttlSeconds?: number;
  /** Called when the brand file names another key set than before: worth an alarm (docs/protocol/signing.md#key-sets). */
  readonly onJwksUriChange?: (change: {
    readonly agentUrl: string;
    readonly before: string;
    readonly after: string;
  }) => void;
}

/** What an agent's capabilities say of its identity. */
export interface DeclaredIdentity {
  /** `identity.brand_json_url`. */
  readonly brandUrl?: string;
  /** `identity.key_origins`: by purpose, the origin that the agent's key set is at. */
  readonly keyOrigins?: Readonly<Record<string, unknown>>;
}

/** What releases decide of brand files. */
export interface BrandRules {
  /** How agent URLs are compared. */
  readonly urlMatch: "bytes" | "canonical";
  /** Largest brand file, in bytes. */
  readonly brandBytes: number;
  /** Where nothing is declared: the operator's file first, or, as from 3.3 on (`capabilities`), that of the agent's host. */
  readonly webhooks: "host" | "capabilities";
  /** Whose key set must be at the origin that the agent declares; it binds only who is asked what it declares. */
  readonly keyOrigins: "nobody" | "advised" | "requests" | "everybody";
  /** An agent that one list has twice: `refused`, the default; or one agent, where the entries are `agreeing`, as from 3.3 on. */
  readonly twice?: "refused" | "agreeing";
}

const rulesOf31: BrandRules = {
  ...{ urlMatch: "bytes", brandBytes: MAX_BRAND_BYTES },
  ...{ webhooks: "host", keyOrigins: "requests" },
};

type Located = { readonly ok: true; readonly jwksUri: string } | { readonly ok: false; readonly detail: string };

/** A URL as it is compared; one without a canonical form equals nothing but itself. */
const compared = (url: string, { urlMatch }: BrandRules): string =>
  urlMatch === "bytes" ? url : (canonicalAgentUrl(url) ?? url);

/**
 * The key set of an agent. The same URL twice in one list is ambiguous; in the lists of several brands it is one agent that
 * serves them all, so long as they agree on its keys. Where the release says so, entries are one agent wherever they stand, so
 * long as they agree on what it is as well.
 */
function locate({ agents }: BrandDocument, agentUrl: string, rules: BrandRules): Located {
  const wanted = compared(agentUrl, rules);
  const matches = agents.filter((entry) => compared(entry.url, rules) === wanted);
  if (matches.length === 0) return { ok: false, detail: "the brand file does not list this agent" };
  const apart = new Set(matches.map((entry) => (rules.twice === "agreeing" ? entry.type : entry.list)));
  const many = rules.twice === "agreeing" ? apart.size > 1 : apart.size < matches.length;
  const uris = new Set(matches.map((entry) => entry.jwksUri ?? `${new URL(agentUrl).origin}/.well-known/jwks.json`));
  const [jwksUri, ...others] = uris;
  if (many || others.length > 0 || jwksUri === undefined) {
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

/** The set of keys that a brand file names, which is kept until it names another. */
function keySetOf(
  { agentUrl, onJwksUriChange }: BrandKeysOptions,
  documentAt: (uri: string) => RemoteDocument<JwksDocument>,
): (uri: string) => RemoteDocument<JwksDocument> {
  let kept: { readonly uri: string; readonly document: RemoteDocument<JwksDocument> } | undefined;
  return (uri) => {
    if (kept?.uri === uri) return kept.document;
    const before = kept?.uri;
    if (before !== undefined) safely(() => onJwksUriChange?.({ agentUrl, before, after: uri }));
    kept = { uri, document: documentAt(uri) };
    return kept.document;
  };
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
      load: brandLoader(shared, url, { ttl, maxBytes: rules.brandBytes }),
      now: shared.now,
    }));
  const candidates = places.map(documentAt);
  /** The agent's place in the file at hand, looked up once per file. */
  let found: { readonly in: BrandDocument; readonly located: Located } | undefined;

  const keySet = keySetOf(options, (uri) => jwksDocument(shared, uri, ttl));

  const fromBrand = (
    brand: RemoteDocument<BrandDocument>,
    state: DocumentState<BrandDocument>,
    asked: Asked,
  ): MaybePromise<KeyResolution> => {
    if (!state.ok) return unresolved(state, "brand file");
    if (found?.in !== state.value) found = { in: state.value, located: locate(state.value, agentUrl, rules) };
    const { located } = found;
    const again = asked.again && !state.fresh;
    const asksAgain = (otherwise: KeyResolution | undefined): MaybePromise<KeyResolution> =>
      chain(brand.refresh(), (next) =>
        otherwise !== undefined && (!next.ok || next.value === found?.in)
          ? otherwise
          : fromBrand(brand, next, { ...asked, again: false }),
      );
    if (!located.ok) return again ? asksAgain(undefined) : notVouchedFor(located.detail);
    const fault = asked.originFault?.(located.jwksUri, state.value);
    if (fault !== undefined) return notVouchedFor(fault);
    // A key set without the key may be the one of before: the file is asked whether it names another by now.
    const resolved = resolveIn(keySet(located.jwksUri), asked.keyid, agentUrl, asked.refuted);
    return chain(resolved, (resolution) => (resolution.ok || !again ? resolution : asksAgain(resolution)));
  };

  /** Down the places: one that has no file leaves the word to the next, one that cannot be asked does not. */
  const lookFrom = (at: number, asked: Asked): MaybePromise<KeyResolution> => {
    const brand = candidates[at]!;
    return chain(brand.get(), (state) =>
      !state.ok && state.kind === "absent" && at + 1 < candidates.length
        ? lookFrom(at + 1, asked)
        : fromBrand(brand, state, asked),
    );
  };
  if (declared === undefined) return { resolve: (keyid, refuted) => lookFrom(0, { keyid, refuted, again: true }) };
  return declaredKeys(declaredPlace(declared, shared, ttl), (identity, wanted) => {
    const asked = { ...wanted, again: true, ...originRule(options, identity, shared.now) };
    if (identity.brandUrl === undefined) return lookFrom(0, asked);
    const brand = documentAt(identity.brandUrl);
    return chain(brand.get(), (state) => fromBrand(brand, state, asked));
  });
}

/** A key that is looked for. */
interface Wanted {
  readonly keyid: string;
  /** The key that was found before, and proved nothing. */
  readonly refuted: Jwk | undefined;
}

interface Asked extends Wanted {
  /** The brand file may be fetched once more, where it does not list the agent. */
  readonly again: boolean;
  /** What is wrong with a place of keys; absent where any is good. */
  readonly originFault?: (jwksUri: string, document: BrandDocument) => string | undefined;
}

/** Whether the release binds keys of this purpose to the origin that the agent declares, and its brand file to its domain. */
function originRule(
  { agentUrl, rules = rulesOf31, purpose = "webhook_signing" }: BrandKeysOptions,
  { brandUrl, keyOrigins }: DeclaredIdentity,
  now: () => number,
): Pick<Asked, "originFault"> {
  const binds = rules.keyOrigins === "everybody" || (rules.keyOrigins === "requests" && purpose === "request_signing");
  if (!binds) return {};
  return {
    originFault: (jwksUri, document) =>
      (brandUrl === undefined || speaksFor(agentUrl, brandUrl, document, now())
        ? undefined
        : "brand_origin_mismatch: the brand file is at another domain than the agent, and does not let it speak for it") ??
      originFault(jwksUri, keyOrigins?.[purpose]),
  };
}

/** A brand file speaks of agents at its own domain, and of those that a house lets operate for it. */
function speaksFor(agentUrl: string, brandUrl: string, { operators }: BrandDocument, now: number): boolean {
  const [agent, brand] = [agentUrl, brandUrl].map((url) => new URL(url).hostname) as [string, string];
  if (registrableDomain(agent) === registrableDomain(brand)) return true;
  return operators.some(
    ({ domain, from, until }) => (agent === domain || agent.endsWith(`.${domain}`)) && from <= now && now <= until,
  );
}

/** Keys are believed from the host that their agent declares, and from nowhere else. */
function originFault(jwksUri: string, declared: unknown): string | undefined {
  if (declared === undefined) return "key_origin_missing: the agent declares no origin for these keys";
  const origin = typeof declared === "string" ? URL.parse(declared) : null;
  return origin !== null && origin.host === URL.parse(jwksUri)?.host
    ? undefined
    : "key_origin_mismatch: the key set is at another host than the agent declares";
}

/** An agent may have moved its file: where the one at hand does not vouch for it, it is asked once more. */
function declaredKeys(
  declaration: RemoteDocument<DeclaredIdentity>,
  at: (identity: DeclaredIdentity, wanted: Wanted) => MaybePromise<KeyResolution>,
): KeySource {
  const from = (state: DocumentState<DeclaredIdentity>, wanted: Wanted): MaybePromise<KeyResolution> => {
    if (!state.ok) return unresolved(state, "capabilities");
    return chain(at(state.value, wanted), (resolution) => {
      if (resolution.ok || resolution.code !== "untrusted" || state.fresh) return resolution;
      return chain(declaration.refresh(), (next) =>
        next.ok && !sameIdentity(next.value, state.value) ? at(next.value, wanted) : resolution,
      );
    });
  };
  return { resolve: (keyid, refuted) => chain(declaration.get(), (state) => from(state, { keyid, refuted })) };
}

const sameIdentity = (left: DeclaredIdentity, right: DeclaredIdentity): boolean =>
  left.brandUrl === right.brandUrl && JSON.stringify(left.keyOrigins) === JSON.stringify(right.keyOrigins);

/** What an agent declares, kept and asked for again as any document. */
const declaredPlace = (
  declared: () => Promise<DeclaredIdentity>,
  { now }: Discovery,
  ttlSeconds: number,
): RemoteDocument<DeclaredIdentity> =>
  remoteDocument({
    now,
    async load(): Promise<Load<DeclaredIdentity>> {
      const value = await declared();
      const { brandUrl: url } = value;
      return url === undefined || (/^https:\/\/[^/]/.test(url) && URL.canParse(url))
        ? { ok: true, value, ttlSeconds }
        : failure("refused", "the declared brand file is at no https URL");
    },
  });
