/** Pages that find agents: by what they can sell, on the map, one by one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { agentUrlOf } from "../../model.js";
import { SEARCH_DIMENSIONS, type SearchFilters } from "../../types.js";
import { type ApiRequest, type RegistryServerDependencies, within } from "../api-request.js";
import type { OperationId } from "../document.js";
import { type Limits, limitOf } from "../limits.js";
import { agentPage, agentsPage, type SearchForm, type Vocabulary } from "../pages/agents.js";
import { answerPage, pagePaths, type QueryValues, sent } from "../pages/answer-page.js";
import { html } from "../pages/html.js";
import { mapPage } from "../pages/map.js";
import { Problem } from "../problems.js";
import type { CheckedRequest, Checker } from "../validation.js";
import { vocabulariesOf } from "../vocabulary.js";
import { filtersOf } from "./agents.js";
import { pageOf } from "./inputs.js";

/** Rows of one page. */
const PAGE_ROWS = 50;
const MAP_MARKETS = [12, 24, 48, 96];

const closed = html`<p>Here, agents are searched with a credential only: <a href="/docs#searchAgents">how programs ask</a>.</p>`;
const closedAnswer = (title: string, current: "agents" | "map") => ({
  view: { title, body: closed, current },
  json: { error: "Here, agents are searched with a credential only", code: "search_closed" },
  status: 403,
});

const formFields = [...SEARCH_DIMENSIONS, "min_properties", "has_tmp", "search"];

const formOf = (query: QueryValues): SearchForm =>
  Object.fromEntries(
    formFields.flatMap((name) => {
      const value = sent(query, name);
      return value === "" ? [] : [[name, value]];
    }),
  );

interface Searching {
  readonly dependencies: RegistryServerDependencies;
  /** The API's own check, so that the page and the API take the same. */
  readonly check: Checker;
  readonly vocabulary: Vocabulary;
}

async function agents(searching: Searching, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { dependencies, check, vocabulary } = searching;
  const view = { title: "Agents by what they can sell", current: "agents" as const };
  if (!dependencies.pageSearch) return answerPage(request, reply, closedAnswer(view.title, view.current));
  const query = request.query as QueryValues;
  const form = formOf(query);
  const cursor = sent(query, "cursor");
  const show = (shown: Omit<Parameters<typeof agentsPage>[0], "form" | "vocabulary">, status = 200): FastifyReply =>
    answerPage(request, reply, {
      view: { ...view, body: agentsPage({ form, vocabulary, ...shown }) },
      json: shown.problem === undefined ? { ...shown.found, facets: shown.facets } : { error: shown.problem },
      status,
    });
  const { search: _, ...asked } = form;
  const whole = Object.keys(form).length === 0 && cursor === "";
  if (whole) return show({ facets: await within(dependencies.data.facets({})) });
  try {
    const given = { ...asked, ...(cursor !== "" && { cursor }) };
    const checked = check({ query: given, params: {}, body: undefined }) as CheckedRequest;
    const filters = filtersOf(checked.query as ApiRequest<"searchAgents">["query"]);
    const page = await within(
      dependencies.data.search(filters, { limit: PAGE_ROWS, ...(cursor !== "" && { cursor }) }),
    );
    return show({ found: pageOf(page), facets: await within(dependencies.data.facets(filters)) });
  } catch (error) {
    if (!(error instanceof Problem) || error.statusCode !== 400) throw error;
    return show({ problem: error.error, facets: await within(dependencies.data.facets({})) }, 400);
  }
}

async function map(
  { dependencies, vocabulary }: Searching,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const view = { title: "Channels and markets", current: "map" as const };
  if (!dependencies.pageSearch) return answerPage(request, reply, closedAnswer(view.title, view.current));
  const query = request.query as QueryValues;
  const types = vocabulary.property_types ?? [];
  const asked = sent(query, "property_types");
  const type = types.includes(asked) ? asked : "";
  const number = Number(sent(query, "markets"));
  const markets = MAP_MARKETS.includes(number) ? number : MAP_MARKETS[0]!;
  const filters: SearchFilters = type === "" ? {} : { property_types: [type] };
  const found = await within(dependencies.data.marketMap(filters, { markets }));
  return answerPage(request, reply, {
    view: { ...view, body: mapPage({ map: found, type, types, markets }) },
    json: found,
  });
}

async function agent(
  { data }: RegistryServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as QueryValues;
  const current = "agents" as const;
  const url = agentUrlOf(sent(query, "url"));
  if (url === undefined) {
    const error = "This is no URL of an agent.";
    const view = { title: "No agent", body: html`<p>${error}</p>`, current };
    return answerPage(request, reply, { view, json: { error }, status: 400 });
  }
  const cursor = sent(query, "cursor");
  const page = await within(data.agentPublishers(url, { limit: PAGE_ROWS, ...(cursor !== "" && { cursor }) }));
  const found = page === undefined ? undefined : pageOf(page);
  return answerPage(request, reply, {
    view: { title: "An agent's publishers", body: agentPage(url, found), current },
    json: found ?? { error: "Nobody names this agent.", agent_url: url },
    status: found === undefined ? 404 : 200,
  });
}

export function addAgentPages(
  app: FastifyInstance,
  dependencies: RegistryServerDependencies,
  check: (id: OperationId) => Checker,
  limits: Limits,
): void {
  const reads = { config: { rateLimit: limitOf("reads", limits), bucket: "reads" } };
  const { channels, property_types, delivery_types } = vocabulariesOf(dependencies.files);
  const vocabulary: Vocabulary = { channels, property_types, delivery_types };
  const searching = { dependencies, check: check("searchAgents"), vocabulary };
  for (const path of pagePaths("/agents"))
    app.get(path, reads, async (request, reply) => agents(searching, request, reply));
  for (const path of pagePaths("/map")) app.get(path, reads, async (request, reply) => map(searching, request, reply));
  for (const path of pagePaths("/agent"))
    app.get(path, reads, async (request, reply) => agent(dependencies, request, reply));
}
