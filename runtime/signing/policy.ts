/** What a verifier advertises, and what follows from it for a request that is unsigned or badly signed. */
import { isJsonObject } from "../contract/json-object.js";
import { parseStrict } from "../json.js";
import type { DigestPolicy } from "./profiles.js";
import type { SignableRequest } from "./types.js";

/** A verifier's `request_signing` capability, in its wire names. */
export interface RequestCapability {
  readonly supported?: boolean;
  /** Whether signatures must cover the digest of the body; `either` by default, always `required` under the 3.2 profile. */
  readonly covers_content_digest?: DigestPolicy;
  /** Tools whose calls may be signed. */
  readonly supported_for?: readonly string[];
  /** Tools whose calls are let in on another credential when their signature does not hold. */
  readonly warn_for?: readonly string[];
  /** Tools whose calls must be signed. */
  readonly required_for?: readonly string[];
  /** The same for JSON-RPC methods of the transport, such as `tasks/cancel`; spelled as on the wire. */
  readonly protocol_methods_supported_for?: readonly string[];
  readonly protocol_methods_warn_for?: readonly string[];
  readonly protocol_methods_required_for?: readonly string[];
}

/** What a request calls, as far as it is known. */
export interface NamedOperations {
  readonly operations: readonly string[];
  readonly method: string | undefined;
}

type Json = { readonly [key: string]: unknown };

/** Why an unsigned request is refused. Another credential makes up for an operation's signature, never for a registration's. */
export interface UnsignedFault {
  readonly of: "body" | "operation" | "registration";
  readonly detail: string;
}

/**
 * Why an unsigned request is refused; undefined when it may pass.
 * @param called what it calls; read from the request when absent, any name that may be one
 */
export function unsignedFault(
  request: SignableRequest,
  capability: RequestCapability,
  called?: NamedOperations,
): UnsignedFault | undefined {
  const json = parseStrict(request.body);
  // Duplicate keys or extreme depth could hide what is looked for below from us and show it to somebody else.
  if (!json.ok && (json.reason === "duplicate_keys" || json.reason === "depth"))
    return { of: "body", detail: json.detail };
  const body = json.ok ? json.value : undefined;
  if (registersCredentials(body))
    return { of: "registration", detail: "a registration with webhook credentials must be signed" };
  const { operations, method } = called ?? calledBy(request.url, body);
  const required = operations.find((name) => capability.required_for?.includes(name));
  if (required !== undefined) return { of: "operation", detail: `${required} must be signed` };
  if (method !== undefined && capability.protocol_methods_required_for?.includes(method))
    return { of: "operation", detail: `${method} must be signed` };
  return undefined;
}

/** Does a failed signature leave the request to other credentials? What it calls is read only where it may. */
export function onlyWarns(capability: RequestCapability, called: () => NamedOperations): boolean {
  const { warn_for: tools = [], protocol_methods_warn_for: methods = [] } = capability;
  if (tools.length + methods.length === 0) return false;
  const { operations, method } = called();
  return operations.some((name) => tools.includes(name)) || (method !== undefined && methods.includes(method));
}

/** The method and the tools a body may call: an MCP tool call, A2A skill invocations, or else the last segment of the path. */
export function calledBy(url: string, body: unknown): NamedOperations {
  if (!isJsonObject(body) || typeof body.jsonrpc !== "string") {
    const path = url.replace(/[?#].*$/s, "").replace(/\/+$/, "");
    return { operations: [path.slice(path.lastIndexOf("/") + 1)], method: undefined };
  }
  const params = isJsonObject(body.params) ? body.params : {};
  const parts = isJsonObject(params.message) && Array.isArray(params.message.parts) ? params.message.parts : [];
  const skills = parts.map((part) => (isJsonObject(part) && isJsonObject(part.data) ? part.data.skill : undefined));
  const operations = [params.name, ...skills].filter((name) => typeof name === "string");
  return { operations, method: typeof body.method === "string" ? body.method : undefined };
}

/** A method of A2A as it may be declared: 0.3 has paths, 1.0 names in capitals. Tools have lists of their own. */
const METHOD = /^(?:(?!tools\/call$)[a-z][A-Za-z]*(?:\/[a-z][A-Za-z]*)+|[A-Z][A-Za-z]+)$/;

/** What is wrong with a capability a seller is about to declare; undefined when nothing is. */
export function capabilityFault(capability: RequestCapability): { where: string; detail: string } | undefined {
  for (const prefix of ["", "protocol_methods_"] as const) {
    const [warn, required, supported] = (["warn_for", "required_for", "supported_for"] as const).map(
      (name) => capability[`${prefix}${name}`],
    );
    const both = required?.find((name) => warn?.includes(name));
    if (both !== undefined) return { where: `${prefix}warn_for`, detail: `${both} is required as well` };
    for (const [name, list] of Object.entries({ warn_for: warn, required_for: required, supported_for: supported })) {
      const strange = prefix === "" ? undefined : list?.find((one) => !METHOD.test(one));
      if (strange !== undefined) return { where: `${prefix}${name}`, detail: `${strange} is no transport's method` };
      const beyond = supported === undefined ? undefined : list?.find((one) => !supported.includes(one));
      if (beyond !== undefined) return { where: `${prefix}${name}`, detail: `${beyond} is not in supported_for` };
    }
  }
  return undefined;
}

/**
 * Does the request register a webhook with legacy credentials, at any depth? Unsigned, that block could have been injected
 * on the path (docs/protocol/signing.md#legacy-schemes).
 */
function registersCredentials(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(registersCredentials);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([key, item]) =>
      (/^push_?notification_?config$/i.test(key) && isJsonObject(item) && holdsAuthentication(item)) ||
      registersCredentials(item),
  );
}

const holdsAuthentication = ({ authentication }: Json): boolean =>
  isJsonObject(authentication)
    ? Object.keys(authentication).length > 0
    : authentication !== undefined && authentication !== null;
