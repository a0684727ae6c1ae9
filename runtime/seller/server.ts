/** The fastify app: bodies as bytes, the gate, the transports' routes, and what the seller publishes of itself. */
import { Readable } from "node:stream";
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import rateLimit from "@fastify/rate-limit";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { TransportName } from "../contract/index.js";
import { drainInTime } from "../draining.js";
import { gatherBodies } from "../gathering.js";
import { parseStrict } from "../json.js";
import type { Answerer, Asks } from "../transport/answerer.js";
import { rpcCodes, rpcErrorBody } from "../transport/rpc.js";
import type { SellerCallDependencies } from "./call.js";
import { hasIdentity } from "./capabilities.js";
import { type Endpoint, transportPath } from "./endpoint.js";
import { type Asked, createGate, type Gate, type GateRefusal, type RawBody } from "./gate.js";
import { ownPaths } from "./mount.js";
import { publish } from "./publish.js";
import type { SellerSettings } from "./settings.js";
import { inCallersTrace } from "./tracing.js";

/** What answers at one endpoint. */
export interface ServedEndpoint<Tx> {
  readonly at: Endpoint;
  /** As the endpoint has them. */
  readonly calls: SellerCallDependencies<Tx>;
  readonly answerers: Readonly<Partial<Record<TransportName, Answerer>>>;
}

export interface SellerServerDependencies<Tx> {
  readonly settings: SellerSettings<Tx>;
  /** The one of all releases first. */
  readonly endpoints: readonly [ServedEndpoint<Tx>, ...ServedEndpoint<Tx>[]];
}

/** Longest a request may take to come in, in milliseconds: a slow sender holds a connection, and no more. */
const REQUEST_MS = 30_000;

/** The app, and which paths are its own. */
export interface SellerApp {
  readonly app: FastifyInstance;
  owns(path: string): boolean;
}

export async function createApp<Tx>(dependencies: SellerServerDependencies<Tx>): Promise<SellerApp> {
  const { settings, endpoints } = dependencies;
  const app = fastify({
    bodyLimit: settings.limits.bodyBytes,
    requestTimeout: REQUEST_MS,
    trustProxy: settings.trustProxy,
    logger: false,
    // Those that wait for nothing are ended; answers under way are given.
    forceCloseConnections: "idle",
  });
  drainInTime(app);
  gatherBodies(app);
  const owns = ownPaths(app);
  inCallersTrace(app);
  await app.register(rateLimit, { global: false });
  readBodies(app, settings.limits.depth);
  const gateOf = gatesOf(app, endpoints);
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status === 415) {
      // A signed request with two types, or half of one: the fault is its signature's to name.
      const admitted = await gateOf(request.url).admit(request, { mutating: false, open: true, calls: 0 });
      if ("refused" in admitted) return refuse(reply, admitted.refused, null);
    }
    if (status >= 500) settings.logger?.error({ err: error }, "a request failed");
    const message = status === 500 ? "The request could not be answered." : error.message;
    return reply.code(status).send(rpcErrorBody(status === 400 ? rpcCodes.parse : rpcCodes.refused, message));
  });
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || request.method === "GET" || settings.origins.has(origin)) return;
    return reply.code(403).send(rpcErrorBody(rpcCodes.refused, "Pages of this origin may not call here."));
  });
  // After the hook: pages of other origins are not even told what they could ask.
  await app.register(cors, corsOptions(settings.origins));
  for (const endpoint of endpoints)
    for (const transport of settings.transports)
      route(app, { endpoint, transport }, gateOf(transportPath(endpoint.at, transport)));
  publish(app, {
    settings,
    endpoints: endpoints.map(({ at }) => at),
  });
  return { app, owns };
}

/** A gate for every transport of every endpoint, by the URL it is asked at; the first one where nothing is there. */
function gatesOf<Tx>(
  app: FastifyInstance,
  endpoints: SellerServerDependencies<Tx>["endpoints"],
): (url: string) => Gate {
  const gates = new Map(
    endpoints.flatMap(({ at, calls: { settings } }) =>
      settings.transports.map((transport) => {
        const path = transportPath(at, transport);
        return [path, createGate(app, settings, `${settings.baseUrl}${path}`)] as const;
      }),
    ),
  );
  const [first] = gates.values();
  return (url) => gates.get(url.replace(/\?.*$/, "")) ?? first!;
}

/** Fields that pages may send with a call, and read of its answer. */
const PAGES = {
  send: "accept authorization content-type x-api-key mcp-protocol-version mcp-method mcp-name mcp-session-id a2a-version a2a-extensions",
  read: "www-authenticate retry-after mcp-protocol-version mcp-session-id a2a-extensions",
} as const;

/** What browsers ask before a page of another origin may call: the same pages as the hook lets in. */
const corsOptions = (origins: ReadonlySet<string>): FastifyCorsOptions => ({
  origin: [...origins],
  methods: ["GET", "POST"],
  allowedHeaders: PAGES.send.split(" "),
  exposedHeaders: PAGES.read.split(" "),
  // A preflight costs a caller a round trip; what is allowed does not change while a seller runs.
  maxAge: 3_600,
});

/** JSON is judged strictly, and its bytes are kept: signatures are over them. */
function readBodies(app: FastifyInstance, depth: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, raw: Buffer, done) => {
    const parsed = parseStrict(raw, depth);
    if (parsed.ok) done(null, { raw, json: parsed.value } satisfies RawBody);
    else done(Object.assign(new Error(`Parse error: ${parsed.detail}`), { statusCode: 400 }));
  });
}

function route<Tx>(
  app: FastifyInstance,
  { endpoint, transport }: { endpoint: ServedEndpoint<Tx>; transport: TransportName },
  gate: Gate,
): void {
  const { at, calls } = endpoint;
  const answerer = endpoint.answerers[transport]!;
  const path = transportPath(at, transport);
  const signed = calls.settings.requestSigning !== undefined && at.signing.operations === "one";
  app.post(path, async (request: FastifyRequest, reply: FastifyReply) => {
    const { json } = (request.body ?? {}) as Partial<RawBody>;
    // What a signature is over is told by its verifier, which has codes for it.
    const early = signed ? undefined : answerer.fault(json, false);
    if (early !== undefined) return reply.code(400).send(rpcErrorBody(rpcCodes.invalid, early));
    const admitted = await gate.admit(request, asked(calls, answerer.asks(json)));
    if ("refused" in admitted) return refuse(reply, admitted.refused, json);
    const fault = answerer.fault(json, at.signing.operations === "one");
    if (fault !== undefined) return reply.code(400).send(rpcErrorBody(rpcCodes.invalid, fault));
    const { identity } = admitted;
    const response = await answerer.handle({ header: headerOf(request), body: json, identity });
    const { status, headers, body } = response;
    reply.code(status).headers(headers);
    if (typeof body === "string") return reply.send(body);
    // A connection that was kept would hold up the end of the server long after its stream has ended.
    return reply.header("connection", "close").send(Readable.from(body));
  });
  // Without sessions there is no stream to open and none to end.
  app.route({
    method: ["GET", "DELETE"],
    url: path,
    handler: async (_request, reply) =>
      reply
        .code(405)
        .header("allow", "POST")
        .send(rpcErrorBody(rpcCodes.refused, `${path} is POST only`)),
  });
  for (const [place, document] of Object.entries(answerer.published)) {
    // Callers who know the endpoint's URL alone look below it.
    const places = [`${path}${place}`, ...(at.id === "current" ? [place] : [])];
    for (const one of places) app.get(one, async (_request, reply) => reply.send(document));
  }
  calls.settings.logger?.debug({ path }, `${transport} is served`);
}

/** A header of a request, by its name in lower case. */
const headerOf =
  ({ headers }: FastifyRequest) =>
  (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  };

/**
 * Whether what is asked beside tools may be asked by anybody. A client that needs credentials is to be told so as early as can be;
 * but where signatures are verified, what is to be signed and how has to be learned first, and where webhooks are signed, whoever
 * gets one finds its keys by the agent's URL alone: by the capabilities, which a client with a handshake asks for after that.
 */
const besideIsOpen: Readonly<Record<Asks["beside"], (settings: SellerSettings<never>) => boolean>> = {
  nothing: () => true,
  handshake: ({ requestSigning, signing, baseUrl }) =>
    requestSigning !== undefined || (signing !== undefined && hasIdentity(baseUrl)),
  discovery: ({ requestSigning }) => requestSigning !== undefined,
  own: () => false,
};

/** What a body asks for, as far as the gate must know. */
function asked<Tx>({ servedReleases, settings }: SellerCallDependencies<Tx>, asks: Asks): Asked {
  const tools = asks.tools.map((name) =>
    servedReleases.map(({ tools }) => tools.get(name)).find((one) => one !== undefined),
  );
  return {
    mutating: tools.some((one) => one?.tool.mutating === true),
    open: besideIsOpen[asks.beside](settings) && tools.every((one) => one?.open === true),
    calls: tools.length,
  };
}

function refuse(
  reply: FastifyReply,
  { status, headers, rpcCode, message, data }: GateRefusal,
  body: unknown,
): FastifyReply {
  const id = typeof body === "object" && body !== null && "id" in body ? body.id : null;
  return reply
    .code(status)
    .headers(headers)
    .send(rpcErrorBody(rpcCode, message, id, data));
}
