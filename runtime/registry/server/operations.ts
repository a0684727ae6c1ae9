/** The document's operations as routes: checked, limited, asked for credentials, fingerprinted. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiHandlers, ApiResponse, RegistryServerDependencies } from "./api-request.js";
import { LOOKUP_CACHE } from "./api-request.js";
import { requireCaller } from "./auth/caller.js";
import { addLogin } from "./auth/login.js";
import { type Operation, type OperationId, routeOf } from "./document.js";
import { etagOf } from "./files.js";
import { bucketOf, countAttempt, type Limits, limitOf } from "./limits.js";
import { Problem } from "./problems.js";
import { createRevalidation, type Revalidation } from "./revalidation.js";
import { agentRoutes } from "./routes/agents.js";
import { checkingRoutes } from "./routes/checking.js";
import { crawlRoutes } from "./routes/crawling.js";
import { documentRoutes } from "./routes/documents.js";
import { feedRoutes } from "./routes/feed.js";
import { fileRoutes } from "./routes/files.js";
import { listRoutes } from "./routes/lists.js";
import { addPages } from "./routes/pages.js";
import { publisherRoutes } from "./routes/publishers.js";
import { resolveRoutes } from "./routes/resolve.js";
import { revalidatingRoutes } from "./routes/revalidating.js";
import { type Checker, checkerOf, createAjv, type ReceivedRequest } from "./validation.js";

const RESOURCE_METADATA = "/.well-known/oauth-protected-resource/api";

interface Core {
  readonly revalidation: Revalidation;
  readonly dependencies: RegistryServerDependencies;
  readonly limits: Limits;
  readonly checkers: ReadonlyMap<OperationId, Checker>;
}

function addOperation(app: FastifyInstance, operation: Operation, core: Core, handler: ApiHandlers[OperationId]): void {
  const { dependencies, limits, checkers, revalidation } = core;
  const { id, method, credentials, responses } = operation;
  const bucket = bucketOf[id];
  const check = checkers.get(id)!;
  const fingerprinted = responses["200"]?.headers?.ETag !== undefined;
  const metadata = dependencies.baseUrl + RESOURCE_METADATA;
  app.route({
    method,
    url: routeOf(operation),
    config: {
      operation: id,
      open: credentials === "none",
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
        check({
          query: request.query as ReceivedRequest["query"],
          params: request.params as ReceivedRequest["params"],
          body: request.body,
        }),
      );
      const remembers = fingerprinted && revalidation.covers(id);
      const revision = remembers ? await revalidation.revision() : 0;
      const standing = remembers ? revalidation.standing(request, revision) : undefined;
      if (standing !== undefined && matches(request.headers["if-none-match"] ?? "", standing))
        return reply.code(304).headers({ etag: standing, "cache-control": LOOKUP_CACHE }).send();
      const answer = (await (handler as (call: unknown) => Promise<ApiResponse<unknown>>)({
        ...checked,
        request,
      })) as ApiResponse<unknown>;
      // What depends on who asks is nobody else's to keep; of the rest each answer may say more.
      if (credentials !== "none") reply.headers({ vary: "Authorization", "cache-control": "private, no-cache" });
      else if (fingerprinted) reply.header("cache-control", "no-cache");
      const etag = send(reply, request, answer, fingerprinted);
      if (remembers && etag !== undefined && answer.headers?.["cache-control"] === LOOKUP_CACHE)
        revalidation.remember(request, revision, etag);
      return reply;
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

/** Of all of a body; or of a part of it, and then weak. */
function fingerprintOf(payload: string | Buffer, part: ApiResponse<unknown>["fingerprint"]): string {
  if (part === undefined) return etagOf(payload);
  return `W/${etagOf(part(Buffer.isBuffer(payload) ? payload : Buffer.from(payload)))}`;
}

/** @returns the fingerprint of what was sent, or would have been */
function send(
  reply: FastifyReply,
  request: FastifyRequest,
  answer: ApiResponse<unknown>,
  fingerprinted: boolean,
): string | undefined {
  const { body, status = 200, headers = {}, fingerprint } = answer;
  const has = (etag: string | undefined): boolean =>
    etag !== undefined && request.method !== "POST" && matches(request.headers["if-none-match"], etag);
  if (body instanceof Readable) {
    // Nothing of it was read yet.
    if (has(headers.etag)) {
      body.destroy();
      const { "content-type": _, ...rest } = headers;
      reply.code(304).headers(rest).send();
    } else if (request.method === "HEAD") {
      // Nobody takes what it would say: one that does not end would go on for nobody, and count among its caller's.
      body.destroy();
      reply.code(status).headers(headers).send(Readable.from([]));
    } else reply.code(status).headers(headers).send(body);
    return headers.etag;
  }
  const payload = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  reply.code(status).headers({ "content-type": "application/json; charset=utf-8", ...headers });
  const etag = fingerprinted ? (headers.etag ?? fingerprintOf(payload, fingerprint)) : undefined;
  if (etag !== undefined) reply.header("etag", etag);
  if (has(etag)) reply.code(304).removeHeader("content-type").send();
  else reply.send(payload);
  return etag;
}

function handlersOf(dependencies: RegistryServerDependencies): ApiHandlers {
  return {
    ...publisherRoutes(dependencies),
    ...agentRoutes(dependencies),
    ...feedRoutes(dependencies),
    ...listRoutes(dependencies),
    ...resolveRoutes(dependencies),
    ...fileRoutes(dependencies),
    ...checkingRoutes(dependencies),
    ...crawlRoutes(dependencies, dependencies.baseUrl + RESOURCE_METADATA),
    ...revalidatingRoutes(dependencies, dependencies.baseUrl + RESOURCE_METADATA),
    ...documentRoutes(dependencies),
  };
}

/** Adds the API, the pages, and what the embedded issuer answers. */
export function addRoutes(app: FastifyInstance, dependencies: RegistryServerDependencies, limits: Limits): void {
  const { document, issuer, access, count, now } = dependencies;
  const ajv = createAjv();
  const checkers = new Map(document.operations.map((operation) => [operation.id, checkerOf(operation, ajv)]));
  const handlers = handlersOf(dependencies);
  const revalidation = createRevalidation(() => dependencies.data.revision(), dependencies.now);
  for (const operation of document.operations)
    addOperation(app, operation, { dependencies, limits, checkers, revalidation }, handlers[operation.id]);
  addPages(app, dependencies, (id) => checkers.get(id)!, limits);
  if (issuer !== undefined)
    addLogin(app, { issuer, access, limits, attempt: (email) => countAttempt({ count, limits, now }, email) });
}
