/** What a registry answers of a publisher after its crawls; one body for both databases. */
import * as assert from "uvu/assert";
import { crawl, type Engine, entry, failed, NOW, OTHER, property, SELLER } from "./data-fixture.js";
import { brandFiles, claims, leavers, manyClaims, namedOnly } from "./data-publisher-others.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

type Case = ReturnType<typeof dataSuite>;

/** What nobody has asked about. */
function unseen(test: Case): void {
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
}

/** What an authorization covers. */
function coverage(test: Case): void {
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
}

/** How much of a publisher's properties it covers. */
function counts(test: Case): void {
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
}

/** What a failed crawl leaves. */
function failures(test: Case): void {
  test("a failed fetch keeps the last good copy and says how it failed", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { properties: [property("main")], agents: [entry(SELLER)] }));
    const good = await data.lookupPublisher("news.example");
    for (const [outcome, status, mode] of [
      ["unreachable", null, "self"],
      ["absent", 404, "self_invalid"],
      ["invalid", 200, "self_invalid"],
    ] as const) {
      await data.applyCrawl({ ...failed("news.example", outcome, status), crawledAt: NOW + DAY_MS });
      const after = await data.lookupPublisher("news.example");
      assert.is(after.files?.adagents_json.status, outcome === "absent" ? "absent" : "valid");
      assert.equal(
        { ...after, hosting: null, files: null },
        { ...good, hosting: null, files: null },
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
      [null, "none", "absent"],
    );
    assert.equal(
      [broken.adagents_valid, broken.hosting.mode, broken.files?.adagents_json.status],
      [false, "self_invalid", "invalid"],
    );
  });
}

/** What another version of a file leaves. */
function replacements(test: Case): void {
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
}

export function dataPublisherCase(engine: Engine): void {
  const test = dataSuite(engine);
  for (const some of [
    unseen,
    coverage,
    counts,
    failures,
    replacements,
    brandFiles,
    claims,
    namedOnly,
    leavers,
    manyClaims,
  ])
    some(test);
  test.after(() => engine.stop());
  test.run();
}
