/** `query_upstream_traffic`: what the caller's own calls made ports send over HTTP, without secrets. */
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { endpointPattern } from "../../url.js";
import { ScenarioError, type Scenarios } from "../frame/behaviour.js";
import type { UpstreamCall } from "../frame/upstream.js";

/** Values under these names are nobody's business, at any depth. */
const SECRET =
  /^(authorization|credentials?|token|api[_-]?key|password|secret|client[_-]secret|refresh[_-]token|access[_-]token|bearer|session[_-]token|offering[_-]token|cookie|set[_-]cookie)$/i;
const HIDDEN = "[redacted]";
/** Values nested deeper are not looked into, and not shown. */
const MAX_DEPTH = 40;

function redacted(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return value.map((one) => redacted(one, depth + 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, SECRET.test(name) ? HIDDEN : redacted(one, depth + 1)]),
  );
}

const withoutSecrets = (form: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...form].map(([name, value]): [string, string] => [name, SECRET.test(name) ? HIDDEN : value]));

/** An address without the password of its user and secrets in its query. */
function shownUrl(text: string): URL {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  if (url.search !== "") url.search = withoutSecrets(url.searchParams).toString();
  return url;
}

const typeOf = ({ contentType }: UpstreamCall): string =>
  contentType?.split(";")[0]?.trim().toLowerCase() || "application/octet-stream";

/** What was sent: JSON as it is, anything else as a text. */
function payloadOf(call: UpstreamCall): unknown {
  const type = typeOf(call);
  const text = call.body.toString("utf8");
  if (type === "application/x-www-form-urlencoded") return withoutSecrets(new URLSearchParams(text)).toString();
  if (type !== "application/json" && !type.endsWith("+json")) return text;
  try {
    return redacted(JSON.parse(text));
  } catch {
    return text;
  }
}

const sha256 = (text: string): string => hash("sha256", text, "hex");
const bytesOf = (payload: unknown): string => (typeof payload === "string" ? payload : (canonicalize(payload) ?? ""));

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "object" && value !== null) for (const one of Object.values(value)) yield* textsIn(one);
  else if (value !== null && value !== undefined) yield String(value);
}

interface Asked {
  readonly since: number;
  readonly pattern: RegExp;
  readonly limit: number;
  readonly digest: boolean;
  readonly identifiers: readonly string[];
}

function attested(call: UpstreamCall, { digest, identifiers }: Asked): JsonObject {
  const payload = payloadOf(call);
  const bytes = bytesOf(payload);
  const mode = { attestation_mode: digest ? "digest" : "raw", payload_length: Buffer.byteLength(bytes) };
  if (!digest) return { ...mode, payload };
  const found = new Set([...textsIn(payload)].map(sha256));
  const proofs = identifiers.map((one) => ({ identifier_value_sha256: one, found: found.has(one) }));
  return {
    ...mode,
    payload_digest_sha256: sha256(bytes),
    ...(proofs.length > 0 && { identifier_match_proofs: proofs }),
  };
}

function shown(call: UpstreamCall, asked: Asked): JsonObject {
  const { method, purpose, at, status } = call;
  const url = shownUrl(call.url);
  return {
    method,
    endpoint: `${method} ${url.href}`,
    url: url.href,
    host: url.host,
    path: url.pathname,
    content_type: typeOf(call),
    purpose,
    ...attested(call, asked),
    timestamp: new Date(at).toISOString(),
    ...(status !== undefined && { status_code: status }),
  };
}

const LIMIT = { default: 100, most: 1_000 } as const;

function askedIn(params: JsonObject, began: number): Asked {
  const {
    since_timestamp: since,
    endpoint_pattern: pattern = "*",
    limit = LIMIT.default,
    attestation_mode: mode,
  } = params;
  const from = since === undefined ? began : Date.parse(String(since));
  if (Number.isNaN(from)) throw new ScenarioError("INVALID_PARAMS", "params.since_timestamp must be a time");
  const identifiers = params.identifier_value_digests;
  return {
    since: from,
    pattern: endpointPattern(String(pattern)),
    limit: Math.min(Math.max(1, Number(limit) || LIMIT.default), LIMIT.most),
    digest: mode === "digest",
    identifiers: Array.isArray(identifiers) ? identifiers.slice(0, 64).map(String) : [],
  };
}

const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);

/** What a test may ask of what was sent. */
export const trafficScenarios: Scenarios = {
  async query_upstream_traffic(params, call) {
    const { upstream, principal, shapes } = call;
    if (!shapes.answer("comply_test_controller").has("recorded_calls"))
      throw new ScenarioError("UNKNOWN_SCENARIO", "this release has no scenario query_upstream_traffic");
    const began = upstream?.since ?? call.now.getTime();
    const asked = askedIn(params, began);
    const all = (upstream?.callsOf(principal) ?? [])
      .filter(({ at, method }) => at >= asked.since && methods.has(method))
      .map((one) => shown(one, asked))
      .filter(({ endpoint }) => asked.pattern.test(String(endpoint)));
    const recorded = all.slice(0, asked.limit);
    return {
      recorded_calls: recorded,
      total_count: all.length,
      truncated: recorded.length < all.length,
      since_timestamp: new Date(asked.since).toISOString(),
    };
  },
};
