/** What a registry answers of members, operators, agents and hosted files; one body for both databases. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { agent, crawl, type Engine, entry, member, NOW, OTHER, property, SELLER } from "./data-fixture.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

type Case = ReturnType<typeof dataSuite>;

/** Files that the registry hosts. */
function hostedFiles(test: Case): void {
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
    assert.equal([own.hosting.mode, "hosted_url" in own.hosting], ["self", false]);
    assert.equal(
      own.authorized_agents.map(({ url, source }) => [url, source]),
      [[OTHER, "adagents_json"]],
    );
    assert.is(await data.removeHostedFile("news.example"), true);
    assert.is(await data.removeHostedFile("news.example"), false);
  });
}

/** Lists that come a part at a time. */
function pages(test: Case): void {
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
}

/** What each caller sees of an operator. */
function operators(test: Case): void {
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
}

/** Members and their agents. */
function members(test: Case): void {
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
}

export function dataMembersCase(engine: Engine): void {
  const test = dataSuite(engine);
  for (const some of [hostedFiles, pages, operators, members]) some(test);
  test.after(() => engine.stop());
  test.run();
}
