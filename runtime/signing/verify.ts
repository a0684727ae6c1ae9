/**
 * The verifier checklist, once for webhooks and requests (docs/protocol/signing.md#checklist). Every check is cheap until
 * step 10; what costs comes after what refuses.
 */
import { type WireNames, wireNames } from "../contract/index.js";
import { type Coroutine, isPromise } from "../db/coroutine.js";
import { strictFault, valueOfStrict } from "../json.js";
import { type CanonicalUrl, canonicalAuthority } from "../url.js";
import { buildSignatureBase } from "./base.js";
import { type Step, type VerificationCode, verificationCodes } from "./codes.js";
import type { CryptoBackend } from "./crypto.js";
import { coveredValue, type Examined, examine, type Rejection, type Rules, SKEW_SECONDS } from "./examine.js";
import { LABEL } from "./fields.js";
import { isJsonContentType } from "./headers.js";
import { declaredResolution, importVerificationKey, keyPurposeFault } from "./keys.js";
import type {
  KeyResolution,
  KeySource,
  Refusal,
  ReplayStore,
  RevocationAnswer,
  RevocationSource,
  SignableRequest,
  Verified,
  VerifyResult,
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

export const systemSeconds = (): number => Math.floor(Date.now() / 1000);

/** A refusal with everything its code implies. */
export function refusal(code: VerificationCode, step: Step, more: Partial<Refusal> = {}): Refusal {
  const { status, retryable } = verificationCodes[code];
  return { ok: false, code, step, status, retryable, ...more };
}

const present = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: Exclude<T[K], undefined>;
  }>;

let lastWord = "";
let lastNames = wireNames(lastWord);

/** `wireNames`, remembered for the word used last: it joins eight strings, and most processes speak one word. */
export function namesOf(word: string): WireNames {
  if (word !== lastWord) [lastWord, lastNames] = [word, wireNames(word)];
  return lastNames;
}

/** Runs the whole checklist over a request that claims to be signed. */
export function* verification(request: SignableRequest, list: Checklist): Coroutine<VerifyResult> {
  const now = Math.floor((list.now ?? systemSeconds)());
  const names = namesOf(list.word ?? "proto");
  const examined = examine(request, list, list.profile.tag(names), now);
  if ("reason" in examined) return fail(list, examined);
  const { keyid } = examined;

  const resolution = yield* resolveKey(list, keyid);
  if ("reason" in resolution) return fail(list, resolution, { keyid });
  const { key, sender } = resolution;
  const known = { keyid, sender };
  const purpose = keyPurposeFault(key.jwk, examined.alg, names.keyUse, list.profile.keyUses);
  if (purpose !== undefined) return fail(list, { step: 8, reason: "key_purpose_invalid", detail: purpose }, known);
  let material: unknown;
  try {
    material = yield* importVerificationKey(key, examined.alg, list.backend);
  } catch {
    return fail(list, { step: 8, reason: "key_purpose_invalid", detail: "the JWK's members make no key" }, known);
  }

  if (key.revokedAt !== undefined && examined.created >= key.revokedAt) {
    return fail(list, { step: 9, reason: "key_revoked", detail: "signed after the key's revoked_at" }, known);
  }
  const barred = (yield* checkRevocation(list, keyid, sender, now)) ?? (yield* checkCap(list, keyid, now));
  if (barred !== undefined) return fail(list, barred, known);

  const target = checkTarget(examined);
  if (target !== undefined) return fail(list, target, known);
  const { components, text } = examined.input;
  const signatureBase = buildSignatureBase(components, (name) => valueFor(name, request, examined), text);
  const more = { ...known, signatureBase };
  if (!(yield* signatureHolds(list.backend, material, examined, signatureBase))) {
    return fail(list, { step: 10, reason: "invalid" }, more);
  }
  if (examined.digest !== undefined) {
    const digest = list.backend.sha256(request.body);
    if ((isPromise(digest) ? yield digest : digest) !== examined.digest) {
      return fail(list, { step: 11, reason: "digest_mismatch" }, more);
    }
  }
  const replayed = yield* checkReplay(list, examined, now);
  if (replayed !== undefined) return fail(list, replayed, more);
  return checkBody(request, list, examined, more);
}

const fail = (list: Checklist, fault: Rejection, known: Partial<Refusal> = {}): Refusal =>
  refusal(list.profile.codes[fault.reason], fault.step, {
    ...known,
    ...present({ detail: fault.detail, retryAfterSeconds: fault.retryAfterSeconds, keys: fault.keys }),
  });

/** Step 7. A source that throws or rejects has no answer; so have the ones below. */
function* resolveKey(list: Checklist, keyid: string): Coroutine<Extract<KeyResolution, { ok: true }> | Rejection> {
  let resolution: KeyResolution;
  try {
    const answer = list.keys.resolve(keyid);
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

const storeFailed = (step: Step): Rejection => ({
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

/** Steps 12 and 13. */
function* checkReplay(
  list: Checklist,
  { keyid, nonce, expires }: Examined,
  now: number,
): Coroutine<Rejection | undefined> {
  const { replay } = list;
  try {
    if (replay.check !== undefined) {
      const answer = replay.check(keyid, nonce, now);
      const seen = isPromise(answer) ? yield answer : answer;
      if (typeof seen !== "boolean") return storeFailed(12);
      if (seen) return { step: 12, reason: "replayed" };
    }
    // As long as the signature would pass step 5, and not shorter.
    const answer = replay.insert(keyid, nonce, expires + SKEW_SECONDS, now);
    const outcome = isPromise(answer) ? ((yield answer) as Awaited<typeof answer>) : answer;
    return Object.hasOwn(insertFaults, outcome) ? insertFaults[outcome] : storeFailed(13);
  } catch {
    return storeFailed(13);
  }
}

const insertFaults = {
  inserted: undefined,
  seen: { step: 12, reason: "replayed" },
  full: { step: 13, reason: "rate_abuse" },
} as const satisfies Record<Awaited<ReturnType<ReplayStore["insert"]>>, Rejection | undefined>;

/** Step 14. The nonce is burned by now: a malformed body cannot be sent twice either. */
function checkBody(
  { body }: SignableRequest,
  list: Checklist,
  { alg, created, expires, nonce, digest, fields }: Examined,
  more: { keyid: string; sender: string; signatureBase: string },
): Verified | Refusal {
  const other = list.profile.name === "request" && (body.length === 0 || !isJsonContentType(fields.contentType));
  const wrong = other ? undefined : strictFault(body);
  if (wrong !== undefined) {
    return fail(list, { step: 14, reason: "body_malformed", detail: wrong.detail, keys: wrong.keys }, more);
  }
  const { keyid, sender, signatureBase } = more;
  let json: { readonly value: unknown } | undefined;
  return {
    ok: true,
    keyid,
    sender,
    label: LABEL,
    alg,
    created,
    expires,
    nonce,
    ...(digest !== undefined && { digest }),
    signatureBase,
    // Judged already; made for those who read it.
    get json() {
      json ??= { value: other ? undefined : valueOfStrict(body) };
      return json.value;
    },
  };
}
