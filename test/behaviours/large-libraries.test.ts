/** What one call does with many creatives is few statements, however many they are: its caller waits, and others for its locks. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue } from "../../runtime/behaviours/index.js";
import { PostgresQuery } from "../../runtime/db/postgres/query.js";
import { SqliteQuery } from "../../runtime/db/sqlite/query.js";
import { openStore } from "../../runtime/store/stores.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";
import { catalogue, short, tile } from "./shown-creatives.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const MANY = 60;
const queries = { SQLite: SqliteQuery.prototype, PostgreSQL: PostgresQuery.prototype } as const;
const kinds = ["rows", "run", "insert", "remove"] as const;

/** Counts statements while something runs. */
async function statements(engine: keyof typeof queries, run: () => Promise<unknown>): Promise<number> {
  const query = queries[engine] as unknown as Record<string, (...given: unknown[]) => unknown>;
  const own = kinds.map((kind) => [kind, query[kind]!] as const);
  let count = 0;
  for (const [kind, method] of own)
    query[kind] = function counted(...given) {
      count += 1;
      return method.apply(this, given);
    };
  try {
    await run();
  } finally {
    for (const [kind, method] of own) query[kind] = method;
  }
  return count;
}

const creatives = (file: string) =>
  Array.from({ length: MANY }, (_, at) => ({
    ...{ creative_id: `c${at}`, name: `Creative ${at}` },
    format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
    assets: { image: { asset_type: "image", url: `https://x.example/${file}.png`, width: 300, height: 250 } },
  }));

for (const version of versions)
  for (const engine of ["SQLite", "PostgreSQL"] as const)
    test(`${version}, ${engine}: creatives that are sent, sent again, changed and taken away take few statements`, async () => {
      const store = await openStore(await databases[engine]());
      const more = { ports: { catalogue: listedCatalogue([]) }, database: store };
      const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], more);
      const sync = async (file: string, sent = creatives(file), rest: object = {}) => {
        const actions: string[] = [];
        const count = await statements(engine, async () => {
          const { creatives: lines } = await ask("sync_creatives", { ...key(), account, creatives: sent, ...rest });
          actions.push(...lines.map(({ action }: { action: string }) => action));
        });
        assert.ok(count < 25, `${count} statements`);
        return actions;
      };
      assert.equal(await sync("a"), Array(MANY).fill("created"));
      assert.equal(await sync("a"), Array(MANY).fill("unchanged"));
      assert.equal(await sync("b"), Array(MANY).fill("updated"));
      const gone = await sync("b", creatives("b").slice(0, 1), { delete_missing: true });
      assert.equal(gone, ["unchanged", ...Array(MANY - 1).fill("deleted")]);
      await close();
      await store.close();
    });

test("a new creative parses the media buys that name it, and no others of its caller's", async () => {
  const seller = await behavingSeller(versions[0]!, ["sales_non_guaranteed"], { ports: { catalogue } });
  const order = (creative_id: string) => ({
    ...{ ...key(), account, brand, start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
    packages: [
      {
        ...{ product_id: "tiles", pricing_option_id: "cpm", budget: 1_000, bid_price: 3 },
        creative_assignments: [{ creative_id }],
      },
    ],
  });
  const id = 'a "quoted\\ one';
  for (let at = 0; at < 20; at++) await seller.ask("create_media_buy", order(`other${at}`));
  for (let at = 0; at < 2; at++) await seller.ask("create_media_buy", order(id));
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (text, reviver) => {
    if (String(text).startsWith('{"media_buy_id"')) parsed += 1;
    return parse(text, reviver);
  };
  try {
    const sync = async (creative: object) =>
      (await seller.ask("sync_creatives", { ...key(), account, creatives: [{ ...creative, creative_id: id }] }))
        .creatives;
    const [{ action, errors }] = await sync(short);
    assert.equal([action, parsed], ["failed", 2], JSON.stringify(errors));
    assert.is((await sync(tile))[0].action, "created");
  } finally {
    JSON.parse = parse;
    await seller.close();
  }
});

test.run();
