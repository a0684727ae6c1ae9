/**
 * One request, from the socket to its answer. The order of the checks is the protection: cheap before dear, size before
 * signature, signature before anything is believed, and durable before 200 (decisions.md, "Receiver").
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { HeaderFields, Refusal } from "../signing/types.js";
import type { AcceptOutcome, Arrival, NewEvent, Registration, RouteBinding } from "../store/types.js";
import { authenticator, challengeFor } from "./authenticate.js";
import { readBody } from "./body.js";
import { type Envelope, readEnvelope } from "./envelope.js";
import { fieldOf, isReceivable } from "./fields.js";
import { instantMs } from "./instant.js";
import { resultJudge } from "./judge.js";
import { routeCache } from "./routes.js";
import type { ReceiverConfig } from "./settings.js";
import type { ReceiverAnswer, ReceiverRequest } from "./types.js";
import type { Worker } from "./worker.js";

/** Seconds a sender is asked to wait when keys or the store cannot be reached. */
const UNAVAILABLE_RETRY_SECONDS = 5;
/** Seconds a sender with a full keyspace is asked to wait: room comes with the hours, not at once. */
const FULL_RETRY_SECONDS = 300;
/** Bytes kept of a body's digest: enough to notice that a key came back with another one. */
const DIGEST_BYTES = 16;

const json = { "content-type": "application/json" } as const;
const accepted: ReceiverAnswer = { status: 200, headers: json, body: '{"status":"accepted"}' };
const duplicate: ReceiverAnswer = { status: 200, headers: json, body: '{"status":"duplicate"}' };
const stale: ReceiverAnswer = { status: 200, headers: json, body: '{"status":"stale"}' };

const refuse = (
  status: number,
  error: string,
  { headers, ...more }: { headers?: Record<string, string>; fields?: readonly string[] } = {},
): ReceiverAnswer => ({ status, headers: { ...json, ...headers }, body: JSON.stringify({ error, ...more }) });

/** Answers given with the body still on its way: the connection is not worth keeping. */
const early = (status: number, error: string, headers: Record<string, string> = {}): ReceiverAnswer =>
  refuse(status, error, { headers: { connection: "close", ...headers } });

/** What reaches the inbox: a request that is authenticated and whose envelope holds. */
export interface Incoming {
  readonly binding: RouteBinding;
  readonly envelope: Envelope;
  readonly body: unknown;
  readonly raw: Uint8Array;
  readonly token: string | null;
}

export interface Receiving {
  handle(request: ReceiverRequest): Promise<ReceiverAnswer>;
  /** Claims, orders and keeps an event; its handler then runs. Also the way in for what polling finds. */
  keep(incoming: Incoming, registration: Registration | undefined): Promise<AcceptOutcome>;
  /** Forgets what is remembered of a route. */
  forget(route: string): void;
}

/** Told of every accepted event that ends its task. */
export type TerminalListener = (sender: string, taskId: string) => void;

export function createReceiving<Tx>(
  config: ReceiverConfig<Tx>,
  worker: Worker,
  onTerminal: TerminalListener = () => undefined,
): Receiving {
  const authenticate = authenticator(config);
  const routes = routeCache(config.store.registrations, config.now);
  const keep = keeper(config, worker, onTerminal);

  const refused = (answer: ReceiverAnswer, code: string, about: object = {}): ReceiverAnswer => {
    config.metrics.refused(code);
    config.log[code === "webhook_mode_mismatch" ? "warn" : "info"]({ code, ...about }, "webhook refused");
    return answer;
  };

  const unauthenticated = (result: Refusal, binding: RouteBinding, bytes: number): ReceiverAnswer => {
    const challenge = challengeFor(result);
    const wait = String(result.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS);
    const headers: Record<string, string> =
      result.status === 503
        ? { "retry-after": wait }
        : challenge === undefined
          ? {}
          : { "www-authenticate": challenge };
    const { code, step, keyid, keys } = result;
    const about = {
      step,
      sender: binding.sender,
      bytes,
      ...(keyid && { keyid: keyid.slice(0, 64) }),
      ...(keys && { keys }),
    };
    return refused(refuse(result.status, code, { headers }), code, about);
  };

  const body = async (request: ReceiverRequest): Promise<Uint8Array | ReceiverAnswer> => {
    if (request.method !== "POST")
      return refused(early(405, "method_not_allowed", { allow: "POST" }), "method_not_allowed");
    if (!isReceivable(fieldOf(request.headers, "content-type"))) {
      return refused(early(415, "unsupported_media_type"), "unsupported_media_type");
    }
    const declared = Number(fieldOf(request.headers, "content-length"));
    const raw = declared > config.maxBodyBytes ? "too_large" : await readBody(request.body, config.maxBodyBytes);
    if (raw === "too_large") return refused(early(413, "body_too_large"), "body_too_large");
    return raw === "incomplete" ? refused(early(400, "body_incomplete"), "body_incomplete") : raw;
  };

  const receive = async (request: ReceiverRequest): Promise<ReceiverAnswer> => {
    const raw = await body(request);
    if (!(raw instanceof Uint8Array)) return raw;
    const binding = await routes.find(request.target);
    if (binding === undefined) return refused(refuse(404, "unknown_route"), "unknown_route");
    const { method, target } = request;
    const headers = config.ignoreHost ? withoutHost(request.headers) : request.headers;
    const result = await authenticate({ method, url: config.publicUrl + target, headers, body: raw }, binding);
    if (!result.ok) return unauthenticated(result, binding, raw.length);
    const read = readEnvelope(result.json, { kind: binding.kind, format: binding.format, now: config.now(), raw });
    if (!read.ok) {
      const { code, fields } = read;
      return refused(refuse(400, code, { fields }), code, { sender: binding.sender, bytes: raw.length });
    }
    const { envelope } = read;
    const found = await config.store.registrations.find(binding.route, envelope.operationId);
    if (found.registration === undefined && envelope.operationId === null) {
      const fields = ["operation_id"];
      return refused(refuse(400, "missing_envelope_fields", { fields }), "missing_envelope_fields", { fields });
    }
    const token = envelope.token ?? fieldOf(headers, "x-a2a-notification-token") ?? null;
    if (!tokenHolds(found.registration, token)) {
      return refused(refuse(401, "webhook_token_mismatch"), "webhook_token_mismatch", { sender: binding.sender });
    }
    const outcome = await keep({ binding, envelope, body: result.json, raw, token }, found.registration);
    return answerOf(outcome, refused);
  };

  return {
    keep,
    forget: routes.forget,
    async handle(request) {
      try {
        return await receive(request);
      } catch (error) {
        config.log.error({ error: error instanceof Error ? error.name : typeof error }, "webhook could not be kept");
        const headers = { "retry-after": String(UNAVAILABLE_RETRY_SECONDS) };
        config.metrics.refused("unavailable");
        return refuse(503, "unavailable", { headers });
      }
    },
  };
}

function answerOf(
  outcome: AcceptOutcome,
  refused: (answer: ReceiverAnswer, code: string) => ReceiverAnswer,
): ReceiverAnswer {
  switch (outcome.outcome) {
    case "accepted":
      return accepted;
    case "duplicate":
      return duplicate;
    case "stale":
      return stale;
    case "full":
      return refused(
        refuse(429, "keyspace_full", { headers: { "retry-after": String(FULL_RETRY_SECONDS) } }),
        "keyspace_full",
      );
  }
}

/** Claim, order and inbox row, and the handler's start. */
function keeper<Tx>(config: ReceiverConfig<Tx>, worker: Worker, onTerminal: TerminalListener): Receiving["keep"] {
  const judge = resultJudge(config);
  return async (incoming, registration) => {
    const { binding, envelope, body, raw, token } = incoming;
    const bound = releaseFor(config, binding, registration);
    const taskType = envelope.taskType ?? registration?.taskType ?? null;
    const now = config.now();
    const event: NewEvent = {
      sender: binding.sender,
      key: envelope.key,
      route: binding.route,
      kind: binding.kind,
      release: bound.release.version,
      format: envelope.format,
      taskType,
      taskId: envelope.taskId,
      operationId: envelope.operationId,
      status: envelope.status,
      instant: envelope.instant,
      notificationId: envelope.notificationId,
      body: raw,
      receivedAt: now,
      notes: await judge(binding.kind, { ...envelope, taskType }, body, bound.release),
    };
    const lease = worker.reserve();
    let outcome: AcceptOutcome | undefined;
    try {
      outcome = await config.store.inbox.accept(
        arrivalOf(config, incoming, event, { registration, token, lease, now }),
      );
    } finally {
      const leased = outcome?.outcome === "accepted" && outcome.leased;
      if (lease !== undefined && !leased) worker.release();
    }
    begin(worker, event, outcome);
    report(config, event, outcome);
    if (outcome.outcome === "accepted" && envelope.terminal && event.taskId !== null) {
      onTerminal(event.sender, event.taskId);
    }
    return outcome;
  };
}

function arrivalOf<Tx>(
  config: ReceiverConfig<Tx>,
  { envelope, raw }: Incoming,
  event: NewEvent,
  { registration, token, lease, now }: KeepContext,
): Arrival {
  const ordered = envelope.ordered && envelope.instant !== null && envelope.status !== null;
  return {
    event,
    digest: hash("sha256", raw, "buffer").subarray(0, DIGEST_BYTES),
    now,
    windowSeconds: config.dedupWindowSeconds,
    senderCap: config.senderCap,
    registered: registration !== undefined,
    ...(ordered && {
      order: { instant: envelope.instant, status: envelope.status, terminal: envelope.terminal },
    }),
    ...(registration === undefined && token !== null && { tokenDigest: tokenDigest(token) }),
    ...(lease && { lease }),
  };
}

interface KeepContext {
  readonly registration: Registration | undefined;
  readonly token: string | null;
  readonly lease: Arrival["lease"] | undefined;
  readonly now: number;
}

function begin(worker: Worker, event: NewEvent, outcome: AcceptOutcome): void {
  if (outcome.outcome !== "accepted" || outcome.parked) return;
  const { id, leased, reemission } = outcome;
  if (leased) {
    worker.run({ ...event, id, state: "pending", reemission, attempts: 0, due: event.receivedAt, error: null });
  } else worker.wake();
}

function report<Tx>({ metrics, log }: ReceiverConfig<Tx>, event: NewEvent, outcome: AcceptOutcome): void {
  if (event.instant !== null) metrics.lag(Math.max(0, (event.receivedAt - instantMs(event.instant)) / 1000));
  const { sender, kind } = event;
  switch (outcome.outcome) {
    case "accepted":
      metrics.accepted(kind, outcome.parked);
      if (event.notes.length > 0)
        log.warn({ id: outcome.id, sender, notes: event.notes.length }, "result differs from its release");
      if (outcome.reemission) log.info({ id: outcome.id, sender }, "notification came again");
      return;
    case "duplicate":
      metrics.duplicate();
      if (!outcome.changed) return;
      metrics.anomaly("changed_body");
      log.warn({ sender, kind, bytes: event.body.length }, "a key came again with another body; the first copy holds");
      return;
    case "stale":
      metrics.stale(outcome.reason);
      if (!outcome.conflict) return;
      metrics.anomaly("terminal_conflict");
      log.warn({ sender, kind, status: event.status }, "a task that had ended was reported to have ended otherwise");
      return;
    case "full":
      return;
  }
}

export const tokenDigest = (token: string): Uint8Array => hash("sha256", token, "buffer");

const tokenHolds = (registration: Registration | undefined, token: string | null): boolean => {
  const expected = registration?.tokenDigest ?? null;
  return expected === null || (token !== null && timingSafeEqual(expected, tokenDigest(token)));
};

function releaseFor<Tx>(config: ReceiverConfig<Tx>, binding: RouteBinding, registration: Registration | undefined) {
  const wanted = registration?.release ?? binding.release ?? config.senderOf(binding.sender)?.release;
  return (wanted == null ? undefined : config.releases.get(wanted)) ?? config.defaultRelease;
}

const withoutHost = (headers: HeaderFields): HeaderFields => {
  const pairs =
    Symbol.iterator in headers ? [...(headers as Iterable<readonly [string, string]>)] : Object.entries(headers);
  const kept = pairs.filter(([name]) => !/^(host|:authority)$/i.test(name));
  return Symbol.iterator in headers ? (kept as [string, string][]) : Object.fromEntries(kept);
};
