/** Calls over MCP's streamable HTTP, by the official SDK; and single requests without a session, as probes need them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { McpError, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { parseObject } from "../../extract/mcp.js";
import { timerMs } from "../../timers.js";
import { deniesSession } from "../../transport/mcp/denied-session.js";
import { unlessAborted } from "../../unless-aborted.js";
import { withinBytes, withinLevels } from "./answer-limits.js";
import { failedAnswer, faultWords } from "./failed-answer.js";
import { headersOf } from "./http.js";
import { payloadOfMcp } from "./payload.js";
import type { AgentAnswer, AgentSession, SentRequest, SessionOptions } from "./types.js";

/** Pages of `tools/list` that are read: a list without an end must not hold the run. */
const MAX_PAGES = 50;

/**
 * Milliseconds that an answer's stream is left open behind the time that its call has: the call's end is told, not the stream's;
 * and that an agent has to hear of the end of a session.
 */
const CLOSING_MS = 1_000;

/** What HTTP said, of the exchange that a call made. */
interface Seen {
  status?: number;
  headers: Record<string, string>;
}

/** A request of a session, while it is under way. */
interface Exchange {
  readonly seen: Seen;
  readonly refuse: (why: Error) => void;
  /** The agent has let its session go, and so has done nothing. */
  ended: boolean;
}

const SESSION = "mcp-session-id";

/** An answer whose refusal of a session was looked for; the protocol's own errors have data. */
async function withEndOf(exchange: Exchange, response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  const said = parseObject(text);
  const { data } = isJsonObject(said?.error) ? said.error : {};
  exchange.ended = deniesSession(status, said) && !isJsonObject(data);
  return new Response(text, { status, headers });
}

interface Session {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** @throws where the list has no end */
async function toolNames(list: (params?: { cursor: string }) => ReturnType<Client["listTools"]>): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { tools, nextCursor } = await list(cursor === undefined ? undefined : { cursor });
    names.push(...tools.map(({ name }) => name));
    cursor = nextCursor;
    if (cursor === undefined) return names;
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}

/** A run of hundreds of sessions would leave its agent with as many. What comes of it is nobody's fault. */
async function leave({ client, transport }: Session): Promise<void> {
  await unlessAborted(transport.terminateSession(), AbortSignal.timeout(CLOSING_MS)).catch(() => undefined);
  await client.close();
}

/** The run's fetch with the credential, and what it says noted in the exchange that asks. */
const fetchOf =
  (options: SessionOptions, exchange: AsyncLocalStorage<Exchange>): typeof globalThis.fetch =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    if (options.authorization !== undefined) headers.set("authorization", options.authorization);
    // A stream of the server's own messages is not read: none of them is an answer.
    if ((init?.method ?? "GET") === "GET") return new Response(null, { status: 405 });
    // A stream that tells on and on is closed: nobody waits for it any more.
    const ends = AbortSignal.timeout(timerMs(options.timeoutMs + CLOSING_MS));
    const signal = init?.signal ? AbortSignal.any([init.signal, ends]) : ends;
    const response = await options.fetch(input, { ...init, headers, signal });
    const at = exchange.getStore();
    // What follows in the same exchange is a word that the call is given up.
    if (at !== undefined && at.seen.status === undefined)
      Object.assign(at.seen, { status: response.status, headers: headersOf(response) });
    const read = withinBytes(response, signal, at?.refuse);
    const mayBeDenied = headers.has(SESSION) && (response.status === 404 || response.status === 400);
    return at !== undefined && mayBeDenied ? withEndOf(at, read) : read;
  };

interface Asking {
  ask<T>(job: (client: Client, limits: RequestOptions) => Promise<T>, seen?: Seen): Promise<T>;
  close(): Promise<void>;
}

/** @throws when the agent cannot be reached */
async function beginAsking(options: SessionOptions): Promise<Asking> {
  const { url, timeoutMs } = options;
  const exchange = new AsyncLocalStorage<Exchange>();
  const fetch = fetchOf(options, exchange);
  const once = async <T>(job: (limits: RequestOptions) => Promise<T>, at: Omit<Exchange, "refuse">): Promise<T> => {
    const stop = new AbortController();
    let refused: Error | undefined;
    const refuse = (why: Error): void => {
      refused = why;
      stop.abort(why);
    };
    try {
      return await exchange.run(Object.assign(at, { refuse }), () => job({ timeout: timeoutMs, signal: stop.signal }));
    } catch (error) {
      throw refused ?? error;
    }
  };
  const begin = async (): Promise<Session> => {
    const client = new Client({ name: "adbind-conformance", version: "0.1.0" }, { capabilities: {} });
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch });
    const connect = (limits: RequestOptions): Promise<void> => client.connect(transport as Transport, limits);
    await once(connect, { seen: { headers: {} }, ended: false });
    return { client, transport };
  };
  let session = begin();
  await session;
  /** In a session anew, where the agent has let the one there was go: MCP has clients do so, and steps side by side share it. */
  const ask: Asking["ask"] = async (job, seen = { headers: {} }) => {
    const used = session;
    const { client } = await used;
    const at = { seen, ended: false };
    try {
      return await once((limits) => job(client, limits), at);
    } catch (error) {
      if (!at.ended) throw error;
      if (session === used) session = begin();
      const next = await session.catch(() => undefined);
      if (next === undefined) {
        session = used;
        throw error;
      }
      delete seen.status;
      return once((limits) => job(next.client, limits), { seen, ended: false });
    }
  };
  return { ask, close: () => session.then(leave) };
}

/** Opens a session; its credential goes with every request of it. @throws when the agent cannot be reached */
export async function openMcpSession(options: SessionOptions): Promise<AgentSession> {
  const { url, now } = options;
  const { ask, close } = await beginAsking(options);
  return {
    transport: "mcp",
    url,
    tools: () => toolNames((params) => ask((client, limits) => client.listTools(params, limits))),
    async call(task, args) {
      const request: SentRequest = { transport: "mcp", operation: task, url, payload: args };
      const seen: Seen = { headers: {} };
      const sentAt = now();
      const times = () => ({ sentAt, tookMs: now() - sentAt });
      try {
        const params = { name: task, arguments: args };
        const asked = { method: "tools/call", params } as const;
        const body = await ask((client, limits) => client.request(asked, ResultSchema, limits), seen);
        const failed = body.isError === true;
        return withinLevels({ request, ...payloadOfMcp(body), failed, ...seen, body, ...times() });
      } catch (error) {
        const known = error instanceof McpError ? { code: error.code, data: error.data } : {};
        return withinLevels(failedAnswer(request, { ...known, message: faultWords(error) }, seen, times()));
      }
    },
    close,
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
    const signal = AbortSignal.timeout(timerMs(options.timeoutMs));
    const headers = { ...mcpHeaders, ...(options.authorization && { authorization: options.authorization }) };
    const response = await options.fetch(url, {
      method: "POST",
      headers,
      body: toolsCall(task, args),
      redirect: "manual",
      signal,
    });
    Object.assign(seen, { status: response.status, headers: headersOf(response) });
    const text = await withinBytes(response, signal).text();
    const message = rpcMessage(text);
    if (isJsonObject(message?.error)) {
      const { code, message: said, data } = message.error as { code?: number; message?: string; data?: unknown };
      return withinLevels(
        failedAnswer(request, { ...(code && { code }), message: said ?? "error", data }, seen, times()),
      );
    }
    const failed = response.status >= 400 || (isJsonObject(message?.result) && message.result.isError === true);
    const found = payloadOfMcp(message?.result);
    return withinLevels({ request, ...found, failed, ...seen, body: message ?? text, ...times() });
  } catch (error) {
    return failedAnswer(request, { message: faultWords(error) }, seen, times());
  }
}
