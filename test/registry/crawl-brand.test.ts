/** Brand files in their five variants, over an HTTP interceptor. */
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { crawlBrand } from "../../runtime/registry/crawl/brand.js";
import { BRAND, interceptedFetch } from "./crawl-fixture.js";
import { serve } from "./crawl-nock.js";

test.before(() => nock.disableNetConnect());
test.after.each(() => nock.cleanAll());
test.after(() => {
  nock.enableNetConnect();
  nock.restore();
});

const crawl = (domain: string) => crawlBrand({ fetch: interceptedFetch }, domain);
const at = (domain: string, body: unknown) => serve(`https://${domain}${BRAND}`, { body });

const agents = [{ type: "sales", url: "https://agent.example/mcp", id: "sales_1", description: "Sells." }];
const portfolio = {
  house: {
    domain: "house.example",
    name: "The House",
    agents: [{ type: "brand", url: "https://house.example/a", id: "h" }],
  },
  brands: [
    {
      id: "one",
      names: [{ en: "One" }],
      url: "https://www.one.example/",
      properties: [{ type: "website", identifier: "one.example", relationship: "owned", primary: true }],
      agents,
    },
    {
      id: "two",
      names: [{ en_US: "Two" }],
      properties: [
        { type: "website", identifier: "two.example" },
        { type: "mobile_app", identifier: "com.two", store: "google", region: "DE", relationship: "ad_network" },
        { type: "website" },
        "nonsense",
      ],
    },
  ],
};

test("a brand's own document gives its name, agents and properties", async () => {
  at("one.example", { id: "one", names: [{ en: "One" }], properties: [{ type: "podcast", identifier: "p1" }], agents });
  const found = await crawl("one.example");
  assert.equal([found.outcome, found.name, found.agents], ["present", "One", agents]);
  assert.equal(found.properties, [{ type: "podcast", identifier: "p1", relationship: null }]);
});

test("a document with agents alone gives those that have a known type and a URL", async () => {
  at("agent.example", {
    version: "1",
    agents: [...agents, { type: "unheard", url: "https://x.example", id: "x" }, { type: "sales" }],
  });
  assert.equal((await crawl("agent.example")).agents, agents);
  at("older.example", { brand_agent: { url: "https://older.example/a", id: "b" } });
  assert.equal((await crawl("older.example")).agents, [{ url: "https://older.example/a", type: "brand", id: "b" }]);
});

test("a house's portfolio speaks for all its brands at home, and for one brand when that points to it", async () => {
  at("house.example", portfolio);
  const home = await crawl("house.example");
  assert.equal([home.name, home.properties.length, home.agents.length], ["The House", 3, 2]);
  at("one.example", { house: "house.example" });
  const one = await crawl("one.example");
  assert.equal([one.name, one.properties.map(({ identifier }) => identifier)], ["One", ["one.example"]]);
  assert.equal(
    one.agents.map(({ id }) => id),
    ["h", "sales_1"],
  );
  at("two.example", { house: "House.example." });
  const two = await crawl("two.example");
  assert.equal(
    [two.name, two.properties[1]],
    ["Two", { type: "mobile_app", identifier: "com.two", relationship: "ad_network" }],
  );
  // Calling a house one's own does not make its brands one's own.
  at("stranger.example", { house: "house.example" });
  const stranger = await crawl("stranger.example");
  assert.equal(
    [stranger.outcome, stranger.name, stranger.properties, stranger.agents, stranger.document],
    ["present", null, [], [], undefined],
    "nor the house's name one's own",
  );
});

test("another site's own brand file is that site's, a copy for the domain elsewhere is the domain's", async () => {
  const file = {
    id: "one",
    names: [{ en: "One" }, { de: "Eins" }],
    properties: [{ type: "website", identifier: "one.example" }],
  };
  at("one.example", file);
  at("thief.example", { authoritative_location: `https://one.example${BRAND}` });
  const thief = await crawl("thief.example");
  assert.equal([thief.outcome, thief.name, thief.properties, thief.agents], ["present", null, [], []]);
  at("two.example", { authoritative_location: "https://cdn.example/brands/two.json" });
  serve("https://cdn.example/brands/two.json", { body: file });
  const two = await crawl("two.example");
  assert.equal(
    [two.name, two.document!.url, two.document!.variant, two.document!.names],
    ["One", "https://cdn.example/brands/two.json", "brand_canonical", ["One", "Eins"]],
  );
});

test("pointers are followed three times, never in a circle, and over https", async () => {
  const pointer = (url: string) => ({ authoritative_location: url });
  at("a.example", pointer("https://b.example/1"));
  serve("https://b.example/1", { body: pointer("https://b.example/2") });
  serve("https://b.example/2", { body: pointer("https://b.example/3") });
  serve("https://b.example/3", { body: { id: "a", names: [{ en: "A" }] } });
  assert.is((await crawl("a.example")).name, "A");
  at("far.example", pointer("https://b.example/0"));
  serve("https://b.example/0", { body: pointer("https://b.example/1") });
  assert.is((await crawl("far.example")).outcome, "invalid");
  at("circle.example", pointer(`https://circle.example${BRAND}`));
  assert.is((await crawl("circle.example")).outcome, "invalid");
  at("plain.example", pointer("http://b.example/3"));
  assert.is((await crawl("plain.example")).outcome, "invalid");
  at("private.example", pointer("https://192.168.0.1/brand.json"));
  assert.is((await crawl("private.example")).outcome, "unreachable");
});

test("each answer of an origin has its outcome: absent, unreachable or invalid", async () => {
  const cases: [number | string, string][] = [
    [404, "absent"],
    [410, "absent"],
    [500, "unreachable"],
    [403, "unreachable"],
    ["<html>", "invalid"],
    ["[]", "invalid"],
    ["{}", "invalid"],
    ['{"house": "no domain"}', "invalid"],
    [`{"names": "${"x".repeat(256 * 1024)}"}`, "invalid"],
  ];
  for (const [index, [given, outcome]] of cases.entries()) {
    const domain = `o${index}.example`;
    serve(`https://${domain}${BRAND}`, typeof given === "number" ? { status: given } : { body: given });
    assert.is((await crawl(domain)).outcome, outcome, String(given).slice(0, 40));
  }
});

test.run();
