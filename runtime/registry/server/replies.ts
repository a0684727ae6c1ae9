/** What every answer carries, and how errors become answers. */

import type { FastifyError, FastifyInstance } from "fastify";
import { isPassingFault } from "../../db/open.js";
import { AdbindError } from "../../errors.js";
import { notOffered } from "./not-offered.js";
import { html } from "./pages/html.js";
import { page, pageHeaders } from "./pages/layout.js";
import { badRequest, Problem, unavailable } from "./problems.js";
import { routeName, type Telemetry } from "./telemetry.js";

/** @param stopping then connections are not kept, so that none is idle when the server closes */
export function addHeaders(app: FastifyInstance, stopping: () => boolean): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    if (stopping()) reply.header("connection", "close");
    // Nothing that is kept has this character, and PostgreSQL takes no text with it.
    if (request.url.includes("%00")) throw badRequest("The URL is not well-formed");
  });
  app.addHook("onResponse", async (request, reply) => {
    const about = { method: request.method, route: routeName(request), status: reply.statusCode };
    const caller = request.identity?.state === "known" ? request.identity.caller.id : undefined;
    // Paths and queries may hold what people look for; the route says enough.
    request.log.info(
      { ...about, ms: Math.round(reply.elapsedTime), ...(caller !== undefined && { caller }) },
      "answered",
    );
  });
}

/** Fastify's own refusals, in the words of this API. */
const refusals: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new Problem(413, "Request body is too large"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Problem(415, "Content-Type must be application/json"),
  FST_ERR_CTP_EMPTY_JSON_BODY: new Problem(400, "The body is empty"),
  FST_ERR_CTP_INVALID_JSON_BODY: new Problem(400, "The body is not JSON"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new Problem(400, "Content-Length is not that of the body"),
};

function problemOf(error: FastifyError | Problem | AdbindError): Problem | undefined {
  if (error instanceof Problem) return error;
  // The data's own refusal of what was asked, e.g. of selectors that mean too much at once.
  if (error instanceof AdbindError && error.code === "registry_data_invalid") return new Problem(400, error.message);
  if (error instanceof AdbindError && error.code === "registry_busy")
    return unavailable(error.message, "registry_busy");
  const known = Object.hasOwn(refusals, error.code ?? "") ? refusals[error.code] : undefined;
  if (known !== undefined) return known;
  if ("statusCode" in error && error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new Problem(400, error.message);
  return isPassingFault(error) ? unavailable("The registry cannot answer now", "store_unavailable") : undefined;
}

export function addErrors(app: FastifyInstance, telemetry: Telemetry): void {
  const wantsPage = (accept: string | undefined, operation: unknown): boolean =>
    operation === undefined && /\btext\/html\b/.test(accept ?? "");
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    const problem = problemOf(error);
    const { bucket, operation } = request.routeOptions.config ?? {};
    const status = problem?.statusCode ?? 500;
    if (status === 429) telemetry.limited(bucket ?? "crawl");
    if (status >= 500) request.log.error({ err: error, route: routeName(request) }, "a request failed");
    reply.code(status).headers(problem?.headers ?? {});
    const text = problem?.error ?? "The registry could not answer";
    if (wantsPage(request.headers.accept, operation)) {
      const body = html`<p>${text}. ${problem?.detail.message}</p><p>Request ${request.id}</p>`;
      return reply.headers(pageHeaders()).send(page({ title: "That did not work", body }).text);
    }
    return reply.type("application/json").send(problem?.body ?? { error: text, request_id: request.id });
  });
  app.setNotFoundHandler((request, reply) => {
    const missing = notOffered(request.url);
    if (missing !== undefined) return reply.code(missing.statusCode).type("application/json").send(missing.body);
    reply.code(404);
    if (wantsPage(request.headers.accept, undefined))
      return reply
        .headers(pageHeaders())
        .send(page({ title: "Not found", body: html`<p>There is no such page.</p>` }).text);
    return reply.type("application/json").send({ error: "Not found" });
  });
}
