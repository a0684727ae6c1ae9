/** Each answer the API document names, met once: errors, limits, fingerprints, visibility. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { AdbindError } from "../../runtime/errors.js";
import { within } from "../../runtime/registry/server/api-request.js";
import { createRegistry } from "../../runtime/registry/server/app.js";
import { readApiDocument, routeOf } from "../../runtime/registry/server/document.js";
import { Problem } from "../../runtime/registry/server/problems.js";
import { BASE_URL, bearer, type Setup, setupRegistry } from "./server-fixture.js";
import { NEWS, SELLER, seedWorld } from "./server-world.js";

const http = suite("registry over HTTP");

let setup: Setup;
let owner: { readonly id: string };
let key: string;
http.before(async () => {
  setup = await setupRegistry();
  owner = await setup.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
  key = (await setup.accounts.addKey(owner.id, "tests")).key;
  await seedWorld(setup.registry.data, owner.id);
});
http.after(() => setup.close());

const get = (url: string, headers: Record<string, string> = {}) => setup.registry.app.inject({ url, headers });
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  setup.registry.app.inject({
    method: "POST",
    url,
    payload: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

const SEARCH = "/api/registry/agents/search";
const EXPAND = "/api/registry/expand/product-identifiers";

http("400: what is missing or out of range is named, nothing is adjusted", async () => {
  const cases: [string, string][] = [
    ["/api/registry/publisher", "Missing required query param: domain"],
    ["/api/registry/publisher?domain=", "Missing required query param: domain"],
    ["/api/registry/publisher?domain=a&domain=b", "domain is given more than once"],
    ["/api/registry/publisher?domain=nodots", "Invalid domain"],
    ["/api/registry/publisher?domain=under_score.example", "Invalid domain"],
    ["/api/registry/publisher?domain=127.0.0.1", "Invalid domain"],
    ["/api/registry/publisher?domain=a.example:port", "Invalid domain"],
    [`/api/registry/publisher/authorization?domain=${NEWS}`, "Missing required query params: domain, agent"],
    [`/api/registry/publisher/authorization?domain=${NEWS}&agent=ftp://x.example`, "Invalid agent URL"],
    [`/api/registry/operator?domain=${NEWS}&scope=secret`, "scope must be one of public, member, private, all"],
    ["/api/registry/lookup/property?type=isbn&value=1", "type must be one of domain, "],
    [`${SEARCH}?limit=0`, "limit must be at least 1"],
    [`${SEARCH}?limit=201`, "limit must be at most 200"],
    [`${SEARCH}?limit=10x`, "limit must be a number"],
    [`${SEARCH}?min_properties=-1`, "min_properties must be at least 0"],
    [`${SEARCH}?min_properties=few`, "min_properties must be a number"],
    [`${SEARCH}?has_tmp=yes`, "has_tmp must be true or false"],
    [`${SEARCH}?cursor=bm9uZQ`, "Invalid cursor format"],
    [`${SEARCH}?tags=${Array.from({ length: 101 }, (_, at) => `t${at}`).join(",")}`, "tags takes at most 100 values"],
    ["/api/registry/agents/nothing/publishers", "Invalid agent URL"],
    ["/api/registry/crawl-request/none", "crawl_request_id must match"],
    ["/publisher/none/.well-known/adagents.json", "Invalid domain"],
  ];
  for (const [url, error] of cases) {
    const response = await get(url, bearer(key));
    assert.is(response.statusCode, 400, `${url} ${response.body}`);
    assert.ok(response.json().error.startsWith(error), response.body);
  }
});

http("400: bodies", async () => {
  const agent_url = SELLER;
  const cases: [unknown, string][] = [
    [{}, "Missing required field: agent_url"],
    [{ agent_url }, "Missing required field: publisher_properties"],
    [{ agent_url, publisher_properties: {} }, "publisher_properties must be array"],
    [{ agent_url: "x", publisher_properties: [] }, "Invalid agent URL"],
    [{ agent_url, publisher_properties: [{}] }, "publisher_properties.0 needs one of its alternatives"],
    [
      { agent_url, publisher_properties: [{ publisher_domain: NEWS, publisher_domains: [NEWS] }] },
      "publisher_properties.0 needs one",
    ],
    [{ agent_url, publisher_properties: [{ publisher_domain: "x" }] }, "Invalid domain in publisher_properties.0"],
    [
      { agent_url, publisher_properties: [{ publisher_domain: NEWS, selection_type: "by_id" }] },
      "Missing required field: publisher_properties.0.property_ids",
    ],
    ["{", "The body is not JSON"],
    ["", "The body is empty"],
    ['{"__proto__":{}}', "The body is not JSON"],
  ];
  for (const [body, error] of cases) {
    const response = await post(EXPAND, body);
    assert.is(response.statusCode, 400, `${JSON.stringify(body)} ${response.body}`);
    assert.ok(response.json().error.startsWith(error), response.body);
  }
});

http("401 carries a challenge that names the metadata; a revoked or unknown key is none", async () => {
  const metadata = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource/api"`;
  const bare = await get(SEARCH);
  assert.is(bare.statusCode, 401);
  assert.is(bare.json().error, "Authentication required");
  assert.is(bare.headers["www-authenticate"], `Bearer ${metadata}`);
  const revoked = await setup.accounts.addKey(owner.id, "old");
  assert.is((await get(SEARCH, bearer(revoked.key))).statusCode, 200);
  assert.ok(await setup.accounts.revokeKey(revoked.id));
  for (const header of [
    `Bearer ${revoked.key}`,
    "Bearer sk_unknown",
    "Bearer a.b.c",
    "Basic YTpi",
    "Bearer",
    `Bearer ${"x".repeat(9_000)}`,
  ]) {
    const response = await get(SEARCH, { authorization: header });
    assert.is(response.statusCode, 401, header);
    assert.match(String(response.headers["www-authenticate"]), /^Bearer error="invalid_token", .*resource_metadata=/);
  }
  assert.is(
    (await post("/api/registry/crawl-request", "{")).statusCode,
    401,
    "asked for credentials before the body is read",
  );
  assert.is((await get(SEARCH, { authorization: `bearer ${key}` })).statusCode, 200, "the scheme has no case");
});

http("403 for a suspended key and a suspended organization", async () => {
  const suspended = await setup.accounts.addKey(owner.id, "asleep");
  await setup.accounts.suspendKey(suspended.id, true);
  for (const url of [SEARCH, "/api/registry/operator?domain=seller.example"]) {
    const response = await get(url, bearer(suspended.key));
    assert.is(response.statusCode, 403, url);
    assert.equal(response.json(), { error: "Account suspended", code: "account_suspended" });
  }
  assert.is((await get(`/api/registry/publisher?domain=${NEWS}`, bearer(suspended.key))).statusCode, 200);
  await setup.accounts.suspendKey(suspended.id, false);
  assert.is((await get(SEARCH, bearer(suspended.key))).statusCode, 200);
  const other = await setup.accounts.addOrganization({ name: "Gone" });
  const theirs = await setup.accounts.addKey(other.id, "k");
  await setup.accounts.setOrganization(other.id, { suspended: true });
  assert.is((await get(SEARCH, bearer(theirs.key))).statusCode, 403);
});

http("a lookup that takes too long is 503, with a code of its own", async () => {
  const late = await within(new Promise(() => undefined), 20).catch((problem: Problem) => problem);
  assert.ok(late instanceof Problem);
  assert.equal([late.statusCode, late.headers["retry-after"]], [503, "5"]);
  assert.equal(late.body, { error: "The lookup took too long", code: "publisher_lookup_timeout", retry_after: 5 });
});

http("404s", async () => {
  const missing = await get(`/api/registry/publisher/authorization?domain=${NEWS}&agent=https://Nobody.example`);
  assert.is(missing.statusCode, 404);
  assert.equal(missing.json(), { error: "No authorization found", domain: NEWS, agent_url: "https://nobody.example/" });
  for (const url of [
    `/api/registry/agents/${encodeURIComponent("https://nobody.example/")}/publishers`,
    `/publisher/${NEWS}/.well-known/adagents.json`,
    "/schemas/3.1.0/none.json",
    "/schemas/9.9.9/core/error.json",
    "/schemas/3.1/core/error.json",
    "/nothing",
  ])
    assert.is((await get(url)).statusCode, 404, url);
});

http("413 before the body is parsed, 415 for another type", async () => {
  const small = await setupRegistry({ bodyLimitBytes: 1_024 });
  const large = await small.registry.app.inject({
    method: "POST",
    url: EXPAND,
    payload: `{"agent_url":"${"x".repeat(2_000)}`,
    headers: { "content-type": "application/json" },
  });
  assert.is(large.statusCode, 413);
  assert.equal(large.json(), { error: "Request body is too large" });
  await small.close();
  const text = await post(EXPAND, "{}", { "content-type": "text/plain" });
  assert.is(text.statusCode, 415);
});

http("503 with Retry-After when the database does not answer, or not in time", async () => {
  for (const fault of [
    Object.assign(new Error("gone"), { code: "57P01" }),
    new AdbindError("database_unreachable", "the database cannot be used", { where: "db.internal:5432" }),
    new AdbindError("database_busy", "another transaction kept a row"),
  ]) {
    const failing = { publisherPage: async () => Promise.reject(fault) };
    const broken = await setupRegistry({ data: { ...setup.registry.data, ...failing } });
    const response = await broken.registry.app.inject(`/api/registry/publisher?domain=${NEWS}`);
    assert.is(response.statusCode, 503);
    assert.is(response.headers["retry-after"], "5");
    const error = "The registry cannot answer now";
    assert.equal(response.json(), { error, code: "store_unavailable", retry_after: 5 });
    assert.ok(broken.logs.some((line) => line.msg === "a request failed"));
    await broken.close();
  }
});

http("request ids, logs and counters name routes, not what was asked for", async () => {
  const response = await get(`/api/registry/publisher?domain=${NEWS}&token=hush`, {
    "x-request-id": "abc-1",
    ...bearer(key),
  });
  assert.is(response.headers["x-request-id"], "abc-1");
  const line = setup.logs.find(({ reqId, msg }) => reqId === "abc-1" && msg === "answered")!;
  assert.equal([line.route, line.status], ["/api/registry/publisher", 200]);
  assert.match(String(line.caller), /^key:/);
  assert.not(JSON.stringify(setup.logs).includes("hush"));
  assert.not(JSON.stringify(setup.logs).includes(key));
  const odd = await get("/healthz", { "x-request-id": "a b\tc" });
  assert.match(String(odd.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
  const { body } = await get("/metrics");
  assert.match(body, /registry_requests_total\{route="\/api\/registry\/publisher",method="GET",status="200"\} \d+/);
  assert.match(body, /registry_request_duration_seconds_bucket/);
});

http("readiness says which part does not work", async () => {
  assert.equal((await get("/readyz")).json(), { status: "ready", checks: { store: "ok", search: "ok", server: "ok" } });
});

http("the served document is the written one, and the API has its routes and no others", async () => {
  const written = parse(
    readFileSync(path.resolve(import.meta.dirname, "../../manifests/registry/openapi.yaml"), "utf8"),
  );
  assert.equal((await get("/openapi.json")).json(), written);
  const { operations } = readApiDocument();
  const { app } = setup.registry;
  for (const operation of operations)
    assert.ok(app.hasRoute({ method: operation.method, url: routeOf(operation) }), operation.id);
  const served = app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .filter(
      (line) =>
        /(api\/registry|static\/test-vectors)/.test(line) ||
        /^[├└]── (schemas|healthz|readyz|metrics|openapi)/.test(line),
    );
  const api = operations.filter(({ path: place }) =>
    /^\/(api\/registry|static|schemas|healthz|readyz|metrics|openapi)/.test(place),
  );
  assert.ok(served.length > 0);
  const documented = new Set(api.map((operation) => routeOf(operation)));
  for (const line of served) {
    const found = /── (\S+) \((.*)\)/.exec(line);
    if (found !== null) assert.ok(documented.has(found[1]!.startsWith("/") ? found[1]! : `/${found[1]}`), line);
  }
});

http("HEAD answers as GET does, without the body", async () => {
  for (const url of ["/healthz", `/api/registry/publisher?domain=${NEWS}`, "/"]) {
    const response = await setup.registry.app.inject({ method: "HEAD", url });
    assert.equal([response.statusCode, response.body], [200, ""], url);
  }
});

http("what is off at construction throws, with a remedy", async () => {
  const cases: [object, RegExp][] = [
    [{ baseUrl: "registry" }, /base URL/],
    [{ baseUrl: "https://registry.example/app" }, /more than an origin/],
    [{ limits: { publisher: -1 } }, /limit/],
    [{ trustedProxies: ["10.0.0.0/0"] }, /proxy/],
    [{ trustedProxies: ["proxy.example"] }, /proxy/],
    [{ bodyLimitBytes: 1 }, /body limit/],
    [{ issuers: [{ issuer: "http://id.example" }] }, /issuer/],
    [{ issuers: [{ issuer: "https://id.example", algorithms: ["HS256"] }] }, /algorithm/],
    [{ issuers: [{ issuer: "https://id.example", algorithms: ["none"] }] }, /algorithm/],
  ];
  for (const [options, message] of cases) {
    try {
      await createRegistry({ store: setup.store, crawling: "off", ...options });
      assert.unreachable(JSON.stringify(options));
    } catch (error) {
      assert.ok(error instanceof AdbindError, String(error));
      assert.is(error.code, "registry_option_invalid");
      assert.match(error.message, message);
      assert.ok(error.remedy);
    }
  }
});

http.run();
