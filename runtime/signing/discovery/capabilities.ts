/** What an agent declares of its identity, asked of the agent itself over MCP: for whoever has no client of its own. */
import { wireNames } from "../../contract/index.js";
import { parseStrict } from "../../json.js";
import { discoveryTimeouts, type Fetcher } from "../../net/index.js";
import type { DeclaredIdentity } from "./brand.js";
import { defaultFetch, isObject, type JsonObject } from "./fetch-json.js";
import { checkedUrl } from "./options.js";

/** 64 KiB, as for a key set. */
const MAX_CAPABILITIES_BYTES = 64 * 1024;
const PROTOCOL_VERSION = "2025-06-18";

export interface CapabilitiesOptions {
  /** Where the agent is called over MCP. */
  readonly agentUrl: string;
  /** Default: a guarded fetch with production rules. */
  readonly fetch?: Fetcher;
  /** The protocol's word; default `proto`. */
  readonly word?: string;
}

/** The part of capabilities that key discovery reads; a value of the wrong type is kept, so that it is refused and not passed over. */
export function declaredIdentity(capabilities: JsonObject): DeclaredIdentity {
  const { identity } = capabilities;
  if (!isObject(identity)) return {};
  const { brand_json_url: url, key_origins: origins } = identity;
  return {
    ...(url !== undefined && url !== null && { brandUrl: String(url) }),
    ...(isObject(origins) && { keyOrigins: origins }),
  };
}

/**
 * For `brandKeys({declared})`: asks the agent, guarded and capped; whoever calls it keeps the answer.
 * The promise rejects where the agent cannot be asked, or answers with anything but capabilities.
 * @throws AdbindError `discovery_option_invalid`
 */
export function askIdentity(options: CapabilitiesOptions): () => Promise<DeclaredIdentity> {
  const url = checkedUrl(options.agentUrl, "agentUrl");
  const { fetch = defaultFetch(), word = "proto" } = options;
  const call = request("tools/call", { name: wireNames(word).capabilitiesTool, arguments: {} });
  return async () => {
    const first = await post(fetch, url, call);
    // A server that keeps sessions wants one opened before.
    const answer = first.status === 400 || first.status === 404 ? await inSession(fetch, url, call) : first;
    if (answer.status !== 200) throw new Error(`the agent answered ${answer.status}`);
    return declaredIdentity(capabilitiesIn(answer));
  };
}

interface Posted {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const request = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

async function post(fetch: Fetcher, url: string, message: object, session?: string): Promise<Posted> {
  const { readMs, totalMs } = discoveryTimeouts;
  const result = await fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": PROTOCOL_VERSION }),
    },
    body: JSON.stringify(message),
    maxBytes: MAX_CAPABILITIES_BYTES,
    timeouts: { readMs, totalMs },
  });
  if (!result.ok) throw new Error(result.detail);
  return result;
}

async function inSession(fetch: Fetcher, url: string, call: object): Promise<Posted> {
  const clientInfo = { name: "adbind", version: "0.1.0" };
  const opened = await post(
    fetch,
    url,
    request("initialize", { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo }),
  );
  const session = opened.headers["mcp-session-id"];
  if (session === undefined) return opened.status === 200 ? post(fetch, url, call) : opened;
  await post(fetch, url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return post(fetch, url, call, session);
}

/** The JSON of an answer: its body, or the data of its last event. */
function messageIn({ headers, body }: Posted): unknown {
  let bytes = body;
  if (/^text\/event-stream/i.test(headers["content-type"] ?? "")) {
    const events = new TextDecoder().decode(body).split(/\r?\n\r?\n/);
    const last = events.findLast((event) => /^data:/m.test(event)) ?? "";
    const data = last.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
    bytes = new TextEncoder().encode(data.join("\n"));
  }
  const parsed = parseStrict(bytes);
  return parsed.ok ? parsed.value : undefined;
}

function capabilitiesIn(posted: Posted): JsonObject {
  const message = messageIn(posted);
  const result = isObject(message) ? message.result : undefined;
  if (!isObject(result) || result.isError === true) throw new Error("the agent does not tell its capabilities");
  if (isObject(result.structuredContent)) return result.structuredContent;
  for (const part of Array.isArray(result.content) ? result.content : []) {
    const text = isObject(part) && part.type === "text" ? part.text : undefined;
    const parsed = typeof text === "string" ? parseStrict(new TextEncoder().encode(text)) : undefined;
    if (parsed?.ok && isObject(parsed.value)) return parsed.value;
  }
  throw new Error("the agent's capabilities are no JSON object");
}
