/** One attempt: signed afresh over the same bytes, sent under guard, and judged. */
import { AdbindError } from "../errors.js";
import { type NetCode, netCodes } from "../net/codes.js";
import type { Fetcher, FetchResult } from "../net/index.js";
import type { Job } from "../queue/types.js";
import type { Handled, JobLease } from "../queue/worker-options.js";
import { signHmac, signWebhookSync } from "../signing/index.js";
import { boundError } from "./redact.js";
import type { DeliveryAuth } from "./registration.js";
import { nextAttempt } from "./schedule.js";
import type { Signer } from "./types.js";

/** What a delivery's job says beside its body. */
export interface DeliveryMeta {
  readonly url: string;
  readonly auth: DeliveryAuth;
  /** A2A's own token header. */
  readonly a2aToken?: string | undefined;
  /** Whose activity it is, and of what: a media buy, a task. */
  readonly principal: string;
  readonly subject: string;
  /** `notification_type` of persistent channels; a task's tool otherwise. */
  readonly type: string;
  readonly sequence?: number | undefined;
}

export interface AttemptOptions {
  readonly fetch: Fetcher;
  readonly signer: () => Signer;
  readonly word: string;
  readonly version: string;
  readonly now: () => number;
  readonly random: () => number;
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

/** Seconds a receiver has (webhooks-facts.md 6): to say something, and altogether. */
const ATTEMPT_LIMIT_MS = 10_000;
/** Nothing in an answer's body matters; a little is read so that the connection can be used again. */
const ANSWER_LIMIT_BYTES = 4_096;
/** A key that cannot sign, a body that cannot be signed: for the operator to mend, meanwhile tried again. */
const UNSIGNABLE_DELAY_MS = 60_000;

async function headersFor(job: Job, meta: DeliveryMeta, options: AttemptOptions): Promise<Record<string, string>> {
  const { word, version, now } = options;
  const seconds = () => Math.floor(now() / 1_000);
  const base = {
    "content-type": "application/json",
    ...(meta.a2aToken !== undefined && { "x-a2a-notification-token": meta.a2aToken }),
  };
  if (meta.auth === null) {
    const { key, keyid } = options.signer();
    const request = { method: "POST", url: meta.url, headers: {}, body: job.body };
    const { headers } = signWebhookSync(request, { key, keyid, now: seconds, word });
    const { "Content-Type": _, ...signed } = headers;
    return { ...base, ...signed };
  }
  if (meta.auth.scheme === "Bearer") return { ...base, authorization: `Bearer ${meta.auth.credentials}` };
  const secret = meta.auth.credentials;
  // Registered once and warned of then; not again at each attempt.
  const quiet = () => undefined;
  return { ...base, ...(await signHmac(job.body, { secret, word, version, now: seconds, onDeprecated: quiet })) };
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
 * What an answer says of its destination. A refusal of one event says nothing of the others; a server that is overloaded,
 * broken or away does.
 */
const healthOf = (result: FetchResult): boolean | null => {
  if (!result.ok) return netCodes[result.code].kind === "refused" ? null : false;
  if (result.status >= 200 && result.status < 300) return true;
  return result.status >= 500 || result.status === 429 || result.status === 408 ? false : null;
};

function outcomeOf(job: Job, result: FetchResult, options: AttemptOptions): Pick<AttemptReport, "handled" | "error"> {
  const healthy = healthOf(result);
  if (result.ok && healthy) return { handled: { outcome: { kind: "done" }, healthy }, error: null };
  const error = boundError(
    result.ok
      ? `HTTP ${result.status}${result.status === 401 ? signatureError(result.headers["www-authenticate"]) : ""}`
      : `${result.code}: ${netCodes[result.code].summary}`,
  );
  const due = nextAttempt(
    {
      attempt: job.attempts,
      firstAt: job.firstAt,
      now: options.now(),
      retryAfter: result.ok ? result.headers["retry-after"] : undefined,
    },
    options.random,
  );
  const outcome = due === undefined ? ({ kind: "dead", error } as const) : ({ kind: "later", due, error } as const);
  return { handled: { outcome, healthy }, error };
}

/**
 * Delivers a job once. Whatever the network does is in the report; nothing is thrown.
 * @returns undefined where the lease ended before anything was sent: it is somebody else's now
 */
export async function attempt(
  { job, meta, lease }: { readonly job: Job; readonly meta: DeliveryMeta; readonly lease: JobLease },
  options: AttemptOptions,
): Promise<AttemptReport | undefined> {
  let headers: Record<string, string>;
  try {
    headers = await headersFor(job, meta, options);
  } catch (fault) {
    if (!(fault instanceof AdbindError)) throw fault;
    const error = boundError(`not sent: ${fault.code}`);
    const due = options.now() + UNSIGNABLE_DELAY_MS;
    const handled: Handled = { outcome: { kind: "later", due, error }, healthy: null };
    return { handled, status: "failed", httpStatus: null, responseMs: null, error };
  }
  if (!lease.live()) return undefined;
  const started = performance.now();
  const result = await options.fetch(meta.url, {
    method: "POST",
    headers,
    body: job.body,
    maxBytes: ANSWER_LIMIT_BYTES,
    oversize: "truncate",
    timeouts: { readMs: ATTEMPT_LIMIT_MS, totalMs: ATTEMPT_LIMIT_MS },
  });
  const success = result.ok && result.status >= 200 && result.status < 300;
  return {
    ...outcomeOf(job, result, options),
    status: result.ok ? (success ? "success" : "failed") : statusOf(result.code),
    httpStatus: result.ok ? result.status : null,
    responseMs: result.ok ? Math.round(performance.now() - started) : null,
  };
}
