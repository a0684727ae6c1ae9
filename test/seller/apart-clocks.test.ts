/** Sellers on one PostgreSQL whose machines' clocks are hours apart. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { openDatabase } from "../../runtime/db/index.js";
import type { Seller, SellerStore } from "../../runtime/seller/index.js";
import { signRequestSync, staticKeys } from "../../runtime/signing/index.js";
import { openPostgresStore, shardedByPrincipal } from "../../runtime/store/index.js";
import { makeKey } from "../signing/fixtures.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { buyRequest, call, newBench, openSeller } from "./fixture.js";

const HOUR = 3_600_000;
const postgres = await sharedPostgres();
const { now: system } = Date;
const bench = newBench();
let url: string;
let opened: { close(): Promise<void> }[];

/** A seller of a process whose clock is off, as every part of it sees that. @param ms by how much */
async function openOff(ms: number, more: object = {}, given?: SellerStore): Promise<Seller<never>> {
  Date.now = () => system() + ms;
  const store = given ?? (await openPostgresStore({ url }));
  const seller = await openSeller<never>(bench, { store, replayTtlSeconds: 3_600, ...more });
  opened.unshift(seller, store);
  return seller;
}

test.before.each(async () => {
  url = await postgres.database();
  opened = [];
});
test.after.each(async () => {
  Date.now = system;
  for (const one of opened.filter((each) => "app" in each)) await one.close();
  for (const one of opened.filter((each) => !("app" in each))) await one.close();
});
test.after(() => postgres.stop());

test("an answer is replayed as long as was promised, whoever is asked again", async () => {
  const seller = await openOff(0);
  const order = buyRequest();
  const { media_buy_id } = await call(seller, "create_media_buy", order);
  const ahead = await openOff(2 * HOUR);
  assert.is((await call(ahead, "create_media_buy", order)).media_buy_id, media_buy_id);
});

test("one whose clock is far ahead forgets no key that others still know", async () => {
  const seller = await openOff(0);
  const order = buyRequest("prod_ctv_evening", { idempotency_key: "key-of-an-order-placed-once" });
  const { media_buy_id } = await call(seller, "create_media_buy", order);
  const database = await openDatabase(url);
  opened.push(database);
  const expired = "insert into adbind_calls (scope, key, principal, hash, replay_until, forget_at, lease) ";
  await database.write((q) => q.run(`${expired} values ('a', 'b', 'c', 'd', 0, 0, 0)`, []));
  await (await openOff(30 * 24 * HOUR)).mount();
  // Once that is gone the round was made.
  await until(
    async () => (await database.query((q) => q.rows("select 1 from adbind_calls where scope = 'a'"))).length === 0,
  );
  const { length } = bench.made;
  assert.is((await call(seller, "create_media_buy", order)).media_buy_id, media_buy_id);
  assert.is(bench.made.length, length);
});

for (const split of [false, true])
  test(`handlers have the time of the server${split ? " on several databases too" : ""}, whatever that of their machine is`, async () => {
    let seen: number | undefined;
    const get_products = (_request: unknown, ctx: { now(): number; fail(error: object): unknown }) => {
      seen = ctx.now();
      return ctx.fail({ code: "PRODUCT_UNAVAILABLE", message: "none left" });
    };
    const store = split
      ? ((await shardedByPrincipal([{ name: "a", database: () => openDatabase(url) as never }])) as SellerStore)
      : undefined;
    const more = { tools: { get_products }, specialisms: [] };
    await call(await openOff(-HOUR, more, store), "get_products", { buying_mode: "brief", brief: "video" });
    assert.ok(Math.abs(seen! - system()) < HOUR / 4, String(seen));
  });

test("signatures of callers are judged by the clock of the machine", async () => {
  const key = makeKey("ed25519", { [`${release.word}_use`]: "request-signing" });
  const keys = staticKeys([key.jwk], { sender: "https://buyer.example/agent" });
  const seller = await openOff(HOUR, { requestSigning: { keys } });
  const payload = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const statusAt = async (ms: number): Promise<number> => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const request = { method: "POST", url: "https://seller.example/mcp", headers, body: Buffer.from(payload) };
    const by = { key: key.privateKey, keyid: key.jwk.kid!, word: release.word, now: () => (system() + ms) / 1_000 };
    const signed = signRequestSync(request, by);
    const sent = { host: "seller.example", ...headers, ...signed.headers };
    return (await seller.app.inject({ method: "POST", url: "/mcp", headers: sent, payload })).statusCode;
  };
  assert.equal([await statusAt(0), await statusAt(HOUR)], [401, 200]);
});

test.run();
