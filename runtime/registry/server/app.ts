/** The server: the API document's operations as routes, with the checks, limits and credentials it names. */
import formbody from "@fastify/formbody";
import rateLimit from "@fastify/rate-limit";
import { trace } from "@opentelemetry/api";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { type Logger, pino } from "pino";
import { type RegistryAccess, registryAccess } from "../../store/index.js";
import { createCrawler } from "../crawl/index.js";
import { createRegistryData } from "../data.js";
import type { RegistryData } from "../types.js";
import { type IdentifyOptions, identify, requireCaller } from "./auth/caller.js";
import { type Issuer, openIssuer } from "./auth/issuer.js";
import { addLogin } from "./auth/login.js";
import { createTokenVerifier } from "./auth/tokens.js";
import type { Answer, Handlers, Parts } from "./call.js";
import { type ApiDocument, type Operation, type OperationId, readDocument, routeOf } from "./document.js";
import { etagOf, openFiles } from "./files.js";
import { bucketOf, checkedLimits, type Limits, limitOf, rateStore } from "./limits.js";
import { Problem } from "./problems.js";
import { trustedProxies } from "./proxies.js";
import { addErrors, addHeaders } from "./replies.js";
import { agentRoutes } from "./routes/agents.js";
import { crawlRoutes } from "./routes/crawling.js";
import { documentRoutes } from "./routes/documents.js";
import { addPages } from "./routes/pages.js";
import { publisherRoutes } from "./routes/publishers.js";
import { checkedBaseUrl, checkedNumbers, DEFAULT_BASE_URL, type RegistryOptions } from "./settings.js";
import { createTelemetry, observeRequests, type Telemetry } from "./telemetry.js";
import { type Checker, checkerOf, createAjv } from "./validation.js";

export interface Registry {
  /** The app, ready for `inject` and `listen`. */
  readonly app: FastifyInstance;
  readonly data: RegistryData;
  readonly access: RegistryAccess;
  /** Listens, and starts crawling. @returns the address it listens on */
  listen(where: { readonly host?: string; readonly port: number }): Promise<string>;
  /** Says it is unready, waits for the drain time, lets requests and crawls end, closes. The store stays open. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** How often what has expired is removed, in milliseconds. */
const SWEEP_MS = 60_000;
/** Longest a request may take to come in, in milliseconds: a slow sender holds a connection, and no more. */
const REQUEST_MS = 30_000;
/** Longest value in a path, in characters: an agent's URL, percent-encoded. */
const PATH_CHARACTERS = 8_192;

const RESOURCE_METADATA = "/.well-known/oauth-protected-resource/api";

interface Core {
  readonly parts: Parts;
  readonly identity: IdentifyOptions;
  readonly limits: Limits;
  readonly checkers: ReadonlyMap<OperationId, Checker>;
}

function newApp(options: RegistryOptions, log: Logger): FastifyInstance {
  const { bodyLimitBytes } = checkedNumbers(options);
  const app: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      // A caller's own is kept where it is one a log can hold.
      return typeof given === "string" && /^[\w.-]{1,128}$/.test(given) ? given : crypto.randomUUID();
    },
    trustProxy: trustedProxies(options.trustedProxies ?? []),
    requestTimeout: REQUEST_MS,
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength: PATH_CHARACTERS },
    // While it drains, what still comes in is answered; `stop` has told proxies before.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      reply.code(400).type("application/json").send({ error: "The URL is not well-formed" });
    },
  });
  app.removeContentTypeParser("text/plain");
  app.decorateRequest("identity", null as never);
  return app;
}

function addOperation(app: FastifyInstance, operation: Operation, core: Core, handler: Handlers[OperationId]): void {
  const { parts, limits, checkers } = core;
  const { id, method, credentials, responses } = operation;
  const bucket = bucketOf[id];
  const check = checkers.get(id)!;
  const fingerprinted = responses["200"]?.headers?.ETag !== undefined;
  const metadata = parts.baseUrl + RESOURCE_METADATA;
  app.route({
    method,
    url: routeOf(operation),
    config: {
      operation: id,
      ...(bucket !== undefined && { rateLimit: limitOf(bucket, limits), bucket }),
    },
    // After the limit, before the body is read.
    ...(credentials === "required" && {
      preParsing: async (request: FastifyRequest) => {
        requireCaller(request.identity, metadata);
      },
    }),
    handler: async (request, reply) => {
      const checked = refusedAs404(responses, () =>
        check({ query: request.query as never, params: request.params as never, body: request.body }),
      );
      const answer = (await (handler as (call: unknown) => Promise<Answer<unknown>>)({
        ...checked,
        request,
      })) as Answer<unknown>;
      return send(reply, request, answer, fingerprinted);
    },
  });
}

/** Where the document knows no 400, a path that cannot be is simply not there. */
function refusedAs404<T>(responses: Operation["responses"], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof Problem && responses["400"] === undefined) throw new Problem(404, "Not found");
    throw error;
  }
}

const matches = (header: string | string[] | undefined, etag: string): boolean =>
  [header ?? []]
    .flat()
    .join(",")
    .split(",")
    // A weak comparison (RFC 9110 section 13.1.2).
    .some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag.replace(/^W\//, ""));

function send(reply: FastifyReply, request: FastifyRequest, answer: Answer<unknown>, fingerprinted: boolean) {
  const { body, status = 200, headers = {}, fingerprint } = answer;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  reply.code(status).headers({ "content-type": "application/json; charset=utf-8", ...headers });
  if (fingerprinted) {
    const weak = fingerprint === undefined ? "" : "W/";
    const etag = headers.etag ?? weak + etagOf(fingerprint === undefined ? text : JSON.stringify(fingerprint));
    reply.header("etag", etag);
    if (request.method !== "POST" && matches(request.headers["if-none-match"], etag))
      return reply.code(304).removeHeader("content-type").send();
  }
  return reply.send(text);
}

function addIdentity(app: FastifyInstance, identity: IdentifyOptions, telemetry: Telemetry): void {
  app.addHook("onRequest", async (request) => {
    request.identity = { state: "anonymous" };
    const { authorization } = request.headers;
    if (authorization === undefined) return;
    request.identity = await identify(authorization, identity);
    telemetry.authentication(request.identity.state);
  });
}

function handlersOf(parts: Parts): Handlers {
  return {
    ...publisherRoutes(parts),
    ...agentRoutes(parts),
    ...crawlRoutes(parts, parts.baseUrl + RESOURCE_METADATA),
    ...documentRoutes(parts),
  };
}

interface Opened {
  readonly access: RegistryAccess;
  readonly baseUrl: string;
  readonly issuer: Issuer | undefined;
  readonly identity: IdentifyOptions;
  readonly authorizationServers: readonly string[];
}

async function openIdentity(options: RegistryOptions, log: Logger): Promise<Opened> {
  const { now = Date.now, issuers = [], embeddedIssuer = true } = options;
  const access = registryAccess(options.store);
  const baseUrl = checkedBaseUrl(options.baseUrl ?? DEFAULT_BASE_URL);
  const onError = (error: Error): void => log.error({ err: error }, "the issuer failed");
  const issuer = embeddedIssuer ? await openIssuer({ access, baseUrl, now, onError }) : undefined;
  const verifyToken = createTokenVerifier({
    issuers: [...(issuer === undefined ? [] : [{ issuer: baseUrl, algorithms: ["ES256"] }]), ...issuers],
    ...(issuer !== undefined && { localKeys: new Map([[baseUrl, issuer.keys]]) }),
    audience: `${baseUrl}/api`,
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    now,
  });
  return {
    access,
    baseUrl,
    issuer,
    identity: { access, verifyToken, localIssuer: issuer === undefined ? undefined : baseUrl, now },
    authorizationServers: [...(issuer === undefined ? [] : [baseUrl]), ...issuers.map((one) => one.issuer)],
  };
}

/** What `/readyz` says, part by part. */
const faultsOf =
  (access: RegistryAccess, log: Logger, state: { stopping: boolean; warm: boolean }): Parts["faults"] =>
  async () => {
    const faults: Record<string, string> = {
      store: "ok",
      search: state.warm ? "ok" : "reads its index",
      server: state.stopping ? "stopping" : "ok",
    };
    try {
      await access.ping();
    } catch (error) {
      log.warn({ err: error }, "the store does not answer");
      faults.store = "does not answer";
    }
    return faults;
  };

function addRoutes(app: FastifyInstance, document: ApiDocument, core: Core, issuer: Issuer | undefined): void {
  const { parts, limits, checkers } = core;
  const handlers = handlersOf(parts);
  for (const operation of document.operations) addOperation(app, operation, core, handlers[operation.id]);
  addPages(app, parts, (id) => checkers.get(id)!, limits);
  if (issuer !== undefined) addLogin(app, { issuer, access: parts.access, limits });
}

/**
 * Makes a registry on an opened store.
 * @throws AdbindError `registry_option_invalid` when an option cannot be used
 */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { store, now = Date.now, crawling = "on" } = options;
  const log = options.logger ?? pino({ name: "adbind-registry", level: "warn" });
  const limits = checkedLimits(options.limits);
  const { drainMs } = checkedNumbers(options);
  const { access, baseUrl, issuer, identity, authorizationServers } = await openIdentity(options, log);
  const data =
    options.data ??
    createRegistryData(store, {
      publicUrl: baseUrl,
      now,
      searchDiscovered: options.searchDiscovered ?? false,
    });
  const telemetry = createTelemetry();
  const crawler =
    crawling === "off"
      ? undefined
      : await createCrawler({
          // The limit of the route is the crawler's own too.
          perCallerHourly: limits.crawl === 0 ? Number.MAX_SAFE_INTEGER : limits.crawl,
          ...options.crawl,
          store,
          data,
          publicUrl: baseUrl,
          logger: log,
          meter: telemetry.meter,
          now,
        });
  const document = readDocument();
  const ajv = createAjv();
  const state = { stopping: false, warm: true };
  const faults = faultsOf(access, log, state);
  const parts: Parts = {
    data,
    crawler,
    access,
    document,
    issuer,
    files: openFiles(),
    telemetry,
    log,
    baseUrl,
    authorizationServers,
    now,
    faults,
  };
  const checkers = new Map(document.operations.map((operation) => [operation.id, checkerOf(operation, ajv)]));

  const app = newApp(options, log);
  observeRequests(app, telemetry, options.tracer ?? trace.getTracer("adbind.registry"));
  addHeaders(app, () => state.stopping);
  addErrors(app, telemetry);
  addIdentity(app, identity, telemetry);
  await app.register(formbody);
  await app.register(rateLimit, {
    global: false,
    store: rateStore(access, store.kind, now),
    enableDraftSpec: true,
    skipOnError: true,
  });
  addRoutes(app, document, { parts, identity, limits, checkers }, issuer);
  await app.ready();

  const sweeping = setInterval(() => {
    access.sweep(now()).catch((error: Error) => log.warn({ err: error }, "what has expired could not be removed"));
  }, SWEEP_MS);
  sweeping.unref();

  let stopped: Promise<void> | undefined;
  const stop = async (waitMs: number): Promise<void> => {
    state.stopping = true;
    clearInterval(sweeping);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await app.close();
    await crawler?.stop();
    await telemetry.stop();
  };
  return {
    app,
    data,
    access,
    async listen({ host = "127.0.0.1", port }) {
      state.warm = false;
      const address = await app.listen({ host, port });
      // Answers come from the first moment on; a proxy that asks /readyz sends none until they come fast.
      const warmed = data
        .warm()
        .catch((error: Error) => log.warn({ err: error }, "the search's index could not be read"));
      warmed.finally(() => {
        state.warm = true;
      });
      if (crawling === "on") crawler?.start();
      return address;
    },
    stop: (given) => (stopped ??= stop(given?.drainMs ?? drainMs)),
  };
}
