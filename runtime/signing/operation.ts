/**
 * Which operation a request calls, by its body: exactly one, or none, or the body is refused. What comes out decides whether
 * a signature is needed, and is what is dispatched: two readers of one body must not come to two operations.
 */
import { isJsonObject } from "../contract/json-object.js";
import { parseStrict } from "../json.js";
import type { SignableRequest } from "./types.js";

type Json = { readonly [key: string]: unknown };

/** One invocation of a tool. */
export interface Invocation {
  /** Name of the tool as sent; it may be no tool's. */
  readonly operation: string;
  /** Its arguments, as sent; an empty object where there are none. */
  readonly input: unknown;
}

/** `invocation` is null where the method calls no tool, such as one that reads a task. */
export type Resolution =
  | { readonly ok: true; readonly method: string | undefined; readonly invocation: Invocation | null }
  | { readonly ok: false; readonly detail: string };

const refused = (detail: string): Resolution => ({ ok: false, detail });

/** Methods of A2A, 1.0 and 0.3, that carry a message. */
const messageMethods: readonly string[] = ["SendMessage", "SendStreamingMessage", "message/send", "message/stream"];

/** The same over A2A's HTTP+JSON binding, which has no method of its own. */
const MESSAGE_PATH = /\/message:(?:send|stream)$/;

/** Members that decide, at each level: one of them in other letters is meant to be read by somebody else. */
const known = {
  envelope: ["jsonrpc", "id", "method", "params"],
  call: ["name", "arguments"],
  params: ["message"],
  message: ["parts", "role", "kind"],
  part: ["data", "text", "file", "raw", "url", "kind"],
  data: ["skill", "input", "parameters"],
} as const;

/** A member that is a known one but for the case of its letters. */
const variantIn = (held: Json, names: readonly string[]): string | undefined =>
  Object.keys(held).find((name) => !names.includes(name) && names.includes(name.toLowerCase()));

/** Members of a part that are its content; it has one of them. */
const contents = ["data", "text", "file", "raw", "url"] as const;

/** Where the request was sent decides how its body is read where the body does not say. */
export type Binding = "json-rpc" | "any";

/**
 * Resolves the operation of a request.
 * @param binding `json-rpc` where the endpoint takes nothing else: a body without its envelope is refused
 */
export function resolveOperation({ url, body }: SignableRequest, binding: Binding = "any"): Resolution {
  const json = parseStrict(body);
  if (!json.ok && (json.reason === "duplicate_keys" || json.reason === "depth")) return refused(json.detail);
  if (json.ok) return resolveBody(json.value, url, binding);
  return binding === "json-rpc" ? refused("the body is not JSON") : named(url);
}

/** `resolveOperation` for a body that is parsed already. */
export function resolveBody(body: unknown, url: string, binding: Binding = "any"): Resolution {
  if (Array.isArray(body)) return refused("the body is a list of requests");
  if (!isJsonObject(body)) return binding === "json-rpc" ? refused("the body is no JSON-RPC request") : named(url);
  const variant = variantIn(body, known.envelope);
  if (variant !== undefined) return refused(`${JSON.stringify(variant)} is not a member of a request`);
  if (body.jsonrpc === undefined && body.method === undefined && binding === "any") {
    return MESSAGE_PATH.test(pathOf(url)) ? ofMessage(body, undefined) : named(url);
  }
  const { method, params = {} } = body;
  if (body.jsonrpc !== "2.0" || typeof method !== "string" || method === "")
    return refused("the request names no method of JSON-RPC 2.0");
  if (method === "tools/call") return isJsonObject(params) ? ofCall(params, method) : refused("the call has no params");
  if (!messageMethods.includes(method)) return { ok: true, method, invocation: null };
  return isJsonObject(params) ? ofMessage(params, method) : refused("the message has no params");
}

const pathOf = (url: string): string => url.replace(/[?#].*$/s, "").replace(/\/+$/, "");

/** A request that is no JSON-RPC calls what the last segment of its path names. */
function named(url: string): Resolution {
  const path = pathOf(url);
  return { ok: true, method: undefined, invocation: { operation: path.slice(path.lastIndexOf("/") + 1), input: {} } };
}

function ofCall(params: Json, method: string): Resolution {
  const variant = variantIn(params, known.call);
  if (variant !== undefined) return refused(`${JSON.stringify(variant)} is not a member of a call`);
  const { name, arguments: input = {} } = params;
  return typeof name === "string" && name !== ""
    ? { ok: true, method, invocation: { operation: name, input } }
    : refused("the call names no tool");
}

function ofMessage(params: Json, method: string | undefined): Resolution {
  const { message } = params;
  const strange = variantIn(params, known.params);
  if (strange !== undefined || !isJsonObject(message)) return refused("there is no message");
  const variant = variantIn(message, known.message);
  if (variant !== undefined) return refused(`${JSON.stringify(variant)} is not a member of a message`);
  if (!Array.isArray(message.parts)) return refused("the message has no parts");
  const data: unknown[] = [];
  for (const part of message.parts as unknown[]) {
    const fault = partFault(part);
    if (fault !== undefined) return refused(fault);
    if (Object.hasOwn(part as Json, "data")) data.push((part as Json).data);
  }
  const [only, ...more] = data;
  if (more.length > 0) return refused("the message has several data parts");
  return only === undefined ? refused("the message has no data part") : ofData(only, method);
}

/** What is wrong with a part; text beside the data says nothing, and a file could say anything. */
function partFault(part: unknown): string | undefined {
  if (!isJsonObject(part)) return "a part is no object";
  const variant = variantIn(part, known.part);
  if (variant !== undefined) return `${JSON.stringify(variant)} is not a member of a part`;
  const held = contents.filter((name) => Object.hasOwn(part, name));
  const [content] = held;
  if (held.length !== 1 || content === undefined) return "a part has one content";
  if (content !== "data" && content !== "text") return "files are not taken beside an invocation";
  return part.kind === undefined || part.kind === content ? undefined : "the kind of a part is not that of its content";
}

function ofData(data: unknown, method: string | undefined): Resolution {
  if (!isJsonObject(data)) return refused("the data part holds no object");
  const variant = variantIn(data, known.data);
  if (variant !== undefined) return refused(`${JSON.stringify(variant)} is not a member of an invocation`);
  const { skill, input, parameters } = data;
  if (typeof skill !== "string" || skill === "") return refused("the data part names no skill");
  if (input !== undefined && parameters !== undefined) return refused("the invocation has two inputs");
  return { ok: true, method, invocation: { operation: skill, input: input ?? parameters ?? {} } };
}
