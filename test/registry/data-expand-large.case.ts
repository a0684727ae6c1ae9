/** Requests and publishers that are large; one body for both databases. */
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { cellsOf } from "../support/cells.js";
import { crawl, type Engine, entry, NOW, property, SELLER } from "./data-fixture.js";

type Case = Test<{ data: RegistryData }>;

/** Requests that ask for much. */
export function busyExpansions(test: Case): void {
  test("what would keep the registry busy is refused, or covers nothing", async ({ data }) => {
    const many = Array.from({ length: 2_500 }, (_, at) => property(`p${at}`, { tags: ["all"] }));
    const tagged = (at: number) =>
      entry(`https://agent-${at}.example/`, { authorizationType: "property_tags", propertyTags: ["all"] });
    await data.applyCrawl(crawl("large.example", { properties: many, agents: [tagged(1), tagged(2)] }));
    assert.is((await data.lookupAuthorization("large.example", "https://agent-2.example/"))?.authorized, 2_500);
    // Each entry looks at 2,500 properties and their tags: after 800 of them nothing is left to spend.
    const busy = Array.from({ length: 1_000 }, (_, at) => tagged(at));
    await data.applyCrawl(crawl("large.example", { properties: many, agents: busy }));
    assert.is((await data.lookupAuthorization("large.example", "https://agent-0.example/"))?.authorized, 2_500);
    assert.is((await data.lookupAuthorization("large.example", "https://agent-999.example/"))?.authorized, 0);
    const selector = { publisher_domain: "large.example", tags: ["all"] };
    const request = { agent_url: "https://agent-0.example/", publisher_properties: Array(1_600).fill(selector) };
    assert.is((await data.expand(request)).property_count, 2_500);
    const more = { ...request, publisher_properties: [...request.publisher_properties, selector] };
    for (const refused of await Promise.allSettled([data.expand(more), data.validateProduct(more)])) {
      assert.is(refused.status, "rejected");
      assert.match(String((refused as PromiseRejectedResult).reason), "too much at once");
    }
  });
}

/** A short question that would have a long answer. */
export function longVerdicts(test: Case): void {
  test("identifiers that are asked of many publishers at once are refused before they are gone through", async ({
    data,
  }) => {
    const many = (letter: string, count: number) => Array.from({ length: count }, (_, at) => `${letter}${at}.example`);
    const asked = (domains: number, ids: number) => ({
      agent_url: SELLER,
      publisher_properties: [{ publisher_domains: many("d", domains), property_ids: many("p", ids) }],
    });
    const fine = await data.validateProduct(asked(100, 1_000));
    assert.equal([fine.total_requested, fine.selectors[99]!.unauthorized_items.length], [100_000, 1_000]);
    const refused = await data.validateProduct(asked(2_000, 2_000)).catch(String);
    assert.match(String(refused), "too much at once");
    assert.is((await data.expand(asked(2_000, 2_000))).property_count, 0, "an expansion names nothing of them");
    // One identifier may be as long as the request.
    const publisher_properties = [{ publisher_domains: many("d", 2_000), property_ids: ["x".repeat(1_000_000)] }];
    const long = { agent_url: SELLER, publisher_properties };
    assert.match(String(await data.validateProduct(long).catch(String)), "too much at once");
  });
}

/** A publisher that is read in several pages. */
export function largeInTurns(test: Case): void {
  const count = 12_000;
  const news = (version: string) =>
    crawl("news.example", {
      agents: [entry(SELLER)],
      properties: Array.from({ length: count }, (_, at) =>
        property(`p${(at * 7_919) % count}`, { name: `${version} ${(at * 31) % count}`, tags: [version] }),
      ),
    });
  const request = { agent_url: SELLER, publisher_properties: [{ publisher_domain: "news.example" }] };

  test("an expansion of a large publisher leaves turns to others, and is in order", async ({ data }) => {
    await data.applyCrawl(news("one"));
    for (const ask of [data.expand, data.validateProduct]) {
      let [turns, over] = [0, false];
      const count = (): void => {
        turns += 1;
        if (!over) setImmediate(count);
      };
      setImmediate(count);
      await ask(request);
      over = true;
      assert.ok(turns > 6, `${turns} turns`);
    }
    const names = (await data.expand(request)).properties.map((one) => one.property_name);
    assert.is(names.length, count);
    assert.equal(names, [...names].sort());
  });

  test("of a large publisher that changes while it is read one state is told", async ({ data }) => {
    await data.applyCrawl(news("one"));
    const asked = data.expand(request);
    await data.applyCrawl(news("two"));
    const found = await Promise.all([asked, data.expand(request)]);
    for (const { properties } of found) {
      assert.is(properties.length, count);
      assert.is(new Set(properties.map(({ tags }) => String(tags))).size, 1);
    }
    assert.equal(found[1]!.properties[0]!.tags, ["two"]);
  });
}

/** Many requests of which each is large. */
export function largeAtOnce(test: Case, engine: Engine): void {
  test("of many expansions of a large publisher few are under way at once, and a small one waits for none", async () => {
    const store = await engine.open();
    let asked = 0;
    const database = new Proxy(store.database, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...given: readonly unknown[]) => {
          if (name === "query") asked += 1;
          return Reflect.apply(member, target, given);
        };
      },
    });
    const data = createRegistryData({ ...store, database } as AnyStore, { now: () => NOW });
    const properties = Array.from({ length: 8_001 }, (_, at) => property(`p${at}`));
    await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER)] }));
    await data.applyCrawl(crawl("small.example", { properties: [property("site")], agents: [entry(SELLER)] }));
    const of = (publisher_domain: string) => ({ agent_url: SELLER, publisher_properties: [{ publisher_domain }] });
    // The last page is short; then comes a look whether all of it was one state.
    const [each, many] = [Math.ceil(properties.length / 2_000) + 1, 8];
    asked = 0;
    const all = Array.from({ length: many }, () => data.expand(of("news.example")));
    const small = data.expand(of("small.example")).then(({ property_count }) => [property_count, asked] as const);
    await Promise.race(all);
    assert.ok(asked < many + 1 + (many * each) / 2, `${asked} statements before the first was answered`);
    assert.equal(new Set((await Promise.all(all)).map((one) => one.property_count)), new Set([properties.length]));
    const [count, before] = await small;
    assert.is(count, 1);
    assert.ok(before < many + 1 + (many * each) / 2, `${before} statements before the small one was answered`);
    // What fails leaves its turn to others.
    for (let again = 0; again < 3; again++) {
      const refused = data.expand({
        ...of("news.example"),
        publisher_properties: Array(501).fill(of("news.example").publisher_properties[0]),
      });
      assert.match(String(await refused.catch(String)), "too much at once");
    }
    assert.is((await data.expand(of("news.example"))).property_count, properties.length);
  });
}

/** As many publishers as a request has room for. */
export function manyPublishers(test: Case): void {
  test("ten thousand publishers are looked for at once, and no more", async ({ data }) => {
    await data.applyCrawl(crawl("d9999.example", { properties: [property("site")], agents: [entry(SELLER)] }));
    const asked = (count: number) => {
      const publisher_domains = Array.from({ length: count }, (_, at) => `d${at}.example`);
      return { agent_url: SELLER, publisher_properties: [{ publisher_domains }] };
    };
    assert.is((await data.expand(asked(10_000))).property_count, 1);
    for (const refused of await Promise.allSettled([data.expand(asked(10_001)), data.validateProduct(asked(10_001))]))
      assert.match(String((refused as PromiseRejectedResult).reason), "too much at once");
  });
}

/** A publisher that is large: on one of the databases in a commit's run, since two hundred thousand rows take most of the time. */
export function hugePublisher(test: Case, { name }: Engine): void {
  const engines: readonly Engine["name"][] = ["sqlite", "postgres"];
  if (!cellsOf("ADBIND_CELLS=all ./run test test/registry/data-expand", engines, 1).includes(name)) return;

  test("a publisher may have more properties than a function takes arguments", async ({ data }) => {
    const count = 130_000;
    const properties = Array.from({ length: count }, (_, at) =>
      property(null, { name: `p${at}`, identifiers: [{ type: "domain", value: `${at}.x` }], tags: [`tag${at % 2}`] }),
    );
    await data.applyCrawl(crawl("huge.example", { properties, agents: [entry(SELLER)] }));
    const publisher_properties = [{ publisher_domain: "huge.example" }];
    const all = await data.expand({ agent_url: SELLER, publisher_properties });
    assert.equal([all.property_count, all.identifier_count], [count, count]);
    // Both together are more than a request may have read.
    await data.applyCrawl(crawl("other.example", { properties: properties.slice(0, 70_001), agents: [entry(SELLER)] }));
    const both = {
      agent_url: SELLER,
      publisher_properties: [...publisher_properties, { publisher_domain: "other.example" }],
    };
    for (const refused of await Promise.allSettled([data.expand(both), data.validateProduct(both)]))
      assert.match(String((refused as PromiseRejectedResult).reason), "too much at once");
    assert.is((await data.expand({ agent_url: SELLER, publisher_properties })).property_count, count);
  });
}
