/** Lists gone through on both databases: what is known of each entry, and the report of it while it is kept. */
import * as assert from "uvu/assert";
import { crawl, type Engine, entry, property, SELLER } from "./data-fixture.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

const app = (value: string) => property("app", { type: "mobile_app", identifiers: [{ type: "bundle_id", value }] });
const file = (properties: ReturnType<typeof property>[]) => ({ agents: [entry(SELLER)], properties });

type Case = ReturnType<typeof dataSuite>;

function domainsChecked(test: Case): void {
  test("domains are known, to be modified, assessed or removed, and what was said is read again for seven days", async ({
    data,
    clock,
  }) => {
    await data.applyCrawl(crawl("news.example", file([property("site")])));
    const given = [
      "news.example",
      "www.news.example",
      "https://M.Unseen.example/x",
      "unseen2.example",
      "no domain",
      "Stream.example",
    ];
    await data.applyCrawl(crawl("stream.example", file([property("tv")])));
    const found = await data.checkDomains(given);
    assert.equal(found.summary, { total: 6, remove: 1, modify: 2, assess: 2, ok: 1 });
    assert.equal(found.ok, [{ domain: "news.example", source: "adagents_json" }]);
    assert.equal(found.remove, [{ input: "www.news.example", canonical: "news.example", reason: "duplicate" }]);
    assert.equal(
      found.modify.map(({ canonical, source }) => [canonical, source]),
      [
        ["unseen.example", undefined],
        ["stream.example", "adagents_json"],
      ],
    );
    assert.equal(found.assess, [{ domain: "unseen2.example" }, { domain: "no domain" }]);
    assert.equal(await data.propertyCheck(found.report_id), found);
    assert.is(await data.identifierCheck(found.report_id), undefined, "a report of another kind");
    clock.at += 7 * DAY_MS;
    assert.is(await data.propertyCheck(found.report_id), undefined);
  });
}

function identifiersChecked(test: Case): void {
  test("identifiers: the publisher's own word counts, and who several name is told", async ({ data }) => {
    await data.applyCrawl(crawl("a.example", file([app("com.one.app"), property("site")])));
    await data.applyCrawl(crawl("b.example", file([app("com.shared.app")])));
    await data.applyCrawl(crawl("c.example", file([app("com.shared.app")])));
    const store = property("s", {
      type: "mobile_app",
      identifiers: [{ type: "apple_app_store_id", value: "123456789" }],
    });
    await data.applyCrawl(crawl("d.example", file([store])));
    const address = "https://apps.apple.com/de/app/name/id123456789";
    const found = await data.checkIdentifiers([
      "COM.one.app",
      "com.one.app",
      "com.shared.app",
      address,
      "com.unseen.app",
      "two words",
    ]);
    assert.equal(found.summary, { total: 6, ready: 3, known: 0, ad_infra: 0, unknown: 1, skipped: 2 });
    assert.equal(
      found.entries.map(({ verdict, action, identifier, publisher_domain, publisher_count }) =>
        [verdict, action, identifier.type, publisher_domain, publisher_count].join(" "),
      ),
      [
        "ready none bundle_id a.example ",
        "skipped remove bundle_id  ",
        "ready disambiguate bundle_id b.example 2",
        "ready none apple_app_store_id d.example ",
        "unknown assess bundle_id  ",
        "skipped remove unknown  ",
      ],
    );
    assert.match(String(found.entries[0]!.property_rid), /^[0-9a-f-]{36}$/);
    assert.equal(await data.identifierCheck(found.report_id), found);
  });
}

export function dataChecksCase(engine: Engine): void {
  const test = dataSuite(engine);
  test.after(() => engine.stop());
  domainsChecked(test);
  identifiersChecked(test);

  test("a domain is known by who owns it, and not by who writes its name as something else", async ({ data }) => {
    const written = property("net", { identifiers: [{ type: "network_id", value: "news.example" }] });
    await data.applyCrawl(crawl("a-thief.example", file([written])));
    const checked = async () => {
      const { entries } = await data.checkIdentifiers(["news.example"]);
      return [entries[0]!.verdict, entries[0]!.action, entries[0]!.publisher_domain];
    };
    assert.equal(await checked(), ["unknown", "assess", undefined]);
    const own = property("site", { identifiers: [{ type: "domain", value: "news.example" }] });
    await data.applyCrawl(crawl("news.example", file([own])));
    assert.equal(await checked(), ["ready", "none", "news.example"]);
  });

  test("a property whose names are too long to be looked up by keeps no other from being kept", async ({ data }) => {
    // Letters of three bytes, in no order that could be compressed.
    const long = (count: number, seed: number) =>
      Array.from({ length: count }, (_, at) =>
        String.fromCharCode(0x4e00 + ((at * at * 7919 + at * seed) % 0x5000)),
      ).join("");
    const identifiers = [{ type: long(255, 31), value: long(500, 37) }];
    const given = [property(null, { name: long(500, 41), identifiers }), app("com.one.app")];
    await data.applyCrawl(crawl("long.example", file(given)));
    assert.is((await data.lookupPublisher("long.example")).properties.length, 2);
    assert.is((await data.checkIdentifiers(["com.one.app"])).summary.ready, 1);
    await data.applyCrawl(crawl("long.example", file([])));
    assert.is((await data.checkIdentifiers(["com.one.app"])).summary.ready, 0);
  });

  test("ten thousand of each are gone through at once", async ({ data }) => {
    await data.applyCrawl(crawl("d9999.example", file([property("site"), app("com.x9999.app")])));
    const many = (name: (at: number) => string) => Array.from({ length: 10_000 }, (_, at) => name(at));
    const domains = await data.checkDomains(many((at) => `d${at}.example`));
    assert.equal([domains.summary.assess, domains.summary.ok], [9_999, 1]);
    const identifiers = await data.checkIdentifiers(many((at) => `com.x${at}.app`));
    assert.equal([identifiers.summary.unknown, identifiers.summary.ready], [9_999, 1]);
  });

  test.run();
}
