/**
 * One tool call and nothing else: no session, notification or batch. Nearly every request is one, the SDK would give the
 * same bytes, and making its server and transport for each costs more than answering it. What is not plainly so, or not
 * plainly right, is the SDK's to answer.
 */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { handshakeVersions, metaNames, STATELESS_VERSION } from "./eras.js";
import type { CalledTool } from "./results.js";

export interface PlainCall extends CalledTool {
  readonly id: string | number;
  readonly stateless: boolean;
}

const callParams: ReadonlySet<string> = new Set(["name", "arguments"]);
const statelessParams: ReadonlySet<string> = new Set([...callParams, "_meta"]);
const statelessMeta: ReadonlySet<string> = new Set([metaNames.version, metaNames.capabilities, metaNames.client]);

const within = (value: JsonObject, names: ReadonlySet<string>): boolean =>
  Object.keys(value).every((key) => names.has(key));

/** @param headers as the transport is to see them */
export function plainCall(headers: Headers, body: unknown): PlainCall | undefined {
  if (!carriesJson(headers) || !isJsonObject(body) || body.jsonrpc !== "2.0" || body.method !== "tools/call") {
    return undefined;
  }
  const { id, params } = body;
  if ((typeof id !== "string" && !Number.isSafeInteger(id)) || !isJsonObject(params)) return undefined;
  const { name, arguments: args } = params;
  if (typeof name !== "string" || (args !== undefined && !isJsonObject(args))) return undefined;
  const version = headers.get("mcp-protocol-version");
  const stateless = version === STATELESS_VERSION;
  const fits = stateless
    ? within(params, statelessParams) && agrees(headers, name, params._meta)
    : (version === null || handshakeVersions.has(version)) && within(params, callParams);
  return fits ? { id: id as string | number, tool: name, args, stateless } : undefined;
}

function carriesJson(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return (
    /^application\/json *(;|$)/i.test(headers.get("content-type") ?? "") &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream")
  );
}

/** Headers and `_meta` of a stateless call say the same, and all that is asked. */
function agrees(headers: Headers, tool: string, meta: unknown): boolean {
  if (headers.get("mcp-method") !== "tools/call" || headers.get("mcp-name") !== tool) return false;
  if (!isJsonObject(meta) || !within(meta, statelessMeta)) return false;
  const client = meta[metaNames.client];
  return (
    meta[metaNames.version] === STATELESS_VERSION &&
    isEmpty(meta[metaNames.capabilities]) &&
    (client === undefined || isClientInfo(client))
  );
}

/** What a client can do is judged by the SDK; most say nothing. */
const isEmpty = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0;

const clientMembers: ReadonlySet<string> = new Set(["name", "version"]);

const isClientInfo = (value: unknown): boolean =>
  isJsonObject(value) &&
  within(value, clientMembers) &&
  typeof value.name === "string" &&
  typeof value.version === "string";
