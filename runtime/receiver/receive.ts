/**
 * One request, from the socket to its answer. The order of the checks is the protection: cheap before dear, size before
 * signature, signature before anything is believed, and durable before 200 (decisions.md, "Receiver").
 */
import type { HeaderFields, Refusal } from "../signing/types.js";
import { refusal } from "../signing/verify.js";
import type { AcceptOutcome, NonceUse, RouteBinding } from "../store/types.js";
import { type Authenticated, authenticator, challengeFor } from "./authenticate.js";
import { readBody } from "./body.js";
import { kindOf, readEnvelope } from "./envelope.js";
import { fieldOf, isReceivable } from "./fields.js";
import { type Keep, keeper, type TerminalListener, tokenHolds } from "./keep.js";
import { type KnownRoute, routeCache } from "./routes.js";
import type { ReceiverConfig } from "./settings.js";
import type { ReceiverAnswer, ReceiverRequest } from "./types.js";
import type { Worker } from "./worker.js";

/** Seconds a sender is asked to wait when keys or the store cannot be reached. */
const UNAVAILABLE_RETRY_SECONDS = 5;
/** Seconds a sender with a full keyspace is asked to wait: room comes with the hours, not at once. */
const FULL_RETRY_SECONDS = 300;
/** Characters logged of a keyid. */
const MAX_KEYID_CHARS = 64;

const json = { "content-type": "application/json" } as const;
const said = (status: string): ReceiverAnswer => ({ status: 200, headers: json, body: JSON.stringify({ status }) });
const taken = { accepted: said("accepted"), duplicate: said("duplicate"), stale: said("stale") } as const;

/** A refusal: its answer, and what is counted and logged of it. */
interface Refused {
  readonly code: string;
  readonly answer: ReceiverAnswer;
  readonly about?: object;
  /** The store was asked, and with the claim it judged the nonce. */
  readonly spent?: boolean;
}

type Decision = ReceiverAnswer | Refused;

interface RefusedWith {
  readonly headers?: Record<string, string>;
  readonly fields?: readonly string[];
  readonly about?: object;
}

const refuse = (status: number, code: string, { headers, fields, about }: RefusedWith = {}): Refused => ({
  code,
  answer: {
    status,
    headers: { ...json, ...headers },
    body: JSON.stringify({ error: code, ...(fields && { fields }) }),
  },
  ...(about && { about }),
});

/** Refused with the body still on its way: the connection is not worth keeping. */
const early = (status: number, code: string, headers: Record<string, string> = {}): Refused =>
  refuse(status, code, { headers: { connection: "close", ...headers } });

function unauthenticated(result: Refusal, binding: RouteBinding, bytes: number): Refused {
  const { code, step, keyid, keys, status } = result;
  const challenge = challengeFor(result);
  const retryAfter = String(result.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS);
  const headers: Record<string, string> = {
    ...(status === 503 && { "retry-after": retryAfter }),
    ...(status === 401 && challenge !== undefined && { "www-authenticate": challenge }),
  };
  const who = { sender: binding.sender, ...(keyid && { keyid: keyid.slice(0, MAX_KEYID_CHARS) }) };
  return refuse(status, code, { headers, about: { step, bytes, ...who, ...(keys && { keys }) } });
}

const nonceRefusals = {
  seen: refusal("webhook_signature_replayed", 12),
  full: refusal("webhook_signature_rate_abuse", 13),
} as const;

export interface Receiving {
  handle(request: ReceiverRequest): Promise<ReceiverAnswer>;
  readonly keep: Keep;
  /** Forgets what is remembered of a route. */
  forget(route: string): void;
}

export function createReceiving<Tx>(
  config: ReceiverConfig<Tx>,
  worker: Worker,
  onTerminal: TerminalListener = () => undefined,
): Receiving {
  const authenticate = authenticator(config);
  const routes = routeCache(config.store.registrations, config.now);
  const keep = keeper(config, worker, onTerminal);
  const replay = config.store.replay();

  /** What is accepted uses its nonce with its claim; a refusal uses it now, and of a replay that is the refusal. */
  const spend = async (
    { keyid, nonce, expiresAt, now }: NonceUse,
    binding: RouteBinding,
  ): Promise<Refused | undefined> => {
    const used = await replay.insert(keyid, nonce, expiresAt, now);
    return used === "inserted" ? undefined : unauthenticated(nonceRefusals[used], binding, 0);
  };

  const receive = async (request: ReceiverRequest): Promise<Decision> => {
    const raw = await readRequest(config, request);
    if (!(raw instanceof Uint8Array)) return raw;
    const route = await routes.find(request.target);
    if (route === undefined) return refuse(404, "unknown_route");
    const { binding } = route;
    const { method, target } = request;
    const headers = config.ignoreHost ? withoutHost(request.headers) : request.headers;
    const result = await authenticate({ method, url: config.publicUrl + target, headers, body: raw }, binding);
    const decision = await decide(config, keep, { result, route, raw, headers });
    if (!("code" in decision) || decision.spent || result.nonce === undefined) return decision;
    return (await spend(result.nonce, binding)) ?? decision;
  };

  const answer = (decision: Decision): ReceiverAnswer => {
    if (!("code" in decision)) return decision;
    config.metrics.refused(decision.code);
    const level = decision.code === "webhook_mode_mismatch" ? "warn" : "info";
    config.log[level]({ code: decision.code, ...decision.about }, "webhook refused");
    return decision.answer;
  };

  return {
    keep,
    forget: routes.forget,
    async handle(request) {
      try {
        return answer(await receive(request));
      } catch (error) {
        config.log.error({ error: error instanceof Error ? error.name : typeof error }, "webhook could not be kept");
        return answer(refuse(503, "unavailable", { headers: { "retry-after": String(UNAVAILABLE_RETRY_SECONDS) } }));
      }
    },
  };
}

/** Method, media type and size: everything that is judged before the body is there. */
async function readRequest<Tx>(config: ReceiverConfig<Tx>, request: ReceiverRequest): Promise<Uint8Array | Refused> {
  if (request.method !== "POST") return early(405, "method_not_allowed", { allow: "POST" });
  if (!isReceivable(fieldOf(request.headers, "content-type"))) return early(415, "unsupported_media_type");
  const declared = Number(fieldOf(request.headers, "content-length"));
  const raw = declared > config.maxBodyBytes ? "too_large" : await readBody(request.body, config.maxBodyBytes);
  if (raw === "too_large") return early(413, "body_too_large");
  return raw === "incomplete" ? early(400, "body_incomplete") : raw;
}

interface Judged {
  readonly result: Authenticated;
  readonly route: KnownRoute;
  readonly raw: Uint8Array;
  readonly headers: HeaderFields;
}

/** From the verdict on the signature to the answer: envelope, token, and the store's own verdict. */
async function decide<Tx>(
  config: ReceiverConfig<Tx>,
  keep: Keep,
  { result, route, raw, headers }: Judged,
): Promise<Decision> {
  if (!result.ok) return unauthenticated(result, route.binding, raw.length);
  const kind = kindOf(result.json, route.binding.kind);
  const binding = kind === route.binding.kind ? route.binding : { ...route.binding, kind };
  const about = { sender: binding.sender, bytes: raw.length };
  const read = readEnvelope(result.json, { kind: binding.kind, format: binding.format, now: config.now(), raw });
  if (!read.ok) return refuse(400, read.code, { fields: read.fields, about });
  const { envelope } = read;
  const { operationId } = envelope;
  const own = operationId === null ? undefined : await config.store.registrations.own(binding.route, operationId);
  const registration = own ?? route.whole;
  if (registration === undefined && operationId === null) {
    // Every registration of the route names an operation, and the body does not say which.
    return refuse(400, "missing_envelope_fields", { fields: ["operation_id"], about });
  }
  const token = envelope.token ?? fieldOf(headers, "x-a2a-notification-token") ?? null;
  if (!tokenHolds(registration, token)) return refuse(401, "webhook_token_mismatch", { about });
  const { json: body, nonce } = result;
  const outcome = await keep({ binding, envelope, body, raw, token, ...(nonce && { nonce }) }, registration);
  return decisionOf(outcome, binding);
}

const full = { "retry-after": String(FULL_RETRY_SECONDS) };

function decisionOf({ outcome }: AcceptOutcome, binding: RouteBinding): Decision {
  switch (outcome) {
    case "accepted":
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
