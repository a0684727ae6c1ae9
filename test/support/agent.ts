/** A small agent on a real socket, over MCP (the official SDK's server) and A2A 1.0 or 0.3, that answers as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject, TransportName } from "../../runtime/contract/index.js";

/** A call as the agent got it. */
export interface Heard {
  readonly transport: TransportName;
  readonly tool: string;
  readonly args: JsonObject;
  /** Where the config was found: beside the arguments, or in `configuration`. */
  readonly push: JsonObject | undefined;
  readonly headers: IncomingMessage["headers"];
  /** The body as it came. */
  readonly body: string;
  readonly message: JsonObject;
}

/** What the agent does: answers, says it failed, or breaks in a way of HTTP. */
export type Says =
  | { readonly payload: JsonObject; readonly isError?: boolean; readonly state?: string; readonly taskId?: string }
  | { readonly http: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Answers with pieces of a stream of events, and leaves it open. */
  | { readonly events: readonly string[] }
  /** Acts, and hangs up before it answers. */
  | { readonly drop: true }
  | { readonly rpc: { readonly code: number; readonly message: string; readonly data?: unknown } };

export interface Agent {
  readonly url: string;
  readonly mcp: string;
  readonly heard: Heard[];
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly answer: (heard: Heard, count: number) => Says | Promise<Says>;
  readonly a2a?: "1.0" | "0.3" | false;
  readonly tools?: readonly string[];
  /** The task it tells of by A2A's own means, whichever is asked for; by default it knows none. */
  readonly told?: Extract<Says, { payload: JsonObject }>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const json = (response: ServerResponse, status: number, value: unknown, headers = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof value === "string" ? value : JSON.stringify(value));
};

async function leaveOpen(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  for (const piece of pieces) await new Promise((sent) => response.write(piece, sent));
}

/** Breaks the answer off in one of HTTP's ways. @returns whether it did */
function broke(response: ServerResponse, says: Says): boolean {
  if ("drop" in says) response.destroy();
  else if ("events" in says) void leaveOpen(response, says.events);
  else if ("http" in says) json(response, says.http, says.body ?? "{}", says.headers);
  else return false;
  return true;
}

type Hear = (one: Heard) => Promise<Says>;
type A2aVersion = NonNullable<AgentOptions["a2a"]>;
type Payload = Extract<Says, { payload: JsonObject }>;

/** One request over MCP. */
async function answerMcp(
  { hear, tools }: { readonly hear: Hear; readonly tools: readonly string[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === "POST" ? await bodyOf(request) : "";
  const message = (body === "" ? {} : JSON.parse(body)) as JsonObject;
  let says: Says | undefined;
  if (message.method === "tools/call") {
    const { name, arguments: args } = message.params as { name: string; arguments: JsonObject };
    const push = args.push_notification_config as JsonObject | undefined;
    says = await hear({ transport: "mcp", tool: name, args, push, headers: request.headers, body, message });
    if (broke(response, says)) return;
    if ("rpc" in says) return json(response, 200, { jsonrpc: "2.0", id: message.id, error: says.rpc });
  }
  const server = new Server({ name: "agent", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, () => {
    const { payload, isError } = says as { payload: JsonObject; isError?: boolean };
    return { content: [{ type: "text", text: "said" }], structuredContent: payload, ...(isError && { isError }) };
  });
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true } as never);
  await server.connect(transport as never);
  await transport.handleRequest(request, response, message);
  response.on("close", () => void server.close());
}

/** One request over A2A. */
async function answerA2a(
  { hear, a2a, told }: { readonly hear: Hear; readonly a2a: A2aVersion } & Pick<AgentOptions, "told">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  const message = JSON.parse(body) as { id: unknown; method: string; params: JsonObject };
  const reply = (more: JsonObject): void => json(response, 200, { jsonrpc: "2.0", id: message.id, ...more });
  if (/^(tasks\/get|GetTask)$/.test(message.method) && told !== undefined) {
    const { task, ...old } = taskOf(told, a2a);
    return reply({ result: task ?? old });
  }
  if (!/send/i.test(message.method)) return reply({ error: { code: -32001, message: "Task not found" } });
  const { message: sent, configuration } = message.params as {
    message: { parts: { data: { skill: string; parameters: JsonObject } }[] };
    configuration?: JsonObject;
  };
  const { skill, parameters } = sent.parts[0]!.data;
  const push = configuration?.pushNotificationConfig as JsonObject | undefined;
  const of = { tool: skill, args: parameters, push, headers: request.headers, body };
  const says = await hear({ transport: "a2a", ...of, message: message as never });
  if (broke(response, says)) return;
  if ("rpc" in says) return reply({ error: says.rpc });
  reply({ result: taskOf(says as Payload, a2a) });
}

/** What came of a call, as a task of A2A. */
function taskOf(says: Payload, a2a: A2aVersion): JsonObject {
  const old = a2a === "0.3";
  const state = says.state ?? (says.isError ? "failed" : "completed");
  const parts = [old ? { kind: "data", data: says.payload } : { data: says.payload }];
  const final = ["completed", "failed"].includes(state);
  const message = { messageId: "m", role: old ? "agent" : "ROLE_AGENT", parts, ...(old && { kind: "message" }) };
  const status = {
    state: old ? state : `TASK_STATE_${state.replaceAll("-", "_").toUpperCase()}`,
    ...(!final && { message }),
  };
  const ids = { id: says.taskId ?? "a2a-task", contextId: "a2a-context" };
  const inner = { ...ids, status, ...(final && { artifacts: [{ artifactId: "a", parts }] }) };
  return old ? { kind: "task", ...inner } : { task: inner };
}

const cardOf = (url: string, { a2a, tools = [] }: AgentOptions): JsonObject => ({
  name: "agent",
  description: "agent",
  version: "1",
  capabilities: {},
  defaultInputModes: ["application/json"],
  defaultOutputModes: ["application/json"],
  skills: tools.map((id) => ({ id, name: id, description: id, tags: [] })),
  ...(a2a === "0.3"
    ? { protocolVersion: "0.3.0", url: `${url}/a2a`, preferredTransport: "JSONRPC" }
    : { supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }),
});

export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { answer, a2a = false, tools = [], told } = options;
  const heard: Heard[] = [];
  const hear = async (one: Heard): Promise<Says> => {
    heard.push(one);
    return answer(one, heard.filter(({ tool }) => tool === one.tool).length);
  };

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const run = async (): Promise<void> => {
      if (pathname === "/mcp") return answerMcp({ hear, tools }, request, response);
      if (a2a !== false && pathname === "/.well-known/agent-card.json")
        return json(response, 200, cardOf(url, options));
      if (a2a !== false && pathname === "/a2a")
        return answerA2a({ hear, a2a, ...(told && { told }) }, request, response);
      json(response, 404, {});
    };
    run().catch((error: unknown) => json(response, 500, { error: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    mcp: `${url}/mcp`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
