/** Pages about a publisher: what is known of it, why an agent may sell, and its file fetched again. */
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { agentUrlOf, publisherDomain } from "../../model.js";
import { type RegistryServerDependencies, within } from "../api-request.js";
import { type Limits, limitOf, whoAsks } from "../limits.js";
import { answerPage, pagePaths, type QueryValues, sent } from "../pages/answer-page.js";
import { domainForm } from "../pages/home.js";
import { html } from "../pages/html.js";
import { link } from "../pages/parts.js";
import { type PublisherAsked, publisherPage } from "../pages/publisher.js";
import { type WhyForm, whyPage } from "../pages/why.js";
import { Problem } from "../problems.js";
import { type Vocabularies, vocabulariesOf } from "../vocabulary.js";
import { asked as askCrawl, crawlerOf } from "./crawling.js";
import { crawledWhereUnknown } from "./publishers.js";

/** Rows of one page, and changes told. */
const PAGE_ROWS = 50;
const CHANGES = 20;
/** Seconds until a page that waits for a crawl looks again (docs/protocol/registry.md#crawls-on-request). */
const REFRESH_SECONDS = 4;

const NO_DOMAIN = "This is no domain. Give at least two parts, such as news.example.";

const askedOf = (query: QueryValues): PublisherAsked => ({
  text: sent(query, "q"),
  type: sent(query, "type"),
  cursor: sent(query, "cursor"),
  agent: sent(query, "agent"),
  agentsCursor: sent(query, "agents_cursor"),
});

async function publisher(
  dependencies: RegistryServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  types: readonly string[],
): Promise<FastifyReply> {
  const { data, crawler } = dependencies;
  const query = request.query as QueryValues;
  const given = sent(query, "domain");
  const domain = publisherDomain(given);
  const current = "publisher" as const;
  if (domain === undefined) {
    const view = { title: "Who may sell for a publisher?", body: domainForm(given, NO_DOMAIN), current };
    return answerPage(request, reply, { view, json: { error: NO_DOMAIN }, status: 400 });
  }
  const asked = askedOf(query);
  const page = { limit: PAGE_ROWS, text: asked.agent, cursor: asked.agentsCursor };
  const found = await crawledWhereUnknown(dependencies, domain, await within(data.overview(domain, page)));
  const { text, type, cursor } = asked;
  const [properties, changes, state, pending] = await within(
    Promise.all([
      data.propertiesPage(domain, { text, type, cursor, limit: PAGE_ROWS }),
      data.changesOf(domain, CHANGES),
      data.crawlState(domain),
      crawler?.pending(domain) ?? false,
    ]),
  );
  const view = { found, state, properties, changes, asked, types, crawls: crawler !== undefined, pending };
  return answerPage(request, reply, {
    view: { title: domain, body: publisherPage(view), current },
    json: { ...found, ...properties, problems: state?.problems ?? [], changes, being_fetched: pending },
    refresh: pending || found.files?.adagents_json.status === "checking" ? REFRESH_SECONDS : undefined,
  });
}

/** What a form suggests: agents and properties of the publisher. */
async function suggestions(
  { data }: RegistryServerDependencies,
  domain: string,
): Promise<Pick<WhyForm, "agents" | "properties">> {
  const { authorized_agents: agents } = await within(data.overview(domain, { limit: PAGE_ROWS }));
  const { properties } = await within(data.propertiesPage(domain, { limit: PAGE_ROWS }));
  return {
    agents: [...new Set(agents.map(({ url }) => url))],
    properties: properties.flatMap(({ id, identifiers }) => id ?? identifiers[0]?.value ?? []),
  };
}

async function why(
  dependencies: RegistryServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as QueryValues;
  const form = { domain: sent(query, "domain"), agent: sent(query, "agent"), property: sent(query, "property") };
  const view = { title: "Why may this agent sell this?", current: "why" as const };
  const domain = publisherDomain(form.domain);
  const agent = agentUrlOf(form.agent);
  const problems = {
    ...(form.domain !== "" && domain === undefined && { domain: NO_DOMAIN }),
    ...(form.agent !== "" && agent === undefined && { agent: "This is no address of an agent: give an https URL." }),
  };
  const suggested = domain === undefined ? {} : await suggestions(dependencies, domain);
  if (domain === undefined || agent === undefined) {
    const wrong = Object.values(problems);
    const error = wrong.length > 0 ? wrong.join(" ") : "Give domain and agent; property is optional.";
    const body = whyPage({ ...form, ...suggested, problems });
    return answerPage(request, reply, {
      view: { ...view, body },
      json: { error },
      status: wrong.length > 0 ? 400 : 200,
    });
  }
  const found = await within(
    dependencies.data.explain(domain, agent, form.property === "" ? undefined : form.property),
  );
  return answerPage(request, reply, {
    view: { ...view, body: whyPage({ ...form, ...suggested }, found) },
    json: found,
  });
}

/** Fetches the file of a domain again, for whoever asks: each address has as many crawls as a caller has. */
async function recheck(
  dependencies: RegistryServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const domain = publisherDomain(sent((request.body ?? {}) as QueryValues, "domain"));
  const view = { title: domain ?? "No domain", current: "publisher" as const };
  const site = request.headers["sec-fetch-site"];
  const refused = (why: string, status: number): FastifyReply =>
    answerPage(request, reply, {
      view: {
        ...view,
        body: html`<p class="problem" role="alert">${why}</p>${domain === undefined ? domainForm("") : html`<p><a href="${link("/publisher", { domain })}">What is known of ${domain}</a></p>`}`,
      },
      json: { error: why },
      status,
    });
  if (domain === undefined) return refused(NO_DOMAIN, 400);
  // A page of somebody else's has no crawls to spend of its visitors'.
  if (site !== undefined && site !== "same-origin" && site !== "none")
    return refused("Press the button on the publisher's own page.", 403);
  try {
    await askCrawl(crawlerOf(dependencies), domain, whoAsks(request));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { retryAfterSeconds } = error.detail;
    if (retryAfterSeconds !== undefined) reply.header("retry-after", String(retryAfterSeconds));
    const later = retryAfterSeconds === undefined ? "" : ` Ask again in ${retryAfterSeconds} s.`;
    return refused(`${error.error}.${later}`, error.statusCode);
  }
  return reply.redirect(link("/publisher", { domain }), 303);
}

export function addPublisherPages(
  app: FastifyInstance,
  dependencies: RegistryServerDependencies,
  limits: Limits,
): void {
  const lookups = { config: { rateLimit: limitOf("publisher", limits), bucket: "publisher" } };
  const reads = { config: { rateLimit: limitOf("reads", limits), bucket: "reads" } };
  const crawls = { config: { rateLimit: limitOf("crawl", limits), bucket: "crawl" } };
  const words: Vocabularies = vocabulariesOf(dependencies.files);
  for (const path of pagePaths("/publisher"))
    app.get(path, lookups, async (request, reply) => publisher(dependencies, request, reply, words.property_types));
  for (const path of pagePaths("/why"))
    app.get(path, reads, async (request, reply) => why(dependencies, request, reply));
  app.register(async (scope) => {
    await scope.register(formbody);
    scope.post("/publisher/recheck", crawls, async (request, reply) => recheck(dependencies, request, reply));
  });
}
