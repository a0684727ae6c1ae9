/** A seller inside a server of somebody else's: node's own, express, fastify, Hono, or whatever speaks fetch. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { AdbindError } from "../errors.js";
import type { Logger } from "../log.js";

/** What a seller is mounted by. Paths that are not its own are left to the server it stands in. */
export interface MountedSeller {
  /** Is a path the seller's: `/mcp`, `/a2a`, what it publishes below `/.well-known/`. */
  owns(path: string): boolean;
  /** `app.all("*", (c, next) => seller.owns(c.req.path) ? seller.fetch(c.req.raw) : next())`. A path that is not its own is 404. */
  fetch(request: Request): Promise<Response>;
  /** `createServer(seller.listener)`, or `app.use(seller.listener)` before what reads bodies. */
  readonly listener: (message: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;
  /** `await app.register(seller.plugin)` */
  readonly plugin: FastifyPluginAsync;
}

export interface Mounting extends MountedSeller {
  /** Waits for the answers that are under way. */
  idle(): Promise<void>;
}

/** A pattern of a route, `/previews/:id` or `/*`, as an expression. */
const patternOf = (url: string): RegExp => {
  const segments = url.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${segments.join("/")}$`);
};

/** Every path that routes of an app are added under from now on. */
export function ownPaths(app: FastifyInstance): (path: string) => boolean {
  const exact = new Set<string>();
  const patterns: RegExp[] = [];
  app.addHook("onRoute", ({ url }) => {
    // The answer to browsers that ask first is under every path.
    if (url === "*") return;
    if (/[:*]/.test(url)) patterns.push(patternOf(url));
    else exact.add(url);
  });
  return (path) => exact.has(path) || patterns.some((one) => one.test(path));
}

const pathOf = (target: string): string => target.replace(/[?#].*$/, "");

const READ =
  "somebody has read the request's body before the seller: mount the seller before what parses bodies, or on a route without it";

export function mountOf(app: FastifyInstance, owns: (path: string) => boolean, logger: Logger | undefined): Mounting {
  const underWay = new Set<object>();
  const idle = new Set<() => void>();
  const ends = (one: object): void => {
    underWay.delete(one);
    if (underWay.size === 0) for (const tell of idle) tell();
  };
  const listener: MountedSeller["listener"] = (message, response, next) => {
    if (next !== undefined && !owns(pathOf(message.url ?? ""))) return next();
    const isRead = message.readableEnded && (message as { body?: unknown }).body !== undefined;
    if (isRead) {
      logger?.error({ remedy: READ }, "a request could not be answered");
      response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error: "body_not_raw" }));
      return;
    }
    underWay.add(response);
    response.once("close", () => ends(response));
    app.routing(message, response);
  };
  return {
    owns,
    listener,
    async fetch(request) {
      underWay.add(request);
      try {
        return await fetched(app, request);
      } finally {
        ends(request);
      }
    },
    plugin: Object.assign(pluginOf(owns, listener), { [Symbol.for("skip-override")]: true }),
    async idle() {
      if (underWay.size > 0) await new Promise<void>((resolve) => idle.add(resolve));
    },
  };
}

const pluginOf =
  (owns: MountedSeller["owns"], listener: MountedSeller["listener"]): FastifyPluginAsync =>
  async (host) => {
    // Before the body is read: signatures are over its bytes.
    host.addHook("onRequest", async (request, reply) => {
      if (!owns(pathOf(request.url))) return;
      reply.hijack();
      listener(request.raw, reply.raw);
    });
  };

/** Fields about a connection, which an answer of fetch's kind has none of. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding"]);

async function fetched(app: FastifyInstance, request: Request): Promise<Response> {
  if (request.bodyUsed)
    throw new AdbindError("body_not_raw", "the request's body has been read", { where: request.url, remedy: READ });
  const { pathname, search } = new URL(request.url);
  const answer = await app.inject({
    method: request.method as "POST",
    url: `${pathname}${search}`,
    headers: Object.fromEntries(request.headers),
    ...(request.body !== null && { payload: Readable.fromWeb(request.body) }),
    payloadAsStream: true,
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || hopByHop.has(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, String(one));
  }
  const { statusCode: status } = answer;
  const empty = status === 204 || status === 304;
  if (empty) answer.stream().resume();
  // Not `Readable.toWeb`: who leaves in the middle of an answer would end the process with "Controller is already closed".
  return new Response(empty ? null : ReadableStream.from<Uint8Array>(answer.stream()), { status, headers });
}
