/** PostgreSQL: events that come at the same time share a transaction, and what that fails with is theirs. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { claimDigest } from "../../runtime/store/keys.js";
import { openPostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { accepted, ordered } from "./cases/case.js";
import { NOW } from "./cases/events.js";

const postgres = await sharedPostgres();

const opened = async () => {
  const url = await postgres.database();
  const store = await openPostgresStore({ url });
  const beside = new pg.Client(url);
  await beside.connect();
  const one = async <T>(text: string, values: unknown[] = []): Promise<T> => (await beside.query(text, values)).rows[0];
  return { store, beside, one, end: () => Promise.all([store.close(), beside.end()]) };
};

test("fifty events that come at the same time take at most four transactions", async () => {
  const { store, one, end } = await opened();
  const lease = { owner: "me", until: NOW + 30_000 };
  accepted(await store.inbox.accept(ordered("first", 0)));
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, n) => store.inbox.accept({ ...ordered(`task-${n}`, 0, "completed", true), lease })),
  );
  const ids = outcomes.map((outcome) => accepted(outcome).id);
  assert.is(new Set(ids).size, 50);
  const { n } = await one<{ n: number }>("select count(distinct xmin::text)::integer as n from adbind_inbox");
  assert.ok(n <= 5, `${n} transactions, with that of the first`);
  const ended = await Promise.all(ids.map((id) => store.inbox.complete({ id, owner: "me", now: NOW })));
  assert.equal(ended, Array(50).fill("completed"));
  assert.is((await store.inbox.list()).length, 1);
  await end();
});

test("an event is completed by its owner alone, also beside others", async () => {
  const { store, end } = await opened();
  const lease = { owner: "me", until: NOW + 30_000 };
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, (_, n) => store.inbox.accept({ ...ordered(`task-${n}`, 0, "completed", true), lease })),
  );
  const ids = outcomes.map((outcome) => accepted(outcome).id);
  const ends = ids.map((id, n) => store.inbox.complete({ id, owner: n === 3 ? "another" : "me", now: NOW }));
  assert.equal(await Promise.all(ends), ["completed", "completed", "completed", "lost", "completed", "completed"]);
  assert.equal(
    (await store.inbox.list()).map(({ id }) => id),
    [ids[3]],
  );
  await end();
});

test("events whose transaction is lost are told so, and kept once when they come again", async () => {
  const { store, beside, one, end } = await opened();
  accepted(await store.inbox.accept(ordered("before", 0)));
  const arrivals = Array.from({ length: 5 }, (_, n) => ordered(`task-${n}`, 0));
  // Somebody else is about to claim one of the keys: the transaction of the others waits for him.
  await beside.query("begin");
  await beside.query(
    "insert into adbind_claims (sender, key, digest, expires) select id, $1, '', 0 from adbind_senders",
    [Buffer.from(claimDigest(arrivals[4]!.event.key))],
  );
  const waiting = Promise.allSettled(arrivals.map((arrival) => store.inbox.accept(arrival)));
  const waits = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await until(async () => (await one(waits)) !== undefined);
  await beside.query(`select pg_terminate_backend(pid) from (${waits}) as w`);
  assert.equal(
    (await waiting).map(({ status }) => status),
    Array(5).fill("rejected"),
  );
  await beside.query("rollback");
  const again = await Promise.all(arrivals.map((arrival) => store.inbox.accept(arrival)));
  for (const outcome of again) accepted(outcome);
  assert.is((await store.inbox.list()).length, 6);
  await end();
});

test.after(() => postgres.stop());
test.run();
