/** Keys from a `jwks_uri` (docs/protocol/signing.md#key-sets). */

import type { MaybePromise } from "../../contract/index.js";
import { isJsonObject } from "../../contract/json-object.js";
import { verificationKey } from "../keys.js";
import type { Jwk, KeyResolution, KeySource, VerificationKey } from "../types.js";
import type { DocumentState, Load, RemoteDocument } from "./document.js";
import { failure, fetchJson, ttlOf } from "./fetch-json.js";
import { chain } from "./maybe.js";
import { checkedTtl, checkedUrl, type Discovery, type DiscoveryOptions, discovery } from "./options.js";

/** 64 KiB, docs/protocol/signing.md#key-sets: some hundred keys. */
const MAX_JWKS_BYTES = 64 * 1024;
/** A key set is never kept longer than the longest revocation polling interval. */
export const MAX_JWKS_TTL_S = 1800;
const DEFAULT_JWKS_TTL_S = 600;

/** Keys by kid; null where several keys share one, which leaves nobody to believe. */
export type JwksDocument = ReadonlyMap<string, VerificationKey | null>;

/** A key set at a URL, and whose it is. `ttlSeconds`: how long it is used. */
export interface RemoteJwksOptions extends DiscoveryOptions {
  readonly url: string;
  /** Identity of whoever publishes these keys: its agent URL. */
  readonly sender: string;
  /** Longest time a fetched set is used, in seconds: 60 to 1800, default 600. Its max-age may shorten it. */
  readonly ttlSeconds?: number;
}

/** A key whose private part is published can sign for anyone. */
const isUsable = (jwk: unknown): jwk is Jwk & { readonly kid: string } =>
  isJsonObject(jwk) && typeof jwk.kid === "string" && jwk.kid !== "" && !("d" in jwk) && !("k" in jwk);

function readKeys(keys: readonly unknown[]): JwksDocument {
  const byKid = new Map<string, VerificationKey | null>();
  for (const jwk of keys) {
    if (isUsable(jwk)) byKid.set(jwk.kid, byKid.has(jwk.kid) ? null : verificationKey(jwk));
  }
  return byKid;
}

/** The document behind a `jwks_uri`. */
export function jwksDocument({ fetch, now, cache }: Discovery, url: string, ttl: number): RemoteDocument<JwksDocument> {
  const load = async (): Promise<Load<JwksDocument>> => {
    const fetched = await fetchJson(fetch, url, { maxBytes: MAX_JWKS_BYTES });
    if (!fetched.ok) return fetched;
    const { keys } = fetched.value;
    if (!Array.isArray(keys)) return failure("unreachable", "the key set has no keys member");
    return { ok: true, value: readKeys(keys), ttlSeconds: ttlOf(fetched.headers, ttl) };
  };
  return cache.document("jwks", url, () => ({ load, now }));
}

/** What a document that cannot be had means for a key: nothing is known, or it may not be believed. Never acceptance. */
export const unresolved = (state: DocumentState<unknown> & { ok: false }, what: string): KeyResolution => ({
  ok: false,
  code: state.kind === "refused" ? "untrusted" : "unavailable",
  detail: `${what}: ${state.detail}`,
  retryAfterSeconds: state.retryAfterSeconds,
});

/** Finds a key in a set, looking once more at the origin when it is not there, or is the one that proved nothing. */
export function resolveIn(
  document: RemoteDocument<JwksDocument>,
  keyid: string,
  sender: string,
  refuted?: Jwk,
): MaybePromise<KeyResolution> {
  const pick = (state: DocumentState<JwksDocument>): KeyResolution => {
    if (!state.ok) return unresolved(state, "key set");
    const key = state.value.get(keyid);
    if (key === null) return { ok: false, code: "key_unknown", detail: "several keys of the set share this kid" };
    return key === undefined
      ? { ok: false, code: "key_unknown", detail: "not in the key set" }
      : { ok: true, key, sender };
  };
  return chain(document.get(), (state) => {
    if (!state.ok || state.fresh) return pick(state);
    const jwk = state.value.get(keyid)?.jwk;
    return jwk !== undefined && jwk !== refuted ? pick(state) : chain(document.refresh(), pick);
  });
}

/**
 * Keys of a known `jwks_uri`: cached, fetched once for all who wait, one refetch when a kid is missing or its key
 * proves nothing, then 30 seconds of peace. A set that cannot be fetched is `unavailable`, which the receiver answers with 503.
 * @throws AdbindError `discovery_option_invalid`
 */
export function remoteJwks(options: RemoteJwksOptions): KeySource {
  const ttl = checkedTtl(options.ttlSeconds ?? DEFAULT_JWKS_TTL_S, MAX_JWKS_TTL_S);
  const document = jwksDocument(discovery(options), checkedUrl(options.url, "url"), ttl);
  return { resolve: (keyid, refuted) => resolveIn(document, keyid, options.sender, refuted) };
}
