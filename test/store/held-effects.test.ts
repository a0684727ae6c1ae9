/** Events whose rows are kept by an effect that runs, on PostgreSQL, and what becomes of others meanwhile. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { take } from "./cases/case.js";
import { arrival, NOW, newEvent } from "./cases/events.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

/** Leases are that long, in milliseconds. */
const LEASE_MS = 30_000;
let store: PostgresStore;
let ids: readonly number[];

/** Three events under leases that have run out, of an instance whose effects run on the first two, and of one that is gone. */
test.before.each(async () => {
  store = await openPostgresStore({ url: await postgres.database(), connections: 4 });
  for (let n = 0; n < 3; n++) await store.inbox.accept(arrival(newEvent()));
  const lives = await take(store, "lives", NOW, 2);
  const gone = await take(store, "gone", NOW + 1, 1);
  ids = [...lives, ...gone].map(({ id }) => id);
});
test.after.each(() => store.close());

test("effects that run hide no event of an instance that is gone from one that has room for few", async () => {
  const effects = await store.pool.connect();
  await effects.query("begin");
  await effects.query("delete from adbind_inbox where id = any($1)", [ids.slice(0, 2)]);
  const taken: number[] = [];
  for (const after of [0, LEASE_MS, 2 * LEASE_MS])
    taken.push(...(await take(store, "other", NOW + 2 * LEASE_MS + after, 1)).map(({ id }) => id));
  await effects.query("rollback");
  effects.release();
  assert.equal(taken, [ids[2]]);
});

test("an event whose effect was undone a moment ago is left to its instance, which has yet to say so", async () => {
  const effect = await store.pool.connect();
  await effect.query("begin");
  await effect.query("delete from adbind_inbox where id = any($1)", [ids]);
  for (const after of [0, LEASE_MS]) assert.equal(await take(store, "other", NOW + 2 * LEASE_MS + after), []);
  await effect.query("rollback");
  effect.release();
  assert.equal(await take(store, "other", NOW + 3 * LEASE_MS + 1), []);
  assert.is((await take(store, "other", NOW + 4 * LEASE_MS)).length, 3);
});

test("a look for leases that have ended lets them be renewed meanwhile", async () => {
  const looking = await store.pool.connect();
  await looking.query("begin");
  await looking.query("select from adbind_inbox for key share");
  await store.inbox.renew(ids, { owner: "lives", until: NOW + 9 * LEASE_MS });
  await looking.query("rollback");
  looking.release();
  const due = new Map((await store.inbox.list()).map((event) => [event.id, event.due]));
  assert.equal(
    ids.map((id) => due.get(id)),
    [NOW + 9 * LEASE_MS, NOW + 9 * LEASE_MS, NOW + 1 + LEASE_MS],
  );
});

test.run();
