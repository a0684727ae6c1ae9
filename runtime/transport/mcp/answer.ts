/**
 * MCP over streamable HTTP, without sessions: one server and transport of the official SDK a request, and a short way for
 * the requests that are nothing but one call.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { Answerer, AnswererDependencies, AnswererRequest, Called, OfferedTool } from "../answerer.js";
import { bundledSchema } from "./input-schema.js";

interface ToolCall {
  readonly id: unknown;
  readonly tool: string;
  readonly args: unknown;
}

const JSON_TYPE = { "content-type": "application/json" } as const;
/** Never fetched: the transport wants an absolute URL. */
const PLACE = "http://seller.invalid/mcp";

export function mcpAnswerer(parts: AnswererDependencies): Answerer {
  const info = { name: parts.name, version: parts.version };
  const options = { capabilities: { tools: {} }, instructions: parts.description };
  let listing: JsonObject[] | undefined;
  const list = (): JsonObject[] => {
    listing ??= parts.tools.map((offered) => listingOf(offered, parts));
    return listing;
  };
  return {
    published: {},
    asks: (body) => ({ tools: callsOf(body).map(({ tool }) => tool), open: true }),
    fault: () => undefined,
    async handle(request) {
      const { body, identity } = request;
      const headers = headersOf(request);
      const answer = (tool: string, args: unknown) => parts.answer({ tool, args, transport: "mcp", identity });
      const plain = plainCall(headers, body);
      if (plain !== undefined && parts.knows(plain.tool)) {
        const result = toolResult(await answer(plain.tool, plain.args));
        return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ result, jsonrpc: "2.0", id: plain.id }) };
      }
      const server = new Server(info, options);
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: list() as ListToolsResult["tools"] }));
      const calls = callsOf(body);
      server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
        if (!parts.knows(params.name)) throw unknownTool(params.name, parts);
        // Taken from the body itself: the SDK's copy would lose a member named __proto__.
        const call = calls.find(({ id }) => id === requestId);
        return toolResult(await answer(params.name, call?.args)) as CallToolResult;
      });
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as Transport);
      try {
        const received = new Request(PLACE, { method: "POST", headers });
        const response = await transport.handleRequest(received, { parsedBody: body });
        const text = response.body === null ? "" : await response.text();
        return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
      } finally {
        await server.close();
      }
    },
  };
}

/**
 * The fields the transport looks at. It wants clients to accept event streams too; answers here are always JSON, so
 * whoever takes that is served.
 */
function headersOf({ header }: AnswererRequest): Headers {
  const kept = new Headers();
  for (const name of ["content-type", "mcp-protocol-version"] as const) {
    const value = header(name);
    if (value !== undefined) kept.set(name, value);
  }
  const accept = header("accept") ?? "*/*";
  kept.set("accept", /application\/(json|\*)|\*\/\*/i.test(accept) ? "application/json, text/event-stream" : accept);
  return kept;
}

const versions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);
const plainParams: ReadonlySet<string> = new Set(["name", "arguments"]);

/**
 * One tool call and nothing else: no session, notification, progress token or batch. Nearly every request is one, the SDK
 * would give the same bytes, and making its server and transport for each costs more than answering it.
 */
function plainCall(headers: Headers, body: unknown): ToolCall | undefined {
  const version = headers.get("mcp-protocol-version");
  const accept = headers.get("accept") ?? "";
  const fits =
    (version === null || versions.has(version)) &&
    /^application\/json *(;|$)/i.test(headers.get("content-type") ?? "") &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream");
  if (!fits || !isJsonObject(body) || body.jsonrpc !== "2.0" || body.method !== "tools/call") return undefined;
  const { id, params } = body;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  if (!isJsonObject(params) || !Object.keys(params).every((key) => plainParams.has(key))) return undefined;
  const { name, arguments: args } = params;
  if (typeof name !== "string" || (args !== undefined && !isJsonObject(args))) return undefined;
  return { id, tool: name, args };
}

function listingOf({ name, tool }: OfferedTool, { documents }: AnswererDependencies): JsonObject {
  return {
    name,
    description: `${tool.protocol}: ${name.replaceAll("_", " ")}`,
    inputSchema: tool.request === "" ? { type: "object" } : bundledSchema(documents, tool.request),
    annotations: { readOnlyHint: !tool.mutating, idempotentHint: !tool.mutating || tool.idempotency === "required" },
  };
}

function unknownTool(name: string, { failure }: AnswererDependencies): McpError {
  const shown = name.slice(0, 64);
  const data = failure("UNSUPPORTED_FEATURE", `There is no tool ${JSON.stringify(shown)} here.`);
  return new McpError(ErrorCode.InvalidParams, `Unknown tool: ${shown}`, data);
}

/** The tools a message calls, as sent. */
function callsOf(body: unknown): readonly ToolCall[] {
  const messages = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || message.method !== "tools/call" || !isJsonObject(message.params)) return [];
    const { name, arguments: args } = message.params;
    return [{ id: message.id, tool: typeof name === "string" ? name : "", args }];
  });
}

/** webhooks-facts.md 7 and 9: the flat object as structured content, and as text for clients that read only that. */
const toolResult = ({ payload, failed }: Called): JsonObject => ({
  content: [{ type: "text", text: JSON.stringify(payload) }],
  structuredContent: payload,
  ...(failed && { isError: true }),
});
