/** What a lookup of a large publisher reads: anybody may ask for a hundred of them at once, and for each in pages. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Coroutine } from "../../runtime/db/coroutine.js";
import type { Query, Value } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { lookupPublisher } from "../../runtime/registry/publisher.js";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { crawl, entry, NOW, property, SELLER } from "./data-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const COUNT = 20_000;
const LIMIT = 200;
const DOMAINS = ["large.example", "other.example"];

/** Statements about properties that some work makes, with their plans. */
function* plansOf(
  q: Query,
  explain: string,
  work: (q: Query) => Coroutine<unknown>,
): Coroutine<{ readonly text: string; readonly plan: string }[]> {
  const asked: [string, Value[]][] = [];
  const rows = (text: string, values: Value[] = []): Coroutine<unknown[]> => {
    if (text.includes("adbind_registry_properties")) asked.push([text, values]);
    return q.rows(text, values);
  };
  yield* work(
    new Proxy(q, {
      get: (target, name) => (name === "rows" ? rows : (Reflect.get(target, name, target) as unknown)),
    }),
  );
  const plans: { text: string; plan: string }[] = [];
  for (const [text, values] of asked)
    plans.push({ text, plan: JSON.stringify(yield* q.rows(`${explain} ${text}`, values)) });
  return plans;
}

const engines: Readonly<
  Record<
    string,
    {
      readonly explain: string;
      readonly costly: RegExp;
      readonly open: (folder: string) => Promise<SqliteStore | PostgresStore>;
    }
  >
> = {
  SQLite: {
    explain: "explain query plan",
    costly: /TEMP B-TREE|SCAN adbind/,
    open: async (folder) => openSqliteStore({ path: path.join(folder, "registry.db") }),
  },
  PostgreSQL: {
    explain: "explain",
    costly: /Sort|Seq Scan/,
    open: async () => openPostgresStore({ url: await postgres.database() }),
  },
};

for (const [name, { explain, costly, open }] of Object.entries(engines))
  test(`${name}: a page of a large publisher's properties is read without its other properties`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "adbind-plans-"));
    const store = await open(folder);
    try {
      const data = createRegistryData(store, { now: () => NOW });
      const properties = Array.from({ length: COUNT }, (_, at) => property(`p${(at * 7_919) % COUNT}`));
      for (const domain of DOMAINS) await data.applyCrawl(crawl(domain, { properties, agents: [entry(SELLER)] }));
      await store.database.execute("analyze", []);
      const first = await data.publisherPage(DOMAINS[0]!, { limit: LIMIT });
      assert.ok(first.ok);
      const cursor = first.value.properties_cursor!;
      for (const page of [{}, { cursor }]) {
        const options = { publicUrl: "http://localhost", now: NOW, limit: LIMIT, ...page };
        const plans = await store.database.read((q) =>
          plansOf(q, explain, (asked) => lookupPublisher(asked, DOMAINS[0]!, options)),
        );
        assert.ok(plans.length > 1);
        for (const { text, plan } of plans) {
          assert.not.match(text, "count(");
          assert.not.match(plan, costly);
        }
      }
      const second = await data.publisherPage(DOMAINS[0]!, { limit: LIMIT, cursor });
      assert.ok(second.ok);
      const told = [first, second].flatMap(({ value }) => value.properties.map(({ id }) => id));
      assert.equal(
        told,
        properties.slice(0, 2 * LIMIT).map(({ id }) => id),
      );
      assert.is(first.value.properties_total, COUNT);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

test.run();
