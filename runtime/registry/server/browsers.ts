/** What browsers need: leave to read the API from other origins' pages, and answers that are short on the wire. */
import { constants } from "node:zlib";
import compress from "@fastify/compress";
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance } from "fastify";

/** The API and its documents; pages and logins are the registry's own, and no other origin's to read. */
const open = /^\/(?:api|v1|schemas|\.well-known|openapi)(?:[/.?]|$)|^\/publisher\/[^/?]+\/\.well-known\//;
/** How long a browser may keep the leave, in seconds. */
const PREFLIGHT_SECONDS = 86_400;
/** Below it a compressed answer is hardly shorter, in bytes. */
const COMPRESSED_FROM_BYTES = 1_024;
/** A fifth of the best quality's time for some percent more bytes. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 6;

const leave: FastifyCorsOptions = {
  // Credentials are a bearer token that a page must have been given: there is nothing a browser adds by itself.
  origin: "*",
  methods: ["GET", "HEAD", "POST"],
  allowedHeaders: ["authorization", "content-type", "if-none-match"],
  exposedHeaders: [
    "etag",
    "location",
    "retry-after",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-request-id",
    "x-sync-cursor",
    "link",
    "missing-parts",
  ],
  maxAge: PREFLIGHT_SECONDS,
};

export async function serveBrowsers(app: FastifyInstance): Promise<void> {
  await app.register(cors, {
    delegator: (request, callback) => callback(null, open.test(request.url ?? "") ? leave : { origin: false }),
  });
  await app.register(compress, {
    threshold: COMPRESSED_FROM_BYTES,
    // Lines of JSON too; a stream of events is told as it comes.
    customTypes: /^text\/(?!event-stream)|json(?:;|$)|xml(?:;|$)/,
    encodings: ["br", "gzip"],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    zlibOptions: { level: GZIP_LEVEL },
  });
  // Encoded in other bytes, it is another representation of the same (RFC 9110 section 8.8.1). The plugin encodes after
  // this; saying so of an answer that stays plain after all does no harm.
  app.addHook("onSend", async (request, reply, payload) => {
    const etag = reply.getHeader("etag");
    const encodes = /\b(?:br|gzip)\b|\*/.test(String(request.headers["accept-encoding"] ?? ""));
    if (encodes && typeof etag === "string" && etag.startsWith('"')) reply.header("etag", `W/${etag}`);
    return payload;
  });
}
