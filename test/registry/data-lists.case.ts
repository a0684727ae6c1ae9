/** Lists of agents and publishers on both databases: nobody is skipped, and what is kept beside them is what stands. */
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import { listedData } from "../../runtime/registry/listed.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { agent, crawl, type Engine, entry, failed, member, NOW, OTHER, property, SELLER } from "./data-fixture.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

const urlOf = (name: string): string => `https://${name}.example/mcp`;

async function allAgents(
  data: Pick<RegistryData, "listAgents">,
  wanted: { limit: number; type?: string; properties?: boolean },
): Promise<{ pages: number; agents: Awaited<ReturnType<RegistryData["listAgents"]>>["agents"][number][] }> {
  const { properties = false, ...rest } = wanted;
  const agents = [];
  for (let cursor: string | undefined, pages = 1; ; pages += 1) {
    const page = await data.listAgents({ ...rest, properties, ...(cursor !== undefined && { cursor }) });
    agents.push(...page.agents);
    if (!page.has_more) return { pages, agents };
    cursor = page.cursor!;
  }
}

type Case = ReturnType<typeof dataSuite>;

function agentsListed(test: Case, engine: Engine): void {
  test("no agent is skipped where the domains of all do not fit into one answer", async ({ data }) => {
    // Known in the other order than they are listed in.
    const names = ["e", "d", "c", "b", "a"];
    for (const [at, name] of names.entries())
      await data.applyCrawl(crawl(`p${at}.example`, { agents: [entry(urlOf(name))] }));
    for (let at = 0; at < 5; at += 1)
      await data.applyCrawl(crawl(`wide${at}.example`, { agents: [entry(urlOf("c")), entry(urlOf("d"))] }));
    const small = listedData({
      db: (await engine.again()).database,
      now: () => NOW,
      urlOf: (text) => text,
      listDomains: 4,
    });
    const { agents, pages } = await allAgents(small, { limit: 100, properties: true });
    assert.equal(
      agents.map(({ url }) => url),
      names.toReversed().map(urlOf),
    );
    assert.ok(pages > 2);
    assert.equal(
      agents.map(({ publisher_domains, domains_truncated }) => [publisher_domains!.length, domains_truncated === true]),
      [
        [1, false],
        [1, false],
        [4, true],
        [4, true],
        [1, false],
      ],
      "one that has more than an answer holds says so",
    );
  });

  test("agents of a type, those that members hide left out, in pages of any length", async ({ data }) => {
    const types = ["sales", "creative", "signals"] as const;
    const agents = Array.from({ length: 9 }, (_, at) =>
      agent(urlOf(`m${at}`), { type: types[at % 3]!, visibility: at === 8 ? "private" : "public" }),
    );
    await data.putMember(member("many", { agents }));
    await data.applyCrawl(crawl("news.example", { agents: [entry(urlOf("m4x")), entry(urlOf("m1"))] }));
    await data.putClaims(OTHER, [{ publisherDomain: "news.example", authorizedFor: null }]);
    const listed = async (wanted: { limit: number; type?: string }) =>
      (await allAgents(data, wanted)).agents.map(({ url }) => new URL(url).hostname.replace(".example", ""));
    for (const limit of [1, 2, 100]) {
      assert.equal(await listed({ limit }), ["m0", "m1", "m2", "m3", "m4", "m4x", "m5", "m6", "m7"]);
      assert.equal(await listed({ limit, type: "creative" }), ["m1", "m4", "m7"]);
      assert.equal(await listed({ limit, type: "unknown" }), ["m4x"], "nobody says what it is");
    }
  });

  test("an agent's properties are counted by type", async ({ data }) => {
    const properties = [property("a"), property("b", { type: "ctv_app" }), property("c", { type: "ctv_app" })];
    const some = { authorizationType: "property_ids", propertyIds: ["a", "c"] } as const;
    await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER)] }));
    await data.applyCrawl(crawl("stream.example", { properties, agents: [entry(SELLER, some)] }));
    const summary = (await data.listAgents({ limit: 5, properties: true })).agents[0]!.property_summary!;
    assert.equal(summary.count_by_type, { ctv_app: 3, website: 2 });
    assert.is(summary.total_count, 5);
  });
}

function publishersListed(test: Case): void {
  test("publishers are listed with those for whom a file is hosted", async ({ data }) => {
    await data.applyCrawl(crawl("b.example", { agents: [entry(SELLER)] }));
    await data.applyCrawl(crawl("d.example", { agents: [entry(SELLER)] }));
    await data.applyCrawl(failed("e.example", "invalid", 200));
    const { file: content } = crawl("a.example", { agents: [entry(SELLER), entry(OTHER)] }).adagents;
    for (const domain of ["a.example", "c.example", "d.example"])
      await data.putHostedFile(domain, { file: {}, content: content! });
    const told = [];
    for (let cursor: string | undefined; ; ) {
      const page = await data.listPublishers({ limit: 2, ...(cursor !== undefined && { cursor }) });
      told.push(...page.publishers.map((one) => [one.domain, one.has_valid_adagents, one.agent_count]));
      if (!page.has_more) break;
      cursor = page.cursor!;
    }
    const all = [
      ["a.example", false, 2],
      ["b.example", true, 1],
      ["c.example", false, 2],
      ["d.example", true, 1],
    ];
    assert.equal(told, all);
    const { publishers } = await data.listPublishers({ limit: 2, offset: 1, search: "" });
    assert.equal(
      publishers.map(({ domain }) => domain),
      ["b.example", "c.example"],
    );
    assert.equal((await data.listPublishers({ limit: 2, search: "c" })).publishers[0]!.domain, "c.example");
  });
}

function publishersOfAgents(test: Case): void {
  test("an agent's publishers: pinned keys, the names of the properties, and nothing that is over or only claimed", async ({
    data,
    clock,
  }) => {
    const properties = [property("a"), property("b"), property(null)];
    const keys = { signingKeys: [{ kid: "k", kty: "OKP" }] };
    const some = { authorizationType: "property_ids", propertyIds: ["b"], effectiveUntil: NOW + DAY_MS } as const;
    await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER, keys)] }));
    await data.applyCrawl(crawl("stream.example", { properties, agents: [entry(SELLER, some)] }));
    await data.putClaims(SELLER, [{ publisherDomain: "claimed.example", authorizedFor: null }]);
    const page = await data.agentPublishers(SELLER, { limit: 5, properties: true });
    assert.ok(page?.ok);
    assert.equal(
      page.value.publishers.map((one) => [
        one.publisher_domain,
        one.signing_keys_pinned,
        one.property_ids,
        one.publisher_wide,
      ]),
      [
        ["claimed.example", false, [], false],
        ["news.example", true, ["a", "b"], true],
        ["stream.example", false, ["b"], false],
      ],
    );
    clock.at += 2 * DAY_MS;
    const later = await data.agentPublishers(SELLER, { limit: 5, source: "adagents_json" });
    assert.ok(later?.ok);
    assert.equal(
      later.value.publishers.map((one) => one.publisher_domain),
      ["news.example"],
    );
  });
}

function longEntries(test: Case): void {
  test("publishers that say megabytes of an agent come a few on a page, and none is passed over", async ({ data }) => {
    const ids = Array.from({ length: 9_000 }, (_, at) => `p${at}`.padEnd(220, "x"));
    const properties = ids.map((id) => property(id, { identifiers: [] }));
    const long = entry(SELLER, { authorizationType: "property_ids", propertyIds: ids });
    for (const domain of ["a.example", "b.example", "c.example"])
      await data.applyCrawl(crawl(domain, { properties, agents: [long] }));
    await data.applyCrawl(crawl("d.example", { properties: [property("d")], agents: [entry(SELLER)] }));
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await data.agentPublishers(SELLER, { limit: 10, ...(cursor !== undefined && { cursor }) });
      assert.ok(page?.ok);
      pages.push(page.value.publishers.map((one) => `${one.publisher_domain} ${one.properties_authorized}`));
      assert.is(page.value.has_more, page.value.cursor !== null);
      cursor = page.value.cursor;
    }
    assert.equal(pages, [["a.example 9000"], ["b.example 9000"], ["c.example 9000", "d.example 1"]]);
  });
}

function agentsPaged(test: Case): void {
  test("a publisher's agents come in pages, and those who claim to be one crowd nobody out", async ({ data }) => {
    const own = Array.from({ length: 60 }, (_, at) => entry(urlOf(`own${String(at).padStart(2, "0")}`)));
    await data.putClaims(OTHER, [{ publisherDomain: "news.example", authorizedFor: "First" }]);
    await data.applyCrawl(crawl("news.example", { properties: [property("a")], agents: own }));
    const others = Array.from({ length: 1_200 }, (_, at) => ({
      publisherDomain: "news.example",
      agent: entry(urlOf(`crowd${at}`)),
    }));
    await data.applyCrawl(crawl("crowd.example", { others }));
    const seen: string[] = [];
    const counted: number[] = [];
    let agentsCursor: string | undefined;
    do {
      const page = await data.publisherPage("news.example", { agentsLimit: 500, agentsCursor });
      assert.ok(page.ok);
      const { authorized_agents: agents, agents_total, agents_cursor } = page.value;
      assert.is(agents_total, 1_060);
      seen.push(...agents.map(({ source, url }) => `${source} ${url}`));
      counted.push(agents.filter((one) => one.properties_total !== undefined).length);
      agentsCursor = agents_cursor ?? undefined;
    } while (agentsCursor !== undefined);
    assert.equal([seen.length, new Set(seen).size], [1_060, 1_060]);
    assert.equal(counted, [50, 0, 0], "counts are those of the first agents of all");
    assert.ok(seen.includes(`agent_claim ${OTHER}`), "it claimed first");
    assert.is((await data.lookupPublisher("news.example")).authorized_agents.length, 1_000);
    assert.is((await data.lookupDomain("news.example")).sales_agents_claiming.length, 1_000);
    const broken = await data.publisherPage("news.example", { agentsCursor: "x" });
    assert.equal(broken, { ok: false, reason: "cursor_invalid" });
  });
}

function counted(test: Case, engine: Engine): void {
  test("what the statistics say is kept, whatever comes and goes", async ({ data }) => {
    const told = async () => {
      const { registered_agents, registered_publishers, discovered_agents } = await data.stats();
      return [registered_agents, registered_publishers, discovered_agents];
    };
    assert.equal(await told(), [0, 0, 0]);
    const domains = [
      { domain: "seller.example", verified: true },
      { domain: "other.example", verified: false },
    ];
    await data.putMember(
      member("seller", { domains, agents: [agent(SELLER), agent(OTHER, { visibility: "private" })] }),
    );
    assert.equal(await told(), [2, 1, 0]);
    await data.applyCrawl(crawl("news.example", { agents: [entry(SELLER), entry(urlOf("found"))] }));
    assert.equal(await told(), [2, 1, 1], "an agent of a member is not found besides");
    await data.removeMember("seller");
    assert.equal(await told(), [0, 0, 2], "it is nobody's then, and publishers name it still");
    await data.applyCrawl(crawl("news.example", { agents: [] }));
    assert.equal(await told(), [0, 0, 0]);
    const again = createRegistryData(await engine.again());
    assert.equal((await again.stats()).discovered_agents, 0);
  });
}

function brandsFound(test: Case): void {
  const brandOf = (name: string, file: Record<string, unknown>, names: readonly string[]) => ({
    outcome: "present" as const,
    name,
    document: { url: "https://x.example/brand.json", variant: "brand_canonical" as const, file, names },
  });
  const none = { outcome: "absent" as const, name: null };

  test("brands are found by the words of all their names, and told as their files have them", async ({ data }) => {
    const file = {
      id: "acme",
      names: [{ en: "The Acme Corporation" }, { de: "Ächme Werke" }],
      house_domain: "big.example",
    };
    const names = ["The Acme Corporation", "Ächme Werke"];
    await data.applyCrawl(crawl("a.example", {}, { brand: brandOf("The Acme Corporation", file, names) }));
    await data.applyCrawl(crawl("b.example", {}, { brand: brandOf("Corporal", { names: [] }, ["Corporal"]) }));
    const found = async (text: string) => (await data.findBrands(text, 5)).map((one) => one.canonical_domain);
    assert.equal(await found("corpora"), ["b.example", "a.example"], "a name that begins so comes first");
    assert.equal(await found("acme CORP"), ["a.example"]);
    assert.equal(await found("werke ächme"), ["a.example"]);
    assert.equal(await found("acme nothing"), []);
    assert.equal(await found("%"), []);
    assert.equal((await data.brandFile("a.example"))!.data, file);
    const resolved = (await data.resolveBrand("a.example"))!;
    assert.equal(
      [resolved.names, resolved.claimed_house_domain, resolved.house_domain],
      [file.names, "big.example", undefined],
    );
    assert.equal(
      (await data.listBrands({ limit: 1, offset: 1 })).map((one) => one.canonical_domain),
      ["b.example"],
    );
    assert.is(await data.brandCount(), 2);
  });

  test("a brand file that is gone for a week is gone", async ({ data }) => {
    const brand = brandOf("Acme", { id: "acme" }, ["Acme"]);
    const at = (days: number, given: object) =>
      data.applyCrawl(crawl("a.example", {}, { brand: given, at: NOW + days * DAY_MS }));
    await at(0, brand);
    await at(5, brand);
    await at(11, none);
    assert.is((await data.resolveBrand("a.example"))?.brand_name, "Acme", "it was there six days ago");
    await at(12, none);
    assert.equal([await data.resolveBrand("a.example"), await data.brandFile("a.example")], [undefined, undefined]);
    assert.equal([await data.findBrands("acme", 5), await data.brandCount()], [[], 0]);
    assert.is((await data.lookupPublisher("a.example")).files!.brand_json.status, "unknown");
  });
}

export function dataListsCase(engine: Engine): void {
  const test = dataSuite(engine);
  agentsListed(test, engine);
  publishersListed(test);
  publishersOfAgents(test);
  longEntries(test);
  agentsPaged(test);
  brandsFound(test);
  counted(test, engine);
  test.after(() => engine.stop());
  test.run();
}
