/**
 * The verifier checklist, once for webhooks and requests (service.md "Authentication", 5; the steps are those of the
 * protocol's request checklist). Every check is cheap until step 10; what costs comes after what refuses.
 */
import { wireNames } from "../contract.js";
import { parseStrict } from "../json.js";
import { canonicalAuthority, type UrlResult } from "../url.js";
import { buildSignatureBase } from "./base.js";
import { type Step, type VerificationCode, verificationCodes } from "./codes.js";
import type { CryptoBackend } from "./crypto.js";
import { coveredValue, type Examined, examine, type Fault, type Rules, SKEW_SECONDS } from "./examine.js";
import { LABEL } from "./fields.js";
import { type Flow, settle } from "./flow.js";
import { isJsonContentType } from "./headers.js";
import { importVerificationKey, keyPurposeFault } from "./keys.js";
import type {
  KeyResolution,
  KeySource,
  MaybePromise,
  Refusal,
  ReplayStore,
  RevocationSource,
  SignableRequest,
  Verified,
  VerifyResult,
} from "./types.js";

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
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** Runs the whole checklist over a request that claims to be signed. */
export function* verification(request: SignableRequest, list: Checklist): Flow<VerifyResult> {
  const now = Math.floor((list.now ?? systemSeconds)());
  const names = wireNames(list.word ?? "proto");
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
  const signatureBase = baseOf(request, examined);
  const more = { ...known, signatureBase };
  if (!(yield* signatureHolds(list.backend, material, examined, signatureBase))) {
    return fail(list, { step: 10, reason: "invalid" }, more);
  }
  if (examined.digest !== undefined && (yield* settle(list.backend.sha256(request.body))) !== examined.digest) {
    return fail(list, { step: 11, reason: "digest_mismatch" }, more);
  }
  const replayed = yield* checkReplay(list, examined, now);
  if (replayed !== undefined) return fail(list, replayed, more);
  return checkBody(request, list, examined, more);
}

const fail = (list: Checklist, fault: Fault, known: Partial<Refusal> = {}): Refusal =>
  refusal(list.profile.codes[fault.reason], fault.step, {
    ...known,
    ...present({ detail: fault.detail, retryAfterSeconds: fault.retryAfterSeconds, keys: fault.keys }),
  });

const failed = Symbol("a source failed");

/** Asks a source; one that throws or rejects has no answer. */
function* ask<T>(question: () => MaybePromise<T>): Flow<T | typeof failed> {
  try {
    return yield* settle(question());
  } catch {
    return failed;
  }
}

/** Step 7. */
function* resolveKey(list: Checklist, keyid: string): Flow<Extract<KeyResolution, { ok: true }> | Fault> {
  const resolution = yield* ask(() => list.keys.resolve(keyid));
  if (resolution === failed) return { step: 7, reason: "keys_unavailable", detail: "the key source failed" };
  if (resolution.ok) return resolution;
  const { detail, retryAfterSeconds } = resolution;
  const reasons = { key_unknown: "key_unknown", unavailable: "keys_unavailable", untrusted: "keys_untrusted" } as const;
  return { step: 7, reason: reasons[resolution.code], detail, retryAfterSeconds };
}

/** Step 9. */
function* checkRevocation(list: Checklist, keyid: string, sender: string, now: number): Flow<Fault | undefined> {
  const { revocation } = list;
  if (revocation === undefined) return undefined;
  const answer = yield* ask(() => revocation.check(keyid, sender, now));
  switch (answer) {
    case "good":
      return undefined;
    case "revoked":
      return { step: 9, reason: "key_revoked" };
    case "stale":
      return { step: 9, reason: "revocation_stale" };
    case "unavailable":
    case failed:
      return { step: 9, reason: "revocation_unavailable", detail: "the revocation source has no answer" };
  }
}

const storeFailed = (step: Step): Fault => ({ step, reason: "replay_unavailable", detail: "the replay store failed" });

/** Step 9a: before any cryptography, so that an abusive key costs nothing. */
function* checkCap(list: Checklist, keyid: string, now: number): Flow<Fault | undefined> {
  const full = yield* ask(() => list.replay.atCap(keyid, now));
  if (full === failed) return storeFailed("9a");
  return full ? { step: "9a", reason: "rate_abuse" } : undefined;
}

/** Step 10, first half: one target, and the authority it was sent to is the one it was signed for. */
function checkTarget({ url, fields }: Examined): Fault | undefined {
  if (!url.ok) return { step: 10, reason: "target_uri_malformed", detail: url.detail };
  for (const host of fields.authorities) {
    const sent = canonicalAuthority(host, url.scheme, { unicodeHost: "refuse" });
    if (!sent.ok) return { step: 10, reason: "target_uri_malformed", detail: `the Host field: ${sent.detail}` };
    if (sent.authority !== url.authority) {
      return { step: 10, reason: "target_uri_malformed", detail: "the Host field names another authority" };
    }
  }
  return undefined;
}

function baseOf(request: SignableRequest, { input, url, fields }: Examined): string {
  const { url: target, authority } = url as Extract<UrlResult, { ok: true }>;
  const valueFor = (component: string): string => {
    switch (component) {
      case "@method":
        return request.method.toUpperCase();
      case "@target-uri":
        return target;
      case "@authority":
        return authority;
      default:
        return coveredValue(request, fields, component)!;
    }
  };
  return buildSignatureBase({ components: input.components, valueFor, params: input.text });
}

const utf8 = new TextEncoder();

/** Step 10, second half. */
function* signatureHolds(backend: CryptoBackend, key: unknown, examined: Examined, base: string): Flow<boolean> {
  const valid = yield* ask(() => backend.verify(examined.alg, key, utf8.encode(base), examined.signature));
  return valid === true;
}

/** Steps 12 and 13. */
function* checkReplay(list: Checklist, { keyid, nonce, expires }: Examined, now: number): Flow<Fault | undefined> {
  const { replay } = list;
  if (replay.check !== undefined) {
    const seen = yield* ask(() => replay.check!(keyid, nonce, now));
    if (seen === failed) return storeFailed(12);
    if (seen) return { step: 12, reason: "replayed" };
  }
  // As long as the signature would pass step 5, and not shorter.
  const outcome = yield* ask(() => replay.insert(keyid, nonce, expires + SKEW_SECONDS, now));
  switch (outcome) {
    case "inserted":
      return undefined;
    case "seen":
      return { step: 12, reason: "replayed" };
    case "full":
      return { step: 13, reason: "rate_abuse" };
    case failed:
      return storeFailed(13);
  }
}

/** Step 14. The nonce is burned by now: a malformed body cannot be sent twice either. */
function checkBody(
  request: SignableRequest,
  list: Checklist,
  examined: Examined,
  more: { keyid: string; sender: string; signatureBase: string },
): Verified | Refusal {
  const { alg, created, expires, nonce, fields } = examined;
  const verified = { ok: true, ...more, label: LABEL, alg, created, expires, nonce } as const;
  const other = request.body.length === 0 || !isJsonContentType(fields.contentType);
  if (list.profile.name === "request" && other) return { ...verified, json: undefined };
  const json = parseStrict(request.body);
  if (json.ok) return { ...verified, json: json.value };
  return fail(list, { step: 14, reason: "body_malformed", detail: json.detail, keys: json.keys }, more);
}
