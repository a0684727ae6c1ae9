/** A publisher with many properties: a lookup reads those that it tells, for everybody else waits meanwhile. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Query } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { crawl, entry, OTHER, property, SELLER, sqliteEngine } from "./data-fixture.js";

const engine = sqliteEngine();
test.after(() => engine.stop());

const COUNT = 5_000;
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `p${from + at}`);

/** A store that notes the columns of properties it has read in reads. */
function counting(store: AnyStore): { store: AnyStore; read: () => number } {
  let cells = 0;
  const noted = (q: Query): Query =>
    Object.assign(Object.create(q) as Query, {
      *rows(...given: Parameters<Query["rows"]>) {
        const rows = yield* q.rows<object>(...given);
        if (given[0].includes("adbind_registry_properties")) for (const row of rows) cells += Object.keys(row).length;
        return rows;
      },
    });
  const database = Object.assign(Object.create(store.database) as AnyStore["database"], {
    read: (flow: Parameters<AnyStore["database"]["read"]>[0]) => store.database.read((q) => flow(noted(q))),
  });
  const read = () => {
    const before = cells;
    cells = 0;
    return before;
  };
  return { store: Object.assign(Object.create(store) as AnyStore, { database }), read };
}

test("a page of a publisher's properties, and what an agent may sell of them, is read and not the whole file", async () => {
  const { store, read } = counting(await engine.open());
  const data = createRegistryData(store);
  const properties = names(0, COUNT).map((id) => property(id));
  const some = entry(OTHER, { authorizationType: "property_ids", propertyIds: names(0, COUNT - 3) });
  await data.applyCrawl(crawl("news.example", { properties, agents: [entry(SELLER), some] }));
  read();

  const first = await data.publisherPage("news.example", { limit: 10 });
  assert.ok(first.ok);
  assert.ok(read() < 200, "ten rows");
  const { properties: shown, properties_total: total, properties_cursor: cursor } = first.value;
  assert.equal([shown.map(({ id }) => id), total], [names(0, 10), COUNT]);
  const next = await data.publisherPage("news.example", { limit: 10, cursor: cursor! });
  assert.ok(next.ok);
  assert.equal(
    next.value.properties.map(({ id }) => id),
    names(10, 20),
  );
  read();

  const all = (await data.lookupAuthorization("news.example", SELLER))!;
  assert.equal([all.authorized, all.total, all.unauthorized_properties], [COUNT, COUNT, []]);
  assert.ok(read() < 10, "no property");
  const part = (await data.lookupAuthorization("news.example", OTHER))!;
  assert.equal([part.authorized, part.total], [COUNT - 3, COUNT]);
  assert.equal(
    part.unauthorized_properties.map(({ id }) => id),
    names(COUNT - 3, COUNT),
  );
  assert.ok(read() < COUNT + 100, "a key of each");
});

test.run();
