/** Steps 7 to 10 of the checklist: whose key it is, whether it may sign this, and that it did. */
import { type Coroutine, isPromise } from "../db/coroutine.js";
import { type CanonicalUrl, canonicalAuthority } from "../url.js";
import { buildSignatureBase } from "./base.js";
import type { Step } from "./codes.js";
import type { CryptoBackend } from "./crypto.js";
import { coveredValue, type Examined, type Rejection, type Rules } from "./examine.js";
import { declaredResolution, importVerificationKey, keyPurposeFault } from "./keys.js";
import type {
  Jwk,
  KeyResolution,
  KeySource,
  ReplayStore,
  RevocationAnswer,
  RevocationSource,
  SignableRequest,
} from "./types.js";

/** Where keys, nonces and revocations come from. */
export interface VerifyOptions {
  readonly keys: KeySource;
  readonly replay: ReplayStore;
  /** Leave out only where revoking a key means no longer publishing it. */
  readonly revocation?: RevocationSource;
  /** Unix seconds; the system clock by default. */
  readonly now?: () => number;
  /** The protocol's word; `proto` by default. */
  readonly word?: string;
}

export interface Checklist extends VerifyOptions, Rules {
  readonly backend: CryptoBackend;
}

/** What a message is proved by. */
export interface Proved {
  readonly keyid: string;
  readonly sender: string;
  readonly signatureBase: string;
}

/** Why a key does not prove a message; `refutes`: another key under the same name might. */
type Unproved = Rejection & { readonly known: Partial<Proved>; readonly refutes?: true };

/**
 * Looks for the key of a message and lets it prove the message: steps 7 to 10. A key that proves nothing may be one its owner
 * has replaced under the same name since the source last looked, so the source is asked once more.
 */
export function* provedBy(
  request: SignableRequest,
  list: Checklist,
  examined: Examined,
  useMember: string,
  now: number,
): Coroutine<Proved | Unproved> {
  const { keyid } = examined;
  const first = yield* resolveKey(list, keyid);
  if ("reason" in first) return { ...first, known: {} };
  const proved = yield* proof(request, list, examined, useMember, first, now);
  if (!("reason" in proved) || proved.refutes !== true) return proved;
  const second = yield* resolveKey(list, keyid, first.key.jwk);
  if ("reason" in second || second.key.jwk === first.key.jwk) return proved;
  return yield* proof(request, list, examined, useMember, second, now);
}

/** Steps 8 to 10: the key may sign this, is not revoked, and did. */
function* proof(
  request: SignableRequest,
  list: Checklist,
  examined: Examined,
  useMember: string,
  { key, sender }: FoundKey,
  now: number,
): Coroutine<Proved | Unproved> {
  const { keyid, alg } = examined;
  const known = { keyid, sender };
  const misfit = { step: 8, reason: "key_purpose_invalid", known, refutes: true } as const;
  const purpose = keyPurposeFault(key.jwk, alg, useMember, list.profile.keyUses);
  if (purpose !== undefined) return { ...misfit, detail: purpose };
  let material: unknown;
  try {
    material = yield* importVerificationKey(key, alg, list.backend);
  } catch {
    return { ...misfit, detail: "the JWK's members make no key" };
  }

  if (key.revokedAt !== undefined && examined.created >= key.revokedAt) {
    return { step: 9, reason: "key_revoked", detail: "signed after the key's revoked_at", known };
  }
  const barred = (yield* checkRevocation(list, keyid, sender, now)) ?? (yield* checkCap(list, keyid, now));
  if (barred !== undefined) return { ...barred, known };

  const target = checkTarget(examined);
  if (target !== undefined) return { ...target, known };
  const { components, text } = examined.input;
  const signatureBase = buildSignatureBase(components, (name) => valueFor(name, request, examined), text);
  const more = { ...known, signatureBase };
  const holds = yield* signatureHolds(list.backend, material, examined, signatureBase);
  return holds ? more : { step: 10, reason: "invalid", known: more, refutes: true };
}

type FoundKey = Extract<KeyResolution, { ok: true }>;

/** Step 7. A source that throws or rejects has no answer; so have the ones below. */
function* resolveKey(list: Checklist, keyid: string, refuted?: Jwk): Coroutine<FoundKey | Rejection> {
  let resolution: KeyResolution;
  try {
    const answer = list.keys.resolve(keyid, refuted);
    resolution = declaredResolution(isPromise(answer) ? yield answer : answer);
  } catch {
    return { step: 7, reason: "keys_unavailable", detail: "the key source failed" };
  }
  if (resolution.ok) return resolution;
  const { detail, retryAfterSeconds, code } = resolution;
  return { step: 7, reason: resolutionReasons[code], detail, retryAfterSeconds };
}

const resolutionReasons = {
  key_unknown: "key_unknown",
  unavailable: "keys_unavailable",
  untrusted: "keys_untrusted",
} as const;

const revocationFaults = {
  good: undefined,
  revoked: { step: 9, reason: "key_revoked" },
  stale: { step: 9, reason: "revocation_stale" },
  unavailable: { step: 9, reason: "revocation_unavailable", detail: "the revocation source has no answer" },
} as const satisfies Record<RevocationAnswer, Rejection | undefined>;

/** Step 9. */
function* checkRevocation(
  list: Checklist,
  keyid: string,
  sender: string,
  now: number,
): Coroutine<Rejection | undefined> {
  if (list.revocation === undefined) return undefined;
  try {
    const given = list.revocation.check(keyid, sender, now);
    const answer = isPromise(given) ? ((yield given) as RevocationAnswer) : given;
    // Whatever is not declared is no answer.
    return Object.hasOwn(revocationFaults, answer) ? revocationFaults[answer] : revocationFaults.unavailable;
  } catch {
    return revocationFaults.unavailable;
  }
}

export const storeFailed = (step: Step): Rejection => ({
  step,
  reason: "replay_unavailable",
  detail: "the replay store failed",
});

/** Step 9a: before any cryptography, so that an abusive key costs nothing. */
function* checkCap(list: Checklist, keyid: string, now: number): Coroutine<Rejection | undefined> {
  try {
    const answer = list.replay.atCap(keyid, now);
    const full = isPromise(answer) ? yield answer : answer;
    if (typeof full !== "boolean") return storeFailed("9a");
    return full ? { step: "9a", reason: "rate_abuse" } : undefined;
  } catch {
    return storeFailed("9a");
  }
}

/** Step 10, first half: one target, and the authority it was sent to is the one it was signed for. */
function checkTarget({ url, fields }: Examined): Rejection | undefined {
  if (!url.ok) return { step: 10, reason: "target_uri_malformed", detail: url.detail };
  for (const host of fields.authorities) {
    if (host === url.authority) continue;
    const sent = canonicalAuthority(host, url.scheme, { unicodeHost: "refuse" });
    if (!sent.ok) return { step: 10, reason: "target_uri_malformed", detail: `the Host field: ${sent.detail}` };
    // A URL may carry userinfo, a Host field may not (RFC 9110 section 7.2).
    if (sent.authority !== url.authority || host.includes("@")) {
      return { step: 10, reason: "target_uri_malformed", detail: "the Host field names another authority" };
    }
  }
  return undefined;
}

function valueFor(component: string, request: SignableRequest, { url, fields }: Examined): string {
  switch (component) {
    case "@method":
      return request.method.toUpperCase();
    case "@target-uri":
      return (url as CanonicalUrl).url;
    case "@authority":
      return (url as CanonicalUrl).authority;
    default:
      return coveredValue(request, fields, component)!;
  }
}

/** Step 10, second half. */
function* signatureHolds(backend: CryptoBackend, key: unknown, examined: Examined, base: string): Coroutine<boolean> {
  try {
    const answer = backend.verify(examined.alg, key, base, examined.signature);
    return (isPromise(answer) ? yield answer : answer) === true;
  } catch {
    return false;
  }
}
