/** Many documents of one call: in few statements, all of them or none. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type PostgresDatabase, runAsync } from "../../runtime/db/index.js";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { PostgresQuery } from "../../runtime/db/postgres/query.js";
import type { Database } from "../../runtime/db/types.js";
import { type DocumentChange, documentStore, StaleDocument, writeDocuments } from "../../runtime/store/documents.js";
import { bothEngines } from "../behaviours/engines.js";
import { until } from "../support/until.js";

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

for (const [engine, made] of Object.entries(databases))
  test(`${engine}: many documents are changed, removed, put and left as they are by one write, or all are as they were`, async () => {
    await on(await made(), async (database) => {
      const store = documentStore(database as Database);
      const shown = async () => (await store.list("things", "o")).map(({ id, body }) => [id, body]);
      await store.commit(fresh(700));
      const listed = await store.list("things", "o");
      const at = (n: number): DocumentChange => ({ ...fresh(1, n)[0]!, version: listed[n]!.version });
      const changes: DocumentChange[] = [
        ...Array.from({ length: 300 }, (_, n) => ({ ...at(n), body: `"changed ${n}"` })),
        ...Array.from({ length: 300 }, (_, n) => ({ ...at(300 + n), body: undefined })),
        { ...at(600), unchanged: true },
        // Whatever is there, or is not.
        ...[601, 800, 802].map((n) => ({ ...fresh(1, n)[0]!, version: undefined, body: `"put ${n}"` })),
        ...[602, 803].map((n) => ({ ...fresh(1, n)[0]!, version: undefined, body: undefined })),
        { ...fresh(1, 804)[0]!, body: undefined },
        ...fresh(1, 801),
        { ...fresh(1)[0]!, owner: "another" },
      ];
      const before = await shown();
      for (const [was, stale] of [at(699), at(300)].entries()) {
        const late = {
          ...stale,
          version: stale.version! + 1,
          ...(was === 0 ? { unchanged: true as const } : { body: undefined }),
        };
        const others = changes.filter(({ id, owner }) => id !== stale.id || owner !== "o");
        const refused: unknown = await store.commit([...others, late]).catch((error: unknown) => error);
        assert.instance(refused, StaleDocument);
        assert.is((refused as StaleDocument).place.id, stale.id);
        assert.equal(await shown(), before);
      }
      await store.commit(changes.toReversed());
      assert.equal(await shown(), [
        ...before.slice(0, 300).map(([id], n) => [id, `"changed ${n}"`]),
        before[600],
        ["t0601", '"put 601"'],
        ...before.slice(603),
        ["t0800", '"put 800"'],
        ...fresh(1, 801).map(({ id, body }) => [id, body]),
        ["t0802", '"put 802"'],
      ]);
      assert.is((await store.list("things", "another")).length, 1);
      const versions = new Map((await store.list("things", "o")).map(({ id, version }) => [id, version]));
      assert.is.not(versions.get("t0000"), listed[0]!.version);
      assert.is(versions.get("t0600"), listed[600]!.version);
      const found = await store.find("things", "o", ["t0801", "t0300", "t0000"]);
      assert.equal(found.map(({ id }) => id).sort(), ["t0000", "t0801"]);
    });
  });

for (const [engine, made] of Object.entries(databases))
  test(`${engine}: writers of the same documents in other orders get through, and none waits for the other`, async () => {
    await on(await made(), async (database) => {
      const store = documentStore(database as Database);
      const both = fresh(40).flatMap((one) => [one, { ...one, collection: "Others" }]);
      await store.commit(both);
      const put = both.map((one) => ({ ...one, version: undefined, body: '"put"' }));
      const inserting = (n: number) => fresh(20, 100 + 20 * n);
      const writes = Array.from({ length: 12 }, (_, n) =>
        store.commit([...(n % 2 === 0 ? put : put.toReversed()), ...inserting(n)]),
      );
      await Promise.all(writes);
      assert.is((await store.list("things", "o")).length, 40 + 12 * 20);
    });
  });

const statements = async (database: AnyDatabase, changes: readonly DocumentChange[]): Promise<number> => {
  let asked = 0;
  await (database as PostgresDatabase).transaction((tx) => {
    const counting = new PostgresQuery((text, values) => {
      asked += 1;
      return tx.query(text, values as unknown[]);
    });
    return runAsync(writeDocuments(counting, changes));
  });
  return asked;
};

test("a hundred documents are one journey to a server where they are new, and two where they are changed or removed", async () => {
  await on(await databases.PostgreSQL(), async (database) => {
    const known = async () =>
      (await documentStore(database as Database).list("things", "o")).map(({ id, version }, n) => ({
        ...fresh(1, n)[0]!,
        id,
        version,
      }));
    assert.is(await statements(database, fresh(100)), 1);
    assert.is(await statements(database, await known()), 2);
    assert.is(await statements(database, (await known()).slice(0, 1)), 1);
    const removed = (await known()).map((one) => ({ ...one, body: undefined }));
    assert.is(await statements(database, removed), 2);
  });
});

test("who removes one document and makes another waits crosswise for nobody who makes both", async () => {
  await on(await databases.PostgreSQL(), async (database) => {
    const store = documentStore(database as Database);
    const [first, last] = fresh(2);
    await store.commit([last!]);
    const { version } = (await store.get(last!))!;
    const [begun, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    const removing = (database as PostgresDatabase).transaction((tx) => {
      const pausing = new PostgresQuery(async (text, values) => {
        asked += 1;
        if (asked === 2) {
          begun.resolve();
          await other.promise;
        }
        return tx.query(text, values as unknown[]);
      });
      return runAsync(writeDocuments(pausing, [first!, { ...last!, version, body: undefined }]));
    });
    await begun.promise;
    // It had looked before there was one.
    const making = store.commit([first!, last!]).catch((error: unknown) => error);
    const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const settled = making.then(() => true);
    await until(async () => {
      const rows = await database.query((q) => q.rows(waits));
      return rows.length > 0 || (await Promise.race([settled, false]));
    });
    other.resolve();
    await removing;
    assert.instance(await making, StaleDocument);
    assert.equal(
      (await store.list("things", "o")).map(({ id }) => id),
      [first!.id],
    );
  });
});

for (const [engine, made] of Object.entries(databases))
  test(`${engine}: of two changes of one document in a write the later one stands`, async () => {
    await on(await made(), async (database) => {
      const store = documentStore(database as Database);
      const [place] = fresh(1);
      const put = (body: string): DocumentChange => ({ ...place!, version: undefined, body });
      for (const round of ["first", "again"]) {
        await store.commit([
          put('"one"'),
          ...fresh(3, 10).map((one) => ({ ...one, version: undefined })),
          put(`"${round}"`),
        ]);
        assert.is((await store.get(place!))?.body, `"${round}"`);
      }
    });
  });

test.run();
