/** Many documents of one call: in few statements, all of them or none. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type PostgresDatabase, runAsync } from "../../runtime/db/index.js";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { PostgresQuery } from "../../runtime/db/postgres/query.js";
import type { Database } from "../../runtime/db/types.js";
import { type DocumentChange, documentStore, StaleDocument, writeDocuments } from "../../runtime/store/documents.js";
import { bothEngines } from "../behaviours/engines.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const fresh = (count: number, from = 0): DocumentChange[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ collection: "things", owner: "o", id: `t${String(from + at).padStart(4, "0")}` },
    ...{ version: 0, body: JSON.stringify({ at: from + at, text: "é\u0001" }) },
  }));

async function on(url: string, work: (database: AnyDatabase) => Promise<void>): Promise<void> {
  const database = await openDatabase(url);
  await work(database);
  await database.close();
}

for (const [engine, made] of Object.entries(databases))
  test(`${engine}: many new documents are all written, or none where one of them is there by now`, async () => {
    await on(await made(), async (database) => {
      const store = documentStore(database as Database);
      await store.commit(fresh(1, 450));
      const stale: unknown = await store.commit(fresh(600)).catch((error: unknown) => error);
      assert.instance(stale, StaleDocument);
      assert.is((await store.list("things", "o")).length, 1);
      const [known] = await store.list("things", "o");
      const changed = { ...fresh(1, 450)[0]!, version: known!.version, body: '"changed"' };
      await store.commit([...fresh(450), changed, ...fresh(149, 451)].toReversed());
      const listed = await store.list("things", "o");
      assert.is(listed.length, 600);
      assert.is(listed[0]!.body, '"changed"');
      assert.equal(
        listed.slice(1).map(({ id, body }) => [id, body]),
        [...fresh(450), ...fresh(149, 451)].map(({ id, body }) => [id, body]),
      );
      assert.is(new Set(listed.map(({ version }) => version)).size, 600);
    });
  });

test("a hundred new documents are one journey to a server", async () => {
  await on(await databases.PostgreSQL(), async (database) => {
    let asked = 0;
    await (database as PostgresDatabase).transaction((tx) => {
      const counting = new PostgresQuery((text, values) => {
        asked += 1;
        return tx.query(text, values as unknown[]);
      });
      return runAsync(writeDocuments(counting, fresh(100)));
    });
    assert.is(asked, 1);
  });
});

test.run();
