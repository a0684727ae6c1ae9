/** What goes on after an answer, on every store: tasks, their webhooks, the channels of a buy. */

import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { ToolError } from "../../runtime/seller/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { optionsFor, verify } from "../sender/fixture.js";
import { noneOut } from "../sender/sender-suite.js";
import { until } from "../support/until.js";
import { buyRequest, call, openSeller } from "./fixture.js";
import { codeOf, HOUR, push, type SellerCase, storeSuite } from "./store-suite.js";

type Case = ReturnType<typeof storeSuite>;

/** Work after an answer. */
function work(test: Case): void {
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
    const waiting = await call(other, "get_task_status", ask);
    assert.equal([waiting.status, waiting.progress], ["submitted", undefined]);
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

  test("work that fails after its answer ends its task, and says nothing of the inside", async ({
    seller,
    network,
  }) => {
    for (const [product, status, code] of [
      ["prod_dies", "failed", "CONFIGURATION_ERROR"],
      ["prod_mumbled", "failed", "CONFIGURATION_ERROR"],
      ["prod_put_off", "failed", "CONFIGURATION_ERROR"],
      ["prod_sold_out", "failed", "PRODUCT_UNAVAILABLE"],
      ["prod_refused", "rejected", "HOUSE_RULE"],
    ] as const) {
      const url = `${push.url}/${product}`;
      const request = buyRequest(product, { push_notification_config: { url, operation_id: product } });
      const { task_id: id } = await call(seller, "create_media_buy", request);
      const last = () => network.sent.findLast((one) => one.url === url)?.body;
      await until(() => last()?.status === status);
      assert.is(last()?.result.errors[0].code, code);
      const asked = await call(seller, "get_task_status", { task_id: id, include_result: true });
      assert.equal([asked.status, asked.error.code], [status, code]);
      assert.not.match(JSON.stringify([asked, network.sent]), /hunter2/);
    }
  });
}

/** What is kept of a call. */
function kept(test: Case): void {
  test("what a handler makes of its request changes nothing that is kept or told", async ({
    seller,
    other,
    network,
  }) => {
    const context = { trace: "t-1" };
    const request = buyRequest("prod_scribbled", { push_notification_config: push, context });
    const answer = await call(seller, "create_media_buy", request);
    assert.equal(answer.context, context);
    const again = await call(other, "create_media_buy", request);
    assert.equal([again.replayed, again.context], [true, context]);
    const { task_id: id } = answer;
    const { history, has_webhook } = await call(other, "get_task_status", { task_id: id, include_history: true });
    const { push_notification_config: _push, ...kept } = request;
    assert.equal([history[0].data, has_webhook], [kept, true]);
    await other.task(id).cancel();
    await until(() => network.sent.length === 1);
    assert.equal(network.sent[0]?.body.context, context);
  });
}

/** What a task may become, and who moves it. */
function moves(test: Case): void {
  test("a task that is canceled is told of, and stays so", async ({ seller, other, network }) => {
    const request = buyRequest("prod_manual", { push_notification_config: push });
    const { task_id: id } = await call(seller, "create_media_buy", request);
    await other.task(id).cancel();
    await until(() => network.sent.length === 1);
    assert.is(network.sent[0]?.body.status, "canceled");
    assert.is((await call(seller, "get_task_status", { task_id: id })).status, "canceled");
    assert.is(await codeOf(seller.task(id).complete({} as never)), "transition_refused");
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
}

/** Who sees which tasks. */
function lists(test: Case): void {
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

  test("what cannot be looked for is refused at its place, in releases without a list of tasks too", async (context) => {
    const { list_tasks: _list, get_task_status: _get, ...tools } = release.tools;
    const { bench, store, sender } = context;
    const bare = await openSeller<never>(bench, { store, sender, release: { ...release, tools } });
    const many = Array.from({ length: 40_000 }, (_, index) => `task-${index}`);
    for (const [asked, field] of [
      [{ pagination: { max_results: 1.5 } }, "pagination.max_results"],
      [{ pagination: { cursor: "bm9uZQ" } }, "pagination.cursor"],
      [{ filters: { created_after: "yesterday" } }, "filters.created_after"],
      [{ filters: { task_ids: many } }, "filters.task_ids"],
    ] as const) {
      const { proto_error: error } = await call(bare, "list_tasks", asked);
      assert.equal([error?.code, error?.field], ["INVALID_REQUEST", field]);
    }
    const same = Array(40_000).fill("submitted");
    for (const seller of [bare, context.seller])
      assert.equal((await call(seller, "list_tasks", { filters: { statuses: same } })).tasks, []);
    await bare.close();
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
}

/** Calls that are refused. */
function refusals(test: Case): void {
  test("what an effect refuses is the call's failure", async ({ seller, bench }) => {
    bench.effect = () => {
      throw new ToolError("CONFLICT", "Somebody was faster.");
    };
    const answer = await call(seller, "create_media_buy", buyRequest());
    assert.equal([answer.status, answer.proto_error.code], ["failed", "CONFLICT"]);
    bench.effect = undefined;
    assert.is((await call(seller, "create_media_buy", buyRequest())).status, "completed");
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

  test("an order whose reports could not be sent is not made", async ({ seller, bench }) => {
    const short = { schemes: ["HMAC-SHA256"], credentials: "a".repeat(40) };
    const daily = { url: "https://buyer.example/reports", reporting_frequency: "daily" };
    const webhooks = [
      { ...daily, url: "https://127.0.0.1/reports" },
      { ...daily, authentication: short },
    ];
    for (const [at, reporting] of webhooks.entries())
      for (const product of ["prod_ctv_evening", "prod_later"]) {
        const key = `key-${product}-${at}-0123456789`;
        const order = buyRequest(product, { reporting_webhook: reporting, idempotency_key: key });
        const { proto_error: error } = await call(seller, "create_media_buy", order);
        assert.match(`${error.code} ${error.field}`, /^INVALID_REQUEST reporting_webhook\.(url|authentication)/);
      }
    assert.is(bench.runs, 0);
  });
}

/** The channels of a buy. */
function buys(test: Case): void {
  test("a buy's channels open with it, and what was fired is shown to its buyer", async (context) => {
    const { seller, sender, network, clock, bench } = context;
    const reporting = { url: "https://buyer.example/hooks/reports", reporting_frequency: "daily" };
    const request = buyRequest("prod_later", { push_notification_config: push, reporting_webhook: reporting });
    await call(seller, "create_media_buy", request);
    await until(() => network.sent.some((one) => one.body.status === "completed"));
    await noneOut(sender);
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
}

/** What of its sender a seller declares. */
function declared(test: Case): void {
  test("a coalescence window is declared in whole seconds, and no shorter than it is", async ({
    store,
    clock,
    network,
    bench,
  }) => {
    const options = { ...optionsFor(clock, network), coalescence: { impairment: 1_500 }, store };
    const seller = await openSeller<never>(bench, { store, sender: await createSender(options as never) });
    const { webhooks } = await call(seller, "get_agent_capabilities", {});
    assert.equal(webhooks.coalescence_windows, [{ event_type: "impairment", max_seconds: 2 }]);
    await seller.close();
  });
}

export function tasksCase(of: SellerCase): void {
  const test = storeSuite(of, "tasks");
  for (const some of [work, kept, moves, lists, refusals, buys, declared]) some(test);
  test.run();
}
