/** Pages for people. */
import type { FastifyInstance } from "fastify";
import type { RegistryServerDependencies } from "../api-request.js";
import type { OperationId } from "../document.js";
import { type Limits, limitOf } from "../limits.js";
import { answerPage } from "../pages/answer-page.js";
import { apiPage } from "../pages/api.js";
import { homePage } from "../pages/home.js";
import { STYLE_PATH } from "../pages/layout.js";
import { style } from "../pages/style.js";
import type { Checker } from "../validation.js";
import { addAgentPages } from "./agent-pages.js";
import { addBuildPage } from "./build-page.js";
import { addCheckPage } from "./check-page.js";
import { addPublisherPages } from "./publisher-pages.js";

/** What programs are told at `/`. */
const places = {
  publisher: "/publisher.json?domain=",
  why: "/why.json?domain=&agent=&property=",
  agents: "/agents.json?channels=&markets=",
  agent: "/agent.json?url=",
  map: "/map.json",
  check: "/check.json?domain=",
  build: "/build.json?domain=",
  api: "/openapi.json",
};

/** @param check the API's own check of a search, so that the page and the API take the same */
export function addPages(
  app: FastifyInstance,
  dependencies: RegistryServerDependencies,
  check: (id: OperationId) => Checker,
  limits: Limits,
): void {
  const documents = { config: { rateLimit: limitOf("documents", limits), bucket: "documents" } };
  app.get(STYLE_PATH, documents, async (_, reply) =>
    reply.headers({ "content-type": "text/css; charset=utf-8", "cache-control": "public, max-age=3600" }).send(style),
  );
  const home = { title: "Who may sell for a publisher?", body: homePage(), current: "publisher" as const };
  for (const path of ["/", "/index.json"])
    app.get(path, documents, async (request, reply) => answerPage(request, reply, { view: home, json: places }));
  const api = { title: "API", body: apiPage(dependencies.document, dependencies.baseUrl), current: "api" as const };
  for (const path of ["/docs", "/docs.json"])
    app.get(path, documents, async (request, reply) =>
      answerPage(request, reply, { view: api, json: dependencies.document.json }),
    );
  addPublisherPages(app, dependencies, limits);
  addAgentPages(app, dependencies, check, limits);
  addCheckPage(app, dependencies, limits);
  addBuildPage(app, dependencies, limits);
}
