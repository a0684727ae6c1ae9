/** One key, one answer, one effect: on every store, by any instance. */

import * as assert from "uvu/assert";
import type { Database } from "../../runtime/db/types.js";
import { sellerUpkeep } from "../../runtime/seller/upkeep.js";
import { sellerDatabase } from "../../runtime/store/seller-tables.js";
import { until } from "../support/until.js";
import { buyRequest, call, openSeller, settled } from "./fixture.js";
import { HOUR, passLeases, push, type SellerCase, storeSuite } from "./store-suite.js";

type Case = ReturnType<typeof storeSuite>;

/** Tries of one request. */
function replays(test: Case): void {
  test("the same request under one key is answered once and replayed, by any instance", async (context) => {
    const { seller, other, bench } = context;
    const first = await call(seller, "create_media_buy", buyRequest());
    const again = await call(other, "create_media_buy", { ...buyRequest(), context: { trace: "second" } });
    assert.is(first.replayed, undefined);
    assert.is(again.replayed, true);
    assert.is(again.media_buy_id, first.media_buy_id);
    assert.equal(first.context, { trace: "t-2231" });
    assert.equal(again.context, { trace: "second" });
    assert.is(bench.runs, 1);
  });

  test("another request under the key is a conflict that says nothing of the first", async ({ seller, bench }) => {
    await call(seller, "create_media_buy", buyRequest());
    const changed = await call(seller, "create_media_buy", { ...buyRequest(), end_time: "2026-06-30T23:59:59Z" });
    assert.is(changed.proto_error.code, "IDEMPOTENCY_CONFLICT");
    assert.is(changed.proto_error.recovery, "correctable");
    assert.is(changed.proto_error.field, undefined);
    assert.not.match(JSON.stringify(changed), /mb_1_/);
    assert.is(bench.runs, 1);
  });

  test("what differs between tries of one request does not make it another", async ({ seller, bench }) => {
    const authentication = { schemes: ["HMAC-SHA256"], credentials: "0123456789abcdef0123456789ABCDEF" };
    const request = (credentials: string) =>
      buyRequest("prod_ctv_evening", {
        governance_context: credentials,
        push_notification_config: { ...push, authentication: { ...authentication, credentials } },
      });
    await call(seller, "create_media_buy", request(authentication.credentials));
    const again = await call(seller, "create_media_buy", request("fedcba9876543210FEDCBA9876543210"));
    assert.is(again.replayed, true);
    assert.is(bench.runs, 1);
  });
}

/** Whose key it is, and what is kept under it. */
function scopes(test: Case): void {
  test("keys of other principals and accounts are others", async ({ seller, bench }) => {
    await call(seller, "create_media_buy", buyRequest());
    await call(seller, "create_media_buy", buyRequest(), "buyer-2");
    await call(seller, "create_media_buy", { ...buyRequest(), account: { account_id: "acct_other" } });
    assert.is(bench.runs, 3);
  });

  test("failures are not remembered, whichever way they come", async ({ seller, bench }) => {
    const thrown = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_missing", { idempotency_key: "k".repeat(20) }),
    );
    assert.is(thrown.status, "failed");
    assert.is(thrown.proto_error.code, "PRODUCT_NOT_FOUND");
    assert.is(thrown.proto_error.field, "packages[0].product_id");
    assert.is(thrown.errors[0].code, "PRODUCT_NOT_FOUND");
    const returned = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_poor", { idempotency_key: "k".repeat(20) }),
    );
    assert.is(returned.proto_error.code, "HOUSE_RULE");
    assert.is(returned.proto_error.recovery, "transient");
    assert.is(returned.proto_error.retry_after, 60);
    const broken = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_broken", { idempotency_key: "k".repeat(20) }),
    );
    assert.is(broken.proto_error.code, "CONFIGURATION_ERROR");
    const good = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_ctv_evening", { idempotency_key: "k".repeat(20) }),
    );
    assert.is(good.status, "completed");
    assert.is(bench.runs, 4);
  });
}

/** Calls at the same time. */
function inFlight(test: Case): void {
  test("a call in flight is waited for, and else named", async ({ seller, other, bench }) => {
    const held = Promise.withResolvers<void>();
    bench.gate = held.promise;
    const first = call(seller, "create_media_buy", buyRequest("prod_slow"));
    await until(() => bench.runs === 1);
    const early = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(early.proto_error.code, "IDEMPOTENCY_IN_FLIGHT");
    const { retry_after: after } = early.proto_error;
    assert.ok(after > 15 && after <= 30, `${after} s, as long as the first call may still take to be heard of`);
    const waiting = settled(() => call(other, "create_media_buy", buyRequest("prod_slow")));
    held.resolve();
    assert.is((await waiting).replayed, true);
    assert.is((await waiting).media_buy_id, (await first).media_buy_id);
    assert.is(bench.runs, 1);
  });

  test("calls that arrive together are one", async ({ seller, other, bench }) => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        settled(() => call(n % 2 === 0 ? seller : other, "create_media_buy", buyRequest())),
      ),
    );
    assert.is(new Set(answers.map((one) => one.media_buy_id)).size, 1);
    assert.is(answers.filter((one) => one.replayed !== true).length, 1);
    assert.is(bench.runs, 1);
  });
}

/** Keys whose time is over. */
function ends(test: Case): void {
  test("a key is told from one never seen after its answer is no longer kept", async ({ seller, bench, clock }) => {
    await call(seller, "create_media_buy", buyRequest());
    clock.at += 25 * HOUR;
    const late = await call(seller, "create_media_buy", buyRequest());
    assert.is(late.proto_error.code, "IDEMPOTENCY_EXPIRED");
    assert.is(bench.runs, 1);
  });

  test("the key of an instance that died is taken over when its lease ends", async ({
    seller,
    other,
    bench,
    store,
  }) => {
    bench.gate = new Promise(() => undefined);
    void call(seller, "create_media_buy", buyRequest("prod_slow"));
    await until(() => bench.runs === 1);
    bench.gate = Promise.resolve();
    await passLeases(store, 31_000);
    const answer = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(answer.status, "completed");
    assert.is(bench.runs, 2);
  });
}

/** Clocks that are not what they should be. */
function clocks(test: Case): void {
  for (const [said, ahead] of [
    ["ahead", HOUR],
    ["behind", -HOUR],
  ] as const)
    test(`a call in flight is left to its instance by one whose clock is an hour ${said}`, async (context) => {
      const { seller, bench, store, sender, clock } = context;
      const held = Promise.withResolvers<void>();
      bench.gate = held.promise;
      const first = call(seller, "create_media_buy", buyRequest("prod_slow"));
      await until(() => bench.runs === 1);
      const off = await openSeller<never>(bench, { store, sender, now: () => clock.at + ahead });
      const early = await call(off, "create_media_buy", buyRequest("prod_slow"));
      assert.is(early.proto_error?.code, "IDEMPOTENCY_IN_FLIGHT");
      held.resolve();
      assert.is((await first).status, "completed");
      assert.is(bench.runs, 1);
      await off.close();
    });

  test("the key of an instance that died before the database's clock was set back is taken over after the length of a lease", async ({
    seller,
    other,
    bench,
    store,
  }) => {
    bench.gate = new Promise(() => undefined);
    void call(seller, "create_media_buy", buyRequest("prod_slow"));
    await until(() => bench.runs === 1);
    await passLeases(store, -HOUR);
    bench.gate = Promise.resolve();
    const early = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(early.proto_error.code, "IDEMPOTENCY_IN_FLIGHT");
    assert.ok(early.proto_error.retry_after <= 30, `ask again in ${early.proto_error.retry_after} s`);
    await passLeases(store, 31_000);
    const answer = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(answer.status, "completed");
    assert.is(bench.runs, 2);
  });
}

/** Removing what has expired, by a clock that jumps ahead. */
function jumps(test: Case): void {
  test("a clock that jumps ahead forgets no key for a day, and then all that is over", async (context) => {
    const { seller, bench, store, clock } = context;
    const database = sellerDatabase<unknown>(store.database as Database);
    const sweep = async (at: number): Promise<void> => {
      const upkeep = sellerUpkeep(database, { now: () => at, logger: undefined });
      upkeep.start();
      await upkeep.stop();
    };
    const kept = async () =>
      (await (store.database as Database).query((q) => q.rows("select 1 from adbind_calls"))).length;
    const first = await call(seller, "create_media_buy", buyRequest());
    await sweep(clock.at);
    const jumped = clock.at + 30 * 24 * HOUR;
    await sweep(jumped);
    await sweep(jumped + 60_000);
    assert.is(await kept(), 1);
    const again = await call(seller, "create_media_buy", buyRequest());
    assert.is(again.media_buy_id, first.media_buy_id);
    assert.is(bench.runs, 1);
    for (let at = jumped; at <= jumped + 24 * HOUR + 60_000; at += 300_000) await sweep(at);
    assert.is(await kept(), 0);
  });
}

/** What a call leaves behind. */
function effects(test: Case, of: SellerCase): void {
  test("effects commit with the answer, once, or not at all", async ({ seller, bench, store }) => {
    bench.effect = (tx, id) => of.note(tx, id);
    const { media_buy_id: id } = await call(seller, "create_media_buy", buyRequest());
    await call(seller, "create_media_buy", buyRequest());
    assert.equal(await of.notes(store as never), [id]);
    bench.effect = (tx, made) => {
      const written = of.note(tx, made);
      const fail = (): never => {
        throw new Error("no room");
      };
      return written instanceof Promise ? written.then(fail) : fail();
    };
    const failed = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_ctv_evening", { idempotency_key: "b".repeat(20) }),
    );
    assert.is(failed.proto_error.code, "CONFIGURATION_ERROR");
    assert.equal(await of.notes(store as never), [id]);
  });
}

export function idempotencyCase(of: SellerCase): void {
  const test = storeSuite(of, "keys");
  for (const some of [replays, scopes, inFlight, ends, clocks, jumps, effects]) some(test, of);
  test.run();
}
