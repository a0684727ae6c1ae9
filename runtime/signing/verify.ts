/**
 * The verifier checklist, once for webhooks and requests (docs/protocol/signing.md#checklist). Every check is cheap until
 * step 10; what costs comes after what refuses.
 */
import { type WireNames, wireNames } from "../contract/index.js";
import { type Coroutine, isPromise } from "../db/coroutine.js";
import { strictFault, valueOfStrict } from "../json.js";
import { type Step, type VerificationCode, verificationCodes } from "./codes.js";
import { type Examined, examine, type Rejection, SKEW_SECONDS } from "./examine.js";
import { LABEL } from "./fields.js";
import { isJsonContentType } from "./headers.js";
import { type Checklist, type Proved, provedBy, storeFailed } from "./proof.js";
import type { Refusal, ReplayStore, SignableRequest, Verified, VerifyResult } from "./types.js";

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
  const proved = yield* provedBy(request, list, examined, names.keyUse, now);
  if ("reason" in proved) return fail(list, proved, { keyid, ...proved.known });
  if (examined.digest !== undefined) {
    const digest = list.backend.sha256(request.body);
    if ((isPromise(digest) ? yield digest : digest) !== examined.digest) {
      return fail(list, { step: 11, reason: "digest_mismatch" }, proved);
    }
  }
  const replayed = yield* checkReplay(list, examined, now);
  if (replayed !== undefined) return fail(list, replayed, proved);
  return checkBody(request, list, examined, proved);
}

const fail = (list: Checklist, fault: Rejection, known: Partial<Refusal> = {}): Refusal =>
  refusal(list.profile.codes[fault.reason], fault.step, {
    ...known,
    ...present({ detail: fault.detail, retryAfterSeconds: fault.retryAfterSeconds, keys: fault.keys }),
  });

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
  more: Proved,
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
