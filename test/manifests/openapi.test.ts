/** The registry's description: complete, resolvable, with examples that hold, and fit for openapi-typescript. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Json, objectsIn, root } from "./read-release.js";

const file = path.join(root, "manifests/registry/openapi.yaml");

/** openapi-typescript reads YAML with this parser, which is its dependency and not ours. */
const parserHome = createRequire(createRequire(import.meta.url).resolve("openapi-typescript"));
const { parseYaml } = parserHome("@redocly/openapi-core") as { parseYaml: (text: string) => Json };
const document = parseYaml(readFileSync(file, "utf8"));

const METHODS = ["get", "post", "put", "delete", "patch"];
const operations: [name: string, operation: Json][] = Object.entries<Json>(document.paths).flatMap(([route, item]) =>
  METHODS.filter((method) => method in item).map((method): [string, Json] => [
    `${method.toUpperCase()} ${route}`,
    item[method],
  ]),
);
const operation = (name: string): Json => operations.find(([one]) => one === name)?.[1];

/** Statuses each endpoint answers with, and whether it takes a token: none, maybe or yes. */
const ENDPOINTS: Record<string, [statuses: string, token: "none" | "maybe" | "yes"]> = {
  "POST /api/registry/expand/product-identifiers": ["200 400 413 415 429 503", "none"],
  "GET /api/registry/publisher": ["200 304 400 429 503", "none"],
  "GET /api/registry/publisher/authorization": ["200 304 400 404 429 503", "none"],
  "GET /api/registry/operator": ["200 304 400 403 429 503", "maybe"],
  "GET /api/registry/agents/search": ["200 304 400 401 403 429 503", "yes"],
  "GET /api/registry/agents/{agent_url}/publishers": ["200 304 400 404 429 503", "none"],
  "GET /api/registry/lookup/domain/{domain}": ["200 304 400 429 503", "none"],
  "GET /api/registry/lookup/property": ["200 304 400 429 503", "none"],
  "POST /api/registry/validate/product-authorization": ["200 400 413 415 429 503", "none"],
  "POST /api/registry/crawl-request": ["202 400 401 403 413 415 429 503", "yes"],
  "POST /api/registry/brand-crawl-request": ["202 400 401 403 413 415 429 503", "yes"],
  "POST /api/registry/publisher/{domain}/adagents/revalidate": ["200 400 401 403 429 503", "yes"],
  "GET /api/registry/crawl-request/{crawl_request_id}": ["200 304 400 401 403 404 429 503", "yes"],
  "GET /api/registry/feed": ["200 304 400 401 403 410 429 503", "yes"],
  "GET /api/registry/feed/stream": ["200 400 401 403 410 429 503", "yes"],
  "GET /api/registry/authorizations": ["200 304 400 401 403 429 503", "yes"],
  "GET /api/registry/authorizations/snapshot": ["200 304 400 401 403 429 503", "yes"],
  "GET /api/registry/agents": ["200 304 400 429 503", "none"],
  "GET /api/registry/publishers": ["200 304 400 429 503", "none"],
  "GET /api/registry/validate/property-authorization": ["200 304 400 429 503", "none"],
  "GET /api/registry/lookup/agent/{agent_url}/domains": ["200 304 400 429 503", "none"],
  "GET /v1/agents/{agent_url}/publishers": ["200 304 400 404 429 503", "none"],
  "GET /api/v1/agents/{agent_url}/publishers": ["200 304 400 404 429 503", "none"],
  "GET /api/properties/resolve": ["200 304 400 404 429 503", "none"],
  "POST /api/properties/resolve/bulk": ["200 400 413 415 429 503", "none"],
  "GET /api/properties/registry": ["200 304 400 429 503", "none"],
  "POST /api/registry/manager-revalidation-request": ["202 400 401 403 413 415 429 503", "yes"],
  "POST /api/properties/check": ["200 400 413 415 429 503", "none"],
  "GET /api/properties/check/{report_id}": ["200 304 400 404 429 503", "none"],
  "POST /api/properties/check/bulk": ["200 400 413 415 429 503", "none"],
  "GET /api/properties/check/bulk/{report_id}": ["200 304 400 404 429 503", "none"],
  "POST /api/properties/hosted/{domain}/verify-origin": ["200 400 401 403 404 429 503", "yes"],
  "GET /api/properties/validate": ["200 304 400 429 503", "none"],
  "GET /api/public/validate-publisher": ["200 304 400 429 503", "none"],
  "POST /api/adagents/validate": ["200 400 413 415 429 503", "none"],
  "POST /api/adagents/create": ["200 400 413 415 429 503", "none"],
  "GET /api/brands/resolve": ["200 304 400 404 429 503", "none"],
  "POST /api/brands/resolve/bulk": ["200 400 413 415 429 503", "none"],
  "GET /api/brands/registry": ["200 304 400 429 503", "none"],
  "GET /api/brands/brand-json": ["200 304 400 404 429 503", "none"],
  "GET /api/public/discover-agent": ["200 304 400 404 429 503", "none"],
  "GET /api/brands/find": ["200 304 400 429 503", "none"],
  "GET /api/search": ["200 304 400 429 503", "none"],
  "GET /api/manifest-refs/lookup": ["200 304 400 429 503", "none"],
  "GET /api": ["200 304 429", "none"],
  "GET /api/registry/stats": ["200 304 429 503", "none"],
  "GET /.well-known/oauth-authorization-server": ["200 304 404 503", "none"],
  "GET /.well-known/oauth-protected-resource/api": ["200 304", "none"],
  "GET /publisher/{domain}/.well-known/adagents.json": ["200 304 400 404 429 503", "none"],
  "GET /schemas/{version}/{path}": ["200 304 404 429", "none"],
  "GET /static/test-vectors/webhook-payload-extraction.json": ["200 304 404 429", "none"],
  "GET /openapi.json": ["200 304", "none"],
  "GET /healthz": ["200", "none"],
  "GET /readyz": ["200 503", "none"],
  "GET /metrics": ["200", "none"],
};

const follow = (value: Json): Json => {
  if (typeof value?.$ref !== "string") return value;
  const found = value.$ref
    .slice(2)
    .split("/")
    .reduce((at: Json, key: string) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  assert.ok(found, `dangling ${value.$ref}`);
  return follow(found);
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...document, $id: "registry" });
const validatorAt = (schema: Json) =>
  ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"registry#/')));

test("every endpoint is there with its statuses and its authentication", () => {
  assert.equal(operations.map(([name]) => name).sort(), Object.keys(ENDPOINTS).sort());
  for (const [name, [statuses, token]] of Object.entries(ENDPOINTS)) {
    assert.is(Object.keys(operation(name).responses).sort().join(" "), statuses, name);
    const security = operation(name).security ?? document.security;
    const schemes = security.flatMap((one: Json) => Object.keys(one));
    assert.equal(schemes, token === "none" ? [] : ["bearerAuth", "oauth2"], name);
    assert.is(
      security.some((one: Json) => Object.keys(one).length === 0),
      token === "maybe",
      name,
    );
  }
  assert.is(document.openapi, "3.1.0");
});

test("operations have ids of their own, and references lead somewhere", () => {
  const ids = operations.map(([, one]) => one.operationId);
  assert.is(new Set(ids).size, ids.length);
  for (const [, object] of objectsIn(document)) follow(object);
  const used = new Set([...objectsIn(document)].map(([, object]) => object.$ref).filter(Boolean));
  for (const kind of ["schemas", "parameters", "responses", "headers"]) {
    for (const name of Object.keys(document.components[kind])) {
      assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is unused`);
    }
  }
});

test("path parameters are declared and required", () => {
  for (const [route, item] of Object.entries<Json>(document.paths)) {
    const inPath = [...route.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
    for (const method of METHODS.filter((one) => one in item)) {
      const declared = (item[method].parameters ?? []).map(follow).filter((one: Json) => one.in === "path");
      assert.equal(declared.map((one: Json) => one.name).sort(), inPath.sort(), route);
      assert.ok(
        declared.every((one: Json) => one.required === true),
        route,
      );
    }
  }
});

test("every body has a schema and an example, and the examples hold", () => {
  let held = 0;
  for (const [name, one] of operations) {
    const bodies = [one.requestBody, ...Object.values<Json>(one.responses).map(follow)];
    for (const media of bodies.flatMap((body) => Object.values<Json>(body?.content ?? {}))) {
      const validate = validatorAt(media.schema);
      const examples = Object.values<Json>(media.examples ?? {});
      assert.ok(examples.length > 0, name);
      for (const { value } of examples) {
        assert.ok(validate(value), `${name} ${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`);
        held += 1;
      }
    }
    for (const parameter of (one.parameters ?? []).map(follow)) {
      assert.ok(parameter.description, `${name} ${parameter.name}`);
      if (parameter.example !== undefined) assert.ok(validatorAt(parameter.schema)(parameter.example), parameter.name);
    }
  }
  assert.ok(held > 200, String(held));
});

/** Fields that are always there, `?` where they may be null: docs/protocol/registry.md has them. */
const ALWAYS: Record<string, string> = {
  Error: "error",
  ExpandResult: "agent_url properties identifiers property_count identifier_count generated_at",
  PublisherLookup: "domain member? adagents_valid? discovery_method? hosting properties authorized_agents",
  Hosting:
    "mode expected_url resolved_url? last_validated? last_http_status? last_bytes? " +
    "origin_verified_at? origin_last_checked_at?",
  AuthorizedAgent: "url source",
  AuthorizationLookup: "publisher_domain agent_url authorized total publisher_wide source unauthorized_properties",
  OperatorLookup: "domain member? agents",
  AgentSearchResult: "results cursor? has_more",
  AgentProfile:
    "agent_url channels property_types markets categories tags delivery_types format_kinds property_count " +
    "publisher_count has_tmp category_taxonomy? relevance_score matched_filters updated_at",
  AgentPublishers: "agent_url publishers cursor? has_more",
  CrawlRequest:
    "crawl_request_id domain status attempts max_attempts requested_at started_at? last_attempted_at? completed_at? next_attempt_at? error? last_error_code?",
};

test("fields that clients rely on are always there, and null only where that means something", () => {
  for (const [name, list] of Object.entries(ALWAYS)) {
    const { required, properties } = document.components.schemas[name];
    const nullable = (field: string): boolean => validatorAt(properties[field])(null) as boolean;
    const marked = required.map((field: string) => (nullable(field) ? `${field}?` : field));
    assert.equal(marked.sort(), list.split(" ").sort(), name);
  }
});

test("the counts of an authorized agent come together or not at all", () => {
  const validate = validatorAt({ $ref: "#/components/schemas/AuthorizedAgent" });
  const agent = { url: "https://seller.example/mcp", source: "agent_claim" };
  assert.is(validate(agent), true);
  assert.is(validate({ ...agent, properties_authorized: 1, properties_total: 2, publisher_wide: false }), true);
  assert.is(validate({ ...agent, properties_authorized: 1 }), false);
});

test("a selector is of one publisher or several, never of both or none", () => {
  const validate = validatorAt({ $ref: "#/components/schemas/Selector" });
  assert.is(validate({ publisher_domain: "news.example" }), true);
  assert.is(validate({ publisher_domains: ["news.example"], tags: ["sport"] }), true);
  assert.is(validate({ publisher_domain: "news.example", publisher_domains: ["news.example"] }), false);
  assert.is(validate({ tags: ["sport"] }), false);
});

test("a page of a search has 1 to 200 agents, 50 unless it is said, and lists are comma-separated", () => {
  const parameters = operation("GET /api/registry/agents/search").parameters.map(follow);
  const byName = Object.fromEntries(parameters.map((one: Json) => [one.name, one]));
  assert.equal(Object.keys(byName).sort(), [
    "If-None-Match",
    ...["categories", "channels", "cursor", "delivery_types", "format_kinds", "has_tmp", "limit", "markets"],
    ...["min_properties", "property_types", "tags"],
  ]);
  assert.equal(byName.limit.schema, { type: "integer", minimum: 1, maximum: 200, default: 50 });
  assert.equal(byName.min_properties.schema, { type: "integer", minimum: 0 });
  for (const name of [
    "categories",
    "channels",
    "delivery_types",
    "format_kinds",
    "markets",
    "property_types",
    "tags",
  ]) {
    assert.is(byName[name].explode, false, name);
  }
  assert.ok(parameters.every((one: Json) => one.required !== true));
});

test("refusals carry the headers that clients act on", () => {
  for (const [name, one] of operations) {
    for (const [status, header] of [
      ["401", "WWW-Authenticate"],
      ["429", "Retry-After"],
    ] as const) {
      const answer = follow(one.responses[status]);
      if (answer !== undefined) assert.ok(answer.headers?.[header], `${name} ${status}`);
    }
  }
});

test("openapi-typescript makes types without a word of warning, and they compile", async () => {
  const said: string[] = [];
  const methods = ["log", "info", "warn", "error"] as const;
  const kept = methods.map((method) => console[method]);
  for (const method of methods) console[method] = (...parts: unknown[]) => void said.push(parts.join(" "));
  let text: string;
  try {
    text = astToString(await openapiTS(pathToFileURL(file)));
  } finally {
    methods.forEach((method, at) => {
      console[method] = kept[at]!;
    });
  }
  assert.equal(said, []);
  for (const [, one] of operations) assert.ok(text.includes(`${one.operationId}: {`), one.operationId);
  const source = ts.createSourceFile("registry.ts", text, ts.ScriptTarget.ES2023, true);
  assert.equal((source as Json).parseDiagnostics, []);
});

test.run();
