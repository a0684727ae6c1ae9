/**
 * One request, from the socket to its answer. The order of the checks is the protection: cheap before dear, size before
 * signature, signature before anything is believed, and durable before 200 (docs/protocol/webhooks.md#receiving).
 */
import { AdbindError } from "../errors.js";
import { keysBindPayloads } from "../facts/index.js";
import type { HeaderFields, ReplayStore } from "../signing/types.js";
import { refusal } from "../signing/verify.js";
import type { AcceptOutcome, NonceUse, RouteBinding } from "../store/types.js";
import { type Authenticated, authenticator } from "./authenticate.js";
import { holdErrors, readBody } from "./body.js";
import { readEnvelope } from "./envelope.js";
import { fieldOf, isReceivable } from "./fields.js";
import { type InFlight, inFlight } from "./in-flight.js";
import { createIngest, type Ingest, payloadDigest, releaseFor, type TerminalListener, tokenHolds } from "./ingest.js";
import { isChallenge, isConfigKind, kindOf } from "./kinds.js";
import { refusalLog } from "./refusal-log.js";
import {
  closing,
  type Decision,
  early,
  json,
  type RefusedRequest,
  refuse,
  UNAVAILABLE_RETRY_SECONDS,
  unauthenticated,
  unread,
} from "./refused.js";
import { type KnownRoute, type RouteCache, routeCache } from "./routes.js";
import type { ReceiverConfig } from "./settings.js";
import type { RequestSpan } from "./tracing.js";
import type { ReceiverAnswer, ReceiverRequest } from "./types.js";
import type { InboxWorker } from "./worker.js";

/** Seconds a sender with a full keyspace is asked to wait: room comes with the hours, not at once. */
const FULL_RETRY_SECONDS = 300;

const said = (status: string): ReceiverAnswer => ({ status: 200, headers: json, body: JSON.stringify({ status }) });
const taken = { accepted: said("accepted"), duplicate: said("duplicate"), stale: said("stale") } as const;

const nonceRefusals = {
  seen: refusal("webhook_signature_replayed", 12),
  full: refusal("webhook_signature_rate_abuse", 13),
} as const;

export interface Receiving {
  handle(request: ReceiverRequest): Promise<ReceiverAnswer>;
  readonly ingest: Ingest;
  /** Forgets what is remembered of a route. */
  forget(route: string): void;
}

/** What is accepted uses its nonce with its claim; a refusal uses it now, and of a replay that is the refusal. */
async function spend(
  replay: ReplayStore,
  { keyid, nonce, expiresAt, now }: NonceUse,
  binding: RouteBinding,
): Promise<RefusedRequest | undefined> {
  const used = await replay.insert(keyid, nonce, expiresAt, now);
  return used === "inserted" ? undefined : unauthenticated(nonceRefusals[used], binding, 0);
}

export function createReceiving<Tx>(
  config: ReceiverConfig<Tx>,
  worker: InboxWorker,
  onTerminal: TerminalListener = () => undefined,
): Receiving {
  const credentials = authenticator(config);
  const routes = routeCache(config.store.registrations, config.now);
  const ingest = createIngest(config, worker, onTerminal);
  const claiming = inFlight();
  const replay = config.store.replay();
  const spending: Ingesting["spend"] = (nonce, binding) => spend(replay, nonce, binding);
  const ingesting = { ingest, claiming, spend: spending };
  const tell = refusalLog(config.log, config.now);

  const admit = admitter(config, routes, credentials);

  const receive = async (request: ReceiverRequest, span: RequestSpan): Promise<Decision> => {
    // Before anything is waited for, and for as long as the stream lives: an error that nobody hears ends the process.
    holdErrors(request.body);
    const admitted = await admit(request);
    if ("code" in admitted) return admitted;
    const { route, capBytes } = admitted;
    const { binding } = route;
    const raw = await readBody(request.body, { capBytes, withinMs: config.bodyTimeoutSeconds * 1000 });
    if (!(raw instanceof Uint8Array)) return unread(raw, binding);
    const { method, target } = request;
    const headers = config.ignoreHost ? withoutHost(request.headers) : request.headers;
    const result = await credentials.verify({ method, url: config.publicUrl + target, headers, body: raw }, binding);
    const decision = await decide(config, ingesting, { result, route, raw, headers, span });
    if (!("code" in decision) || decision.spent || result.nonce === undefined) return decision;
    return (await spending(result.nonce, binding)) ?? decision;
  };

  const answer = (decision: Decision, span: RequestSpan): ReceiverAnswer => {
    if (!("code" in decision)) {
      span.end(decision.status);
      return decision;
    }
    span.end(decision.answer.status, decision.code);
    config.metrics.refused(decision.code);
    tell({ code: decision.code, about: decision.about ?? {} });
    return decision.answer;
  };

  const failed = (error: unknown): RefusedRequest => {
    config.log.error(toldOf(error), error instanceof AdbindError ? error.message : "webhook could not be kept");
    // The application's mistake, and not one of the database's.
    if (error instanceof AdbindError && error.code === "body_not_raw") return early(500, error.code);
    return refuse(503, "unavailable", { headers: { "retry-after": String(UNAVAILABLE_RETRY_SECONDS) } });
  };

  return {
    ingest,
    forget: routes.forget,
    async handle(request) {
      const begun = performance.now();
      const span = config.traces.request(request.headers);
      const answered = answer(await receive(request, span).catch(failed), span);
      config.metrics.answered(answered.status, (performance.now() - begun) / 1000);
      return answered;
    },
  };
}

/** Our own errors say what is wrong and what to do; of another's, which may quote what it worked with, only its name is told. */
const toldOf = (error: unknown): object =>
  error instanceof AdbindError ? { code: error.code } : { error: error instanceof Error ? error.name : typeof error };

interface Admitted {
  readonly route: KnownRoute;
  /** Largest body of the route, in bytes. */
  readonly capBytes: number;
}

/** Everything that is judged before a byte of the body is read: a stranger's bytes take no memory. */
function admitter<Tx>(
  config: ReceiverConfig<Tx>,
  routes: RouteCache,
  credentials: ReturnType<typeof authenticator<Tx>>,
) {
  return async ({ method, target, headers }: ReceiverRequest): Promise<Admitted | RefusedRequest> => {
    if (method !== "POST") return early(405, "method_not_allowed", { headers: { allow: "POST" } });
    if (!isReceivable(fieldOf(headers, "content-type"))) return early(415, "unsupported_media_type");
    const route = await routes.find(target);
    if (route === undefined) return early(404, "unknown_route");
    const { binding } = route;
    const fault = credentials.fault(headers, binding);
    if (fault !== undefined) return closing(unauthenticated(fault, binding, 0));
    const capBytes = config.maxBodyBytesOf(binding) ?? config.maxBodyBytes;
    const about = { sender: binding.sender };
    if (Number(fieldOf(headers, "content-length")) > capBytes) return early(413, "body_too_large", { about });
    return { route, capBytes };
  };
}

interface Ingesting {
  readonly ingest: Ingest;
  readonly claiming: InFlight;
  /** Uses a nonce up. @returns what is said where it was used before */
  readonly spend: (nonce: NonceUse, binding: RouteBinding) => Promise<RefusedRequest | undefined>;
}

interface Judged {
  readonly result: Authenticated;
  readonly route: KnownRoute;
  readonly raw: Uint8Array;
  readonly headers: HeaderFields;
  readonly span: RequestSpan;
}

/** From the verdict on the signature to the answer: envelope, token, and the store's own verdict. */
async function decide<Tx>(
  config: ReceiverConfig<Tx>,
  { ingest, claiming, spend }: Ingesting,
  { result, route, raw, headers, span }: Judged,
): Promise<Decision> {
  if (!result.ok) return unauthenticated(result, route.binding, raw.length);
  const { json: body, nonce, digest: sha256 } = result;
  if (isConfigKind(route.binding.kind) && isChallenge(body)) {
    const answer = challenged(body.challenge);
    const again = "code" in answer || nonce === undefined ? undefined : await spend(nonce, route.binding);
    return again ?? answer;
  }
  const { release } = releaseFor(config, route.binding, route.whole);
  const kind = kindOf(body, route.binding.kind, release);
  const binding = kind === route.binding.kind ? route.binding : { ...route.binding, kind };
  const about = { sender: binding.sender, bytes: raw.length };
  const read = readEnvelope(body, { kind: binding.kind, format: binding.format, now: config.now(), raw });
  if (!read.ok) return refuse(400, read.code, { fields: read.fields, about });
  const { envelope } = read;
  const { operationId } = envelope;
  const own = operationId === null ? undefined : await config.store.registrations.own(binding, operationId);
  const registration = own ?? route.whole;
  if (registration === undefined && operationId === null && !isConfigKind(kind)) {
    // Every registration of the route names an operation, and the body does not say which.
    return refuse(400, "missing_envelope_fields", { fields: ["operation_id"], about });
  }
  const token = envelope.token ?? fieldOf(headers, "x-a2a-notification-token") ?? null;
  if (!tokenHolds(registration, token)) return refuse(401, "webhook_token_mismatch", { about });
  const bind = keysBindPayloads(releaseFor(config, binding, registration).release);
  const payload = payloadDigest(body, raw, { bind, ...(sha256 !== undefined && { sha256 }) });
  const claim = () =>
    ingest({ binding, envelope, body, raw, token, span, digest: payload, ...(nonce && { nonce }) }, registration);
  if (!bind) return decisionOf(await claim(), binding);
  const outcome = await claiming.during(`${binding.sender} ${envelope.key}`, payload, claim);
  if (outcome === "conflict" || (typeof outcome === "object" && outcome.outcome === "duplicate" && outcome.changed)) {
    return { ...refuse(409, "idempotency_key_conflict", { about }), spent: typeof outcome === "object" };
  }
  return outcome === "busy" ? refuse(503, "in_progress", { headers: soon, about }) : decisionOf(outcome, binding);
}

const full = { "retry-after": String(FULL_RETRY_SECONDS) };
const soon = { "retry-after": "1" };

/** The answer to who asks whether somebody listens here: what was asked. Nothing is kept of it. */
const challenged = (challenge: string): Decision =>
  isAnswerable(challenge)
    ? { status: 200, headers: json, body: JSON.stringify({ challenge }) }
    : refuse(400, "invalid_envelope_fields", { fields: ["challenge"] });

/** As releases have it, and somewhat longer: what is sent back is nobody's text. */
const isAnswerable = (challenge: string): boolean => /^[A-Za-z0-9_.:-]{1,1024}$/.test(challenge);

function decisionOf(kept: AcceptOutcome, binding: RouteBinding): Decision {
  const { outcome } = kept;
  switch (outcome) {
    case "accepted":
      return kept.unfit === true
        ? { ...refuse(400, "result_invalid", { about: { sender: binding.sender } }), spent: true }
        : taken[outcome];
    case "duplicate":
    case "stale":
      return taken[outcome];
    case "full":
      return { ...refuse(429, "keyspace_full", { headers: full, about: { sender: binding.sender } }), spent: true };
    case "replayed":
      return { ...unauthenticated(nonceRefusals.seen, binding, 0), spent: true };
    case "rate_abuse":
      return { ...unauthenticated(nonceRefusals.full, binding, 0), spent: true };
  }
}

const withoutHost = (headers: HeaderFields): HeaderFields => {
  const pairs =
    Symbol.iterator in headers ? [...(headers as Iterable<readonly [string, string]>)] : Object.entries(headers);
  const kept = pairs.filter(([name]) => !/^(host|:authority)$/i.test(name));
  return Symbol.iterator in headers ? (kept as [string, string][]) : Object.fromEntries(kept);
};
