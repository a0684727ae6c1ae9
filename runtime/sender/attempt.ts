/** One attempt: signed afresh over the same bytes, sent under guard, and judged. */
import { AdbindError } from "../errors.js";
import { type NetCode, netCodes } from "../net/codes.js";
import type { Fetcher, FetchResult } from "../net/index.js";
import type { Job, JobOutcome } from "../queue/types.js";
import type { Handled, JobLease } from "../queue/worker-options.js";
import { signHmac, signWebhookSync } from "../signing/index.js";
import { boundError } from "./redact.js";
import { nextAttempt, retryAfterMs } from "./schedule.js";
import type { DeliveryTarget, TargetRef } from "./targets.js";
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
  /** Its key stands for its payload: an answer 409 ends it. */
  readonly bound?: true;
  /** Why it cannot be delivered at all; it is there for an operator to see. */
  readonly undeliverable?: string;
  /** The account it tells of, where who is told must be authorized for it at each attempt. */
  readonly account?: string;
}

export interface AttemptOptions {
  readonly fetch: Fetcher;
  readonly signer: () => Signer;
  readonly word: string;
  readonly version: string;
  readonly now: () => number;
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
}

/** Nothing in an answer's body matters; a little is read so that the connection can be used again. */
const ANSWER_LIMIT_BYTES = 4_096;

/** Header fields that prove who sends a body. */
export async function signedHeaders(
  body: Uint8Array,
  target: DeliveryTarget,
  options: AttemptOptions,
): Promise<Record<string, string>> {
  const { word, version, now } = options;
  const seconds = () => Math.floor(now() / 1_000);
  const base = {
    "content-type": "application/json",
    ...(target.a2aToken !== undefined && { "x-a2a-notification-token": target.a2aToken }),
  };
  if (target.auth === null) {
    const { key, keyid } = options.signer();
    const request = { method: "POST", url: target.url, headers: {}, body };
    const { headers } = signWebhookSync(request, { key, keyid, now: seconds, word });
    const { "Content-Type": _, ...signed } = headers;
    return { ...base, ...signed };
  }
  if (target.auth.scheme === "Bearer") return { ...base, authorization: `Bearer ${target.auth.credentials}` };
  const secret = target.auth.credentials;
  // Registered once and warned of then; not again at each attempt.
  const quiet = () => undefined;
  return { ...base, ...(await signHmac(body, { secret, word, version, now: seconds, onDeprecated: quiet })) };
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

/**
 * Whether an endpoint is well, by its answer. An endpoint that is gone, or refuses all it is sent, costs as little as one
 * that is broken.
 */
const isHealthy = (result: FetchResult): boolean => result.ok && result.status >= 200 && result.status < 300;

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

function laterOrDead(
  { job, error, retryAfter }: { readonly job: Job; readonly error: string; readonly retryAfter?: string | undefined },
  { now, random }: AttemptOptions,
): JobOutcome {
  const due = nextAttempt({ attempt: job.attempts, firstAt: job.firstAt, now: now(), retryAfter }, random);
  return due === undefined ? { kind: "dead", error } : { kind: "later", due, error };
}

/** Nothing was sent: a key that cannot sign, a body that cannot be signed. For the operator to mend; it is no fault of the endpoint. */
function unsent(job: Job, fault: unknown, options: AttemptOptions): AttemptReport {
  const why = fault instanceof AdbindError ? fault.code : "the signer failed";
  options.onFault(fault);
  const error = boundError(`not sent: ${why}`);
  const handled: Handled = { outcome: laterOrDead({ job, error }, options), healthy: null };
  return { handled, status: "failed", httpStatus: null, responseMs: null, error };
}

interface AttemptOf {
  readonly job: Job;
  readonly target: DeliveryTarget;
  readonly lease: JobLease;
  /** Milliseconds the receiver has: to say something, and altogether. */
  readonly timeoutMs: number;
}

/**
 * Delivers a job once. Whatever the network does is in the report; nothing is thrown.
 * @returns undefined where the lease ended before anything was sent: it is somebody else's now
 */
export async function attempt(
  { job, target, lease, timeoutMs }: AttemptOf,
  options: AttemptOptions,
): Promise<AttemptReport | undefined> {
  let headers: Record<string, string>;
  try {
    headers = await signedHeaders(job.body, target, options);
  } catch (fault) {
    return unsent(job, fault, options);
  }
  if (!lease.live()) return undefined;
  const started = performance.now();
  const result = await options.fetch(target.url, {
    method: "POST",
    headers,
    body: job.body,
    maxBytes: ANSWER_LIMIT_BYTES,
    oversize: "truncate",
    timeouts: { readMs: timeoutMs, totalMs: timeoutMs },
  });
  const success = isHealthy(result);
  return {
    ...outcomeOf(job, result, options),
    status: result.ok ? (success ? "success" : "failed") : statusOf(result.code),
    httpStatus: result.ok ? result.status : null,
    responseMs: result.ok ? Math.round(performance.now() - started) : null,
  };
}
