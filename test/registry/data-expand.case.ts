/** Products in terms of properties; one body for both databases. */
import { suite, type Test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { lockPublishers } from "../../runtime/store/registry-publishers.js";
import {
  busyExpansions,
  hugePublisher,
  largeAtOnce,
  largeInTurns,
  longVerdicts,
  manyPublishers,
} from "./data-expand-large.case.js";
import { crawl, type Engine, entry, failed, NOW, OTHER, property, SELLER } from "./data-fixture.js";

type Case = Test<{ data: RegistryData }>;

/** What selectors pick. */
function filters(test: Case): void {
  test("expansion: filters hold together, values are alternatives, each property comes once", async ({ data }) => {
    const properties = [
      property("b", { tags: ["sport"] }),
      property("a", { type: "ctv_app", tags: ["sport", "news"] }),
      property(null, { tags: ["sport"] }),
    ];
    await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER)] }));
    await data.applyCrawl(
      crawl("more.example", {
        properties: [property("x"), property("y")],
        agents: [entry(SELLER, { authorizationType: "property_ids", propertyIds: ["x"] })],
      }),
    );
    const expanded = async (...selectors: object[]): Promise<string[]> => {
      const request = { agent_url: SELLER, publisher_properties: selectors as never };
      return (await data.expand(request)).properties.map((one) => `${one.publisher_domain} ${one.property_id}`);
    };
    const domain = { publisher_domain: "News.Example" };
    assert.equal(await expanded(domain), ["news.example a", "news.example ", "news.example b"]);
    assert.equal(await expanded({ ...domain, tags: ["news", "none"] }), ["news.example a"]);
    assert.equal(await expanded({ ...domain, tags: ["sport"], property_types: ["website"] }), [
      "news.example ",
      "news.example b",
    ]);
    assert.equal(await expanded({ ...domain, property_ids: ["a", "b"], property_types: ["ctv_app"] }), [
      "news.example a",
    ]);
    assert.equal(await expanded({ ...domain, property_ids: [] }), await expanded(domain));
    assert.equal(await expanded({ ...domain, selection_type: "by_id", property_ids: [] }), []);
    assert.equal(await expanded({ ...domain, selection_type: "by_tag", property_tags: ["news"] }), ["news.example a"]);
    assert.equal(await expanded({ publisher_domains: ["more.example", "news.example"], tags: [] }), [
      "more.example x",
      ...(await expanded(domain)),
    ]);
    assert.equal(await expanded(domain, { ...domain, tags: ["sport"] }), await expanded(domain));
    assert.equal(await expanded({ publisher_domain: "no domain" }), []);
  });
}

/** Properties and agents that lack what names them. */
function nameless(test: Case): void {
  test("two properties without an id are two, and share the identifiers they have in common", async ({ data }) => {
    await data.applyCrawl(
      crawl("twins.example", {
        properties: [
          property(null, {
            name: "one",
            identifiers: [
              { type: "domain", value: "a.x" },
              { type: "domain", value: "a.x" },
            ],
          }),
          property(null, {
            name: "two",
            identifiers: [
              { type: "rss_url", value: "f" },
              { type: "domain", value: "a.x" },
            ],
          }),
        ],
        agents: [entry(SELLER)],
      }),
    );
    const twins = await data.expand({
      agent_url: SELLER,
      publisher_properties: [{ publisher_domain: "twins.example" }],
    });
    assert.equal(
      twins.identifiers.map(({ type, value, property_id }) => [type, value, property_id]),
      [
        ["domain", "a.x", ""],
        ["rss_url", "f", ""],
      ],
    );
    assert.equal([twins.property_count, twins.identifier_count], [2, 2]);
  });

  test("an agent whose URL is none sells nothing", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { properties: [property("a")], agents: [entry(SELLER)] }));
    const unknown = await data.expand({
      agent_url: "not a url",
      publisher_properties: [{ publisher_domain: "news.example" }],
    });
    assert.equal([unknown.agent_url, unknown.property_count, unknown.identifiers], ["not a url", 0, []]);
  });
}

/** What of a product an agent may sell. */
function products(test: Case): void {
  test("a product is validated selector by selector", async ({ data }) => {
    const properties = [property("main", { tags: ["sport"] }), property("app", { tags: ["sport"] })];
    const entries = [entry(SELLER, { authorizationType: "property_ids", propertyIds: ["main"] })];
    await data.applyCrawl(crawl("news.example", { properties, agents: entries }));
    await data.applyCrawl(crawl("bare.example", { agents: [entry(SELLER)] }));
    const domain = { publisher_domain: "news.example" };
    const result = await data.validateProduct({
      agent_url: SELLER,
      publisher_properties: [
        { ...domain, property_ids: ["main", "gone"] },
        { ...domain, tags: ["sport"] },
        { publisher_domain: "bare.example" },
        { publisher_domain: "unseen.example", property_ids: ["x"] },
      ],
    });
    assert.equal(
      result.selectors.map((one) => [
        one.selection_type,
        one.requested_count,
        one.authorized_count,
        one.unauthorized_items,
        one.source,
      ]),
      [
        ["by_id", 2, 1, ["gone"], "adagents_json"],
        ["by_tag", 2, 1, ["app"], "adagents_json"],
        ["all", 1, 1, [], "adagents_json"],
        ["by_id", 1, 0, ["x"], "none"],
      ],
    );
    assert.equal([result.authorized, result.coverage_percentage, result.total_requested], [false, 50, 6]);
    const fine = await data.validateProduct({
      agent_url: SELLER,
      publisher_properties: [{ ...domain, property_ids: ["main"] }],
    });
    assert.equal([fine.authorized, fine.coverage_percentage], [true, 100]);
    const none = await data.validateProduct({ agent_url: SELLER, publisher_properties: [] });
    assert.equal([none.authorized, none.coverage_percentage], [false, 0]);
  });
}

/** Names that look like something else. */
function texts(test: Case): void {
  test("whatever a property is called, an expansion says it as it is", async ({ data }) => {
    const names = [
      '"quoted"',
      "back\\slash",
      "line\nbreak\t",
      "\u0001\u001f\u007f",
      "\u{1F600} \u2028",
      "[],{}:",
      'cut"],[',
      'cut",',
      "null",
    ];
    const properties = names.map((name) => {
      const identifiers = [
        { type: name, value: name },
        { type: "domain", value: `${name}"` },
      ];
      return property(name, { name, tags: [name], identifiers });
    });
    await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER)] }));
    const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "news.example" }] };
    const expanded = await data.expand(request);
    assert.equal(
      expanded.properties
        .map((one) => [one.property_id, one.property_name, one.tags[0], one.identifiers[0]?.value])
        .sort(),
      names.map((name) => [name, name, name, name]).sort(),
    );
    assert.equal(
      expanded.identifiers.map(({ type, value }) => `${type} ${value}`).sort(),
      names.flatMap((name) => [`${name} ${name}`, `domain ${name}"`]).sort(),
    );
  });

  test("a text that looks like properties packed together is one text", async ({ data }) => {
    const name = "One\u001f[]\u001f[]\u001eadagents_json\u001f#evil\u001f=evil\u001fwebsite\u001fTwo";
    await data.applyCrawl(crawl("news.example", { properties: [property("main", { name })], agents: [entry(SELLER)] }));
    const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "news.example" }] };
    for (let asked = 0; asked < 3; asked++)
      assert.equal(
        (await data.expand(request)).properties.map((one) => [one.property_id, one.property_name]),
        [["main", name]],
      );
  });
}

/** What is kept between questions, and how one ends. */
function readers(test: Case, engine: Engine): void {
  test("an expansion follows what publishers say, however often it was asked before", async ({ data }) => {
    const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "news.example" }] };
    const sold = async (): Promise<string[]> =>
      (await data.expand(request)).properties.map(
        ({ property_id, property_name }) => `${property_id} ${property_name}`,
      );
    const say = (...properties: Parameters<typeof crawl>[1]["properties"] & object) =>
      data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER)] }));
    assert.equal(await sold(), []);
    await say(property("main", { name: "One" }));
    for (let asked = 0; asked < 4; asked++) assert.equal(await sold(), ["main One"]);
    await say(property("main", { name: "Two" }), property("next", { name: "Next" }));
    assert.equal(await sold(), ["next Next", "main Two"]);
    await data.applyCrawl(failed("news.example", "unreachable", 503));
    assert.equal(await sold(), ["next Next", "main Two"]);
    await data.applyCrawl(crawl("news.example", { properties: [property("main")], agents: [entry(OTHER)] }));
    assert.equal(await sold(), []);
    await say();
    assert.equal(await sold(), []);
    assert.equal(JSON.parse((await data.expandBytes(request)).toString()), await data.expand(request));
  });

  test("rows that come one by one: what a reader throws ends the question, and the next one is answered", async () => {
    const store = (await engine.open()).database;
    const domains = ["a.example", "b.example", "c.example"];
    await store.write((q) => lockPublishers(q, domains));
    const read = (take: (domain: string) => void) =>
      store.query((q) =>
        q.each<{ domain: string }>(
          `select domain from adbind_registry_publishers where ${q.dialect.among("domain", "text")} order by domain`,
          [q.dialect.list(domains)],
          ({ domain }) => take(domain),
        ),
      );
    const taken: string[] = [];
    const failing = read((domain) => {
      taken.push(domain);
      if (domain === "b.example") throw new Error("enough");
    });
    await failing.then(
      () => assert.unreachable("nothing was told"),
      (error: Error) => assert.is(error.message, "enough"),
    );
    assert.equal(taken, ["a.example", "b.example"]);
    const wrong = store.query((q) => q.each("select no_column from adbind_registry_publishers", [], () => {}));
    assert.is((await Promise.allSettled([wrong]))[0]!.status, "rejected");
    const all: string[] = [];
    await read((domain) => void all.push(domain));
    assert.equal(all, domains);
  });
}

export function dataExpandCase(engine: Engine): void {
  const test = suite<{ data: RegistryData }>(`expansion on ${engine.name}`);
  test.before.each(async (context) => {
    context.data = createRegistryData(await engine.open(), { now: () => NOW });
  });
  for (const some of [
    filters,
    nameless,
    busyExpansions,
    hugePublisher,
    longVerdicts,
    manyPublishers,
    largeInTurns,
    largeAtOnce,
    products,
    texts,
    readers,
  ])
    some(test, engine);
  test.after(() => engine.stop());
  test.run();
}
