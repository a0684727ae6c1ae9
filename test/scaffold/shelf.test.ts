/** Documents of the reference seller: one behaviour on either store, and on PostgreSQL one for every process. */
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { type Documents, openDocuments } from "../../templates/seller/documents.js";
import { openShelf, type Shelf, type Tx } from "../../templates/seller/shelf.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { account, key, templateSeller } from "./template-seller.js";

interface Opened {
  readonly shelf: Shelf;
  transact(work: (tx: Tx) => void | Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const fixtures = ["second", "first"].map((id) => ({ kind: "tent", owner: "", id, body: { id } }));
const postgres = await sharedPostgres();

async function onSqlite(file: string): Promise<Opened> {
  const store = openSqliteStore({ path: file });
  return {
    shelf: await openShelf(store, fixtures),
    transact: async (work) => store.db.transaction(() => void work(store.db))(),
    close: () => store.close(),
  };
}

async function onPostgres(url: string): Promise<Opened> {
  const store = await openPostgresStore({ url, connections: 4 });
  return {
    shelf: await openShelf(store, fixtures),
    transact: (work) => store.database.transaction(async (tx) => work(tx)),
    close: () => store.close(),
  };
}

const stores = {
  sqlite: { open: onSqlite, place: async () => path.join(tempFolder(), "documents.db") },
  postgres: { open: onPostgres, place: () => postgres.database() },
};

async function look({ shelf }: Opened): Promise<Documents> {
  await shelf.catchUp();
  return openDocuments(shelf);
}

const ids = (documents: Documents): string[] => documents.list<{ id: string }>("tent", "").map(({ id }) => id);

async function conflictOf(work: Promise<void>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as { fault: { code: string } }).fault.code;
  }
  return "";
}

for (const [name, { open, place }] of Object.entries(stores)) {
  const test = suite<{ one: Opened; other: Opened }>(`documents on ${name}`);
  test.before.each(async (context) => {
    const where = await place();
    // As processes of one seller that start together.
    [context.one, context.other] = (await Promise.all([open(where), open(where)])) as [Opened, Opened];
  });
  test.after.each(async ({ one, other }) => {
    await one.close();
    await other.close();
  });

  test("fixtures are there once, in their order", async ({ one, other }) => {
    assert.equal(ids(await look(one)), ["second", "first"]);
    assert.equal(ids(await look(other)), ["second", "first"]);
  });

  test("what one writes, changes and removes, the other reads; what comes back is the youngest", async ({
    one,
    other,
  }) => {
    const writes = await look(one);
    writes.put("tent", "", "third", { id: "third", sleeps: 2 });
    writes.remove("tent", "", "second");
    assert.equal(ids(writes), ["first", "third"]);
    assert.equal(ids(await look(other)), ["second", "first"]);
    await one.transact((tx) => writes.commit(tx));
    assert.equal(ids(await look(other)), ["first", "third"]);
    const back = await look(other);
    back.put("tent", "", "second", { id: "second" });
    back.put("tent", "", "third", { id: "third", sleeps: 4 });
    await other.transact((tx) => back.commit(tx));
    const seen = await look(one);
    assert.equal(ids(seen), ["first", "third", "second"]);
    assert.is(seen.get<{ sleeps: number }>("tent", "", "third")?.sleeps, 4);
  });

  test("of two changes of one document the second is refused, and so is what it brings along", async ({
    one,
    other,
  }) => {
    for (const change of [
      (documents: Documents) => documents.put("tent", "", "first", { id: "first", sleeps: 3 }),
      (documents: Documents) => documents.put("tent", "", "new", { id: "new" }),
      (documents: Documents) => documents.remove("tent", "", "first"),
    ]) {
      const [early, late] = [await look(one), await look(other)];
      change(early);
      change(late);
      late.put("tent", "late", "extra", { id: "extra" });
      await one.transact((tx) => early.commit(tx));
      assert.is(await conflictOf(other.transact((tx) => late.commit(tx))), "CONFLICT");
      assert.equal((await look(one)).list("tent", "late"), []);
    }
  });

  test.run();
}

const shared = suite("documents on postgres, shared");

shared("a write that commits late is not missed, though younger ones were seen before it", async () => {
  const url = await postgres.database();
  const [slow, fast, reader] = await Promise.all([onPostgres(url), onPostgres(url), onPostgres(url)]);
  const [mayCommit, hasWritten] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = await look(slow);
  late.put("tent", "", "late", { id: "late" });
  const committing = slow.transact(async (tx) => {
    await late.commit(tx);
    hasWritten.resolve();
    await mayCommit.promise;
  });
  await hasWritten.promise;
  for (const id of ["a", "b"]) {
    const early = await look(fast);
    early.put("tent", "", id, { id });
    await fast.transact((tx) => early.commit(tx));
    assert.ok(ids(await look(reader)).includes(id));
  }
  mayCommit.resolve();
  await committing;
  assert.equal(ids(await look(reader)).sort(), ["a", "b", "first", "late", "second"]);
  for (const one of [slow, fast, reader]) await one.close();
});

shared("calls that change the same documents in another order do not wait for each other in a circle", async () => {
  const url = await postgres.database();
  const [one, other] = await Promise.all([onPostgres(url), onPostgres(url)]);
  const [forth, back] = [await look(one), await look(other)];
  const many = Array.from({ length: 200 }, (_, at) => `tent-${at}`);
  for (const id of many) forth.put("tent", "", id, { id });
  for (const id of many.reverse()) back.put("tent", "", id, { id });
  const codes = await Promise.all([
    conflictOf(one.transact((tx) => forth.commit(tx))),
    conflictOf(other.transact((tx) => back.commit(tx))),
  ]);
  assert.equal(codes.sort(), ["", "CONFLICT"]);
  await one.close();
  await other.close();
});

shared("documents of a dump from elsewhere are read once, not at every call", async () => {
  const url = await postgres.database();
  const before = await onPostgres(url);
  await before.close();
  const store = await openPostgresStore({ url, connections: 2 });
  // Numbers of transactions this cluster has yet to reach.
  await store.pool.query("update documents set changed_in = '9000000000'::xid8");
  const shelf = await openShelf(store, fixtures);
  await shelf.catchUp();
  assert.equal(ids(openDocuments(shelf)), ["second", "first"]);
  const ahead = "select count(*) as n from documents where changed_in > pg_snapshot_xmax(pg_current_snapshot())";
  assert.equal((await store.pool.query(ahead)).rows, [{ n: 0 }]);
  await store.close();
});

shared("two sellers on one database are one: buys, replays, tasks and channels", async () => {
  const url = await postgres.database();
  const [one, other] = await Promise.all([templateSeller(url), templateSeller(url)]);
  try {
    const asked = { buying_mode: "brief", brief: "display for outdoor readers", ...account() };
    const { products } = await one.ask("get_products", asked);
    const request = {
      ...account(),
      ...key(),
      brand: { domain: "acmeoutdoor.example" },
      start_time: new Date(Date.now() + 86_400_000).toISOString(),
      end_time: new Date(Date.now() + 8 * 86_400_000).toISOString(),
      packages: [
        {
          product_id: products[0].product_id,
          pricing_option_id: products[0].pricing_options[0].pricing_option_id,
          budget: 5_000,
        },
      ],
    };
    const bought = await one.ask("create_media_buy", request);
    const again = await other.ask("create_media_buy", request);
    assert.equal([again.media_buy_id, again.replayed], [bought.media_buy_id, true]);
    const canceled = { ...account(), media_buy_id: bought.media_buy_id, canceled: true };
    await other.ask("update_media_buy", { ...canceled, ...key() });
    const { media_buys } = await one.ask("get_media_buys", { media_buy_ids: [bought.media_buy_id] });
    assert.equal(
      media_buys.map(({ status }: { status: string }) => status),
      ["canceled"],
    );
    const large = { ...request, ...key(), packages: [{ ...request.packages[0], budget: 75_000 }] };
    const { task_id } = await one.ask("create_media_buy", large);
    let task: Awaited<ReturnType<typeof other.ask>>;
    await until(async () => {
      task = await other.ask("get_task_status", { task_id, include_result: true });
      return task.status === "completed";
    }, "the order is signed");
    const { media_buys: signed } = await other.ask("get_media_buys", { media_buy_ids: [task.result.media_buy_id] });
    assert.is(signed.length, 1);
  } finally {
    await one.close();
    await other.close();
  }
});

shared.after(() => postgres.stop());
shared.run();
