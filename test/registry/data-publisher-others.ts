/** What others than a publisher's file say of it: its brand file, agents, the manager of another domain. */
import * as assert from "uvu/assert";
import { crawl, entry, OTHER, property, SELLER } from "./data-fixture.js";
import type { dataSuite } from "./data-suite.js";

type Case = ReturnType<typeof dataSuite>;

const newsBrand = {
  outcome: "present" as const,
  name: "News Example",
  agents: [{ url: OTHER, type: "buying" as const, id: "news_buys" }],
  properties: [
    {
      type: null,
      identifier: "News.example",
      relationship: "owned" as const,
    },
    {
      type: "mobile_app",
      identifier: "com.news",
      relationship: "ad_network" as const,
    },
  ],
};

/** What the brand file says. */
export function brandFiles(test: Case): void {
  test("the brand file speaks only where nothing else does", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { agents: [entry(SELLER)] }, { brand: newsBrand }));
    const first = await data.lookupPublisher("news.example");
    assert.equal(first.files?.brand_json, {
      ...{ status: "present", name: "News Example" },
      agents: [{ url: OTHER, type: "buying", id: "news_buys" }],
    });
    assert.equal(first.properties, [
      {
        type: "website",
        name: "news.example",
        identifiers: [{ type: "domain", value: "news.example" }],
        tags: ["relationship:owned"],
        source: "brand_json",
      },
      {
        type: "mobile_app",
        name: "com.news",
        identifiers: [{ type: "mobile_app", value: "com.news" }],
        tags: ["relationship:ad_network"],
        source: "brand_json",
        delegation_type: "ad_network",
      },
    ]);
    assert.equal(first.authorized_agents, [{ url: SELLER, authorized_for: "All inventory", source: "adagents_json" }]);
    assert.is((await data.lookupAuthorization("news.example", SELLER))?.total, 0);
  });

  test("what an agent claims, and a file with properties of its own, come before the brand file", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { agents: [entry(SELLER)] }, { brand: newsBrand }));
    await data.putClaims(OTHER, [{ publisherDomain: "news.example", authorizedFor: null }]);
    const claimed = await data.lookupPublisher("news.example");
    assert.equal(
      claimed.authorized_agents.map(({ source, properties_total }) => [source, properties_total]),
      [
        ["adagents_json", 0],
        ["agent_claim", 0],
      ],
    );
    await data.applyCrawl(
      crawl("news.example", { agents: [entry(SELLER)], properties: [property("main")] }, { brand: newsBrand }),
    );
    const second = await data.lookupPublisher("news.example");
    assert.equal(
      second.properties.map(({ id, source }) => [id, source]),
      [["main", "adagents_json"]],
    );
  });
}

/** What somebody else says. */
export function claims(test: Case): void {
  test("what a manager's file says of another domain is a claim there", async ({ data }) => {
    const others = [{ publisherDomain: "child.example", agent: entry(SELLER) }];
    await data.applyCrawl(crawl("manager.example", { agents: [entry(SELLER)], others }));
    const child = await data.lookupPublisher("child.example");
    assert.equal(
      child.authorized_agents.map(({ url, source }) => [url, source]),
      [[SELLER, "agent_claim"]],
    );
    assert.is(child.adagents_valid, null);
    assert.equal(await data.lookupDomain("child.example"), {
      domain: "child.example",
      authorized_agents: [],
      sales_agents_claiming: [{ url: SELLER, authorized_for: "All inventory" }],
    });
    const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "child.example" }] };
    assert.is((await data.validateProduct(request)).authorized, false);
    await data.applyCrawl(crawl("manager.example", { agents: [entry(SELLER)], others: [] }));
    assert.equal((await data.lookupPublisher("child.example")).authorized_agents, []);
  });
}

/** Publishers that are there because others name them. */
export function namedOnly(test: Case): void {
  test("a publisher of which nothing is known but that others named it goes with the last who names it", async ({
    data,
  }) => {
    const said = (...domains: string[]) =>
      crawl("liar.example", { others: domains.map((publisherDomain) => ({ publisherDomain, agent: entry(SELLER) })) });
    const claims = (...domains: string[]) =>
      domains.map((publisherDomain) => ({ publisherDomain, authorizedFor: null }));
    const all = ["crawled.example", "one.example", "two.example"];
    const known = async () => {
      const states = await Promise.all(all.map((domain) => data.crawlState(domain)));
      return all.filter((_, at) => states[at] !== undefined);
    };
    await data.applyCrawl(crawl("crawled.example", { agents: [entry(SELLER)] }));
    await data.applyCrawl(said(...all));
    await data.putClaims(OTHER, claims("crawled.example", "two.example"));
    assert.equal(await known(), all);
    await data.applyCrawl(said());
    assert.equal(await known(), ["crawled.example", "two.example"]);
    await data.putClaims(OTHER, claims("one.example"));
    assert.equal(await known(), ["crawled.example", "one.example"]);
    await data.putClaims(OTHER, []);
    assert.equal(await known(), ["crawled.example"]);
    // Named again it is there again.
    await data.applyCrawl(said("two.example"));
    assert.is((await data.lookupPublisher("two.example")).authorized_agents.length, 1);
  });
}

/** Owners who want nothing told. */
export function leavers(test: Case): void {
  test("an owner who opts out may have named others, and have been named by them", async ({ data }) => {
    const naming = (domain: string, publisherDomain: string) =>
      crawl(domain, { agents: [entry(SELLER)], others: [{ publisherDomain, agent: entry(OTHER) }] });
    await data.applyCrawl(naming("news.example", "friend.example"));
    await data.applyCrawl(naming("friend.example", "news.example"));
    assert.equal(await data.optOut("news.example"), ["news.example"]);
    const said = await Promise.all(["news.example", "friend.example"].map((domain) => data.lookupPublisher(domain)));
    assert.equal(
      said.map(({ authorized_agents }) => authorized_agents.map(({ source }) => source)),
      [[], ["adagents_json"]],
    );
    assert.equal((await data.stats()).authorizations_by_source, { adagents_json: 1 });
  });
}

/** Much that others say. */
export function manyClaims(test: Case): void {
  test("of what others say of a publisher twenty are told as reasons, and what is long in one is left out", async ({
    data,
  }) => {
    await data.applyCrawl(crawl("news.example", { properties: [property("app")], agents: [entry(OTHER)] }));
    const propertyIds = Array.from({ length: 2_000 }, (_, at) => `p${at}`.padEnd(60, "x"));
    for (let at = 0; at < 22; at += 1) {
      const said = { publisherProperties: [{ propertyIds: at === 0 ? propertyIds : ["app"] }] };
      const agent = entry(SELLER, { authorizationType: "publisher_properties", ...said });
      await data.applyCrawl(crawl(`m${at}.example`, { others: [{ publisherDomain: "news.example", agent }] }));
    }
    const { grants, may_sell } = await data.explain("news.example", SELLER, "app");
    assert.equal([grants.length, may_sell, grants.every(({ source }) => source === "agent_claim")], [20, false, true]);
    const selectors = new Map(grants.map(({ claimant, selector }) => [claimant, Object.keys(selector)]));
    assert.equal([selectors.get("m0.example"), selectors.get("m1.example")], [[], ["publisher_properties"]]);
    const { source, authorized, publisher_wide } = (await data.lookupAuthorization("news.example", SELLER))!;
    assert.equal([source, authorized, publisher_wide], ["agent_claim", 0, false]);
  });
}
