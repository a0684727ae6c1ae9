/** Calls over MCP's streamable HTTP, by the official SDK; and single requests without a session, as probes need them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { McpError, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { headersOf } from "./http.js";
import { payloadOfMcp } from "./payload.js";
import type { AgentAnswer, AgentSession, SentRequest, SessionOptions } from "./types.js";

/** Pages of `tools/list` that are read: a list without an end must not hold the run. */
const MAX_PAGES = 50;

/** What HTTP said, of the exchange that a call made. */
interface Seen {
  status?: number;
  headers: Record<string, string>;
}

const words = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${cause}`;
};

/** An answer that came as an error: JSON-RPC's, HTTP's, or none at all. */
export function failedAnswer(
  request: SentRequest,
  error: { code?: number; message: string; data?: unknown },
  seen: { status?: number; headers: Record<string, string> },
  times: { sentAt: number; tookMs: number },
): AgentAnswer {
  const payload = isJsonObject(error.data) ? error.data : null;
  return { request, payload, origin: "error", failed: true, error, ...seen, body: { error }, ...times };
}

/** Opens a session; its credential goes with every request of it. @throws when the agent cannot be reached */
export async function openMcpSession(options: SessionOptions): Promise<AgentSession> {
  const { url, timeoutMs, now } = options;
  const exchange = new AsyncLocalStorage<Seen>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    if (options.authorization !== undefined) headers.set("authorization", options.authorization);
    // A stream of the server's own messages is not read: none of them is an answer.
    if ((init?.method ?? "GET") === "GET") return new Response(null, { status: 405 });
    const response = await options.fetch(input, { ...init, headers });
    const seen = exchange.getStore();
    if (seen !== undefined) Object.assign(seen, { status: response.status, headers: headersOf(response) });
    return response;
  };
  const client = new Client({ name: "adbind-conformance", version: "0.1.0" }, { capabilities: {} });
  const limits = { timeout: timeoutMs };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }) as Transport, limits);
  return {
    transport: "mcp",
    url,
    async tools() {
      const names: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const listed = await client.listTools(cursor === undefined ? undefined : { cursor }, limits);
        names.push(...listed.tools.map(({ name }) => name));
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      return names;
    },
    async call(task, args) {
      const request: SentRequest = { transport: "mcp", operation: task, url, payload: args };
      const seen: Seen = { headers: {} };
      const sentAt = now();
      const times = () => ({ sentAt, tookMs: now() - sentAt });
      try {
        const params = { name: task, arguments: args };
        const asked = { method: "tools/call", params } as const;
        const body = await exchange.run(seen, () => client.request(asked, ResultSchema, limits));
        return { request, ...payloadOfMcp(body), failed: body.isError === true, ...seen, body, ...times() };
      } catch (error) {
        const known = error instanceof McpError ? { code: error.code, data: error.data } : {};
        return failedAnswer(request, { ...known, message: words(error) }, seen, times());
      }
    },
    close: () => client.close(),
  };
}

/** The JSON-RPC message in a body, be it plain or a stream of events. */
function rpcMessage(text: string): JsonObject | undefined {
  const candidates = [text, ...text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))];
  for (const one of candidates) {
    try {
      const value: unknown = JSON.parse(one);
      if (isJsonObject(value)) return value;
    } catch {
      // The next candidate may be one.
    }
  }
  return undefined;
}

/** Headers of one request of MCP that belongs to no session. */
export const mcpHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

export const toolsCall = (task: string, args: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: task, arguments: args } });

/** One raw `tools/call`, its HTTP status and headers kept: what a step with credentials of its own is judged by. */
export async function rawMcpCall(options: SessionOptions, task: string, args: JsonObject): Promise<AgentAnswer> {
  const { url, now } = options;
  const request: SentRequest = { transport: "mcp", operation: task, url, payload: args };
  const sentAt = now();
  const times = () => ({ sentAt, tookMs: now() - sentAt });
  const seen: Seen = { headers: {} };
  try {
    const headers = { ...mcpHeaders, ...(options.authorization && { authorization: options.authorization }) };
    const response = await options.fetch(url, {
      method: "POST",
      headers,
      body: toolsCall(task, args),
      redirect: "manual",
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    Object.assign(seen, { status: response.status, headers: headersOf(response) });
    const text = await response.text();
    const message = rpcMessage(text);
    if (isJsonObject(message?.error)) {
      const { code, message: said, data } = message.error as { code?: number; message?: string; data?: unknown };
      return failedAnswer(request, { ...(code && { code }), message: said ?? "error", data }, seen, times());
    }
    const failed = response.status >= 400 || (isJsonObject(message?.result) && message.result.isError === true);
    const found = payloadOfMcp(message?.result);
    return { request, ...found, failed, ...seen, body: message ?? text, ...times() };
  } catch (error) {
    return failedAnswer(request, { message: words(error) }, seen, times());
  }
}
