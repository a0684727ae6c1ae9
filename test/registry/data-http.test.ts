/** What the data refuses, as a caller of the API sees it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { crawl, entry, property, SELLER } from "./data-fixture.js";
import { setupRegistry } from "./server-fixture.js";

test("selectors that mean too much at once are a 400 that says so", async () => {
  const { registry, close } = await setupRegistry();
  const properties = Array.from({ length: 3_000 }, (_, at) => property(`p${at}`));
  await registry.data.applyCrawl(crawl("large.example", { properties, agents: [entry(SELLER)] }));
  const ask = (count: number, path: string) =>
    registry.app.inject({
      method: "POST",
      url: `/api/registry/${path}`,
      payload: { agent_url: SELLER, publisher_properties: Array(count).fill({ publisher_domain: "large.example" }) },
    });
  for (const path of ["expand/product-identifiers", "validate/product-authorization"]) {
    assert.is((await ask(2, path)).statusCode, 200);
    const refused = await ask(2_000, path);
    assert.is(refused.statusCode, 400);
    assert.match(refused.json<{ error: string }>().error, "too much at once");
  }
  await close();
});

test("a domain of a list is looked up once, however often and in whatever way it is written", async () => {
  const { registry, close } = await setupRegistry();
  const { data } = registry;
  await data.applyCrawl(crawl("large.example", { properties: [property("site")], agents: [entry(SELLER)] }));
  const looked: string[] = [];
  const page = data.publisherPage;
  Object.assign(data, {
    publisherPage: (domain: string, ...rest: unknown[]) => {
      looked.push(domain);
      return page(domain, ...(rest as [Parameters<typeof page>[1]]));
    },
  });
  const domains = [
    "large.example",
    "LARGE.example",
    "https://large.example/x",
    "large.example.",
    "unseen.example",
    "?",
  ];
  const url = "/api/properties/resolve/bulk";
  const answer = await registry.app.inject({ method: "POST", url, payload: { domains } });
  assert.is(answer.statusCode, 200, answer.body);
  const { results } = answer.json<{ results: Record<string, { publisher_domain: string } | null> }>();
  assert.equal(
    domains.map((text) => results[text]?.publisher_domain),
    [...Array(4).fill("large.example"), undefined, undefined],
  );
  assert.equal([looked.sort(), Object.keys(results).length], [["large.example", "unseen.example"], domains.length]);
  await close();
});

test("of many publishers that say much each is told in short, and others have their turns meanwhile", async () => {
  const { registry, close } = await setupRegistry();
  const identifiers = (at: number) =>
    Array.from({ length: 100 }, (_, of) => ({ type: "domain", value: `s${of}.p${at}.${"long".repeat(20)}.example` }));
  const properties = Array.from({ length: 200 }, (_, at) => ({ ...property(`p${at}`), identifiers: identifiers(at) }));
  const agents = Array.from({ length: 900 }, (_, at) =>
    entry(`https://agent-${at}.example/mcp`, { authorizedFor: "much ".repeat(90) }),
  );
  const domains = Array.from({ length: 10 }, (_, at) => `large-${at}.example`);
  for (const domain of domains) await registry.data.applyCrawl(crawl(domain, { properties, agents }));
  let [turns, over] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const url = "/api/properties/resolve/bulk";
  const answer = await registry.app.inject({ method: "POST", url, payload: { domains } });
  over = true;
  assert.is(answer.statusCode, 200);
  assert.ok(turns >= domains.length / 4, `${turns} turns`);
  assert.ok(answer.body.length < domains.length * 330_000, `${answer.body.length} characters`);
  const { results } = answer.json<{
    results: Record<string, { properties: []; authorized_agents: []; properties_total: number; agents_total: number }>;
  }>();
  for (const domain of domains) {
    const found = results[domain]!;
    assert.equal([found.properties_total, found.agents_total], [200, 900]);
    assert.ok(found.properties.length > 5 && found.authorized_agents.length > 100);
  }
  await close();
});

test("strangers who name a publisher's app in their files take no agent's authorization from it", async () => {
  const { registry, close } = await setupRegistry();
  const app = { ...property("app"), identifiers: [{ type: "ios_bundle", value: "com.popular" }] };
  for (let at = 0; at < 110; at += 1)
    await registry.data.applyCrawl(
      crawl(`squatter-${at}.example`, { properties: [app], agents: [entry("https://squatter.example/mcp")] }),
    );
  await registry.data.applyCrawl(crawl("popular.example", { properties: [app], agents: [entry(SELLER)] }));
  const ask = async (agent: string) =>
    (
      await registry.app.inject(
        `/api/registry/validate/property-authorization?agent_url=${encodeURIComponent(agent)}&identifier_type=ios_bundle&identifier_value=com.popular`,
      )
    ).json();
  const { authorized, publisher_domain } = await ask(SELLER);
  assert.equal([authorized, publisher_domain], [true, "popular.example"]);
  assert.is((await ask("https://nobody.example/mcp")).authorized, false);
  await close();
});

test.run();
