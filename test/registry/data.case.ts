/** What a registry answers from its data; one body for both databases. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { agent, crawl, type Engine, entry, failed, member, NOW, OTHER, property, SELLER } from "./data-fixture.js";

const DAY_MS = 86_400_000;

export function dataCase(engine: Engine): void {
  const test = suite<{ data: RegistryData; clock: { at: number } }>(`registry data on ${engine.name}`);
  test.before.each(async (context) => {
    const clock = { at: NOW };
    context.clock = clock;
    context.data = createRegistryData(await engine.open(), {
      now: () => clock.at,
      publicUrl: "https://registry.example/",
    });
  });

  test("a domain nobody asked about has nulls and empty lists", async ({ data }) => {
    assert.equal(await data.lookupPublisher("https://Unseen.Example/path"), {
      domain: "unseen.example",
      member: null,
      adagents_valid: null,
      discovery_method: null,
      manager_domain: null,
      hosting: {
        mode: "none",
        expected_url: "https://unseen.example/.well-known/adagents.json",
        hosted_url: null,
        resolved_url: null,
        last_validated: null,
        last_http_status: null,
        last_bytes: null,
        origin_verified_at: null,
        origin_last_checked_at: null,
      },
      files: {
        adagents_json: { status: "unknown", expected_url: "https://unseen.example/.well-known/adagents.json" },
        brand_json: { status: "unknown" },
      },
      properties: [],
      authorized_agents: [],
    });
  });

  test("each authorization type covers its own properties", async ({ data }) => {
    const properties = [
      property("main", { tags: ["sport"] }),
      property("app", { type: "mobile_app", tags: ["sport", "news"] }),
      property("radio", { type: "radio" }),
    ];
    const url = (name: string): string => `https://${name}.example/mcp`;
    await data.applyCrawl(
      crawl("news.example", {
        properties,
        agents: [
          entry(url("a-wide")),
          entry(url("b-ids"), { authorizationType: "property_ids", propertyIds: ["main", "nowhere"] }),
          entry(url("c-tags"), { authorizationType: "property_tags", propertyTags: ["sport"] }),
          entry(url("d-inline"), { authorizationType: "inline_properties", properties: [property("extra")] }),
          entry(url("e-selector"), {
            authorizationType: "publisher_properties",
            publisherProperties: [{ propertyTypes: ["radio"] }, { propertyIds: ["main"] }],
          }),
          entry(url("f-all"), { authorizationType: "publisher_properties", publisherProperties: [{}] }),
          entry(url("g-signals"), { authorizationType: "signal_ids", signalIds: ["s1"] }),
        ],
      }),
    );
    const { authorized_agents, properties: listed } = await data.lookupPublisher("news.example");
    assert.equal(
      authorized_agents.map((one) => [one.url, one.properties_authorized, one.properties_total, one.publisher_wide]),
      [
        [url("a-wide"), 4, 4, true],
        [url("b-ids"), 1, 4, false],
        [url("c-tags"), 2, 4, false],
        [url("d-inline"), 1, 4, false],
        [url("e-selector"), 2, 4, false],
        [url("f-all"), 4, 4, true],
        [url("g-signals"), 0, 4, false],
      ],
    );
    assert.equal(
      listed.map(({ id, source }) => [id, source]),
      ["main", "app", "radio", "extra"].map((id) => [id, "adagents_json"]),
    );
  });

  test("an authorization is counted, and what it leaves out is named", async ({ data }) => {
    const entries = [entry(SELLER, { authorizationType: "property_ids", propertyIds: ["main"], authorizedFor: "Web" })];
    const brand = { outcome: "present" as const, name: "News", properties: [] };
    await data.applyCrawl(
      crawl("news.example", { properties: [property("main"), property("app")], agents: entries }, { brand }),
    );
    assert.equal(await data.lookupAuthorization("news.example", "HTTPS://Seller.example:443/mcp"), {
      publisher_domain: "news.example",
      agent_url: SELLER,
      authorized: 1,
      total: 2,
      publisher_wide: false,
      source: "adagents_json",
      authorized_for: "Web",
      unauthorized_properties: [{ id: "app", name: "app", type: "website" }],
    });
    assert.is(await data.lookupAuthorization("news.example", OTHER), undefined);
    assert.is(await data.lookupAuthorization("unseen.example", SELLER), undefined);
  });

  test("a failed fetch keeps the last good copy and says how it failed", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { properties: [property("main")], agents: [entry(SELLER)] }));
    const good = await data.lookupPublisher("news.example");
    assert.is(good.hosting.mode, "self");
    for (const [outcome, status, mode] of [
      ["unreachable", null, "self"],
      ["absent", 404, "self_invalid"],
      ["invalid", 200, "self_invalid"],
    ] as const) {
      await data.applyCrawl({ ...failed("news.example", outcome, status), crawledAt: NOW + DAY_MS });
      const after = await data.lookupPublisher("news.example");
      assert.equal(
        { ...after, hosting: null },
        { ...good, hosting: null },
        `after ${outcome} everything else is as it was`,
      );
      assert.is(after.hosting.mode, mode);
      assert.is(after.hosting.last_http_status, status);
      assert.is(after.hosting.last_validated, new Date(NOW).toISOString());
    }
  });

  test("a file that never was valid: false when it broke rules, null when there was none", async ({ data }) => {
    await data.applyCrawl(failed("absent.example", "absent", 404));
    await data.applyCrawl(failed("broken.example", "invalid", 200));
    const absent = await data.lookupPublisher("absent.example");
    const broken = await data.lookupPublisher("broken.example");
    assert.equal(
      [absent.adagents_valid, absent.hosting.mode, absent.files?.adagents_json.status],
      [null, "none", "unknown"],
    );
    assert.equal(
      [broken.adagents_valid, broken.hosting.mode, broken.files?.adagents_json.status],
      [false, "self_invalid", "invalid"],
    );
  });

  test("agents dropped from a file lose their authorization, and a file as it was writes nothing", async ({ data }) => {
    const file = { properties: [property("main")], agents: [entry(SELLER), entry(OTHER)] };
    assert.equal(await data.applyCrawl(crawl("news.example", file)), {
      changed: true,
      properties: 1,
      authorizations: 2,
      agents: 2,
    });
    assert.is((await data.applyCrawl(crawl("news.example", file, { at: NOW + 5 }))).changed, false);
    await data.applyCrawl(crawl("news.example", { ...file, agents: [entry(OTHER)] }));
    const { authorized_agents } = await data.lookupPublisher("news.example");
    assert.equal(
      authorized_agents.map(({ url }) => url),
      [OTHER],
    );
    assert.equal((await data.lookupProperty("domain", "MAIN.news.example")).agents, [
      {
        url: OTHER,
        publisher_domain: "news.example",
        property_id: "main",
        authorized_for: "All inventory",
        source: "adagents_json",
      },
    ]);
  });

  test("a replaced property takes its identifiers along", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { properties: [property("main")], agents: [entry(SELLER)] }));
    await data.applyCrawl(crawl("news.example", { properties: [property("next")], agents: [entry(SELLER)] }));
    assert.is((await data.lookupProperty("domain", "main.news.example")).count, 0);
    assert.is((await data.lookupProperty("domain", "next.news.example")).count, 1);
    const stats = await data.stats();
    assert.equal(stats.properties_by_type, { website: 1 });
    assert.equal(stats.authorizations_by_source, { adagents_json: 1 });
    assert.equal([stats.discovered_agents, stats.discovered_publishers, stats.authorizations], [1, 1, 1]);
  });

  test("the brand file speaks only where nothing else does", async ({ data }) => {
    const brand = {
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
    await data.applyCrawl(crawl("news.example", { agents: [entry(SELLER)] }, { brand }));
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
      crawl("news.example", { agents: [entry(SELLER)], properties: [property("main")] }, { brand }),
    );
    const second = await data.lookupPublisher("news.example");
    assert.equal(
      second.properties.map(({ id, source }) => [id, source]),
      [["main", "adagents_json"]],
    );
  });

  test("counts stop at the fiftieth agent", async ({ data }) => {
    const urls = Array.from({ length: 60 }, (_, at) => `https://agent-${String(at).padStart(2, "0")}.example/mcp`);
    await data.applyCrawl(
      crawl("news.example", { properties: [property("main")], agents: urls.map((url) => entry(url)) }),
    );
    const { authorized_agents, rollup_truncated } = await data.lookupPublisher("news.example");
    assert.equal(
      authorized_agents.map(({ url }) => url),
      urls,
    );
    assert.equal(rollup_truncated, { cap: 50, total_agents: 60 });
    assert.is(authorized_agents.filter((one) => one.properties_total === 1).length, 50);
    assert.not("properties_total" in authorized_agents[50]!);
    assert.equal((await data.lookupAuthorization("news.example", urls[55]!))?.authorized, 1);
  });

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

  test("an entry authorizes between its dates only", async ({ data, clock }) => {
    const window = { effectiveFrom: NOW + DAY_MS, effectiveUntil: NOW + 2 * DAY_MS };
    await data.applyCrawl(crawl("news.example", { properties: [property("main")], agents: [entry(SELLER, window)] }));
    const count = async (): Promise<number> => (await data.lookupPublisher("news.example")).authorized_agents.length;
    assert.is(await count(), 0);
    clock.at = NOW + DAY_MS;
    assert.is(await count(), 1);
    clock.at = NOW + 2 * DAY_MS + 1;
    assert.is(await count(), 0);
    const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "news.example" }] };
    assert.is((await data.expand(request)).property_count, 0);
  });

  test("a hosted file counts until the origin's own is valid", async ({ data }) => {
    const content = {
      agents: [entry(SELLER)],
      properties: [property("main")],
      genres: [],
      genreTaxonomy: null,
      lastUpdated: null,
      others: [],
    };
    await data.putHostedFile("news.example", { file: { authorized_agents: [] }, content });
    assert.equal((await data.hostedFile("news.example"))?.file, { authorized_agents: [] });
    assert.equal(await data.hostedDue(NOW, 10), ["news.example"]);
    await data.originChecked("news.example", { verified: true, at: NOW });
    assert.equal(await data.hostedDue(NOW, 10), []);
    const hosted = await data.lookupPublisher("news.example");
    assert.is(hosted.hosting.mode, "aao_hosted");
    assert.is(hosted.hosting.hosted_url, "https://registry.example/publisher/news.example/.well-known/adagents.json");
    assert.is(hosted.hosting.origin_verified_at, new Date(NOW).toISOString());
    assert.equal(
      [
        hosted.properties[0]?.source,
        hosted.authorized_agents[0]?.source,
        hosted.authorized_agents[0]?.properties_total,
      ],
      ["adagents_json", "aao_hosted", 1],
    );
    await data.applyCrawl(crawl("news.example", { agents: [entry(OTHER)], properties: [property("own")] }));
    const own = await data.lookupPublisher("news.example");
    assert.equal([own.hosting.mode, own.hosting.hosted_url], ["self", null]);
    assert.equal(
      own.authorized_agents.map(({ url, source }) => [url, source]),
      [[OTHER, "adagents_json"]],
    );
    assert.is(await data.removeHostedFile("news.example"), true);
    assert.is(await data.removeHostedFile("news.example"), false);
  });

  test("an agent's publishers come by domain, in pages", async ({ data }) => {
    const domains = ["a.example", "b.example", "c.example", "d.example", "e.example"];
    for (const domain of [...domains].reverse())
      await data.applyCrawl(crawl(domain, { properties: [property("main")], agents: [entry(SELLER)] }));
    await data.putClaims(SELLER, [{ publisherDomain: "c.example", authorizedFor: "Claimed" }]);
    assert.is(await data.agentPublishers(OTHER, { limit: 2 }), undefined);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await data.agentPublishers(SELLER, { limit: 2, ...(cursor !== undefined && { cursor }) });
      assert.ok(page?.ok);
      for (const one of page.value.publishers) seen.push(`${one.publisher_domain} ${one.source}`);
      assert.is(page.value.has_more, page.value.cursor !== null);
      cursor = page.value.cursor ?? undefined;
    } while (cursor !== undefined);
    const own = domains.map((domain) => `${domain} adagents_json`);
    assert.equal(seen, [...own.slice(0, 3), "c.example agent_claim", ...own.slice(3)]);
    const claims = await data.agentPublishers(SELLER, { limit: 5, source: "agent_claim" });
    assert.ok(claims?.ok);
    assert.equal(claims.value.publishers.length, 1);
    assert.equal(await data.agentPublishers(SELLER, { limit: 5, cursor: "nonsense" }), {
      ok: false,
      reason: "cursor_invalid",
    });
  });

  test("an operator shows each caller its levels", async ({ data }) => {
    await data.putMember(
      member("seller", {
        displayName: "Seller",
        tier: "company_standard",
        founding: true,
        domains: [
          { domain: "seller.example", verified: true },
          { domain: "claimed.example", verified: false },
        ],
        agents: [
          agent("https://seller.example/a"),
          agent("https://seller.example/b", { visibility: "members_only", name: "B" }),
          agent("https://seller.example/c", { visibility: "private" }),
        ],
      }),
    );
    await data.applyCrawl(crawl("news.example", { agents: [entry("https://seller.example/a")] }));
    const seen = async (seesMembersOnly: boolean, owns: boolean): Promise<string[]> =>
      Promise.all(
        (["all", "public", "member", "private"] as const).map(async (scope) => {
          const viewer = { seesMembersOnly, owns: () => owns };
          const { agents } = await data.lookupOperator("seller.example", viewer, scope);
          return agents.map(({ url }) => url.at(-1)).join("");
        }),
      );
    assert.equal(await seen(false, false), ["a", "a", "a", ""]);
    assert.equal(await seen(true, false), ["ab", "a", "ab", ""]);
    assert.equal(await seen(true, true), ["abc", "a", "ab", "c"]);
    assert.equal(await seen(false, true), ["ac", "a", "a", "c"]);
    const anyone = { seesMembersOnly: false, owns: () => false };
    const { member: shown, agents } = await data.lookupOperator("deep.sub.seller.example", anyone, "all");
    assert.equal(shown, {
      slug: "seller",
      display_name: "Seller",
      membership_tier: "company_standard",
      membership_tier_label: "Builder",
      is_founding_member: true,
    });
    assert.equal(agents, [
      {
        url: "https://seller.example/a",
        name: "Seller",
        type: "sales",
        authorized_by: [{ publisher_domain: "news.example", authorized_for: "All inventory", source: "adagents_json" }],
      },
    ]);
    const lapsed = await data.lookupOperator("seller.example", { ...anyone, tierLive: () => false }, "all");
    assert.not("membership_tier" in lapsed.member!);
    assert.is((await data.lookupOperator("claimed.example", anyone, "all")).member, null);
    assert.equal((await data.lookupPublisher("seller.example")).member, { slug: "seller", display_name: "Seller" });
  });

  test("members: what cannot be is refused, and removal frees agents", async ({ data }) => {
    await data.putMember(member("one", { organization: "org-1", agents: [agent(SELLER)] }));
    const refusals = [
      data.putMember(member("two", { agents: [agent(SELLER)] })),
      data.putMember(member("three", { organization: "org-1" })),
      data.putMember(member("Not A Slug")),
      data.putMember(member("four", { domains: [{ domain: "nodot", verified: true }] })),
      data.registerAgent("nobody", agent(OTHER)),
      data.lookupPublisher("no domain"),
    ];
    for (const refusal of await Promise.allSettled(refusals)) {
      assert.is(refusal.status, "rejected");
      assert.instance((refusal as PromiseRejectedResult).reason, AdbindError);
      assert.is(((refusal as PromiseRejectedResult).reason as AdbindError).code, "registry_data_invalid");
    }
    assert.is((await data.memberOf("org-1"))?.slug, "one");
    assert.is(await data.removeMember("one"), true);
    await data.putMember(member("two", { agents: [agent(SELLER)] }));
    assert.equal(
      (await data.members()).map(({ slug }) => slug),
      ["two"],
    );
  });

  test("crawls that are due: never seen first, then oldest", async ({ data }) => {
    await data.putMember(member("m", { domains: [{ domain: "new.example", verified: true }] }));
    await data.applyCrawl(crawl("old.example", {}, { at: NOW - 2 * DAY_MS }));
    await data.applyCrawl(crawl("older.example", {}, { at: NOW - 3 * DAY_MS }));
    await data.applyCrawl(crawl("fresh.example", {}));
    assert.equal(await data.crawlDue(NOW - DAY_MS, 10), ["new.example", "older.example", "old.example"]);
    assert.equal(await data.crawlState("old.example"), {
      domain: "old.example",
      crawledAt: NOW - 2 * DAY_MS,
      validatedAt: NOW - 2 * DAY_MS,
      valid: true,
      managerDomain: null,
      problems: [],
    });
    assert.is(await data.crawlState("unseen.example"), undefined);
  });

  test.after(() => engine.stop());
  test.run();
}
