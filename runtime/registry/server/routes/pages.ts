/** Pages for people. */
import type { FastifyInstance, FastifyReply } from "fastify";
import { agentUrlOf, publisherDomain } from "../../model.js";
import { type Call, type Parts, within } from "../call.js";
import type { OperationId } from "../document.js";
import { type Limits, limitOf } from "../limits.js";
import { agentPage, agentsPage, type SearchForm } from "../pages/agents.js";
import { apiPage } from "../pages/api.js";
import { domainForm, homePage, publisherPage } from "../pages/home.js";
import { html } from "../pages/html.js";
import { type PageView, page, pageHeaders, STYLE_PATH, style } from "../pages/layout.js";
import { Problem } from "../problems.js";
import type { CheckedRequest, Checker } from "../validation.js";
import { filtersOf } from "./agents.js";
import { pageOf } from "./inputs.js";
import { publisherLookup } from "./publishers.js";

/** Rows of one page. */
const PAGE_ROWS = 50;
/** Seconds until a page that waits for a crawl looks again (service.md, "Publisher lookup result", 3). */
const REFRESH_SECONDS = 4;

type Query = Record<string, string | undefined>;

const sendPage = (reply: FastifyReply, view: PageView, status = 200): FastifyReply =>
  reply.code(status).headers(pageHeaders()).send(page(view).text);

const closedSearch = html`<p>Here, agents are searched with a credential only: <a href="/docs#searchAgents">how programs ask</a>.</p>`;

const formOf = (query: Query): SearchForm =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value === "string" && value !== "" && name !== "cursor" ? [[name, value]] : [],
    ),
  );

/** @param check the API's own check of a search, so that the page and the API take the same */
export function addPages(
  app: FastifyInstance,
  parts: Parts,
  check: (id: OperationId) => Checker,
  limits: Limits,
): void {
  const documents = { config: { rateLimit: limitOf("documents", limits), bucket: "documents" } };
  const lookups = { config: { rateLimit: limitOf("publisher", limits), bucket: "publisher" } };
  const reads = { config: { rateLimit: limitOf("reads", limits), bucket: "reads" } };

  app.get(STYLE_PATH, documents, async (_, reply) =>
    reply.headers({ "content-type": "text/css; charset=utf-8", "cache-control": "public, max-age=3600" }).send(style),
  );
  app.get("/", documents, async (_, reply) =>
    sendPage(reply, { title: "Who may sell for a publisher?", body: homePage(), current: "publisher" }),
  );
  app.get("/docs", documents, async (_, reply) =>
    sendPage(reply, { title: "API", body: apiPage(parts.document, parts.baseUrl), current: "api" }),
  );

  app.get<{ Querystring: Query }>("/publisher", lookups, async ({ query }, reply) => {
    const given = String(query.domain ?? "").trim();
    const domain = publisherDomain(given);
    if (domain === undefined) {
      const body = domainForm(given, "This is no domain. Give at least two parts, such as news.example.");
      return sendPage(reply, { title: "Who may sell for a publisher?", body, current: "publisher" }, 400);
    }
    const found = await publisherLookup(parts, domain);
    const state = await within(parts.data.crawlState(domain));
    // Works without a script; whoever does not want to wait reloads.
    if (found.files?.adagents_json.status === "checking") reply.header("refresh", String(REFRESH_SECONDS));
    return sendPage(reply, { title: domain, body: publisherPage(found, state), current: "publisher" });
  });

  app.get<{ Querystring: Query }>("/agents", reads, async ({ query }, reply) => {
    const form = formOf(query);
    const view = { title: "Agents by what they can sell", current: "agents" as const };
    if (!parts.pageSearch) return sendPage(reply, { ...view, body: closedSearch }, 403);
    // Only what was typed is a filter: an empty field of the form is not.
    const asked = { ...form, ...(query.cursor !== undefined && { cursor: query.cursor }) };
    if (Object.keys(asked).length === 0) return sendPage(reply, { ...view, body: agentsPage(form, undefined) });
    try {
      const checked = check("searchAgents")({ query: asked, params: {}, body: undefined }) as CheckedRequest;
      const cursor = checked.query.cursor as string | undefined;
      const filters = filtersOf(checked.query as Call<"searchAgents">["query"]);
      const found = pageOf(
        await within(parts.data.search(filters, { limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) })),
      );
      return sendPage(reply, { ...view, body: agentsPage(form, found) });
    } catch (error) {
      if (!(error instanceof Problem) || error.statusCode !== 400) throw error;
      return sendPage(reply, { ...view, body: agentsPage(form, undefined, error.error) }, 400);
    }
  });

  app.get<{ Querystring: Query }>("/agent", reads, async ({ query }, reply) => {
    const url = agentUrlOf(String(query.url ?? ""));
    if (url === undefined)
      return sendPage(
        reply,
        { title: "No agent", body: html`<p>This is no URL of an agent.</p>`, current: "agents" },
        400,
      );
    const cursor = query.cursor;
    const page = await within(
      parts.data.agentPublishers(url, { limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) }),
    );
    const found = page === undefined ? undefined : pageOf(page);
    return sendPage(
      reply,
      { title: "An agent's publishers", body: agentPage(url, found), current: "agents" },
      found === undefined ? 404 : 200,
    );
  });
}
