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
import type { JsonObject, SchemaDocuments } from "../contract.js";
import type { Called } from "./call.js";
import { bundledSchema } from "./input-schema.js";
import { isObject } from "./json-object.js";
import type { ServedTool, Spoken } from "./spoken.js";
import { failurePayload } from "./tool-error.js";

export interface McpParts<Tx> {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  /** The release listed. */
  readonly newest: Spoken<Tx>;
  readonly spoken: readonly Spoken<Tx>[];
  readonly documents: SchemaDocuments;
}

export interface McpRequest {
  readonly method: string;
  readonly headers: Headers;
  /** The parsed body; undefined on GET and DELETE. */
  readonly body: unknown;
  /** Answers one `tools/call`. */
  answer(tool: string, args: unknown): Promise<Called>;
}

export interface McpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface McpEndpoint {
  handle(request: McpRequest): Promise<McpResponse>;
  /** Tools a body calls, by id of the message. */
  callsOf(body: unknown): readonly ToolCall[];
}

export interface ToolCall {
  readonly id: unknown;
  readonly tool: string;
  readonly args: unknown;
}

const JSON_TYPE = { "content-type": "application/json" } as const;
/** Never fetched: the transport wants an absolute URL. */
const PLACE = "http://seller.invalid/mcp";

export function mcpEndpoint<Tx>(parts: McpParts<Tx>): McpEndpoint {
  const { newest, spoken } = parts;
  // A tool the protocol has and this seller lacks is an answer with a code; any other name is a fault of the transport.
  const known = new Set(spoken.flatMap(({ tools, release }) => [...tools.keys(), ...Object.keys(release.tools)]));
  const info = { name: parts.name, version: parts.version };
  const options = { capabilities: { tools: {} }, instructions: parts.instructions };
  let listing: JsonObject[] | undefined;
  const list = (): JsonObject[] => {
    listing ??= listed(newest).map((served) => listingOf(served, parts.documents, newest));
    return listing;
  };
  return {
    callsOf,
    async handle({ method, headers, body, answer }) {
      const plain = plainCall(method, headers, body);
      if (plain !== undefined && known.has(plain.tool)) {
        const result = toolResult(await answer(plain.tool, plain.args));
        return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ result, jsonrpc: "2.0", id: plain.id }) };
      }
      const server = new Server(info, options);
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: list() as ListToolsResult["tools"] }));
      const calls = callsOf(body);
      server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
        if (!known.has(params.name)) throw unknownTool(params.name, newest);
        // Taken from the body itself: the SDK's copy would lose a member named __proto__.
        const call = calls.find(({ id }) => id === requestId);
        return toolResult(await answer(params.name, call?.args)) as CallToolResult;
      });
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as Transport);
      try {
        const request = new Request(PLACE, { method, headers });
        const response = await transport.handleRequest(request, { parsedBody: body });
        const text = response.body === null ? "" : await response.text();
        return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
      } finally {
        await server.close();
      }
    },
  };
}

const versions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);
const plainParams: ReadonlySet<string> = new Set(["name", "arguments"]);

/**
 * One tool call and nothing else: no session, notification, progress token or batch. Nearly every request is one, the SDK
 * would give the same bytes, and making its server and transport for each costs more than answering it.
 */
function plainCall(method: string, headers: Headers, body: unknown): ToolCall | undefined {
  const version = headers.get("mcp-protocol-version");
  const accept = headers.get("accept") ?? "";
  const fits =
    method === "POST" &&
    (version === null || versions.has(version)) &&
    /^application\/json *(;|$)/i.test(headers.get("content-type") ?? "") &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream");
  if (!fits || !isObject(body) || body.jsonrpc !== "2.0" || body.method !== "tools/call") return undefined;
  const { id, params } = body;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  if (!isObject(params) || !Object.keys(params).every((key) => plainParams.has(key))) return undefined;
  const { name, arguments: args } = params;
  if (typeof name !== "string" || (args !== undefined && !isObject(args))) return undefined;
  return { id, tool: name, args };
}

/** Each tool once, under the name it is listed by. */
const listed = <Tx>({ tools }: Spoken<Tx>): ServedTool<Tx>[] => [
  ...new Map([...tools.values()].map((served) => [served.name, served])).values(),
];

function listingOf<Tx>(
  { name, tool }: ServedTool<Tx>,
  documents: SchemaDocuments,
  { release }: Spoken<Tx>,
): JsonObject {
  const own = Object.hasOwn(release.tools, tool.name);
  return {
    name,
    description: `${tool.protocol}: ${name.replaceAll("_", " ")}`,
    inputSchema: own ? bundledSchema(documents, tool.request) : { type: "object" },
    annotations: { readOnlyHint: !tool.mutating, idempotentHint: !tool.mutating || tool.idempotency === "required" },
  };
}

const unknownTool = <Tx>(name: string, { release }: Spoken<Tx>): McpError => {
  const shown = name.slice(0, 64);
  const fault = { code: "UNSUPPORTED_FEATURE", message: `There is no tool ${JSON.stringify(shown)} here.` };
  return new McpError(ErrorCode.InvalidParams, `Unknown tool: ${shown}`, failurePayload([fault], release));
};

/** The tools a message calls, as sent. */
function callsOf(body: unknown): readonly ToolCall[] {
  const messages = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    if (!isObject(message) || message.method !== "tools/call" || !isObject(message.params)) return [];
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
