/** Work after an answer whose process is gone: taken up by one other, on every store. */
import * as assert from "uvu/assert";
import type { Database } from "../../runtime/db/types.js";
import type { Seller, UnfinishedTask } from "../../runtime/seller/index.js";
import { sellerDatabase } from "../../runtime/store/seller-tables.js";
import { until } from "../support/until.js";
import { buyRequest, call, openSeller } from "./fixture.js";
import { type Context, HOUR, passLeases, push, type SellerCase, storeSuite } from "./store-suite.js";

type Case = ReturnType<typeof storeSuite>;

/** Longer than work is its process's without news of it, in milliseconds. */
const GONE_MS = 31_000;

interface Heir {
  readonly seller: Seller<never>;
  /** What it took up. */
  readonly taken: UnfinishedTask[];
  readonly logged: string[];
}

/** Another instance that goes on with what others have left, and looks at once. */
async function heir({ bench, store, sender, clock }: Context, work?: () => unknown, aheadMs = 0): Promise<Heir> {
  const taken: UnfinishedTask[] = [];
  const logged: string[] = [];
  const note = (_of: object, message: string): void => void logged.push(message);
  const resume = async (task: UnfinishedTask) => {
    taken.push(task);
    return work === undefined ? { status: "canceled", data: {} } : work();
  };
  const logger = { debug: note, info: note, warn: note, error: note };
  const seller = await openSeller<never>(bench, { store, sender, now: () => clock.at + aheadMs, resume, logger });
  await seller.mount();
  return { seller, taken, logged };
}

/** An order whose work hangs until the gate opens. */
async function hanging({ seller, bench }: Context) {
  const gate = Promise.withResolvers<void>();
  bench.gate = gate.promise;
  const order = buyRequest("prod_later", { push_notification_config: push });
  const { task_id: id } = await call(seller, "create_media_buy", order);
  return { id: id as string, gate };
}

const statusOf = async (seller: Seller<never>, id: string): Promise<string> =>
  (await call(seller, "get_task_status", { task_id: id })).status;

const sentOf = ({ network }: Context): unknown[] => network.sent.map(({ body }) => body.status);

function taken(test: Case): void {
  test("work whose process is not heard of any more is taken up by one other", async (context) => {
    const { seller, sender, store } = context;
    const { id, gate } = await hanging(context);
    const early = await heir(context);
    const [{ heldUntil } = {}] = await seller.unfinished();
    assert.ok(Math.abs(heldUntil! - Date.now() - 30_000) < 5_000, `until ${heldUntil}, by the clock of the store`);
    // It goes on looking, and would take up at its next look what the later ones are asked about.
    await early.seller.close();
    await passLeases(store, GONE_MS);
    const { promise: canceled, resolve: cancel } = Promise.withResolvers<object>();
    const late = await Promise.all([heir(context, () => canceled), heir(context, () => canceled)]);
    const heirs = [early, ...late];
    await until(() => heirs.some((one) => one.taken.length > 0));
    // The first process was only slow: what it has to say counts no more.
    gate.resolve();
    await seller.close();
    assert.is(await statusOf(seller, id), "submitted");
    cancel({ status: "canceled", data: {} });
    await until(async () => (await statusOf(seller, id)) === "canceled");
    const all = heirs.flatMap((one) => one.taken);
    assert.equal(
      all.map((task) => [task.id, task.tool, task.principal, task.request.end_time]),
      [[id, "create_media_buy", "buyer-1", buyRequest().end_time]],
    );
    assert.equal(early.taken, [], "not while its process was heard of");
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    assert.equal(sentOf(context), ["canceled"]);
    for (const one of late) await one.seller.close();
  });

  test("work that is heard of is left to its process, and by a clock that was ahead for no longer than by any", async (context) => {
    const { seller, store } = context;
    const { id, gate } = await hanging(context);
    await passLeases(store, -86_400_000);
    const first = await heir(context);
    await until(async () => (await seller.unfinished())[0]!.heldUntil! <= Date.now() + 30_000);
    assert.equal(first.taken, []);
    gate.resolve();
    await until(async () => (await statusOf(seller, id)) === "completed");
    await passLeases(store, GONE_MS);
    const second = await heir(context);
    await second.seller.close();
    assert.equal([first.taken, second.taken], [[], []]);
    await first.seller.close();
  });

  test("work that is heard of is left to its process by those whose clocks are an hour ahead and behind", async (context) => {
    const { seller } = context;
    const { id, gate } = await hanging(context);
    const others = [await heir(context, undefined, HOUR), await heir(context, undefined, -HOUR)];
    const more = await heir(context, undefined, HOUR);
    for (const one of [...others, more]) await one.seller.close();
    const taken = [...others, more].flatMap((one) => one.taken);
    assert.equal(taken, []);
    gate.resolve();
    await until(async () => (await statusOf(seller, id)) === "completed");
  });
}

function renewed(test: Case): void {
  test("work that is heard of after it was found abandoned is its process's still", async (context) => {
    const { store } = context;
    const { id: taskId, gate } = await hanging(context);
    const { tables, transact } = sellerDatabase<never>(store.database as Database as Database<never>);
    const look = () => transact({ taskId }, (tx) => tables.abandonedTasks(tx, GONE_MS, 10));
    await passLeases(store, GONE_MS);
    const [found] = await look();
    await transact({ taskId }, (tx) => tables.holdTask(tx, { taskId, worker: found!.worker! }, GONE_MS));
    assert.equal(await transact({ taskId }, (tx) => tables.takeTask(tx, found!, "another", GONE_MS)), []);
    assert.equal(await look(), []);
    const worker = found!.worker!;
    const resumed = async (): Promise<number> => {
      const [row] = await transact({ taskId }, (tx) => tables.task(tx, taskId));
      return row!.resumptions;
    };
    await (store.database as Database).query((q) => q.run("update adbind_seller_tasks set resumptions = 3"));
    await transact({ taskId }, (tx) => tables.holdTask(tx, { taskId, worker }, GONE_MS));
    assert.is(await resumed(), 3);
    await transact({ taskId }, (tx) => tables.holdTask(tx, { taskId, worker }, GONE_MS, true));
    assert.is(await resumed(), 0, "work that has gone on for long ended nobody");
    gate.resolve();
  });
}

function left(test: Case): void {
  test("what waits for people or for its caller is nobody's work", async (context) => {
    const { seller, store } = context;
    await call(seller, "create_media_buy", buyRequest("prod_manual"));
    await call(seller, "create_media_buy", buyRequest("prod_asked"));
    await passLeases(store, GONE_MS);
    const one = await heir(context);
    await one.seller.close();
    assert.equal(
      [one.taken, (await seller.unfinished()).map(({ heldUntil }) => heldUntil)],
      [[], [undefined, undefined]],
    );
  });

  test("work that ended every process that took it up is left to people, and says so", async (context) => {
    const { seller, store } = context;
    const { gate } = await hanging(context);
    await (store.database as Database).query((q) => q.run("update adbind_seller_tasks set resumptions = 8"));
    await passLeases(store, GONE_MS);
    const { seller: one, taken, logged } = await heir(context);
    await until(() => logged.some((line) => line.includes("left to people")));
    await until(async () => (await seller.unfinished())[0]?.heldUntil === undefined);
    assert.equal(taken, []);
    gate.resolve();
    await one.close();
  });

  test("a failure of what was taken up ends the task, and is told without its inside", async (context) => {
    const { seller, store } = context;
    const { id, gate } = await hanging(context);
    await passLeases(store, GONE_MS);
    const one = await heir(context, () => {
      throw new Error("the ad server's password is hunter2");
    });
    await until(async () => (await statusOf(seller, id)) === "failed");
    const told = await call(seller, "get_task_status", { task_id: id });
    assert.not.match(JSON.stringify(told), /hunter2/);
    gate.resolve();
    await one.seller.close();
  });
}

export function resumedCase(of: SellerCase): void {
  const test = storeSuite(of, "work that is taken up");
  taken(test);
  renewed(test);
  left(test);
  test.run();
}
