/** Tasks that several go on with, cancel or list at the same time, on every store. */
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { Seller } from "../../runtime/seller/index.js";
import { until } from "../support/until.js";
import { current, rpc, v1 } from "./a2a-suite.js";
import { buyRequest, call, openSeller, sellerOptions } from "./fixture.js";
import { type Context, push, type SellerCase, storeSuite } from "./store-suite.js";

type Case = ReturnType<typeof storeSuite>;

const order = (budget: number, key: string, more: JsonObject = {}): JsonObject =>
  buyRequest("prod_asked", {
    ...{ packages: [{ product_id: "prod_asked", pricing_option_id: "po_cpm_fixed", budget }] },
    ...{ idempotency_key: `key-${key}-0123456789`, ...more },
  });

const codeIn = (answer: { proto_error?: { code: string } }): string | undefined => answer.proto_error?.code;

/** A question that is answered more than once. */
function answers(test: Case, of: SellerCase): void {
  test("a question that was answered before is no second order, at any instance", async ({ seller, other, bench }) => {
    const { task_id, context_id } = await call(seller, "create_media_buy", order(25_000, "first"));
    assert.is(context_id, task_id);
    const request = order(10_000, "answer", { context_id });
    assert.is((await call(seller, "create_media_buy", request)).status, "completed");
    assert.is((await call(other, "create_media_buy", request)).replayed, true);
    const again = await call(other, "create_media_buy", order(10_000, "again", { context_id }));
    assert.equal([again.status, codeIn(again), bench.made.length], ["failed", "CONFLICT", 1]);
    assert.is(
      (await call(other, "create_media_buy", order(10_000, "other"))).status,
      "completed",
      "an order of its own",
    );
    const unknown = order(10_000, "unknown", { context_id: "a conversation of the caller's own" });
    assert.is((await call(other, "create_media_buy", unknown)).status, "completed");
  });

  test("a task that asks nothing has no name for its conversation: carried along, the next order would be taken for an answer", async ({
    seller,
  }) => {
    const { status, task_id, context_id } = await call(seller, "create_media_buy", buyRequest("prod_manual"));
    assert.equal([status, typeof task_id, context_id], ["submitted", "string", undefined]);
  });

  test("of two answers to one question the second goes on with nothing, though another is asked by then", async (context) => {
    const { seller, other, entered, gate } = await asking(context, of);
    const made = () => of.notes(context.store as never);
    const { context_id } = await call(seller, "create_media_buy", order(1, "first"));
    const slow = call(other, "create_media_buy", order(5_000, "slow", { context_id }));
    await entered;
    assert.is((await call(seller, "create_media_buy", order(2, "quick", { context_id }))).status, "input-required");
    gate.resolve();
    const late = await slow;
    assert.equal([late.status, codeIn(late), await made()], ["failed", "CONFLICT", []]);
    const done = await call(seller, "create_media_buy", order(5_000, "third", { context_id }));
    assert.equal([done.status, await made()], ["completed", [context_id]]);
    await seller.close();
    await other.close();
  });
}

/** Two sellers that ask of every small order, and make others once the gate is open. */
async function asking({ store, sender, clock, bench }: Context, of: SellerCase) {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const { tools } = sellerOptions(bench);
  // biome-ignore lint/suspicious/noExplicitAny: one context for replies of every kind
  const create = async (request: any, ctx: any) => {
    if (request.packages[0].budget < 100) return ctx.inputRequired({ reason: "CLARIFICATION_NEEDED" });
    entered.resolve();
    await gate.promise;
    ctx.effect((tx: never) => of.note(tx, ctx.taskId));
    return tools.create_media_buy!(buyRequest() as never, ctx);
  };
  const more = { store, sender, now: () => clock.at, tools: { ...tools, create_media_buy: create } };
  const [seller, other] = [await openSeller<never>(bench, more), await openSeller<never>(bench, more)];
  return { seller, other, gate, entered: entered.promise };
}

/** A task that is canceled while it is answered. */
function cancellations(test: Case): void {
  test("a question that is answered while it is being canceled goes on, since its work is under way", async (context) => {
    const { seller, store } = context;
    const { result } = await rpc(seller, "SendMessage", current("create_media_buy", buyRequest("prod_manual")), v1);
    const { id } = result.task;
    const task = seller.task(id);
    await (task.inputRequired as (data: object) => Promise<void>)({ reason: "APPROVAL_REQUIRED" });
    await betweenTransactions(store.database as never, 2, () => task.working({ percentage: 5 } as never));
    const canceled = await rpc(seller, "CancelTask", { id }, v1);
    assert.is(canceled.error?.code, -32002, JSON.stringify(canceled));
    await task.working({ percentage: 10 } as never);
  });
}

interface Writes {
  write(work: unknown): Promise<unknown>;
}

/** Does something once, after so many transactions of a database. */
async function betweenTransactions(database: Writes, after: number, work: () => Promise<unknown>): Promise<void> {
  const write = database.write.bind(database);
  let count = 0;
  database.write = async (flow) => {
    const done = await write(flow);
    count += 1;
    if (count !== after) return done;
    database.write = write;
    await work();
    return done;
  };
}

/** Submits orders, two of each millisecond. */
const submitted = async (seller: Seller<never>, context: { clock: { at: number } }, count: number, from = 0) => {
  const ids: string[] = [];
  for (let n = from; n < from + count; n++) {
    context.clock.at += n % 2;
    const request = buyRequest("prod_manual", { idempotency_key: `list-key-0123456-${n}` });
    ids.push((await call(seller, "create_media_buy", request)).task_id);
  }
  return ids;
};

/** Lists whose tasks change while they are read. */
function lists(test: Case): void {
  test("pages of a list skip no task and repeat none, whatever has ended or begun between them", async (context) => {
    const { seller, other } = context;
    const ids = await submitted(seller, context, 7);
    for (const direction of ["asc", "desc"]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < 10; page++) {
        const asked = {
          ...{ filters: { statuses: ["submitted"] }, sort: { field: "created_at", direction } },
          pagination: { max_results: 2, ...(cursor !== undefined && { cursor }) },
        };
        const { tasks, pagination } = await call(other, "list_tasks", asked);
        seen.push(...tasks.map(({ task_id }: { task_id: string }) => task_id));
        ({ cursor } = pagination);
        if (!pagination.has_more) break;
        // What has been read ends, and something begins.
        if (page === 0) await seller.task(seen[0]!).cancel();
        if (page === 0) await submitted(seller, context, 1, direction === "asc" ? 20 : 21);
      }
      assert.is(new Set(seen).size, seen.length, "none twice");
      const left = ids.filter((id) => !seen.includes(id));
      if (direction === "asc") assert.equal(left, [], "all that was there");
      else assert.equal(left.length, 1, "but the one that had ended before");
    }
  });

  test("the pages of a list over a2a repeat no task that has not changed", async (context) => {
    const { seller } = context;
    const asked = (key: string) => current("create_media_buy", buyRequest("prod_manual", { idempotency_key: key }));
    for (let n = 0; n < 5; n++) {
      context.clock.at += 1_000;
      await rpc(seller, "SendMessage", asked(`a2a-list-0123456-${n}`), v1);
    }
    const first = (await rpc(seller, "ListTasks", { pageSize: 2 }, v1)).result;
    await rpc(seller, "SendMessage", asked("a2a-list-0123456-5"), v1);
    const second = (await rpc(seller, "ListTasks", { pageSize: 3, pageToken: first.nextPageToken }, v1)).result;
    const ids = [...first.tasks, ...second.tasks].map(({ id }: { id: string }) => id);
    assert.equal([new Set(ids).size, second.nextPageToken], [5, ""]);
  });
}

/** Where pages begin. */
function cursors(test: Case): void {
  test("a cursor is of the order it was given in, and holds nothing that a database refuses", async (context) => {
    const { seller } = context;
    await submitted(seller, context, 3);
    const { pagination } = await call(seller, "list_tasks", { pagination: { max_results: 1 } });
    const read = async (cursor: string, sort: JsonObject = {}) =>
      codeIn(await call(seller, "list_tasks", { sort, pagination: { cursor } }));
    assert.is(await read(pagination.cursor), undefined);
    assert.is(await read(pagination.cursor, { field: "status" }), "INVALID_REQUEST");
    assert.is(await read(pagination.cursor, { direction: "asc" }), "INVALID_REQUEST");
    const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const bad of ["2", made(2), made(["created_at", "desc", "x", "y"]), made(["created_at", "desc", 1, "\0"])])
      assert.is(await read(bad), "INVALID_REQUEST", bad);
  });
}

/** What is told twice, by a webhook and by a poll. */
function times(test: Case): void {
  test("a change has one time, in its webhook and for who asks, so that it is known to be one", async (context) => {
    const { seller, network, clock } = context;
    let now = clock.at;
    // No two looks at the clock are of one millisecond.
    Object.defineProperty(clock, "at", { get: () => now++, set: (at) => (now = at) });
    const request = buyRequest("prod_manual", { push_notification_config: push });
    const { task_id: id } = await call(seller, "create_media_buy", request);
    const task = seller.task(id);
    const changes = [
      () => task.working({ percentage: 1 } as never),
      () => task.working({ percentage: 2 } as never),
      () => (task.inputRequired as (data: object) => Promise<void>)({ reason: "APPROVAL_REQUIRED" }),
      () => task.cancel(),
    ];
    for (const [index, change] of changes.entries()) {
      await change();
      const { updated_at } = await call(seller, "get_task_status", { task_id: id });
      await until(() => network.sent.length > index);
      assert.is(network.sent[index]?.body.timestamp, updated_at);
    }
  });
}

export function taskRacesCase(of: SellerCase): void {
  const test = storeSuite(of, "tasks at the same time");
  for (const some of [answers, cancellations, lists, cursors, times]) some(test, of);
  test.run();
}
