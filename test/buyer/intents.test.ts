/** A crash between request and answer: what was about to be done is kept before it is done, and carried on once. */
import { spawn } from "node:child_process";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { documentStore, openSqliteStore } from "../../runtime/store/index.js";
import { type Says, startAgent } from "../support/agent.js";
import { tempFolder } from "../support/release.js";
import { capabilities, order, release, type SceneOptions, scene } from "./fixtures.js";

const storeFile = (): string => path.join(tempFolder(), "buyer.db");
const bought: Says = { payload: { status: "completed", media_buy_id: "mb1", packages: [] } };

const codeOf = (called: { answer: { data: unknown } } | undefined): unknown =>
  (called?.answer.data as { errors?: { code: string }[] } | undefined)?.errors?.[0]?.code;

test("a buyer killed between request and answer carries its call on, with its key and payload", async () => {
  const reached = Promise.withResolvers<void>();
  let answers = false;
  const agent = await startAgent({
    answer: ({ tool }) => {
      if (tool === "get_agent_capabilities") return { payload: capabilities() };
      if (answers) return bought;
      reached.resolve();
      return new Promise<Says>(() => {});
    },
  });
  const file = storeFile();
  const child = spawn(
    process.execPath,
    [...process.execArgv, path.join(import.meta.dirname, "intents-child.ts"), agent.mcp, file],
    { stdio: "inherit" },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await Promise.race([reached.promise, ended]);
  child.kill("SIGKILL");
  await ended;
  answers = true;
  const store = openSqliteStore({ path: file });
  const buyer = createBuyer({ release, agent: agent.mcp, allowLocal: true, intents: documentStore(store.database) });
  try {
    const [left, ...others] = await buyer.unfinished.list();
    assert.equal([left?.tool, left?.status, others], ["create_media_buy", undefined, []]);
    const [called] = await buyer.resume();
    assert.is(called?.answer.status, "completed");
    const [first, second, ...more] = agent.heard.filter(({ tool }) => tool === "create_media_buy");
    assert.equal(more, []);
    assert.equal(second?.args, first?.args);
    assert.is(called?.idempotencyKey, first?.args.idempotency_key);
    assert.equal(await buyer.unfinished.list(), []);
  } finally {
    await buyer.close();
    await store.close();
    await agent.close();
  }
});

async function withIntents(options: SceneOptions, job: (made: Awaited<ReturnType<typeof scene>>) => Promise<void>) {
  const store = openSqliteStore({ path: storeFile() });
  const intents = documentStore(store.database);
  const made = await scene({ ...options, buyer: { intents, ...options.buyer } });
  try {
    await job(made);
  } finally {
    await made.close();
    await store.close();
  }
}

test("what goes on is kept with its task until it has ended, and what has ended is not", () =>
  withIntents(
    {
      answer: ({ tool }) =>
        tool === "get_task_status"
          ? { payload: { task_id: "t1", status: "completed", result: bought.payload } }
          : { payload: { status: "submitted", task_id: "t1" } },
    } as SceneOptions,
    async ({ buyer }) => {
      const called = await buyer.call("create_media_buy", order);
      const [kept] = await buyer.unfinished.list();
      assert.equal([kept?.status, kept?.taskId, kept?.idempotencyKey], ["submitted", "t1", called.idempotencyKey]);
      assert.is((await called.waitForCompletion()).status, "completed");
      assert.equal(await buyer.unfinished.list(), []);
      await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
      assert.equal(await buyer.unfinished.list(), [], "reading is not kept");
    },
  ));

test("what an agent would not know again is not sent again, and says so", () =>
  withIntents({ answer: () => ({ drop: true }), buyer: { retry: { attempts: 1 } } }, async (made) => {
    const { buyer, clock } = made;
    await buyer.call("create_media_buy", order);
    const sent = made.calls().length;
    clock.ms += 86_400_000;
    buyer.refresh();
    assert.is(codeOf((await buyer.resume())[0]), "INTENT_NOT_REPEATABLE");
    assert.is(made.calls().length, sent);
    const [left] = await buyer.unfinished.list();
    await buyer.unfinished.drop(left!.idempotencyKey);
    assert.equal(await buyer.resume(), []);
  }));

test("a task that is known is waited for, though its agent has let the key of its call go", () =>
  withIntents(
    {
      answer: ({ tool }) =>
        tool === "get_task_status"
          ? { payload: { task_id: "t1", status: "completed", result: bought.payload } }
          : { payload: { status: "submitted", task_id: "t1" } },
    } as SceneOptions,
    async (made) => {
      const { buyer, clock } = made;
      await buyer.call("create_media_buy", order);
      clock.ms += 3 * 86_400_000;
      buyer.refresh();
      const [called, ...others] = await buyer.resume();
      assert.equal([called?.answer.status, called?.answer.taskId, others], ["submitted", "t1", []]);
      const ended = await called!.waitForCompletion();
      assert.equal([ended.status, (ended.data as JsonObject).media_buy_id], ["completed", "mb1"]);
      assert.is(made.calls().filter(({ tool }) => tool === "create_media_buy").length, 1);
      assert.equal(await buyer.unfinished.list(), []);
    },
  ));

test("what cannot be kept is not done", async () => {
  const intents = { list: async () => [], commit: () => Promise.reject(new Error("the disk is full")) };
  const made = await scene({ buyer: { intents } as JsonObject as never });
  try {
    assert.is(codeOf(await made.buyer.call("create_media_buy", order)), "INTENT_NOT_KEPT");
    assert.equal(made.calls(), []);
    assert.is((await made.buyer.call("get_products", { buying_mode: "brief", brief: "b" })).answer.status, "completed");
  } finally {
    await made.close();
  }
});

test.run();
