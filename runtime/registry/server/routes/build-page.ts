/** The page that writes a publisher's file. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type BuiltAgent, type BuiltForm, type BuiltProperty, builtFile } from "../../build-file.js";
import { publisherDomain } from "../../model.js";
import type { RegistryServerDependencies } from "../api-request.js";
import { type Limits, limitOf } from "../limits.js";
import { answerPage, pagePaths, type QueryValues, sent } from "../pages/answer-page.js";
import { buildPage } from "../pages/build.js";
import { type Vocabularies, vocabulariesOf } from "../vocabulary.js";
import { pastedFile } from "./check-page.js";

/** Rows of each kind: all of the form is in its address, which a server takes up to 16 kB of. */
const ROWS = 20;
const START_ROWS = 2;

const rowsIn = (query: QueryValues, name: "properties" | "agents", more: string): number => {
  const given = Math.trunc(Number(sent(query, name)) || START_ROWS);
  return Math.min(ROWS, Math.max(1, given) + (sent(query, "more") === more ? 1 : 0));
};

const row = <Row>(query: QueryValues, prefix: string, names: readonly (keyof Row & string)[]): Row =>
  Object.fromEntries(names.map((name) => [name, sent(query, `${prefix}_${name}`)])) as Row;

const propertyNames = ["id", "name", "type", "identifier", "value", "tags"] as const;
const agentNames = ["url", "for", "sells", "values", "countries", "delegation", "from", "until"] as const;

const formOf = (query: QueryValues, domain: string): BuiltForm => ({
  domain,
  properties: Array.from({ length: rowsIn(query, "properties", "property") }, (_, at) =>
    row<BuiltProperty>(query, `p${at}`, propertyNames),
  ),
  agents: Array.from({ length: rowsIn(query, "agents", "agent") }, (_, at) =>
    row<BuiltAgent>(query, `a${at}`, agentNames),
  ),
});

const queryOf = ({ url }: FastifyRequest): string => url.split("?").slice(1).join("?");

function build(
  dependencies: RegistryServerDependencies,
  words: Vocabularies,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const query = request.query as QueryValues;
  const given = sent(query, "domain");
  const domain = publisherDomain(given);
  const problem =
    given !== "" && domain === undefined
      ? "This is no domain. Give at least two parts, such as news.example."
      : undefined;
  const form = formOf(query, domain ?? given);
  const file = domain === undefined ? undefined : builtFile(form, dependencies.now());
  const text = file === undefined ? "" : JSON.stringify(file, null, 2);
  const checked = domain === undefined || file === undefined ? undefined : pastedFile(domain, text, dependencies.now());
  const made = checked && { text, checked, download: `/build/adagents.json?${queryOf(request)}` };
  const body = buildPage({
    form,
    propertyTypes: words.property_types,
    identifierTypes: words.identifier_types,
    problem,
    made,
  });
  const said = checked === undefined ? { error: problem ?? "Give a domain, properties and agents." } : undefined;
  return answerPage(request, reply, {
    view: { title: "Write a file", body, current: "build" },
    json: said ?? { file, valid: checked!.valid, error: checked!.error, problems: checked!.problems },
    status: problem === undefined ? 200 : 400,
  });
}

function download(
  dependencies: RegistryServerDependencies,
  { query }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const domain = publisherDomain(sent(query as QueryValues, "domain"));
  const file = domain === undefined ? undefined : builtFile(formOf(query as QueryValues, domain), dependencies.now());
  if (file === undefined) return reply.code(400).send({ error: "Give a domain, properties and agents" });
  return reply
    .headers({
      "content-type": "application/json; charset=utf-8",
      "content-disposition": 'attachment; filename="adagents.json"',
    })
    .send(JSON.stringify(file, null, 2));
}

export function addBuildPage(app: FastifyInstance, dependencies: RegistryServerDependencies, limits: Limits): void {
  const documents = { config: { rateLimit: limitOf("documents", limits), bucket: "documents" } };
  const words = vocabulariesOf(dependencies.files);
  for (const path of pagePaths("/build"))
    app.get(path, documents, async (request, reply) => build(dependencies, words, request, reply));
  app.get("/build/adagents.json", documents, async (request, reply) => download(dependencies, request, reply));
}
