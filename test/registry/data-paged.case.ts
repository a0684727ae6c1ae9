/** What pages ask on both databases: why an agent may sell, properties in parts, what changed, counts for a search. */
import * as assert from "uvu/assert";
import { agent, crawl, type Engine, entry, failed, member, NOW, OTHER, property, SELLER } from "./data-fixture.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

const NEWS = "news.example";
const codes = (found: { why_not: readonly { code: string }[] }): string[] => found.why_not.map(({ code }) => code);

type Case = ReturnType<typeof dataSuite>;

function explained(test: Case): void {
  test("why an agent may sell: file, entry, selector, dates and the path", async ({ data }) => {
    const part = entry(SELLER, {
      place: 3,
      authorizedFor: "The app",
      authorizationType: "property_ids",
      propertyIds: ["app"],
      countries: ["DE"],
      delegationType: "delegated",
      effectiveUntil: NOW + DAY_MS,
    });
    const file = { agents: [part], properties: [property("site"), property("app")] };
    const managed = { method: "ads_txt_managerdomain", managerDomain: "manager.example" } as const;
    const resolvedUrl = "https://manager.example/.well-known/adagents.json";
    await data.applyCrawl(crawl(NEWS, file, { adagents: { ...managed, resolvedUrl } }));
    const found = await data.explain(NEWS, SELLER, "app.NEWS.example");
    assert.is(found.may_sell, true);
    assert.is(found.property?.id, "app");
    assert.is(found.file.url, resolvedUrl);
    assert.is(found.file.last_validated, new Date(NOW).toISOString());
    const [grant] = found.grants;
    assert.equal(grant?.pointer, "/authorized_agents/3");
    assert.equal(grant?.selector, { property_ids: ["app"] });
    assert.equal([grant?.countries, grant?.covers, grant?.covers_property], [["DE"], 1, true]);
    assert.equal(
      found.path.map(({ step }) => step),
      ["publisher", "manager", "file", "entry", "agent"],
    );
    assert.match(found.path.at(-1)!.message, "to which selling is delegated");
    assert.is((await data.explain(NEWS, SELLER)).may_sell, true);
  });

  test("each reason why an agent may not sell has its name", async ({ data, clock }) => {
    assert.equal(codes(await data.explain(NEWS, SELLER)), ["publisher_unknown"]);
    await data.applyCrawl(failed("broken.example", "invalid", 200));
    assert.equal(codes(await data.explain("broken.example", SELLER)), ["no_valid_file"]);
    const agents = [
      entry("https://seller.example/other", { authorizationType: "property_ids", propertyIds: ["gone"] }),
      entry(OTHER, { authorizationType: "property_ids", propertyIds: ["site"], effectiveFrom: NOW + DAY_MS }),
      entry("https://signals.example/mcp", { authorizationType: "signal_ids", signalIds: ["one"] }),
      entry("https://part.example/mcp", { authorizationType: "property_ids", propertyIds: ["app"] }),
    ];
    await data.applyCrawl(crawl(NEWS, { agents, properties: [property("site"), property("app")] }));
    const other = await data.explain(NEWS, SELLER);
    assert.equal(codes(other), ["agent_not_named"]);
    assert.match(other.why_not[0]!.message, "https://seller.example/other");
    assert.equal(codes(await data.explain(NEWS, "https://seller.example/other")), ["nothing_selected"]);
    assert.equal(codes(await data.explain(NEWS, OTHER)), ["not_yet"]);
    assert.equal(codes(await data.explain(NEWS, "https://signals.example/mcp")), ["signals_only"]);
    assert.equal(codes(await data.explain(NEWS, "https://part.example/mcp", "site")), ["property_not_selected"]);
    assert.is(codes(await data.explain(NEWS, "https://part.example/mcp", "none"))[0], "property_unknown");
    await data.putClaims("https://claims.example/mcp", [{ publisherDomain: NEWS, authorizedFor: null }]);
    assert.equal(codes(await data.explain(NEWS, "https://claims.example/mcp")), ["agent_not_named", "claim_only"]);
    clock.at += 2 * DAY_MS;
    assert.is((await data.explain(NEWS, OTHER)).may_sell, true);
  });
}

function inParts(test: Case): void {
  test("properties in parts, filtered by words and kind; no mark of a pattern means anything", async ({ data }) => {
    const names = Array.from({ length: 7 }, (_, at) => property(`site-${at}`, { tags: at === 2 ? ["Sport"] : [] }));
    const odd = property("100%_sure", { type: "ctv_app", identifiers: [{ type: "bundle_id", value: "a.b" }] });
    await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)], properties: [...names, odd] }));
    const seen: (string | null)[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await data.propertiesPage(NEWS, { limit: 3, cursor });
      seen.push(...page.properties.map(({ id }) => id));
      assert.equal([page.total, page.matching], [8, 8]);
      if (page.cursor === null) break;
      cursor = page.cursor;
    }
    assert.equal(new Set(seen).size, 8);
    const matching = async (given: { text?: string; type?: string }): Promise<(string | null)[]> =>
      (await data.propertiesPage(NEWS, { ...given, limit: 100 })).properties.map(({ id }) => id);
    assert.equal(await matching({ text: "sport" }), ["site-2"]);
    assert.equal(await matching({ text: "SITE-4.news" }), ["site-4"]);
    assert.equal(await matching({ text: "100%_" }), ["100%_sure"]);
    assert.equal(await matching({ text: "%" }), ["100%_sure"]);
    assert.equal(await matching({ type: "ctv_app" }), ["100%_sure"]);
    assert.equal(await data.propertiesPage("unknown.example", { limit: 3 }), {
      total: 0,
      matching: 0,
      properties: [],
      cursor: null,
    });
  });

  test("what changed since last time is told, agents with their dates and properties with their names", async ({
    data,
    clock,
  }) => {
    await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)], properties: [property("a"), property("b")] }));
    clock.at += DAY_MS;
    const moved = property("b", { identifiers: [{ type: "domain", value: "b2.news.example" }] });
    const agents = [entry(OTHER, { place: 0 })];
    await data.applyCrawl(crawl(NEWS, { agents, properties: [moved, property("c")] }, { at: clock.at }));
    const { properties, agents: pairs } = await data.changesOf(NEWS, 10);
    const at = new Date(clock.at).toISOString();
    assert.equal(properties, { at, added: 1, removed: 1, changed: 1, names: ["c", "a", "b"] });
    assert.equal(pairs.map(({ agent_url, change }) => [agent_url, change]).sort(), [
      [OTHER, "granted"],
      [SELLER, "revoked"],
    ]);
    // An entry before another one moves it, and says nothing new of it.
    clock.at += DAY_MS;
    const two = [entry(SELLER, { place: 0 }), entry(OTHER, { place: 1 })];
    await data.applyCrawl(crawl(NEWS, { agents: two, properties: [moved, property("c")] }, { at: clock.at }));
    const after = await data.changesOf(NEWS, 10);
    assert.is(after.properties?.at, at);
    assert.is(after.agents.find(({ agent_url }) => agent_url === OTHER)?.at, at);
    assert.is((await data.explain(NEWS, OTHER)).grants[0]?.pointer, "/authorized_agents/1");
  });
}

function counted(test: Case): void {
  test("facets count each dimension as if nothing were chosen in it; the map is channels by markets", async ({
    data,
  }) => {
    const at = (name: string) => `https://${name}.example/mcp`;
    await data.putMember(member("all", { agents: ["a", "b", "c"].map((name) => agent(at(name))) }));
    const site = (name: string, type: string) => property(name, { type, identifiers: [] });
    await data.applyCrawl(
      crawl("one.example", {
        agents: [entry(at("a"), { countries: ["DE"] }), entry(at("b"), { countries: ["DE", "AT"] })],
        properties: [site("x", "website")],
      }),
    );
    await data.applyCrawl(
      crawl("two.example", { agents: [entry(at("c"), { countries: ["AT"] })], properties: [site("y", "ctv_app")] }),
    );
    const { total, values } = await data.facets({ channels: ["display"] });
    assert.is(total, 2);
    const display = { value: "display", count: 2 };
    assert.equal(values.channels, [display, { value: "ctv", count: 1 }]);
    assert.equal(values.markets, [
      { value: "DE", count: 2 },
      { value: "AT", count: 1 },
    ]);
    assert.is((await data.facets({})).total, 3);
    assert.is((await data.facets({ min_properties: 2 })).total, 0);
    assert.equal(await data.marketMap({}, { markets: 10 }), {
      channels: ["display", "ctv"],
      markets: ["AT", "DE"],
      counts: [
        [1, 2],
        [1, 0],
      ],
    });
    assert.equal((await data.marketMap({ markets: ["AT"] }, { markets: 1 })).counts, [[1], [1]]);
    await data.applyCrawl(crawl("two.example", { agents: [], properties: [site("y", "ctv_app")] }));
    assert.is((await data.facets({})).total, 2, "what was counted before is counted again once it has changed");
    assert.equal((await data.marketMap({ markets: ["AT"] }, { markets: 1 })).counts, [[1]]);
  });
}

export function dataPagedCase(engine: Engine): void {
  const test = dataSuite(engine);
  explained(test);
  inParts(test);
  counted(test);
  test.after(() => engine.stop());
  test.run();
}
