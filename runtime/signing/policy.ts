/** Which unsigned requests a verifier refuses: what it advertises, and what must never be registered unsigned. */
import { parseStrict } from "../json.js";
import type { DigestPolicy } from "./profiles.js";
import type { SignableRequest } from "./types.js";

/** A verifier's `request_signing` capability, in its wire names. */
export interface RequestCapability {
  readonly supported?: boolean;
  /** Whether signatures must cover the digest of the body; `either` by default. */
  readonly covers_content_digest?: DigestPolicy;
  /** Tools whose calls must be signed. */
  readonly required_for?: readonly string[];
  /** JSON-RPC methods of the transport that must be signed, such as `tasks/cancel`. */
  readonly protocol_methods_required_for?: readonly string[];
}

type Json = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Why an unsigned request is refused; undefined when it may pass.
 * @param operation the tool called; read from the request when absent
 */
export function unsignedFault(
  request: SignableRequest,
  capability: RequestCapability,
  operation?: string,
): string | undefined {
  const json = parseStrict(request.body);
  // Duplicate keys or extreme depth could hide what is looked for below from us and show it to somebody else.
  if (!json.ok && (json.reason === "duplicate_keys" || json.reason === "depth")) return json.detail;
  const body = json.ok ? json.value : undefined;
  const called = operation === undefined ? operationsOf(request.url, body) : [operation];
  const required = called.find((name) => capability.required_for?.includes(name));
  if (required !== undefined) return `${required} must be signed`;
  const method = isObject(body) && typeof body.jsonrpc === "string" ? body.method : undefined;
  if (typeof method === "string" && capability.protocol_methods_required_for?.includes(method)) {
    return `${method} must be signed`;
  }
  return registersCredentials(body) ? "a registration with webhook credentials must be signed" : undefined;
}

/** The tools a request may call: an MCP tool call, A2A skill invocations, or else the last segment of the path. */
function operationsOf(url: string, body: unknown): string[] {
  if (!isObject(body) || typeof body.jsonrpc !== "string") {
    const path = url.replace(/[?#].*$/s, "").replace(/\/+$/, "");
    return [path.slice(path.lastIndexOf("/") + 1)];
  }
  const params = isObject(body.params) ? body.params : {};
  const parts = isObject(params.message) && Array.isArray(params.message.parts) ? params.message.parts : [];
  const skills = parts.map((part) => (isObject(part) && isObject(part.data) ? part.data.skill : undefined));
  return [params.name, ...skills].filter((name) => typeof name === "string");
}

/**
 * Does the request register a webhook with legacy credentials, at any depth? Unsigned, that block could have been injected
 * on the path (service.md "Authentication", legacy).
 */
function registersCredentials(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(registersCredentials);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, item]) =>
      (/^push_?notification_?config$/i.test(key) && isObject(item) && holdsAuthentication(item)) ||
      registersCredentials(item),
  );
}

const holdsAuthentication = ({ authentication }: Json): boolean =>
  isObject(authentication)
    ? Object.keys(authentication).length > 0
    : authentication !== undefined && authentication !== null;
