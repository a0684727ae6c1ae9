/** What callers are given: limits and fingerprints, the same bytes for everyone, what each may see. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Bucket } from "../../runtime/registry/server/limits.js";
import { crawl, entry, property } from "./data-fixture.js";
import { application } from "./server-application.js";
import { BASE_URL, bearer, type Setup, setupRegistry } from "./server-fixture.js";
import { BROKEN, HIDDEN, HOSTED, MEMBERS_ONLY, NEWS, OTHER, SELLER, seedWorld, WIDE } from "./server-world.js";

const http = suite("answers of a registry");

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

http("limits: a window per caller, an IPv6 network is one caller, and Retry-After says when", async () => {
  const limited = await setupRegistry({ limits: { publisher: 2, reads: 1 }, trustedProxies: ["loopback"] });
  const from = (address: string, url = `/api/registry/publisher?domain=${NEWS}`, headers = {}) =>
    limited.registry.app.inject({ url, headers: { "x-forwarded-for": address, ...headers } });
  const a = "2001:db8:1:2::1";
  assert.equal([(await from(a)).statusCode, (await from("2001:db8:1:2:ffff::2")).statusCode], [200, 200]);
  const third = await from("2001:db8:1:2:1::3");
  assert.is(third.statusCode, 429);
  assert.is(third.headers["retry-after"], "60");
  assert.equal(third.json(), { error: "Too many requests", message: "Ask again in 60 s", retry_after: 60 });
  assert.is((await from("2001:db8:1:3::1")).statusCode, 200, "another network");
  assert.is((await from(a, `/api/registry/lookup/domain/${NEWS}`)).statusCode, 200, "another limit");
  assert.is((await from(a, "/api/registry/stats")).statusCode, 429, "the same limit, of all reads");
  const organization = await limited.accounts.addOrganization({ name: "O" });
  const { key: own } = await limited.accounts.addKey(organization.id, "k");
  assert.is((await from(a, undefined, bearer(own))).statusCode, 200, "a key has a window of its own");
  limited.clock.ms += 59_000;
  assert.is((await from(a)).headers["retry-after"], "1");
  limited.clock.ms += 1_000;
  assert.is((await from(a)).statusCode, 200, "the window is over");
  assert.match(
    await limited.registry.app.inject("/metrics").then(({ body }) => body),
    /registry_limited_total\{bucket="publisher"\} 2/,
  );
  await limited.close();
});

http("attempts to log in to one account count together from every address, whether there is one or not", async () => {
  const limited = await setupRegistry({
    embeddedIssuer: true,
    limits: { accounts: 2, login: 0, documents: 0 },
    trustedProxies: ["loopback"],
  });
  const { begin, browser } = application(() => limited);
  const flow = await begin();
  const go = browser();
  const page = (await go("GET", `/oauth/authorize?${new URLSearchParams(flow.params)}`)).headers.location!;
  const attempt = async (email: string): Promise<number> =>
    (await go("POST", `${page}/login`, { email, password: "something else here" })).statusCode;
  assert.equal([await attempt("eve@a.example"), await attempt(" EVE@a.example")], [400, 400]);
  assert.is(await attempt("eve@a.example"), 429);
  assert.is(await attempt("adam@a.example"), 400, "another account");
  await limited.close();
});

http("every limit of the table holds where it says", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const json = { "content-type": "application/json" };
  const asked: Record<
    Exclude<Bucket, "accounts">,
    { url: string; method?: "POST"; payload?: string; headers?: Record<string, string> }
  > = {
    publisher: { url: `/api/registry/publisher?domain=${NEWS}` },
    reads: { url: "/api/registry/stats" },
    bulk: { url: "/api/registry/expand/product-identifiers", method: "POST", payload: "{}", headers: json },
    crawl: { url: "/api/registry/crawl-request", method: "POST", payload: "{}", headers: json },
    documents: { url: "/schemas/3.1.0/manifest.json" },
    streams: { url: "/api/registry/authorizations/snapshot" },
    reports: { url: "/api/properties/check", method: "POST", payload: '{"domains":[]}', headers: json },
    inspections: { url: "/api/properties/validate?domain=news.example" },
    login: { url: "/oauth/interaction/x/login", method: "POST", payload: "email=a", headers: form },
    clients: { url: "/oauth/register", method: "POST", payload: "{}", headers: json },
  };
  for (const [name, request] of Object.entries(asked)) {
    const limited = await setupRegistry({ embeddedIssuer: true, limits: { [name]: 1 } });
    assert.is.not((await limited.registry.app.inject(request)).statusCode, 429, name);
    const second = await limited.registry.app.inject(request);
    assert.is(second.statusCode, 429, name);
    assert.ok(Number(second.headers["retry-after"]) >= 1, name);
    await limited.close();
    const free = await setupRegistry({ embeddedIssuer: true, limits: { [name]: 0 } });
    for (let made = 0; made < 3; made += 1) assert.is.not((await free.registry.app.inject(request)).statusCode, 429);
    await free.close();
  }
});

http("of X-Forwarded-For, only what a trusted proxy added is believed", async () => {
  const behind = await setupRegistry({ limits: { publisher: 1 }, trustedProxies: ["loopback"] });
  const asked = (addresses: string) =>
    behind.registry.app.inject({
      url: `/api/registry/publisher?domain=${NEWS}`,
      headers: { "x-forwarded-for": addresses },
    });
  assert.is((await asked("192.0.2.7, 198.51.100.1")).statusCode, 200);
  assert.is((await asked("192.0.2.8, 198.51.100.1")).statusCode, 429, "the left one is the caller's own word");
  await behind.close();

  const limited = await setupRegistry({ limits: { publisher: 1 } });
  const from = (address: string) =>
    limited.registry.app.inject({
      url: `/api/registry/publisher?domain=${NEWS}`,
      headers: { "x-forwarded-for": address },
    });
  assert.is((await from("192.0.2.1")).statusCode, 200);
  assert.is((await from("192.0.2.2")).statusCode, 429);
  await limited.close();
});

http("the fingerprint of an expansion is of what was expanded", async () => {
  const order = { agent_url: SELLER, publisher_properties: [{ publisher_domain: NEWS }] };
  const first = await post(EXPAND, order);
  setup.clock.ms += 1_000;
  const later = await post(EXPAND, order);
  assert.is.not(first.json().generated_at, later.json().generated_at);
  assert.match(String(first.headers.etag), /^W\//);
  assert.is(first.headers.etag, later.headers.etag, "the time of the answer is no change");
});

http("the publisher lookup gives every caller the same bytes", async () => {
  const other = await setup.accounts.addOrganization({ name: "Other" });
  const { key: theirs } = await setup.accounts.addKey(other.id, "k");
  for (const domain of [NEWS, WIDE, BROKEN, HOSTED, "seller.example", "unseen.example"]) {
    const url = `/api/registry/publisher?domain=${domain}`;
    const bodies = [{}, bearer(key), bearer(theirs), bearer("sk_wrong")].map(
      async (headers) => (await get(url, headers)).body,
    );
    const [first, ...rest] = await Promise.all(bodies);
    for (const body of rest) assert.is(body, first);
  }
});

http("lookups have what was found: rollup up to the fiftieth agent, hosting, an unseen domain", async () => {
  const wide = (await get(`/api/registry/publisher?domain=${WIDE}`)).json();
  assert.equal(wide.rollup_truncated, { cap: 50, total_agents: 60 });
  assert.is(wide.authorized_agents.filter((agent: object) => "properties_total" in agent).length, 50);
  const hosted = (await get(`/api/registry/publisher?domain=${HOSTED}`)).json();
  assert.is(hosted.hosting.hosted_url, `${BASE_URL}/publisher/${HOSTED}/.well-known/adagents.json`);
  const unseen = (await get("/api/registry/publisher?domain=https://UNSEEN.example/path")).json();
  assert.equal(
    [unseen.domain, unseen.adagents_valid, unseen.discovery_method, unseen.properties],
    ["unseen.example", null, null, []],
  );
  const part = (await get(`/api/registry/publisher/authorization?domain=${NEWS}&agent=${OTHER}`)).json();
  assert.equal([part.authorized, part.total, part.publisher_wide], [1, 2, false]);
});

/** docs/protocol/registry.md#operator-lookup: who sees which agents of an operator, by scope. */
const matrix: [who: string, all: string[], open: string[], member: string[], hidden: string[]][] = [
  ["anonymous", ["p"], ["p"], ["p"], []],
  ["tier without API", ["p"], ["p"], ["p"], []],
  ["API tier", ["m", "p"], ["p"], ["m", "p"], []],
  ["ended subscription", ["p"], ["p"], ["p"], []],
  ["owner", ["h", "m", "p"], ["p"], ["m", "p"], ["h"]],
];

http("visibility of an operator's agents", async () => {
  const keyOf = async (given: { tier?: string; subscription?: string }): Promise<string> => {
    const { id } = await setup.accounts.addOrganization({ name: "Looks", ...given });
    return (await setup.accounts.addKey(id, "k")).key;
  };
  const headers: Record<string, Record<string, string>> = {
    anonymous: {},
    "tier without API": bearer(await keyOf({ tier: "individual_academic" })),
    "API tier": bearer(await keyOf({ tier: "company_icl" })),
    "ended subscription": bearer(await keyOf({ tier: "company_icl", subscription: "canceled" })),
    owner: bearer(key),
  };
  const letters: Record<string, string> = { [SELLER]: "p", [MEMBERS_ONLY]: "m", [HIDDEN]: "h" };
  for (const [who, ...expected] of matrix) {
    for (const [at, scope] of ["all", "Public", "MEMBER", "private"].entries()) {
      const response = await get(`/api/registry/operator?domain=seller.example&scope=${scope}`, headers[who]);
      const seen = response.json().agents.flatMap(({ url }: { url: string }) => letters[url] ?? []);
      assert.equal(seen.sort(), expected[at], `${who}, ${scope}`);
    }
  }
  const bad = await get("/api/registry/operator?domain=seller.example", bearer("sk_wrong"));
  assert.equal([bad.headers.vary, bad.headers["cache-control"]], ["Authorization", "private, no-cache"]);
  assert.is(bad.statusCode, 200, "credentials that are not valid count as none");
});

http("a search finds members' public agents and goes through its pages", async () => {
  const all = (await get(SEARCH, bearer(key))).json();
  assert.equal(
    all.results.map(({ agent_url }: { agent_url: string }) => agent_url),
    [SELLER, OTHER],
  );
  const first = (await get(`${SEARCH}?limit=1&channels=ctv,%20display,`, bearer(key))).json();
  assert.equal([first.has_more, first.results[0].matched_filters], [true, ["channels"]]);
  const second = (await get(`${SEARCH}?limit=1&channels=ctv,display&cursor=${first.cursor}`, bearer(key))).json();
  assert.equal([second.results[0].agent_url, second.has_more, second.cursor], [OTHER, false, null]);
  const trusted = (await get(`${SEARCH}?has_tmp=true`, bearer(key))).json();
  assert.is(trusted.results.length, 1);
  assert.is((await get(`${SEARCH}?has_tmp=false`, bearer(key))).json().results.length, 2, "false does not restrict");
});

http("the last use of a key is kept, once a minute", async () => {
  const fresh = await setup.accounts.addKey(owner.id, "used");
  const used = async (): Promise<number | null> =>
    (await setup.accounts.keys(owner.id)).find(({ id }) => id === fresh.id)!.last_used;
  assert.is(await used(), null);
  await get(SEARCH, bearer(fresh.key));
  const first = await used();
  setup.clock.ms += 30_000;
  await get(SEARCH, bearer(fresh.key));
  assert.is(await used(), first);
  setup.clock.ms += 30_000;
  await get(SEARCH, bearer(fresh.key));
  assert.is(await used(), first! + 60_000);
});

http("a crowd of large expansions is told when to come again, and a small one is answered among them", async () => {
  const crowded = await setupRegistry();
  const many = Array.from({ length: 4_001 }, (_, at) => property(`p${at}`));
  await crowded.registry.data.applyCrawl(crawl("large.example", { properties: many, agents: [entry(SELLER)] }));
  const expand = (publisher_domain: string, remoteAddress = "192.0.2.1") =>
    crowded.registry.app.inject({
      ...{ method: "POST", url: EXPAND, remoteAddress },
      payload: { agent_url: SELLER, publisher_properties: [{ publisher_domain }] },
    });
  const crowd = Array.from({ length: 24 }, () => expand("large.example"));
  const answers = await Promise.all([...crowd, expand("large.example", "192.0.2.2"), expand(NEWS)]);
  const refused = answers.filter(({ statusCode }) => statusCode !== 200);
  assert.is(refused.length, 7);
  for (const { statusCode, headers, json } of refused) {
    assert.equal([statusCode, headers["retry-after"], json().code], [503, "5", "registry_busy"]);
    assert.match(json().error, "too many large expansions wait already");
  }
  assert.equal(
    answers.slice(-2).map(({ statusCode }) => statusCode),
    [200, 200],
    "somebody else's large one, and a small one",
  );
  await crowded.close();
});

http.run();
