/** Revocation lists (docs/protocol/signing.md#revocation): a signed list of kids, polled, refused when it grows stale. */

import {
  type FlattenedJWSInput,
  flattenedVerify,
  type GeneralJWSInput,
  generalVerify,
  importJWK,
  type JWSHeaderParameters,
} from "jose";
import type { MaybePromise } from "../../contract/index.js";
import { wireNames } from "../../contract/index.js";
import { isJsonObject } from "../../contract/json-object.js";
import { parseStrict } from "../../json.js";
import { momentMs } from "../../moment.js";
import { declaredResolution } from "../keys.js";
import type { KeySource, RevocationAnswer, RevocationSource } from "../types.js";
import { type Load, type LoadFailure, type RemoteDocument, remoteDocument } from "./document.js";
import { failure, fetchBytes, type JsonRecord } from "./fetch-json.js";
import { chain } from "./maybe.js";
import { checkedUrl, type Discovery, type DiscoveryOptions, discovery } from "./options.js";

/** Seconds between polls, whatever `next_update` says. */
const MIN_POLL_S = 60;
const MAX_POLL_S = 1800;
/** Polling intervals a list may be overdue by before it is stale: 5 minutes at the shortest interval, 2.5 hours at the longest. */
const STALE_AFTER_INTERVALS = 4;
/** Some ten thousand kids; a list that needs more needs fewer dead keys. */
const MAX_LIST_BYTES = 1024 * 1024;
const algorithms = ["EdDSA", "Ed25519", "ES256"];

/** A signed revocation list: where it is, and whose keys sign it. */
export interface RevocationListOptions extends Omit<DiscoveryOptions, "cache"> {
  /** Where the list is; configuration, since no path is fixed for it. */
  readonly url: string;
  /** Keys that may sign the list: `remoteJwks` or `brandKeys` of its issuer. */
  readonly keys: KeySource;
  /** Expected `issuer`; default the origin of `url`. */
  readonly issuer?: string;
  /**
   * Purposes a key may have that signs lists; default `governance-signing` alone. A key that signs webhooks could
   * otherwise clear itself of its own revocation.
   */
  readonly keyUses?: readonly string[];
  /** The protocol's word; default `proto`. */
  readonly word?: string;
}

interface RevocationList {
  readonly revoked: ReadonlySet<string>;
  /** Unix seconds. */
  readonly updated: number;
  /** Unix seconds after which the list is stale. */
  readonly staleAfter: number;
  /** `ETag` of the response, for the next poll. */
  readonly etag: string | undefined;
  /** What the next poll may still be told is unchanged. */
  readonly nextUpdate: number;
}

const instant = (value: unknown): number => (typeof value === "string" ? momentMs(value) / 1000 : Number.NaN);

const malformed = (detail: string): LoadFailure => failure("unreachable", `revocation list: ${detail}`);

const pollInterval = (nextUpdate: number, now: number): number =>
  Math.min(MAX_POLL_S, Math.max(MIN_POLL_S, nextUpdate - now));

type Result<T> = { readonly ok: true; readonly value: T } | LoadFailure;
type ListContent = Pick<RevocationList, "revoked" | "updated" | "nextUpdate">;

function readList(payload: JsonRecord, issuer: string): Result<ListContent> {
  const { version, revoked_kids: kids } = payload;
  const [updated, nextUpdate] = [instant(payload.updated), instant(payload.next_update)];
  if (version !== 1) return malformed("not version 1");
  if (payload.issuer !== issuer) return malformed("another issuer");
  if (!(nextUpdate > updated)) return malformed("updated and next_update are no interval");
  if (!Array.isArray(kids) || !kids.every((kid) => typeof kid === "string")) return malformed("no revoked_kids");
  return { ok: true, value: { revoked: new Set(kids), updated, nextUpdate } };
}

/** A compact JWS as text, or a JSON one, as the flattened or general serialisation. */
function readJws(bytes: Uint8Array): JsonRecord | undefined {
  const text = new TextDecoder().decode(bytes).trim();
  const parts = text.split(".");
  if (parts.length === 3 && parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) {
    return { protected: parts[0], payload: parts[1], signature: parts[2] };
  }
  const parsed = parseStrict(bytes);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

interface Signer {
  readonly keys: KeySource;
  readonly type: string;
  readonly useMember: string;
  readonly keyUses: readonly string[];
}

/** The key a list says it is signed with, if it may sign lists. */
async function keyFor(header: JWSHeaderParameters | undefined, signer: Signer) {
  const type = header?.typ?.toLowerCase().replace(/^application\//, "");
  if (header?.kid === undefined || header.alg === undefined || type !== signer.type) throw new Error("another type");
  const resolution = declaredResolution(await signer.keys.resolve(header.kid));
  if (!resolution.ok) throw new Error(`its key is ${resolution.code}`);
  const { kty, crv, x, y, use, key_ops, [signer.useMember]: purpose } = resolution.key.jwk;
  const fits = use === "sig" && key_ops?.includes("verify") && signer.keyUses.includes(String(purpose));
  if (!fits) throw new Error("its key is not for signing lists");
  return importJWK({ kty, crv, x, ...(y !== undefined && { y }) } as Parameters<typeof importJWK>[0], header.alg);
}

async function verifiedPayload(bytes: Uint8Array, signer: Signer): Promise<Result<JsonRecord>> {
  const jws = readJws(bytes);
  if (jws === undefined) return malformed("not a JWS");
  const getKey = (header: JWSHeaderParameters | undefined) => keyFor(header, signer);
  try {
    const { payload } = Array.isArray(jws.signatures)
      ? await generalVerify(jws as GeneralJWSInput & JsonRecord, getKey, { algorithms })
      : await flattenedVerify(jws as FlattenedJWSInput & JsonRecord, getKey, { algorithms });
    const parsed = parseStrict(payload);
    return parsed.ok && isJsonObject(parsed.value)
      ? { ok: true, value: parsed.value }
      : malformed("the payload is no JSON object");
  } catch (error) {
    return malformed(error instanceof Error ? error.message : "not verifiable");
  }
}

/** What a poll needs, and the list it may find unchanged. */
interface Poll {
  readonly url: string;
  readonly shared: Discovery;
  readonly signer: Signer;
  readonly issuer: string;
  readonly held: RevocationList | undefined;
}

async function poll({ url, shared, signer, issuer, held }: Poll): Promise<Load<RevocationList>> {
  const { fetch, now } = shared;
  const fetched = await fetchBytes(fetch, url, { maxBytes: MAX_LIST_BYTES, etag: held?.etag });
  if (!fetched.ok) return fetched;
  if (fetched.unchanged && held !== undefined) {
    return { ok: true, value: held, ttlSeconds: pollInterval(held.nextUpdate, now()) };
  }
  const payload = await verifiedPayload(fetched.bytes, signer);
  if (!payload.ok) return payload;
  const content = readList(payload.value, issuer);
  if (!content.ok) return content;
  // An old list is validly signed too; serving it again would bring revoked keys back.
  if (held !== undefined && content.value.updated < held.updated) return malformed("older than the one held");
  const interval = pollInterval(content.value.nextUpdate, now());
  const staleAfter = content.value.nextUpdate + STALE_AFTER_INTERVALS * interval;
  const list = { ...content.value, staleAfter, etag: fetched.headers.etag };
  return { ok: true, value: list, ttlSeconds: interval };
}

/**
 * Step 9 for the keys of one operator. Polled as verifications come: at the list's own pace, between 1 and 30 minutes,
 * with a conditional GET. While the origin fails the last list goes on serving until it is stale; a kid on it is revoked
 * for good. Without any list the answer is `unavailable`.
 * @throws AdbindError `discovery_option_invalid`
 */
export function revocationList(options: RevocationListOptions): RevocationSource {
  const shared = discovery(options);
  const url = checkedUrl(options.url, "url");
  const issuer = options.issuer ?? new URL(url).origin;
  const word = options.word ?? "proto";
  const signer: Signer = {
    keys: options.keys,
    type: `${word}-gov-revocation+jws`,
    useMember: wireNames(word).keyUse,
    keyUses: options.keyUses ?? ["governance-signing"],
  };
  const document: RemoteDocument<RevocationList> = remoteDocument({
    load: () => poll({ url, shared, signer, issuer, held: document.last() }),
    now: shared.now,
    failureCooldownSeconds: MIN_POLL_S,
    lastIsUsable: (list) => shared.now() <= list.staleAfter,
  });
  return {
    check: (keyid, _sender, now) =>
      chain(document.get(), (state): RevocationAnswer => {
        const list = state.ok ? state.value : document.last();
        if (list === undefined) return "unavailable";
        if (list.revoked.has(keyid)) return "revoked";
        return now > list.staleAfter ? "stale" : "good";
      }),
  };
}

/**
 * Picks the list by sender: a kid means something only together with whoever issued it.
 * @param lists by agent URL
 * @param otherwise the answer for a sender that has none; `good` where a deployment does without
 */
export function revocationBySender(
  lists: Readonly<Record<string, RevocationSource>> | ReadonlyMap<string, RevocationSource>,
  otherwise: "good" | "unavailable" = "unavailable",
): RevocationSource {
  const bySender = lists instanceof Map ? lists : new Map(Object.entries(lists));
  return {
    check(keyid, sender, now): MaybePromise<RevocationAnswer> {
      const list = bySender.get(sender);
      return list === undefined ? otherwise : list.check(keyid, sender, now);
    },
  };
}
