/** PostgreSQL: what is removed comes off its counters, whose rows every accepted event needs, without holding them long. */
import type pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { accepted } from "./cases/case.js";
import { arrival, DAY_SECONDS, NOW, newEvent, SELLER } from "./cases/events.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());
const LATE = NOW + DAY_SECONDS * 1000;

type Opened = Awaited<ReturnType<typeof openPostgresStore>>;

/** Statements that the store's connections are given from now on. */
function statementsOf({ pool }: Opened): string[] {
  const texts: string[] = [];
  const heard = new WeakSet<pg.PoolClient>();
  pool.on("acquire", (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [first] = given as [string | { text?: string }];
      texts.push((typeof first === "string" ? first : (first.text ?? "")).trim());
      return query(...given);
    }) as never;
  });
  return texts;
}

const expire = (store: Opened, what: string) =>
  store.expiring.find((one) => one.what === what)!.remove(LATE + 1_000, 500);

test("removing claims of all shards holds their counters for one more statement, and for no wait for the disk", async () => {
  const store = await openPostgresStore({ url: await postgres.database() });
  await Promise.all(Array.from({ length: 120 }, () => store.inbox.accept(arrival(newEvent()))));
  await store.database.execute("update adbind_clock set mark = ?", [LATE]);
  const texts = statementsOf(store);
  assert.is(await expire(store, "expired claims"), 120);
  const held = texts.slice(texts.findIndex((text) => /usage[\s\S]*for update/.test(text)) + 1);
  assert.is(held.length, 2, held.join("\n"));
  assert.match(held[0]!, /^update adbind_sender_usage/);
  assert.match(held[1]!, /^commit/i);
  assert.ok(texts.includes("set local synchronous_commit = off"));
  assert.is(await store.claims(SELLER), 0);
  await store.close();
});

test("claims counted under a cap that was small come off the one counter they had", async () => {
  const store = await openPostgresStore({ url: await postgres.database() });
  const few = Array.from({ length: 30 }, () => arrival(newEvent(), { senderCap: 100 }));
  for (const one of few) accepted(await store.inbox.accept(one));
  accepted(await store.inbox.accept(arrival(newEvent(), { senderCap: 1_000_000, now: NOW + 60_000 })));
  await store.database.execute("update adbind_clock set mark = ?", [LATE]);
  assert.is(await expire(store, "expired claims"), 30);
  assert.is(await store.claims(SELLER), 1);
  await store.close();
});

test.run();
