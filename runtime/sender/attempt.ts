/** One attempt: signed afresh over the same bytes, sent under guard, and judged. */
import type { MaybePromise } from "../contract/index.js";
import { isPromise } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { type NetCode, netCodes } from "../net/codes.js";
import type { Fetcher, FetchResult } from "../net/index.js";
import { retryAfterMs } from "../net/retry-after.js";
import type { Job, JobOutcome } from "../queue/types.js";
import type { Handled, JobLease } from "../queue/worker-options.js";
import { type Signed, signHmac, signStandardWebhook, signWebhook, signWebhookSync } from "../signing/index.js";
import { inTime, LateAnswer } from "./deadline.js";
import { withToken } from "./envelope.js";
import { type AnswerExcerpt, answerExcerpt, boundError } from "./redact.js";
import { nextAttempt } from "./schedule.js";
import type { TargetRef } from "./stored-configs.js";
import type { DeliveryTarget } from "./targets.js";
import type { Signer } from "./types.js";

/** What a delivery's job says beside its body. No secret is among it. */
export interface DeliveryMeta {
  /** What says where it goes. */
  readonly target: TargetRef;
  /** Where it was to go when it was made, as it may be shown. */
  readonly url: string;
  /** Whose activity it is, and of what: a media buy, a task. */
  readonly principal: string;
  readonly subject: string;
  /** `notification_type` of persistent channels; a task's tool otherwise. */
  readonly type: string;
  readonly sequence?: number | undefined;
  /** The token of its registration goes into the body when it is sent: it does not stand in the queue. */
  readonly tokened?: true | undefined;
  /** `traceparent` of what made it. */
  readonly trace?: string | undefined;
  /** Its key stands for its payload: an answer 409 ends it. */
  readonly bound?: true;
  /** Why it cannot be delivered at all; it is there for an operator to see. */
  readonly undeliverable?: string;
  /** The account it tells of, where who is told must be authorized for it at each attempt. */
  readonly account?: string;
  /** Of what a config is told: which config, and what happened. */
  readonly subscriberId?: string;
  readonly notificationId?: string;
}

export interface AttemptOptions {
  readonly fetch: Fetcher;
  readonly signerFor: (principal: string) => MaybePromise<Signer>;
  /** Signatures of keys that are here are made beside the thread that does everything else, the database's work with it. */
  readonly signsAside: boolean;
  /** Milliseconds a signer has. */
  readonly signerTimeoutMs: number;
  readonly word: string;
  readonly version: string;
  readonly now: () => number;
  /** By which signatures are dated: whoever verifies them knows nothing of a database. */
  readonly signedAt: () => number;
  readonly random: () => number;
  /** Told what a signer threw: the receiver's principal is shown none of it. */
  readonly onFault: (error: unknown) => void;
}

export type AttemptStatus = "success" | "failed" | "timeout" | "connection_error";

export interface AttemptReport {
  readonly handled: Handled;
  readonly status: AttemptStatus;
  readonly httpStatus: number | null;
  /** Milliseconds; null where no answer came. */
  readonly responseMs: number | null;
  readonly error: string | null;
  /** Bytes of the body as it was sent. */
  readonly bytes: number;
  /** For operators, where the answer was not the wanted one; never for a log. */
  readonly answer?: AnswerExcerpt | undefined;
}

type HeaderFields = Readonly<Record<string, string>>;

/** Nothing in an answer's body decides anything; a little is read so that the connection can be used again. */
const ANSWER_LIMIT_BYTES = 4_096;

/** What every delivery has. */
const TYPED = { "content-type": "application/json" };

/** The signature of a body, made at once where its key is here. */
function signatureOf(message: Message, principal: string, options: AttemptOptions): MaybePromise<HeaderFields> {
  const asked = options.signerFor(principal);
  return isPromise(asked)
    ? inTime(asked, signerBounds(options)).then((signer) => signedBy(signer, message, options))
    : signedBy(asked, message, options);
}

/** A key that is elsewhere may be out of reach. */
const signerBounds = ({ signerTimeoutMs }: AttemptOptions) => ({ limitMs: signerTimeoutMs, who: "the signer" });

function signedBy(signer: Signer, { url, body }: Message, options: AttemptOptions): MaybePromise<HeaderFields> {
  const { signedAt, word } = options;
  const by = { keyid: signer.keyid, now: () => Math.floor(signedAt() / 1_000), word };
  const request = { method: "POST", url, headers: {}, body };
  if (!("key" in signer))
    return inTime(signWebhook(request, { ...by, key: signer }), signerBounds(options)).then(fieldsOf);
  const here = () => fieldsOf(signWebhookSync(request, { ...by, key: signer.key }));
  if (!options.signsAside) return here();
  return inTime(signWebhook(request, { ...by, key: signer.key }), THREADS).then(fieldsOf, (fault: unknown) => {
    if (fault instanceof LateAnswer) return here();
    throw fault;
  });
}

/** Threads that others of the process keep busy, as by looking up names that nobody answers for, are not waited for. */
const THREADS = { limitMs: 100, who: "a thread to sign in" };

/** The content type is among what every delivery has. */
const fieldsOf = ({ headers }: Signed): HeaderFields => ({
  "Content-Digest": headers["Content-Digest"]!,
  "Signature-Input": headers["Signature-Input"],
  Signature: headers.Signature,
});

/** What one attempt sends. */
interface Message {
  readonly url: string;
  readonly body: Uint8Array;
}

/** For whom a body is, and under which key. */
interface Addressed {
  readonly target: DeliveryTarget;
  readonly principal: string;
  readonly id: string;
}

/**
 * Header fields that prove who sends a body; at once where nobody has to be waited for. Throws, or rejects, where it cannot be
 * signed.
 */
export function deliveryHeaders(body: Uint8Array, to: Addressed, options: AttemptOptions): MaybePromise<HeaderFields> {
  const { a2aToken } = to.target;
  const base = a2aToken === undefined ? TYPED : { ...TYPED, "x-a2a-notification-token": a2aToken };
  const proof = proofOf(body, to, options);
  return isPromise(proof) ? proof.then((fields) => ({ ...base, ...fields })) : { ...base, ...proof };
}

function proofOf(body: Uint8Array, { target, principal, id }: Addressed, options: AttemptOptions) {
  const { auth, url } = target;
  if (auth === null) return signatureOf({ url, body }, principal, options);
  const { scheme, credentials: secret } = auth;
  if (scheme === "Bearer") return { authorization: `Bearer ${secret}` };
  const { word, version } = options;
  const now = () => Math.floor(options.signedAt() / 1_000);
  if (scheme === "standard-webhooks") return signStandardWebhook(body, { secret, id, now });
  // Registered once and warned of then; not again at each attempt.
  return signHmac(body, { secret, word, version, now, onDeprecated: () => undefined });
}

const statusOf = (code: NetCode): AttemptStatus => {
  switch (netCodes[code].kind) {
    case "timeout":
      return "timeout";
    case "connection":
      return "connection_error";
    case "refused":
    case "answer":
      return "failed";
  }
};

/** The code a receiver names in its challenge; anything else it may say there is not shown. */
const signatureError = (header: string | undefined): string => {
  const code = /^Signature\s.*?error="?([a-z0-9_]{1,64})"?/i.exec(header ?? "")?.[1];
  return code === undefined ? "" : `: ${code}`;
};

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Whether an endpoint is well, by its answer. An endpoint that is gone, or refuses all it is sent, costs as little as one
 * that is broken.
 */
const isHealthy = (result: FetchResult): boolean => result.ok && isSuccess(result.status);

/** An endpoint that asks for it is left alone as a whole, not just by the event it answered. */
const asksForTime: readonly number[] = [429, 503];

function outcomeOf(job: Job, result: FetchResult, options: AttemptOptions): Pick<AttemptReport, "handled" | "error"> {
  if (isHealthy(result)) return { handled: { outcome: { kind: "done" }, healthy: true }, error: null };
  const error = boundError(
    result.ok
      ? `HTTP ${result.status}${result.status === 401 ? signatureError(result.headers["www-authenticate"]) : ""}`
      : `${result.code}: ${netCodes[result.code].summary}`,
  );
  const retryAfter = result.ok ? result.headers["retry-after"] : undefined;
  if (result.ok && result.status === 409 && (JSON.parse(job.meta) as DeliveryMeta).bound === true) {
    const conflict = boundError(`${error}: the receiver has another payload under its key`);
    return { handled: { outcome: { kind: "dead", error: conflict }, healthy: true }, error: conflict };
  }
  const now = options.now();
  const asked = result.ok && asksForTime.includes(result.status) ? retryAfterMs(retryAfter, now) : undefined;
  const holdUntil = asked === undefined ? undefined : now + asked;
  return { handled: { outcome: laterOrDead({ job, error, retryAfter }, options), healthy: false, holdUntil }, error };
}

/** What becomes of a job after an attempt that failed: its next one, until its day is over. */
export function laterOrDead(
  { job, error, retryAfter }: { readonly job: Job; readonly error: string; readonly retryAfter?: string | undefined },
  { now, random }: Pick<AttemptOptions, "now" | "random">,
): JobOutcome {
  const due = nextAttempt({ attempt: job.attempts, firstAt: job.firstAt, now: now(), retryAfter }, random);
  return due === undefined ? { kind: "dead", error } : { kind: "later", due, error };
}

/** Nothing was sent: a key that cannot sign, a body that cannot be signed. For the operator to mend; it is no fault of the endpoint. */
function unsent(job: Job, fault: unknown, options: AttemptOptions): AttemptReport {
  const known = fault instanceof AdbindError ? fault.code : "the signer failed";
  const why = fault instanceof LateAnswer ? fault.message : known;
  options.onFault(fault);
  const error = boundError(`not sent: ${why}`);
  const handled: Handled = { outcome: laterOrDead({ job, error }, options), healthy: null };
  return { handled, status: "failed", httpStatus: null, responseMs: null, error, bytes: job.body.length };
}

interface AttemptOf {
  readonly job: Job;
  readonly principal: string;
  readonly target: DeliveryTarget;
  /** The token of the registration goes into the body. */
  readonly tokened: boolean;
  readonly lease: JobLease;
  /** Milliseconds the receiver has: to say something, and altogether. */
  readonly timeoutMs: number;
  /** Goes along as a header. */
  readonly traceparent?: string | undefined;
}

/**
 * Delivers a job once. Whatever the network does is in the report; nothing is thrown.
 * @returns undefined where the lease ended before anything was sent: it is somebody else's now
 */
export async function attempt(of: AttemptOf, options: AttemptOptions): Promise<AttemptReport | undefined> {
  const { job, target, lease, timeoutMs } = of;
  const body = of.tokened && target.token !== undefined ? withToken(job.body, target.token) : job.body;
  let headers: HeaderFields;
  try {
    const asked = deliveryHeaders(body, { target, principal: of.principal, id: job.key }, options);
    headers = isPromise(asked) ? await asked : asked;
  } catch (fault) {
    return unsent(job, fault, options);
  }
  if (of.traceparent !== undefined) headers = { ...headers, traceparent: of.traceparent };
  if (!lease.live()) return undefined;
  const started = performance.now();
  const result = await options.fetch(target.url, {
    method: "POST",
    headers,
    body,
    maxBytes: ANSWER_LIMIT_BYTES,
    oversize: "truncate",
    // The status decides, whatever becomes of the words after it. Of a refusal they are for an operator.
    readBody: (status) => (isSuccess(status) ? false : "briefly"),
    timeouts: { readMs: timeoutMs, totalMs: timeoutMs },
  });
  const success = isHealthy(result);
  return {
    ...outcomeOf(job, result, options),
    status: result.ok ? (success ? "success" : "failed") : statusOf(result.code),
    httpStatus: result.ok ? result.status : null,
    responseMs: result.ok ? Math.round(performance.now() - started) : null,
    bytes: body.length,
    answer: success ? undefined : excerptOf(result, target),
  };
}

/** Shorter values of a query are words: taken out of an answer, they would leave nothing to read. */
const SECRET_CHARACTERS = 6;

function excerptOf(result: FetchResult, { auth, a2aToken, token, url }: DeliveryTarget): AnswerExcerpt | undefined {
  // Whoever has to have a certificate mended has to know what is wrong with it; the words are ours.
  if (!result.ok && result.code === "tls_failed") return { text: boundError(result.detail), cut: false };
  if (!result.ok || result.body === undefined) return undefined;
  const said = [auth?.credentials, a2aToken, token].filter((one) => one !== undefined);
  const inUrl = [...new URL(url).searchParams.values()].filter((one) => one.length >= SECRET_CHARACTERS);
  const known = [...said, ...inUrl];
  return answerExcerpt(result.body, result.truncated, known);
}
