/** An order at somebody's ad server happens once: answers get lost, processes end, and buyers repeat their calls. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdServer, Order } from "../../runtime/behaviours/index.js";
import { ToolError, tokenAuth } from "../../runtime/seller/index.js";
import { documentStore } from "../../runtime/store/documents.js";
import { openStore } from "../../runtime/store/index.js";
import { passLeases } from "../seller/store-suite.js";
import { cellsOf } from "../support/cells.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const version = versions.at(-1);
const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const packages = [{ product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 }];
const order = () => ({ ...key(), account, brand, ...flight, packages });

/** Books once per key, whatever becomes of its answers. */
function countingServer(answer: (call: number) => Promise<void>) {
  const booked = new Map<string, Order>();
  const changes: string[] = [];
  let latest: Order | undefined;
  let calls = 0;
  const change: AdServer["change"] = async (_, now, { idempotencyKey }) => {
    changes.push(idempotencyKey);
    latest = now;
  };
  const adServer: AdServer = {
    async book(wanted, { idempotencyKey }) {
      calls += 1;
      if (!booked.has(idempotencyKey)) booked.set(idempotencyKey, wanted);
      await answer(calls);
      return { orderId: `order-${[...booked.keys()].indexOf(idempotencyKey)}` };
    },
    change,
    pause: change,
    resume: change,
    cancel: change,
  };
  return { adServer, booked, changes, calls: () => calls, latest: () => latest };
}

const engine = cellsOf("ADBIND_CELLS=all ./run test test/behaviours", ["sqlite", "postgres"], 1).at(-1);
const cluster = engine === "postgres" && version !== undefined ? await sharedPostgres() : undefined;
test.after(() => cluster?.stop());

const databaseOf = async (): Promise<string> =>
  cluster?.database() ?? `sqlite:${path.join(tempFolder(), `${randomUUID()}.db`)}`;

const sellerOf = (adServer: AdServer, more: object = {}) =>
  behavingSeller(version!, ["sales_non_guaranteed"], { ports: { adServer }, ...more });

if (version !== undefined) {
  test("a lost answer is a task, and the order is booked once", async () => {
    const server = countingServer(async (call) => {
      if (call < 3) throw new Error("connection reset");
    });
    const { ask, start, close } = await sellerOf(server.adServer);
    await start();
    const wanted = order();
    const first = await ask("create_media_buy", wanted);
    assert.is(first.status, "submitted");
    const task = { task_id: first.task_id, include_result: true };
    await until(async () => (await ask("get_task_status", task)).status === "completed");
    const { result } = await ask("get_task_status", task);
    const { media_buys } = await ask("get_media_buys", { account });
    assert.equal(
      media_buys.map(({ media_buy_id }: { media_buy_id: string }) => media_buy_id),
      [result.media_buy_id],
    );
    assert.is(server.booked.size, 1);
    assert.is([...server.booked.values()][0]!.mediaBuyId, result.media_buy_id);
    const again = await ask("create_media_buy", wanted);
    assert.is(again.task_id, first.task_id);
    await close();
  });

  test("what is booked is not among what waits, which is looked through all the time", async () => {
    const server = countingServer(async (call) => {
      if (call % 2 === 1) throw new Error("connection reset");
    });
    const database = await databaseOf();
    const { ask, start, close } = await sellerOf(server.adServer, { database });
    await start();
    for (const wanted of [order(), order()]) {
      const { task_id } = await ask("create_media_buy", wanted);
      await until(async () => (await ask("get_task_status", { task_id })).status === "completed");
    }
    const store = await openStore(database);
    const documents = documentStore(store.database as never);
    const of = (collection: string) => documents.owners(collection);
    assert.equal([(await of("ad_server_instruction")).length, (await of("ad_server_finished")).length], [0, 1]);
    await store.close();
    await close();
  });

  test("what a process did not live to answer, the next one carries on; a repetition finds it", async () => {
    let lives = false;
    const server = countingServer(async () => {
      if (!lives) await new Promise(() => undefined);
    });
    const database = await databaseOf();
    const gone = await sellerOf({ ...server.adServer, patienceMs: 60_000 }, { database });
    const wanted = order();
    const unanswered = gone.ask("create_media_buy", wanted).catch(() => undefined);
    await until(async () => server.calls() === 1);
    lives = true;
    const store = await openStore(database);
    await passLeases(store, 31_000);
    await store.close();
    // Its patience is over, too.
    const later = Date.now() + 120_000;
    const next = await sellerOf(server.adServer, { database, now: () => later });
    await next.start();
    await until(async () => (await next.ask("get_media_buys", { account })).media_buys.length === 1);
    const { media_buys } = await next.ask("get_media_buys", { account });
    const repeated = await next.ask("create_media_buy", wanted);
    assert.is(repeated.media_buy_id, media_buys[0].media_buy_id);
    assert.is(server.booked.size, 1);
    await next.close();
    // Its patience keeps no process alive, and it has no server.
    const alive = setInterval(() => undefined, 1_000);
    await unanswered;
    clearInterval(alive);
    await gone.close();
  });

  test("two changes at once are both made; creatives that are assigned reach the ad server", async () => {
    const server = countingServer(async () => undefined);
    const { ask, start, close } = await sellerOf(server.adServer, { database: await databaseOf() });
    await start();
    const { media_buy_id, packages } = await ask("create_media_buy", order());
    const [{ package_id }] = packages;
    const change = (what: object) => ask("update_media_buy", { ...key(), account, media_buy_id, ...what });
    await Promise.all([change({ packages: [{ package_id, budget: 900 }] }), change({ paused: true })]);
    assert.is(server.latest()?.lines[0]?.budget, 900);
    assert.is(server.latest()?.lines[0]?.paused, true);
    const format_id = { agent_url: "https://seller.example/mcp", id: "display_300x250" };
    const image = { asset_type: "image", url: "https://cdn.example/b.png", width: 300, height: 250 };
    const creatives = [{ creative_id: "banner", name: "Banner", format_id, assets: { image } }];
    const assignments = [{ creative_id: "banner", package_id }];
    const { creatives: synced } = await ask("sync_creatives", { ...key(), account, creatives, assignments });
    assert.equal(synced[0].assigned_to, [package_id], JSON.stringify(synced));
    await until(async () => server.latest()?.lines[0]?.creativeIds.includes("banner") === true);
    const { media_buys } = await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] });
    assert.is(media_buys[0].total_budget, 900);
    await close();
  });

  test("a refusal is told, and nothing is kept of the order", async () => {
    const server = countingServer(async () => {
      throw new ToolError("PRODUCT_UNAVAILABLE", "sold out");
    });
    const { ask, refused, close } = await sellerOf(server.adServer);
    assert.is((await refused("create_media_buy", order())).code, "PRODUCT_UNAVAILABLE");
    assert.is((await ask("get_media_buys", { account })).media_buys.length, 0);
    await close();
  });

  test("the first orders of a new account do not stand in each other's way", async () => {
    const server = countingServer(async () => undefined);
    // On a busy machine a repetition waits for the first call longer than callers would.
    const database = await databaseOf();
    const { ask, close } = await sellerOf(server.adServer, { database, limits: { inFlightWaitMs: 30_000 } });
    const wanted = Array.from({ length: 15 }, order);
    const answers = await Promise.all(
      wanted.flatMap((one) => [ask("create_media_buy", one), ask("create_media_buy", one)]),
    );
    assert.is(new Set(answers.map(({ media_buy_id }) => media_buy_id)).size, 15);
    assert.is(server.booked.size, 15);
    const [{ media_buy_id }] = answers;
    await ask("update_media_buy", { ...key(), account, media_buy_id, canceled: true });
    assert.is(server.changes.length, 1);
    await close();
  });

  test("production is closed, counts for who has the token, and has no test controller", async () => {
    const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const mode = "production" as const;
    const whole = {
      ...{ auth: tokenAuth({ tokens: { "a token": "buyer" } }), key: { ...jwk, kid: "k1" } },
      ...{ mode, baseUrl: "https://seller.example", metrics: { token: "counts" } },
    };
    for (const [lacking, over] of [
      ["auth", { auth: undefined }],
      ["key", { key: undefined }],
      ["baseUrl", { baseUrl: "http://seller.example" }],
    ] as const) {
      const opened = behavingSeller(version, ["sales_guaranteed"], { ...whole, ...over } as never);
      const told = await opened.then(
        () => "it started",
        (error: Error) => error.message,
      );
      assert.match(told, `(${lacking})`);
    }
    const { seller, refused, close } = await behavingSeller(version, ["sales_guaranteed"], whole);
    assert.is((await refused("comply_test_controller", { scenario: "list_scenarios" })).code, "UNSUPPORTED_FEATURE");
    assert.not(Object.hasOwn(seller.capabilities, "compliance_testing"));
    const metrics = (authorization?: string) =>
      seller.app.inject({ url: "/metrics", headers: authorization === undefined ? {} : { authorization } });
    assert.is((await metrics()).statusCode, 401);
    const counted = await metrics("Bearer counts");
    assert.match(counted.body, /adbind_seller_failures_total\{.*code="UNSUPPORTED_FEATURE"/);
    await close();
  });
}

test.run();
