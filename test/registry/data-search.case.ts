/** Agent search on both databases: filters, ranking, and traversals while data changes, against a model. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { MOVE_RETENTION_MS, scoreOf } from "../../runtime/registry/profile.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { agent, crawl, type Engine, entry, NOW, property, SELLER } from "./data-fixture.js";
import {
  type Case,
  everything,
  inventory,
  names,
  pageOf,
  register,
  type Searched,
  urlOf,
} from "./data-search-fixture.js";
import { traversals } from "./data-search-traversals.js";
import { opener, type SearchKind } from "./search-parts.js";

/** Who comes, and in which order. */
function rankings(test: Case, { opened }: Searched): void {
  test("agents are ranked as the reference does: by properties and trusted match, with one point for filters", async ({
    data,
  }) => {
    const given = { a: [100, true], b: [10, true], c: [200, false], d: [30, false], e: [5, false] } as const;
    await register(
      data,
      Object.entries(given).map(([name, [, hasTmp]]) => agent(urlOf(name), { hasTmp })),
    );
    for (const [name, [count]] of Object.entries(given)) await data.applyCrawl(inventory(name, count));
    const plain = await everything(data, {}, 2);
    assert.equal(names(plain), ["c", "a", "d", "b", "e"]);
    assert.equal(
      plain.map(({ relevance_score }) => relevance_score.toFixed(5)),
      ["0.53033", "0.51151", "0.34340", "0.28979", "0.17918"],
    );
    const filtered = await everything(data, { channels: ["display"] }, 50);
    assert.equal(names(filtered), names(plain));
    assert.equal(
      filtered.map(({ relevance_score }) => relevance_score),
      plain.map(({ relevance_score }) => relevance_score + 1),
    );
  });

  test("only registered, public agents that a publisher authorizes are found", async ({ data }) => {
    await register(data, [
      agent(urlOf("public")),
      agent(urlOf("members"), { visibility: "members_only" }),
      agent(urlOf("private"), { visibility: "private" }),
      agent(urlOf("idle")),
      agent(urlOf("claims")),
    ]);
    for (const name of ["public", "members", "private", "stranger"]) await data.applyCrawl(inventory(name, 1));
    await data.putClaims(urlOf("claims"), [{ publisherDomain: "ppublic.example", authorizedFor: null }]);
    assert.equal(names(await everything(data, {}, 10)), ["public"]);
    const open = await opened.again({ searchDiscovered: true });
    assert.equal(names(await everything(open, {}, 10)), ["public", "stranger"]);
    await register(data, [agent(urlOf("members"))]);
    assert.equal(names(await everything(data, {}, 10)), ["members"]);
    assert.equal(names(await everything(open, {}, 10)), ["members", "private", "public", "stranger"]);
  });

  test("filters take fewest properties, trusted match and unknown values, and may leave no results", async ({
    data,
  }) => {
    await register(data, [agent(urlOf(1), { hasTmp: true }), agent(urlOf(2)), agent(urlOf(3))]);
    for (const name of [1, 2, 3]) await data.applyCrawl(inventory(name, name * 10));
    assert.equal(names(await everything(data, { min_properties: 20 }, 1)), ["3", "2"]);
    assert.equal(names(await everything(data, { has_tmp: true }, 1)), ["1"]);
    assert.equal(names(await everything(data, { has_tmp: false }, 9)), ["3", "2", "1"]);
    assert.equal(names(await everything(data, { tags: ["t2", "t1", "nothing"] }, 9)), ["2", "1"]);
    assert.equal(await pageOf(data, { tags: ["nothing"] }, 5), { results: [], cursor: null, has_more: false });
    assert.equal(names(await everything(data, { tags: ["t1"], has_tmp: true, min_properties: 11 }, 9)), []);
  });
}

/** What a profile says. */
function profiles(test: Case): void {
  test("a profile is made from what publishers say of the agent", async ({ data }) => {
    await register(data, [
      agent(urlOf("x"), { deliveryTypes: ["direct"], formatKinds: ["video", "image"], hasTmp: true }),
    ]);
    await data.applyCrawl(
      crawl("one.example", {
        properties: [
          property("site", { tags: ["sport"] }),
          property("tv", { type: "ctv_app", channels: ["ctv", "olv", "no-channel"] }),
          property("pod", { type: "podcast", tags: ["talk"] }),
        ],
        agents: [
          entry(urlOf("x"), {
            authorizationType: "property_ids",
            propertyIds: ["site", "tv"],
            countries: ["DE", "AT"],
          }),
        ],
        genres: ["483", "12"],
        genreTaxonomy: null,
      }),
    );
    await data.applyCrawl(
      crawl("two.example", {
        properties: [property("fm", { type: "radio" })],
        agents: [entry(urlOf("x"), { countries: ["FR"] })],
      }),
    );
    const [found] = await everything(data, { tags: ["sport"], markets: ["FR"] }, 10);
    assert.equal(found, {
      agent_url: urlOf("x"),
      channels: ["ctv", "display", "olv", "radio"],
      property_types: ["ctv_app", "radio", "website"],
      markets: ["AT", "DE", "FR"],
      categories: ["12", "483"],
      tags: ["sport"],
      delivery_types: ["direct"],
      format_kinds: ["image", "video"],
      property_count: 3,
      publisher_count: 2,
      has_tmp: true,
      category_taxonomy: "iab_content_3.0",
      relevance_score: 1 + scoreOf(3, true),
      matched_filters: ["markets", "tags"],
      updated_at: new Date(NOW).toISOString(),
    });
  });
}

/** Where a page goes on. */
function cursors(test: Case): void {
  test("cursors: one that is none, one of another registry, one too old", async ({ data, clock }) => {
    await register(data, [agent(urlOf(1)), agent(urlOf(2))]);
    for (const name of [1, 2]) await data.applyCrawl(inventory(name, 1));
    const { cursor } = await pageOf(data, {}, 1);
    const refused = async (text: string) => data.search({}, { limit: 1, cursor: text });
    const future = Buffer.from(JSON.stringify([999, 1, "https://x.example/"])).toString("base64url");
    for (const text of ["nonsense", "***", future, Buffer.from("[1,2]").toString("base64url")])
      assert.equal(await refused(text), { ok: false, reason: "cursor_invalid" });
    await data.applyCrawl(inventory(2, 5));
    assert.equal(names((await pageOf(data, {}, 1, cursor)).results), ["2"]);
    clock.at += MOVE_RETENTION_MS + 1;
    await data.applyCrawl(inventory(2, 6));
    assert.equal(await refused(cursor!), { ok: false, reason: "cursor_expired" });
  });
}

/** What several instances answer. */
function instances(test: Case, { opened }: Searched): void {
  test("two instances agree at once", async ({ data }) => {
    const other = await opened.again({ now: () => NOW });
    await register(data, [agent(urlOf(1)), agent(urlOf(2))]);
    assert.equal(await everything(other, {}, 9), []);
    await data.applyCrawl(inventory(1, 1));
    await other.applyCrawl(inventory(2, 2));
    const first = await pageOf(data, {}, 1);
    assert.equal(names(first.results), ["2"]);
    assert.equal(await everything(data, {}, 1), await everything(other, {}, 1));
    await data.applyCrawl(inventory(1, 9));
    assert.equal(
      names((await pageOf(other, {}, 1, first.cursor)).results),
      ["1"],
      "a page of the one is followed by the other",
    );
    assert.equal(names(await everything(other, {}, 1)), ["1", "2"]);
    assert.is(await data.revision(), await other.revision());
  });

  test("an agent in many crawls at once ends with all of them", async ({ data }) => {
    const other = await opened.again({ now: () => NOW });
    await register(data, [agent(SELLER)]);
    const crawls = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? data : other).applyCrawl(
        crawl(`p${at}.example`, { properties: [property("main")], agents: [entry(SELLER)] }),
      ),
    );
    await Promise.all(crawls);
    const [found] = await everything(data, {}, 9);
    assert.equal([found?.property_count, found?.publisher_count], [20, 20]);
  });
}

/** @param search who answers */
export function searchCase(engine: Engine, search: SearchKind = "memory"): void {
  const test = suite<{ data: RegistryData; clock: { at: number } }>(`registry search on ${engine.name}, by ${search}`);
  const opened = opener(engine, search);
  test.before.each(async (context) => {
    const clock = { at: NOW };
    context.clock = clock;
    context.data = await opened.open({ now: () => clock.at });
  });
  for (const some of [rankings, profiles, cursors, instances, traversals]) some(test, { engine, search, opened });
  test.after(() => opened.close().then(engine.stop));
  test.run();
}
