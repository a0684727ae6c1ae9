/** The end of a kept call is told once, in the transaction that lets the call go, by however many processes and crashes. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { Database } from "../../runtime/db/types.js";
import { documentStore, openStore } from "../../runtime/store/index.js";
import type { Says } from "../support/agent.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { bought, PUBLIC_URL, SELLER, send } from "../support/receiver.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { failing, order, release, type Scene, withScene } from "./fixtures.js";
import { hooked } from "./hooked.js";

interface Kept {
  readonly url: string;
  /** Ends that were written down. */
  ends(): Promise<string[]>;
  /** Options by which a buyer keeps its calls here, and writes down their ends. */
  readonly options: Pick<BuyerOptions<typeof release>, "intents" | "ended">;
  close(): Promise<void>;
}

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

async function kept(engine: string): Promise<Kept> {
  const url = engine === "sqlite" ? `sqlite:${path.join(tempFolder(), "buyer.db")}` : await postgres.database();
  const store = await openStore(url);
  const database = store.database as Database;
  await database.execute("create table ends (what text)");
  return {
    url,
    ends: async () => (await database.execute<{ what: string }>("select what from ends")).map(({ what }) => what),
    options: {
      intents: documentStore(database),
      ended:
        ({ args }, { status }) =>
        (tx) =>
          database.within(tx, (q) =>
            q.run("insert into ends (what) values (?)", [`${args.po_number ?? "order"} ${status}`]),
          ) as never,
    },
    close: async () => store.close(),
  };
}

const beside = ({ agent, clock }: Scene, more: Partial<BuyerOptions<typeof release>>) =>
  createBuyer({
    ...{ release, agent: agent.mcp, allowLocal: true, now: () => clock.ms, pause: async () => undefined },
    ...more,
  });

const lost: Says = { drop: true };
const done: Says = { payload: { status: "completed", ...bought } };
const question: JsonObject = { status: "input-required", task_id: "task-1", context_id: "task-1", reason: "which?" };

for (const engine of ["sqlite", "postgres"]) {
  test(`${engine}: an end and its effect commit together, and what fails leaves the call to be carried on`, async () => {
    const { options, ends, close } = await kept(engine);
    let broken = true;
    const ended: typeof options.ended = async (call, end) => {
      const effect = await options.ended!(call, end);
      return async (tx: never) => {
        await effect!(tx);
        if (broken) throw new Error("killed before the commit");
      };
    };
    const sync: typeof options.ended = (call, end) => (tx) => {
      const written = (options.ended!(call, end) as (tx: never) => unknown)(tx);
      if (broken) throw new Error("killed before the commit");
      return written as never;
    };
    const own = { ...options, ended: engine === "sqlite" ? sync : ended };
    await withScene({ answer: () => done, buyer: own }, async (made) => {
      assert.is((await made.buyer.tools.create_media_buy(order)).answer.status, "completed");
      assert.equal([await ends(), (await made.buyer.unfinished.list()).length], [[], 1]);
      broken = false;
      const next = beside(made, own);
      assert.is((await next.resume())[0]?.answer.status, "completed");
      assert.equal([await ends(), await next.unfinished.list()], [["order completed"], []]);
      await next.close();
    });
    await close();
  });

  test(`${engine}: of two processes that carry on one call one is told of its end`, async () => {
    const { options, ends, close } = await kept(engine);
    const both = Promise.withResolvers<void>();
    let calls = 0;
    const answer = async (): Promise<Says> => {
      calls += 1;
      if (calls === 1) return lost;
      // Either has sent it before either is answered.
      if (calls === 3) both.resolve();
      await both.promise;
      return done;
    };
    await withScene({ answer, buyer: { ...options, retry: { attempts: 1 } } }, async (made) => {
      await made.buyer.tools.create_media_buy(order);
      const two = [beside(made, options), beside(made, options)];
      const [first = [], second = []] = await Promise.all(two.map((one) => one.resume()));
      assert.is(first.length + second.length, 1, "what another has ended is not among what comes back");
      assert.equal([await ends(), await made.buyer.unfinished.list()], [["order completed"], []]);
      for (const one of two) await one.close();
    });
    await close();
  });

  test(`${engine}: an answer of a process that comes too late is no second end`, async () => {
    const { options, ends, close } = await kept(engine);
    const answer = ({ args }: { args: JsonObject }): Says => (args.po_number === "7" ? done : { payload: question });
    await withScene({ answer, buyer: options }, async (made) => {
      const called = await made.buyer.tools.create_media_buy(order);
      const other = beside(made, options);
      const [again] = await other.resume();
      assert.is((await called.respond({ po_number: "7" })).answer.status, "completed");
      assert.is((await again!.respond({ po_number: "7" })).answer.status, "completed");
      assert.equal([await ends(), await other.unfinished.list()], [["7 completed"], []]);
      const keys = made.calls().flatMap(({ args }) => (args.po_number === "7" ? [args.idempotency_key] : []));
      assert.equal([keys.length, new Set(keys).size], [2, 1], "it is one answer");
      await other.close();
    });
    await close();
  });
}

test("a question that was answered is not asked again, nor its call's end told twice, before what came of the answer is known", async () => {
  const { options, ends, close } = await kept("sqlite");
  let answered = 0;
  // A seller that answers a repeated call with what has come of it since.
  const answer = ({ args }: { args: JsonObject }): Says => {
    if (args.po_number !== "7") return answered > 0 ? done : { payload: question };
    answered += 1;
    return answered <= 2 ? lost : done;
  };
  await withScene({ answer, buyer: { ...options, retry: { attempts: 1 } } }, async (made) => {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.is((await called.respond({ po_number: "7" })).answer.status, "failed");
    const next = beside(made, { ...options, retry: { attempts: 1 } });
    assert.equal(
      (await next.resume()).map(({ answer: { status } }) => status),
      ["failed"],
      "it is lost once more",
    );
    assert.equal([await ends(), (await next.unfinished.list()).length], [[], 2]);
    assert.equal(
      (await next.resume()).map(({ answer: { status } }) => status),
      ["completed"],
    );
    assert.equal([await ends(), await next.unfinished.list()], [["7 completed"], []]);
    await next.close();
  });
  await close();
});

test("an answer that is forgotten leaves its question to be asked again", async () => {
  const { options, close } = await kept("sqlite");
  const answer = ({ args }: { args: JsonObject }): Says => (args.po_number === "7" ? lost : { payload: question });
  await withScene({ answer, buyer: { ...options, retry: { attempts: 1 } } }, async (made) => {
    const called = await made.buyer.tools.create_media_buy(order);
    await called.respond({ po_number: "7" });
    const [, answered] = await made.buyer.unfinished.list();
    await made.buyer.unfinished.drop(answered!.idempotencyKey);
    const next = beside(made, options);
    assert.equal(
      (await next.resume()).map(({ answer: { status } }) => status),
      ["input-required"],
    );
    await next.close();
  });
  await close();
});

test("an answer that ends its task as failed is the end of its call", async () => {
  const { options, ends, close } = await kept("sqlite");
  const failed = failing({ code: "BUDGET_TOO_LOW", message: "more" }) as { payload: JsonObject };
  const answer = ({ args }: { args: JsonObject }): Says =>
    args.po_number === "7" ? { ...failed, payload: { ...failed.payload, task_id: "task-1" } } : { payload: question };
  await withScene({ answer, buyer: options }, async (made) => {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.is((await called.respond({ po_number: "7" })).answer.status, "failed");
    assert.equal([await ends(), await made.buyer.unfinished.list()], [["7 failed"], []]);
  });
  await close();
});

test("a refused answer to a question is not the end of its call, though it is waited for", async () => {
  const { options, ends, close } = await kept("sqlite");
  const answer = ({ args }: { args: JsonObject }): Says =>
    args.po_number === "7" ? failing({ code: "BUDGET_TOO_LOW", message: "more" }) : { payload: question };
  await withScene({ answer, buyer: options }, async (made) => {
    const called = await made.buyer.tools.create_media_buy(order);
    const refused = await called.respond({ po_number: "7" });
    assert.equal([refused.answer.status, (await refused.waitForCompletion()).status], ["failed", "failed"]);
    const left = await made.buyer.unfinished.list();
    assert.equal([await ends(), left.map(({ idempotencyKey }) => idempotencyKey)], [[], [called.idempotencyKey]]);
  });
  await close();
});

const submitted: Says = { payload: { status: "submitted", task_id: "task-1" } };

test("a task that is known stays known though the call that repeats it after a crash is not heard of", async () => {
  const { options, close } = await kept("sqlite");
  const answers = [submitted, lost];
  await withScene({ answer: () => answers.shift() ?? lost, buyer: options }, async (made) => {
    await made.buyer.tools.create_media_buy(order);
    const next = beside(made, { ...options, retry: { attempts: 1 } });
    assert.is((await next.resume())[0]?.answer.status, "failed");
    made.clock.ms += 3 * 86_400_000;
    const [again] = await next.resume();
    assert.equal([again?.answer.status, again?.answer.taskId], ["submitted", "task-1"]);
    await next.close();
  });
  await close();
});

const unsupported = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
const completed = (operationId: string | undefined): JsonObject => ({
  ...{ idempotency_key: "key-of-the-event-0123456789", operation_id: operationId, task_id: "task-1" },
  ...{ task_type: "create_media_buy", status: "completed", timestamp: "2026-04-18T14:00:00Z", result: bought },
});

for (const [how, polls, want] of [
  ["cannot be asked", [], ["order failed", "failed", 1]],
  [
    "is busy",
    [failing({ code: "RATE_LIMITED", message: "later", recovery: "transient" })],
    ["order completed", "completed", 2],
  ],
] as const)
  test(`a call whose end a handler had before a crash is let go, though its agent ${how}`, async () => {
    const { options, ends, close } = await kept("sqlite");
    const rest: Says[] = [...polls];
    let asked = 0;
    await hooked(
      ({ tool }) => {
        if (tool === "create_media_buy") return submitted;
        if (tool !== "get_task_status") return unsupported;
        asked += 1;
        const told: Says = { payload: { task_id: "task-1", status: "completed", result: { ...bought } } };
        return rest.shift() ?? (polls.length === 0 ? unsupported : told);
      },
      async ({ made, hooks, seen }) => {
        const called = await made.buyer.tools.create_media_buy(order);
        await send(hooks, completed(called.operationId));
        await until(() => seen.length === 1, "its handler has run");
        const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER };
        const next = beside(made, { ...options, webhooks });
        const [again] = await next.resume();
        const end = await again!.waitForCompletion();
        assert.equal([(await ends()).join(), end.status, asked], want);
        if (end.status === "failed")
          assert.match(JSON.stringify(end.data), /TASK_END_UNKNOWN.*"status":"completed".*"handled":true/);
        assert.equal(await next.unfinished.list(), []);
        await next.close();
      },
      { buyer: options },
    );
    await close();
  });

test.run();
