/** The fastify app: bodies as bytes, the gate, the transports' routes, and what the seller publishes of itself. */
import rateLimit from "@fastify/rate-limit";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { JsonObject } from "../contract/index.js";
import { parseStrict } from "../json.js";
import { resolveBody } from "../signing/index.js";
import type { A2aEndpoint } from "./a2a.js";
import { CARD_PATHS } from "./a2a-card.js";
import { answerCall, type CallParts } from "./call.js";
import { hasIdentity } from "./capabilities.js";
import type { Endpoint } from "./endpoint.js";
import { type Asked, createGate, type Gate, type RawBody, RESOURCE_METADATA, type Refused } from "./gate.js";
import { brandFile, publicKeySet } from "./identity.js";
import type { McpEndpoint } from "./mcp.js";
import type { Settings } from "./settings.js";

/** What answers at one endpoint. */
export interface ServedEndpoint<Tx> {
  readonly at: Endpoint;
  /** As the endpoint has them. */
  readonly calls: CallParts<Tx>;
  readonly mcp: McpEndpoint;
  readonly a2a: A2aEndpoint;
  /** The agent card. */
  readonly card: JsonObject;
}

export interface ServerParts<Tx> {
  readonly settings: Settings<Tx>;
  /** The one of all releases first. */
  readonly endpoints: readonly [ServedEndpoint<Tx>, ...ServedEndpoint<Tx>[]];
}

/** JSON-RPC 2.0 codes of what never reaches a method. */
const RPC = { parse: -32700, invalid: -32600, refused: -32000 } as const;

const rpcError = (code: number, message: string, id: unknown = null, data?: object): JsonObject => ({
  jsonrpc: "2.0",
  id: typeof id === "string" || typeof id === "number" ? id : null,
  error: { code, message, ...(data !== undefined && { data }) },
});

export async function createApp<Tx>(parts: ServerParts<Tx>): Promise<FastifyInstance> {
  const { settings, endpoints } = parts;
  const app = fastify({
    bodyLimit: settings.limits.bodyBytes,
    trustProxy: settings.trustProxy,
    logger: false,
    // Those that wait for nothing are ended; answers under way are given.
    forceCloseConnections: "idle",
  });
  await app.register(rateLimit, { global: false });
  readBodies(app, settings.limits.depth);
  const gates = new Map(
    endpoints.map(({ at, calls }) => [
      at,
      {
        mcp: createGate(app, calls.settings, `${settings.baseUrl}${at.mcpPath}`),
        a2a: createGate(app, calls.settings, `${settings.baseUrl}${at.a2aPath}`),
      },
    ]),
  );
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status === 415) {
      // A signed request with two types, or half of one: the fault is its signature's to name.
      const { at } = endpoints.find((one) => reaches(one.at, request.url)) ?? endpoints[0];
      const admitted = await gates.get(at)!.mcp.admit(request, { mutating: false, open: true, calls: 0 });
      if ("refused" in admitted) return refuse(reply, admitted.refused, null);
    }
    if (status >= 500) settings.logger?.error({ err: error }, "a request failed");
    const message = status === 500 ? "The request could not be answered." : error.message;
    return reply.code(status).send(rpcError(status === 400 ? RPC.parse : RPC.refused, message));
  });
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || request.method === "GET" || settings.origins.has(origin)) return;
    return reply.code(403).send(rpcError(RPC.refused, "Pages of this origin may not call here."));
  });
  for (const one of endpoints) {
    const { mcp, a2a } = gates.get(one.at)!;
    mcpRoutes(app, one, mcp);
    a2aRoutes(app, one, a2a);
  }
  publish(app, parts);
  return app;
}

const reaches = ({ mcpPath, a2aPath }: Endpoint, url: string): boolean =>
  [mcpPath, a2aPath].some((path) => url === path || url.startsWith(`${path}?`));

/** JSON is judged strictly, and its bytes are kept: signatures are over them. */
function readBodies(app: FastifyInstance, depth: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, raw: Buffer, done) => {
    const parsed = parseStrict(raw, depth);
    if (parsed.ok) done(null, { raw, json: parsed.value } satisfies RawBody);
    else done(Object.assign(new Error(`Parse error: ${parsed.detail}`), { statusCode: 400 }));
  });
}

function mcpRoutes<Tx>(app: FastifyInstance, { at, calls, mcp }: ServedEndpoint<Tx>, gate: Gate): void {
  const [newest] = calls.spoken;
  const { settings } = calls;
  app.post(at.mcpPath, async (request: FastifyRequest, reply: FastifyReply) => {
    const { json } = (request.body ?? {}) as Partial<RawBody>;
    const called = mcp.callsOf(json);
    const names = called.map(({ tool }) => tool);
    const admitted = await gate.admit(request, asked(calls, names));
    if ("refused" in admitted) return refuse(reply, admitted.refused, json);
    const { identity } = admitted;
    const fault = at.signing.operations === "one" ? unresolved(json) : undefined;
    if (fault !== undefined) return reply.code(400).send(rpcError(RPC.invalid, fault));
    const response = await mcp.handle({
      method: "POST",
      headers: headersOf(request),
      body: json,
      answer: (tool, args) => answerCall(calls, { tool, args, transport: "mcp", identity }),
    });
    return reply.code(response.status).headers(response.headers).send(response.body);
  });
  // Without sessions there is no stream to open and none to end.
  app.route({
    method: ["GET", "DELETE"],
    url: at.mcpPath,
    handler: async (_request, reply) =>
      reply
        .code(405)
        .header("allow", "POST")
        .send(rpcError(RPC.refused, `${newest!.release.word} over MCP is POST only`)),
  });
  settings.logger?.debug({ path: at.mcpPath }, "MCP is served");
}

/** Why a body does not come to one operation, or to a method that calls none; undefined where it does. */
function unresolved(json: unknown): string | undefined {
  const resolved = resolveBody(json, "", "json-rpc");
  return resolved.ok ? undefined : resolved.detail;
}

/** What a body asks for, as far as the gate must know. */
function asked<Tx>({ spoken }: CallParts<Tx>, names: readonly string[]): Asked {
  const tools = names.map((name) => spoken.map(({ tools }) => tools.get(name)).find((one) => one !== undefined));
  return {
    mutating: tools.some((one) => one?.tool.mutating === true),
    open: tools.every((one) => one?.open === true),
    calls: names.length,
  };
}

function refuse(
  reply: FastifyReply,
  { status, headers, rpcCode, message, data }: Refused,
  body: unknown,
): FastifyReply {
  const id = typeof body === "object" && body !== null && "id" in body ? body.id : null;
  return reply
    .code(status)
    .headers(headers)
    .send(rpcError(rpcCode, message, id, data));
}

function a2aRoutes<Tx>(app: FastifyInstance, { at, calls, a2a, card }: ServedEndpoint<Tx>, gate: Gate): void {
  app.post(at.a2aPath, async (request: FastifyRequest, reply: FastifyReply) => {
    const { json } = (request.body ?? {}) as Partial<RawBody>;
    const signed = calls.settings.requestSigning !== undefined && at.signing.operations === "one";
    if (!signed && (typeof json !== "object" || json === null || Array.isArray(json))) {
      return reply.code(400).send(rpcError(RPC.invalid, "A2A takes one JSON-RPC request at a time."));
    }
    const skills = a2a.skillsOf(json);
    // What is no skill's call reads or changes tasks, which are their caller's only.
    const wanted = asked(calls, skills);
    const admitted = await gate.admit(request, { ...wanted, open: wanted.open && skills.length > 0 });
    if ("refused" in admitted) return refuse(reply, admitted.refused, json);
    const version = request.headers["a2a-version"];
    return reply.send(
      await a2a.handle({
        body: json as JsonObject,
        identity: admitted.identity,
        version: typeof version === "string" ? version : undefined,
      }),
    );
  });
  // Callers who know the endpoint's URL alone look below it.
  const places = CARD_PATHS.map((path) => `${at.a2aPath}${path}`);
  for (const path of [...(at.id === "current" ? CARD_PATHS : []), ...places])
    app.get(path, async (_request, reply) => reply.send(card));
}

/**
 * The fields the transport looks at. It wants clients to accept event streams too; answers here are always JSON, so
 * whoever takes that is served.
 */
function headersOf({ headers }: FastifyRequest): Headers {
  const kept = new Headers();
  for (const name of ["content-type", "mcp-protocol-version"] as const) {
    const value = headers[name];
    if (typeof value === "string") kept.set(name, value);
  }
  const { accept = "*/*" } = headers;
  kept.set("accept", /application\/(json|\*)|\*\/\*/i.test(accept) ? "application/json, text/event-stream" : accept);
  return kept;
}

function publish<Tx>(app: FastifyInstance, { settings, endpoints: served }: ServerParts<Tx>): void {
  const keys = publicKeySet(settings);
  const endpoints = served.flatMap(({ at }) => {
    const prefix = at.id === "legacy" ? "legacy_" : "";
    return [
      { id: `${prefix}mcp`, path: at.mcpPath },
      { id: `${prefix}a2a`, path: at.a2aPath },
    ];
  });
  const brand = brandFile(
    settings,
    endpoints.map(({ id, path }) => ({ id, url: `${settings.baseUrl}${path}` })),
  );
  if (settings.signing !== undefined && !hasIdentity(settings.baseUrl))
    settings.logger?.warn({ baseUrl: settings.baseUrl }, "over plain http a seller has no identity to publish");
  // Short enough that a rotated or withdrawn key is seen within the time revocation lists are polled in.
  const cached = (document: object) => async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header("cache-control", "public, max-age=300").send(document);
  app.get("/.well-known/brand.json", cached(brand));
  app.get("/.well-known/jwks.json", cached(keys));
  const { authorizationServers, scopes } = settings.auth ?? {};
  if (authorizationServers === undefined) return;
  for (const { path } of endpoints) {
    app.get(
      `${RESOURCE_METADATA}${path}`,
      cached({
        resource: `${settings.baseUrl}${path}`,
        authorization_servers: authorizationServers,
        bearer_methods_supported: ["header"],
        ...(scopes !== undefined && { scopes_supported: scopes }),
      }),
    );
  }
}
