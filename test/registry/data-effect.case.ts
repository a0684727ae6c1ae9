/** Authorizations that begin and end while nobody crawls; one body for both databases. */
import { suite, type Test } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";

import { crawl, type Engine, entry, NOW, OTHER, property, SELLER } from "./data-fixture.js";

const DAY_MS = 86_400_000;

interface World {
  store: SqliteStore | PostgresStore;
  data: RegistryData;
  clock: { at: number };
}

/** What a search says of each agent. */
const shown = async (data: RegistryData): Promise<unknown[]> => {
  const page = await data.search({}, { limit: 10 });
  assert.ok(page.ok);
  return page.value.results
    .map((one) => [one.agent_url, one.property_count, one.publisher_count, one.markets, one.property_types])
    .sort();
};

const properties = [property("main", { tags: ["sport"] }), property("app", { type: "mobile_app" })];

const agents = [
  entry(SELLER, { authorizationType: "property_ids", propertyIds: ["main"], countries: ["DE"] }),
  entry(SELLER, {
    authorizationType: "property_ids",
    propertyIds: ["app"],
    countries: ["AT"],
    effectiveFrom: NOW + DAY_MS,
    effectiveUntil: NOW + 2 * DAY_MS,
  }),
  entry(OTHER, { effectiveUntil: NOW + DAY_MS }),
];

const seller = (count: number, markets: string[], types: string[]) => [SELLER, count, 1, markets, types];

const other = [OTHER, 2, 1, [], ["mobile_app", "website"]];

type Case = Test<World>;

/** What a profile says at each time. */
function profiles(test: Case): void {
  test("a profile follows the dates of entries, each at its time", async ({ data, clock }) => {
    await data.applyCrawl(crawl("news.example", { properties, agents }));
    assert.equal(await shown(data), [other, seller(1, ["DE"], ["website"])]);
    assert.is(await data.recomputeEffect(), 0);
    const before = await data.revision();

    clock.at = NOW + DAY_MS;
    assert.is(await data.recomputeEffect(), 1);
    assert.equal(await shown(data), [other, seller(2, ["AT", "DE"], ["mobile_app", "website"])]);
    assert.is.not(await data.revision(), before, "what was made from the data is made anew");

    clock.at += 1;
    assert.is(await data.recomputeEffect(), 1);
    assert.equal(await shown(data), [seller(2, ["AT", "DE"], ["mobile_app", "website"])], "the other's has ended");
    assert.is(await data.recomputeEffect(), 0);

    clock.at = NOW + 2 * DAY_MS;
    assert.is(await data.recomputeEffect(), 0, "an entry is in effect at its last instant");
    clock.at += 1;
    assert.is(await data.recomputeEffect(), 1);
    assert.equal(await shown(data), [seller(1, ["DE"], ["website"])]);
    clock.at += 1_000 * DAY_MS;
    assert.is(await data.recomputeEffect(), 0, "nothing is left to change");
  });

  test("it comes to what a crawl at that time comes to", async ({ data, clock }) => {
    await data.applyCrawl(crawl("news.example", { properties, agents }));
    clock.at = NOW + DAY_MS + 1;
    await data.recomputeEffect();
    const [profile, found] = [await shown(data), await data.lookupPublisher("news.example")];
    await data.applyCrawl(crawl("news.example", { properties, agents }));
    assert.equal([await shown(data), await data.lookupPublisher("news.example")], [profile, found]);
  });
}

/** How what is due is done. */
function parts(test: Case, engine: Engine): void {
  test("many publishers are done in parts, and instances that come at once do it once", async ({ data, clock }) => {
    const count = 230;
    for (let index = 0; index < count; index += 1)
      await data.applyCrawl(crawl(`p${index}.example`, { properties, agents: agents.slice(2) }));
    const more = createRegistryData(await engine.again(), { now: () => clock.at, searchDiscovered: true });
    clock.at = NOW + DAY_MS + 1;
    const settled = await Promise.all([data, more].map((one) => one.recomputeEffect()));
    assert.ok(settled[0]! + settled[1]! >= count);
    assert.equal([await shown(data), await shown(more)], [[], []]);
    assert.is((await data.stats()).authorizations, count, "that they have ended does not remove them");
  });

  test("edges from before the dates were kept are looked at once", async ({ data, store, clock }) => {
    await data.applyCrawl(crawl("news.example", { properties, agents }));
    clock.at = NOW + DAY_MS;
    // As the migration leaves them.
    const text = `update adbind_registry_authorizations set changes_at = 0 where entries like '%"effective%'`;
    await store.database.write((q) => q.rows(text));
    await data.warm();
    assert.equal(await shown(data), [other, seller(2, ["AT", "DE"], ["mobile_app", "website"])]);
    clock.at += 1;
    assert.is(await data.recomputeEffect(), 1);
  });
}

export function dataEffectCase(engine: Engine): void {
  const test = suite<World>(`authorizations with dates on ${engine.name}`);
  test.before.each(async (context) => {
    const clock = { at: NOW };
    context.clock = clock;
    context.store = await engine.open();
    context.data = createRegistryData(context.store, { now: () => clock.at, searchDiscovered: true });
  });
  for (const some of [profiles, parts]) some(test, engine);
  test.after(() => engine.stop());
  test.run();
}
