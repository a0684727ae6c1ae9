/** An agent's capabilities, asked over MCP. */
import { isJsonObject } from "../../contract/json-object.js";
import { parseStrict } from "../../json.js";
import type { Fetcher } from "../../net/index.js";
import { type AgentQuestion, type Answered, messageIn, NotThisWay, postJson, rpcRequest } from "./asked.js";
import type { JsonRecord } from "./fetch-json.js";

const PROTOCOL_VERSION = "2025-06-18";

/** @throws Error where there are none; `NotThisWay` where the agent answers otherwise than MCP does */
export async function askMcp({ fetch, url, tool }: AgentQuestion): Promise<JsonRecord> {
  const call = rpcRequest("tools/call", { name: tool, arguments: {} });
  const first = await post(fetch, url, call);
  // A server that keeps sessions wants one opened before.
  const answer = first.status === 400 || first.status === 404 ? await inSession(fetch, url, call) : first;
  if (answer.status !== 200) throw new NotThisWay(`the agent answered ${answer.status}`);
  return capabilitiesIn(answer);
}

const post = (fetch: Fetcher, url: string, message: object, session?: string): Promise<Answered> =>
  postJson(fetch, url, message, {
    accept: "application/json, text/event-stream",
    ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": PROTOCOL_VERSION }),
  });

async function inSession(fetch: Fetcher, url: string, call: object): Promise<Answered> {
  const clientInfo = { name: "adbind", version: "0.1.0" };
  const opened = await post(
    fetch,
    url,
    rpcRequest("initialize", { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo }),
  );
  const session = opened.headers["mcp-session-id"];
  if (session === undefined) return opened.status === 200 ? post(fetch, url, call) : opened;
  await post(fetch, url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return post(fetch, url, call, session);
}

function capabilitiesIn(answer: Answered): JsonRecord {
  const message = messageIn(answer);
  const result = isJsonObject(message) ? message.result : undefined;
  if (!isJsonObject(result)) throw new NotThisWay("the agent does not tell its capabilities");
  if (result.isError === true) throw new Error("the agent does not tell its capabilities");
  if (isJsonObject(result.structuredContent)) return result.structuredContent;
  for (const part of Array.isArray(result.content) ? result.content : []) {
    const text = isJsonObject(part) && part.type === "text" ? part.text : undefined;
    const parsed = typeof text === "string" ? parseStrict(new TextEncoder().encode(text)) : undefined;
    if (parsed?.ok && isJsonObject(parsed.value)) return parsed.value;
  }
  throw new NotThisWay("the agent's capabilities are no JSON object");
}
