/** What a seller must do, on every store. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { type Seller, ToolError } from "../../runtime/seller/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, NOW, optionsFor, verify } from "../sender/fixture.js";
import { type Bench, buyRequest, call, newBench, openSeller, settled, until } from "./fixture.js";

export interface SellerCase {
  readonly name: string;
  open(): Promise<SqliteStore | PostgresStore>;
  /** Adds a row to a table of the application's own, in an effect. */
  note(tx: never, text: string): unknown;
  notes(store: never): Promise<readonly string[]>;
}

interface Context {
  clock: { at: number };
  network: FakeNetwork;
  bench: Bench;
  store: SqliteStore | PostgresStore;
  sender: Sender<never>;
  seller: Seller<never>;
  /** Another instance on the same store. */
  other: Seller<never>;
}

const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof AdbindError ? error.code : String(error)),
  );

const HOUR = 3_600_000;
const push = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };

export function sellerCase(of: SellerCase): void {
  const test = suite<Context>(of.name);
  test.before.each(async (context) => {
    context.clock = { at: NOW };
    context.network = new FakeNetwork(context.clock);
    context.bench = newBench();
    context.store = await of.open();
    context.sender = (await createSender({
      ...optionsFor(context.clock, context.network),
      store: context.store,
      reports: () => ({ currency: "EUR", media_buy_deliveries: [] }),
    } as never)) as never;
    context.sender.start();
    const more = { store: context.store, sender: context.sender, now: () => context.clock.at };
    context.seller = await openSeller(context.bench, more);
    context.other = await openSeller(context.bench, more);
  });
  test.after.each(async ({ seller, other, sender, store }) => {
    await seller.close();
    await other.close();
    await sender.stop();
    await store.close();
  });

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
    assert.is(broken.proto_error.code, "SERVICE_UNAVAILABLE");
    const good = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_ctv_evening", { idempotency_key: "k".repeat(20) }),
    );
    assert.is(good.status, "completed");
    assert.is(bench.runs, 4);
  });

  test("a call in flight is waited for, and else named", async ({ seller, other, bench }) => {
    const held = Promise.withResolvers<void>();
    bench.gate = held.promise;
    const first = call(seller, "create_media_buy", buyRequest("prod_slow"));
    await until(() => bench.runs === 1);
    const early = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(early.proto_error.code, "IDEMPOTENCY_IN_FLIGHT");
    assert.is(early.proto_error.retry_after, 1);
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
    clock,
  }) => {
    bench.gate = new Promise(() => undefined);
    void call(seller, "create_media_buy", buyRequest("prod_slow"));
    await until(() => bench.runs === 1);
    bench.gate = Promise.resolve();
    clock.at += 31_000;
    const answer = await call(other, "create_media_buy", buyRequest("prod_slow"));
    assert.is(answer.status, "completed");
    assert.is(bench.runs, 2);
  });

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
    assert.is(failed.proto_error.code, "SERVICE_UNAVAILABLE");
    assert.equal(await of.notes(store as never), [id]);
  });

  test("a task goes on after its answer, tells of each change, and can be looked up", async (context) => {
    const { seller, other, bench, network } = context;
    const held = Promise.withResolvers<void>();
    bench.gate = held.promise;
    const request = buyRequest("prod_later", { push_notification_config: push });
    const answer = await call(seller, "create_media_buy", request);
    assert.is(answer.status, "submitted");
    assert.is(answer.message, "Waiting for a signature.");
    const replayed = await call(other, "create_media_buy", request);
    assert.equal([replayed.replayed, replayed.task_id], [true, answer.task_id]);
    const ask = { task_id: answer.task_id, include_result: true, include_history: true };
    assert.is((await call(other, "get_task_status", ask)).status, "submitted");
    held.resolve();
    await until(() => network.sent.length === 2);
    const [working, completed] = network.sent;
    assert.equal([working?.body.status, completed?.body.status], ["working", "completed"]);
    assert.ok((await verify(completed!)).ok);
    assert.is(completed?.body.operation_id, "op-1");
    assert.equal(completed?.body.context, { trace: "t-2231" });
    const done = await call(other, "get_task_status", ask);
    assert.is(done.status, "completed");
    assert.is(done.result.media_buy_id, completed?.body.result.media_buy_id);
    assert.is(done.has_webhook, true);
    assert.equal(
      done.history.map((one: { type: string }) => one.type),
      ["request", "response"],
    );
    assert.not.match(JSON.stringify(done.history), /hooks/);
    const stranger = await call(seller, "get_task_status", ask, "buyer-2");
    assert.is(stranger.proto_error.code, "REFERENCE_NOT_FOUND");
    assert.is(bench.runs, 1);
  });

  test("any instance can move a task on, by its rules", async ({ seller, other, network }) => {
    const { task_id: id } = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_manual", { push_notification_config: push }),
    );
    const task = other.task(id);
    await (task.inputRequired as (data: object) => Promise<void>)({ reason: "APPROVAL_REQUIRED" });
    await task.fail({ code: "IO_REQUIRED", message: "It was not signed." });
    const status = await call(seller, "get_task_status", { task_id: id });
    assert.equal([status.status, status.error.code], ["failed", "IO_REQUIRED"]);
    assert.is(await codeOf(task.complete({} as never)), "transition_refused");
    assert.is(await codeOf(other.task("task-none").cancel()), "task_unknown");
    await until(() => network.sent.length === 2);
    assert.is(network.sent[1]?.body.result.errors[0].recovery, "correctable");
  });

  test("tasks are listed to whoever they belong to, page by page", async ({ seller, clock }) => {
    for (let n = 0; n < 5; n++) {
      clock.at += 1_000;
      await call(seller, "create_media_buy", buyRequest("prod_manual", { idempotency_key: `list-key-0123456-${n}` }));
    }
    await call(seller, "create_media_buy", buyRequest("prod_manual"), "buyer-2");
    const filters = { statuses: ["submitted"], task_type: "create_media_buy" };
    const first = await call(seller, "list_tasks", { filters, pagination: { max_results: 3 } });
    assert.is(first.query_summary.total_matching, 5);
    assert.is(first.tasks.length, 3);
    assert.is(first.pagination.has_more, true);
    const rest = await call(seller, "list_tasks", {
      filters,
      pagination: { max_results: 3, cursor: first.pagination.cursor },
    });
    assert.equal([rest.tasks.length, rest.pagination.has_more], [2, false]);
    const times = [...first.tasks, ...rest.tasks].map((one) => one.created_at);
    assert.equal(times, times.toSorted().reverse());
    const none = await call(seller, "list_tasks", { filters: { status: "completed" } });
    assert.is(none.tasks.length, 0);
  });

  test("what an effect refuses is the call's failure", async ({ seller, bench }) => {
    bench.effect = () => {
      throw new ToolError("CONFLICT", "Somebody was faster.");
    };
    const answer = await call(seller, "create_media_buy", buyRequest());
    assert.equal([answer.status, answer.proto_error.code], ["failed", "CONFLICT"]);
    bench.effect = undefined;
    assert.is((await call(seller, "create_media_buy", buyRequest())).status, "completed");
  });

  test("after a restart what is not over can be found and carried on", async ({ seller, other, bench }) => {
    bench.gate = new Promise(() => undefined);
    const { task_id: lost } = await call(seller, "create_media_buy", buyRequest("prod_later"));
    await call(seller, "create_media_buy", buyRequest());
    const unfinished = await other.unfinished();
    assert.equal(
      unfinished.map(({ id, tool, status, principal }) => ({ id, tool, status, principal })),
      [{ id: lost, tool: "create_media_buy", status: "submitted", principal: "buyer-1" }],
    );
    assert.is(unfinished[0]?.request.end_time, buyRequest().end_time);
    await other.task(lost).reject({ code: "TERMS_REJECTED", message: "It was not signed." });
    assert.equal(await other.unfinished(), []);
    const status = await call(seller, "get_task_status", { task_id: lost });
    assert.equal([status.status, status.error.code], ["rejected", "TERMS_REJECTED"]);
  });

  test("a registration that cannot be honoured refuses the call before it does anything", async ({ seller, bench }) => {
    const inward = { url: "http://169.254.169.254/latest", operation_id: "op" };
    const refused = await call(
      seller,
      "create_media_buy",
      buyRequest("prod_later", { push_notification_config: inward }),
    );
    assert.is(refused.proto_error.code, "INVALID_REQUEST");
    assert.match(refused.proto_error.field, /push_notification_config/);
    assert.is(bench.runs, 0);
  });

  test("a buy's channels open with it, and what was fired is shown to its buyer", async (context) => {
    const { seller, sender, network, clock, bench } = context;
    const reporting = { url: "https://buyer.example/hooks/reports", reporting_frequency: "daily" };
    const request = buyRequest("prod_later", { push_notification_config: push, reporting_webhook: reporting });
    await call(seller, "create_media_buy", request);
    await until(() => network.sent.some((one) => one.body.status === "completed"));
    const id = network.sent.at(-1)?.body.result.media_buy_id as string;
    bench.made.push(id);
    await sender.channels.impairment(id, { notificationId: "imp-1", impairment: { impairment_id: "imp-1" } });
    clock.at += 24 * HOUR;
    await sender.channels.tick();
    await until(() => network.sent.some((one) => one.body.notification_id === "imp-1"));
    await until(() => network.sent.some((one) => one.body.task_type === "media_buy_delivery"));
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const ask = { media_buy_ids: [id], include_webhook_activity: true };
    const { media_buys: buys } = await call(seller, "get_media_buys", { ...ask, context: { q: 1 } });
    const activity = buys[0].webhook_activity as { notification_type?: string; task_type?: string; status: string }[];
    assert.ok(activity.some((one) => one.notification_type === "scheduled"));
    assert.is(activity.filter((one) => one.task_type === "create_media_buy").length, 2);
    assert.ok(activity.every((one) => one.status === "success"));
    const { media_buys: others } = await call(seller, "get_media_buys", ask, "buyer-2");
    assert.equal(others[0].webhook_activity, []);
    const { media_buys: plain } = await call(seller, "get_media_buys", { media_buy_ids: [id] });
    assert.is(plain[0].webhook_activity, undefined);
  });

  test.run();
}
