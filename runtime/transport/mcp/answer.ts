/**
 * MCP over streamable HTTP at one URL, for clients of both eras, without sessions: a server of the official SDK for each
 * request, and a short way for those that are nothing but one call.
 */
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { resolveBody } from "../../signing/index.js";
import type {
  Answerer,
  AnswererDependencies,
  AnswererRequest,
  AnswererResponse,
  Asks,
  CallAnswer,
} from "../answerer.js";
import { rpcErrorBody } from "../rpc.js";
import { metaNames } from "./eras.js";
import { pageOfTools, toolListing } from "./listing/listing.js";
import { callsOf, rpcMessages, toolResult } from "./results.js";
import { type PlainCall, plainCall } from "./short-way.js";

/** Never fetched: the transport wants an absolute URL. */
const PLACE = "http://seller.invalid/mcp";

/** How long a client may keep what the server says of itself, in milliseconds: an hour, as callers keep capabilities. */
const KEEP_MS = 3_600_000;
const kept = { ttlMs: KEEP_MS, cacheScope: "private" } as const;

const METHOD_NOT_FOUND = -32601;

export function mcpAnswerer(parts: AnswererDependencies): Answerer {
  const info = { name: parts.name, version: parts.version };
  const options = {
    capabilities: { tools: {} },
    instructions: parts.description,
    cacheHints: { "tools/list": kept, "server/discover": kept },
  };
  // What has to be read from files is read now: whoever named them is told what is wrong with them.
  let listing = typeof parts.listing?.schemas === "object" ? toolListing(parts) : undefined;
  const list = (cursor: string | undefined): ListToolsResult => {
    listing ??= toolListing(parts);
    const from = cursor === undefined ? 0 : Number(cursor);
    if (!(Number.isInteger(from) && from >= 0 && from < listing.length)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The cursor is not one that was given here.");
    }
    const { tools, next } = pageOfTools(listing, from, parts.listing);
    return { tools: [...tools] as ListToolsResult["tools"], ...(next !== undefined && { nextCursor: String(next) }) };
  };
  const serverFor = (request: AnswererRequest): Server => {
    const server = new Server(info, options);
    const calls = callsOf(request.body);
    server.setRequestHandler("tools/list", ({ params }) => list(params?.cursor));
    server.setRequestHandler("tools/call", async ({ params: { name } }, { mcpReq }) => {
      if (!parts.knows(name)) throw unknownTool(name, parts);
      // Taken from the body itself: the SDK's copy would lose a member named __proto__.
      const args = calls.find(({ id }) => id === mcpReq.id)?.args;
      return toolResult(await answer(request, name, args)) as CallToolResult;
    });
    return server;
  };
  const answer = ({ identity }: AnswererRequest, tool: string, args: unknown): Promise<CallAnswer> =>
    parts.answer({ tool, args, transport: "mcp", identity });
  const asked = new WeakMap<Request, AnswererRequest>();
  const stateless = createMcpHandler(({ requestInfo }) => serverFor(asked.get(requestInfo!)!), { legacy: "reject" });
  return {
    published: {},
    asks: (body) => ({
      tools: callsOf(body).map(({ tool }) => tool),
      beside: besideOf(rpcMessages(body).filter((message) => !isCall(message))),
    }),
    fault: (body, single) => repeated(body) ?? (single ? unresolved(body) : undefined),
    async handle(request) {
      const { body } = request;
      const headers = headersOf(request);
      const plain = plainCall(headers, body);
      if (plain !== undefined && parts.knows(plain.tool)) {
        const result = toolResult(await answer(request, plain.tool, plain.args));
        return json(200, plainAnswer(plain, result, info));
      }
      // Nothing here changes while somebody listens, and a stream that says nothing would only be held open.
      if (isJsonObject(body) && body.method === "subscriptions/listen") {
        return json(404, rpcErrorBody(METHOD_NOT_FOUND, "Method not found", body.id));
      }
      const received = new Request(PLACE, { method: "POST", headers });
      if (await isLegacyRequest(received, body)) return read(await withHandshake(serverFor(request), received, body));
      asked.set(received, request);
      return read(await stateless.fetch(received, { parsedBody: body }));
    },
  };
}

/** Answers are told apart by the ids of their requests: of two that share one, one would be answered for both. */
function repeated(body: unknown): string | undefined {
  const ids = rpcMessages(body).flatMap((message) => (isJsonObject(message) && "id" in message ? [message.id] : []));
  return new Set(ids).size < ids.length ? "Each request of a batch needs an id of its own." : undefined;
}

/** Why a body does not come to one operation, or to a method that calls none. */
function unresolved(body: unknown): string | undefined {
  const resolved = resolveBody(body, "", "json-rpc");
  return resolved.ok ? undefined : resolved.detail;
}

const isCall = (message: unknown): boolean => isJsonObject(message) && message.method === "tools/call";

/** What comes before a call of any tool, in the revisions that have it. */
const handshake: ReadonlySet<unknown> = new Set(["initialize", "notifications/initialized", "server/discover", "ping"]);

/** @param others messages that call no tool */
function besideOf(others: readonly unknown[]): Asks["beside"] {
  if (others.length === 0) return "nothing";
  return others.every((one) => isJsonObject(one) && handshake.has(one.method)) ? "handshake" : "discovery";
}

const json = (status: number, body: JsonObject): AnswererResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

const read = async (response: Response): Promise<AnswererResponse> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: response.body === null ? "" : await response.text(),
});

/** A request of a revision with a handshake, which is asked for anew each time and remembered by nobody. */
async function withHandshake(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const response = await transport.handleRequest(request, { parsedBody });
    const { status, headers } = response;
    return new Response(response.body === null ? null : await response.text(), { status, headers });
  } finally {
    await server.close();
  }
}

function plainAnswer({ id, stateless }: PlainCall, result: JsonObject, info: JsonObject): JsonObject {
  const more = stateless ? { resultType: "complete", _meta: { [metaNames.server]: info } } : {};
  return { result: { ...result, ...more }, jsonrpc: "2.0", id };
}

const passedOn = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"] as const;

/**
 * The fields the transport looks at. It wants clients to accept event streams too; answers here are always JSON, so
 * whoever takes that is served.
 */
function headersOf({ header }: AnswererRequest): Headers {
  const kept = new Headers();
  for (const name of passedOn) {
    const value = header(name);
    if (value !== undefined) kept.set(name, value);
  }
  const accept = header("accept") ?? "*/*";
  kept.set("accept", /application\/(json|\*)|\*\/\*/i.test(accept) ? "application/json, text/event-stream" : accept);
  return kept;
}

function unknownTool(name: string, { failure }: AnswererDependencies): ProtocolError {
  const shown = name.slice(0, 64);
  const data = failure("UNSUPPORTED_FEATURE", `There is no tool ${JSON.stringify(shown)} here.`);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}`, data);
}
