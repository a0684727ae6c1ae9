/** Where buyers under test find the sellers that are played to them: MCP on one port, a path for each phase, and the keys. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { TestKey } from "../../testing/index.js";
import type { PlayedAnswer, Publisher } from "./publisher.js";

/** Bytes of a request that are read. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface PlayedSellersOptions {
  /** Address to listen at; default 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  /** What buyers are told, where something stands before it. */
  readonly base?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface PlayedSellers {
  readonly base: string;
  /** Plays a seller under a name, and says where. */
  url(storyboard: string, phase: string): string;
  play(storyboard: string, publisher: Publisher): void;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Path segments that name a storyboard and a phase. */
const segment = (name: string): string => encodeURIComponent(name.replaceAll("/", "."));

const reply = (response: ServerResponse, status: number, body?: unknown, headers = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
};

const initialized = (params: JsonObject): JsonObject => ({
  protocolVersion: typeof params.protocolVersion === "string" ? params.protocolVersion : "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "adbind-played-seller", version: "1.0.0" },
});

const nameOf = ({ name }: JsonObject): string => String(name);

const argsOf = ({ arguments: args }: JsonObject): JsonObject => (isJsonObject(args) ? args : {});

/** Gives what a call came to: an order may be taken, and nothing come back. */
function called(
  { payload, failed, status, headers }: PlayedAnswer,
  response: ServerResponse,
  result: (value: unknown) => void,
): void {
  if (payload === undefined) response.destroy();
  else if (status !== undefined) reply(response, status, payload, headers);
  else {
    const content = [{ type: "text", text: JSON.stringify(payload) }];
    result({ content, structuredContent: payload, ...(failed && { isError: true }) });
  }
}

/** Answers one message of JSON-RPC. */
function answer(
  message: JsonObject,
  publisher: Publisher,
  where: { phase: string; url: string },
  response: ServerResponse,
): void {
  const { id, method } = message;
  const params = isJsonObject(message.params) ? message.params : {};
  const result = (value: unknown): void => reply(response, 200, { jsonrpc: "2.0", id, result: value });
  const tools = publisher.tools.map((name) => ({ name, inputSchema: { type: "object" } }));
  if (id === undefined) reply(response, 202);
  else if (method === "initialize") result(initialized(params));
  else if (method === "ping") result({});
  else if (method === "tools/list") result({ tools });
  else if (method === "tools/call") called(publisher.call(nameOf(params), argsOf(params), where), response, result);
  else reply(response, 200, { jsonrpc: "2.0", id, error: { code: -32_601, message: `no method ${method}` } });
}

/** Starts listening. */
export async function serveSellers(options: PlayedSellersOptions, key: TestKey): Promise<PlayedSellers> {
  const { host = "127.0.0.1", port = 0, tls } = options;
  const played = new Map<string, Publisher>();
  const urls = new Set<string>();
  let base = options.base?.replace(/\/$/, "") ?? "";
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? "/", "http://played").pathname;
    if (path.endsWith("/.well-known/brand.json"))
      return reply(response, 200, {
        agents: [...urls].map((url) => ({ url, type: "sales", jwks_uri: `${base}/keys` })),
      });
    if (path.endsWith("/keys")) return reply(response, 200, { keys: [key.jwk] });
    const [storyboard = "", phase = "", end] = path.split("/").slice(-3);
    const publisher = end === "mcp" ? played.get(storyboard) : undefined;
    if (publisher === undefined) return reply(response, 404, { error: "no seller is played here" });
    if (request.method !== "POST") return reply(response, 405, undefined, { allow: "POST" });
    const body = await bodyOf(request);
    if (body === undefined) return reply(response, 413, { error: "the request is too large" });
    const message: unknown = JSON.parse(body.toString("utf8"));
    if (!isJsonObject(message)) return reply(response, 400, { error: "one message of JSON-RPC is asked for" });
    const where = { phase: decodeURIComponent(phase), url: `${base}/${storyboard}/${phase}/mcp` };
    answer(message, publisher, where, response);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // No buyer finds a connection closed that it meant to use again: only faults of the script are graded.
    response.setHeader("connection", "close");
    handle(request, response).catch(() =>
      response.headersSent ? response.destroy() : reply(response, 400, { error: "the request is no JSON" }),
    );
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: given } = server.address() as AddressInfo;
  base ||= `${tls === undefined ? "http" : "https"}://${host}:${given}`;
  return {
    base,
    url(storyboard, phase) {
      const url = `${base}/${segment(storyboard)}/${segment(phase)}/mcp`;
      urls.add(url);
      return url;
    },
    play: (storyboard, publisher) => void played.set(segment(storyboard), publisher),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
