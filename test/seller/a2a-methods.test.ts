/** The seller over A2A beyond a single call: streams, lists, cancellations, the profile, and what is no invocation. */
import path from "node:path";
import { ClientFactory } from "@a2a-js/sdk/client";
import BetterSqlite from "better-sqlite3";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Seller, UnfinishedTask } from "../../runtime/seller/index.js";
import { openAuth } from "../../runtime/seller/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { createStreams } from "../../runtime/transport/a2a/stream.js";
import { tempFolder } from "../support/release.js";
import { current, legacy, post, rpc, v1 } from "./a2a-suite.js";
import { type Bench, buyRequest, newBench, openSeller } from "./fixture.js";

interface Context {
  store: SqliteStore;
  bench: Bench;
  seller: Seller<never>;
}

const test = suite<Context>("methods of a2a");
const folder = tempFolder();
let count = 0;

test.before.each(async (context) => {
  count += 1;
  context.store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
  context.bench = newBench();
  context.seller = await openSeller(context.bench, { store: context.store });
});
test.after.each(async ({ seller, store }) => {
  await seller.close();
  await store.close();
});

const brief = { buying_mode: "brief", brief: "runners" };

// biome-ignore lint/suspicious/noExplicitAny: events of every kind
const eventsOf = (body: string): any[] =>
  body
    .split("\n\n")
    .filter(Boolean)
    .map((one) => JSON.parse(one.replace(/^data: /, "")));

test("a stream tells a task, its result and its end, in both generations", async ({ seller, bench }) => {
  let open = () => {};
  bench.gate = new Promise((resolve) => (open = resolve));
  const asked = [
    post(seller, "SendStreamingMessage", current("create_media_buy", buyRequest("prod_later")), v1),
    post(
      seller,
      "message/stream",
      legacy("create_media_buy", buyRequest("prod_later", { idempotency_key: "key-of-the-old-0123456789" })),
    ),
  ];
  open();
  const [now, old] = await Promise.all(asked);
  assert.match(String(now!.headers["content-type"]), /^text\/event-stream/);
  const fresh = eventsOf(now!.body).map(({ result }) => result);
  assert.is(fresh[0].task.status.state, "TASK_STATE_SUBMITTED");
  const artifact = fresh.find((one) => one.artifactUpdate).artifactUpdate.artifact;
  assert.ok(artifact.parts[0].data.media_buy_id);
  assert.is(fresh.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
  const before = eventsOf(old!.body).map(({ result }) => result);
  assert.equal([before[0].kind, before[0].status.state], ["task", "submitted"]);
  const last = before.at(-1);
  assert.equal([last.kind, last.status.state, last.final], ["status-update", "completed", true]);
  const direct = eventsOf((await post(seller, "SendStreamingMessage", current("get_products", brief), v1)).body);
  assert.equal([direct.length, direct[0].result.task.status.state], [1, "TASK_STATE_COMPLETED"]);
  const wrong = await post(seller, "SendStreamingMessage", { message: { parts: [] } }, v1);
  assert.is(wrong.json().error.code, -32602);
});

test("the official client follows a stream, and the seller's end ends it", async ({ bench, store }) => {
  const port = await freePort();
  const seller = await openSeller<never>(bench, { store, baseUrl: `http://127.0.0.1:${port}` });
  await seller.start({ port });
  const client = await new ClientFactory().createFromUrl(`http://127.0.0.1:${port}`);
  const kinds: string[] = [];
  const value = { skill: "create_media_buy", parameters: buyRequest("prod_manual") };
  const message = { messageId: "m", role: 1, parts: [{ content: { $case: "data", value } }] };
  for await (const event of client.sendMessageStream({ message } as never)) {
    kinds.push(event.payload?.$case ?? "");
    const id = event.payload?.$case === "task" ? event.payload.value.id : undefined;
    if (id !== undefined) await seller.task(id).working({ percentage: 1 } as never);
    else await seller.close();
  }
  assert.equal(kinds, ["task", "statusUpdate"]);
});

test("one caller holds so many streams open and no more, which is no other caller's loss", async () => {
  const closing = new AbortController();
  const task = { id: "t", tool: "x", status: "submitted", contextId: "c", data: {}, updatedAt: 1 } as const;
  const parts = { tasks: { find: async () => task }, closing: closing.signal, now: () => 0 };
  const streams = createStreams(parts as never);
  const waits: Promise<IteratorResult<unknown>>[] = [];
  const open = async (principal: string) => {
    const stream = streams.follow(task, { principal });
    assert.is((await stream.next()).done, false, "the task is told in any case");
    return stream.next();
  };
  for (let n = 0; n < 16; n++) {
    waits.push(open("buyer-1"));
    // Its second look is under way before the next stream is opened.
    await new Promise(setImmediate);
  }
  assert.is((await open("buyer-1")).done, true);
  waits.push(open("buyer-2"));
  await new Promise(setImmediate);
  closing.abort();
  const ended = await Promise.all(waits);
  assert.ok(ended.every(({ done }) => done === true));
});

test("tasks are listed for their caller, page by page, by context, state and time", async ({ seller }) => {
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const request = buyRequest("prod_manual", { idempotency_key: `key-of-task-${n}-0123456789` });
    ids.push((await rpc(seller, "SendMessage", current("create_media_buy", request), v1)).result.task.id);
  }
  await seller.task(ids[0]!).fail({ code: "IO_REQUIRED", message: "It was not signed." });
  const list = async (params: object) => (await rpc(seller, "ListTasks", params, v1)).result;
  const first = await list({ pageSize: 2 });
  assert.equal([first.tasks.length, first.totalSize, first.pageSize], [2, 3, 2]);
  const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
  assert.equal([rest.tasks.length, rest.nextPageToken], [1, ""]);
  const failed = await list({ status: "TASK_STATE_FAILED", includeArtifacts: true });
  assert.equal([failed.tasks.length, failed.tasks[0].id], [1, ids[0]]);
  assert.is(failed.tasks[0].artifacts[0].parts[0].data.errors[0].code, "IO_REQUIRED");
  assert.is((await list({ contextId: "c1" })).totalSize, 3);
  assert.is((await list({ contextId: "c2" })).totalSize, 0);
  assert.is((await list({ statusTimestampAfter: "2999-01-01T00:00:00Z" })).totalSize, 0);
  assert.is((await rpc(seller, "ListTasks", { pageToken: "x" }, v1)).error.code, -32602);
});

test("a task that waits for its caller can be canceled, others where the seller says so", async (context) => {
  const submit = async (seller: Seller<never>, key: string) => {
    const request = buyRequest("prod_manual", { idempotency_key: key });
    return (await rpc(seller, "SendMessage", current("create_media_buy", request), v1)).result.task.id as string;
  };
  const { seller, bench, store } = context;
  const id = await submit(seller, "key-to-cancel-1-0123456789");
  const busy = await rpc(seller, "CancelTask", { id }, v1);
  assert.equal([busy.error.code, /under way/.test(busy.error.message)], [-32002, true]);
  await (seller.task(id).inputRequired as (data: object) => Promise<void>)({ reason: "APPROVAL_REQUIRED" });
  assert.is((await rpc(seller, "CancelTask", { id }, v1)).result.status.state, "TASK_STATE_CANCELED");
  assert.is((await rpc(seller, "tasks/cancel", { id })).error.code, -32002, "it is over");
  assert.is((await rpc(seller, "CancelTask", { id: "none" }, v1)).error.code, -32001);
  const asked: UnfinishedTask[] = [];
  const cancelTask = (task: UnfinishedTask) => asked.push(task) > 0;
  const willing = await openSeller<never>(bench, { store, cancelTask });
  const other = await submit(willing, "key-to-cancel-2-0123456789");
  assert.is((await rpc(willing, "tasks/cancel", { id: other })).result.status.state, "canceled");
  assert.equal([asked[0]?.id, asked[0]?.tool], [other, "create_media_buy"]);
  await willing.close();
});

test("a cancellation that the database cannot write is the seller's fault, and its words stay with the seller", async (context) => {
  const { bench, store, seller } = context;
  const request = buyRequest("prod_manual", { idempotency_key: "key-to-cancel-3-0123456789" });
  const { id } = (await rpc(seller, "SendMessage", current("create_media_buy", request), v1)).result.task;
  const hasty = openSqliteStore({ path: store.database.where, busyTimeoutMs: 50 });
  const willing = await openSeller<never>(bench, {
    store: hasty,
    cancelTask: () => true,
    mode: "production",
    auth: openAuth,
  });
  const other = new BetterSqlite(store.database.where);
  other.exec("begin immediate");
  const { error } = await rpc(willing, "CancelTask", { id }, v1);
  other.exec("rollback");
  assert.is.not(error.code, -32002);
  assert.not.match(JSON.stringify(error), /\.db|process holds/);
  assert.is((await rpc(willing, "CancelTask", { id }, v1)).result.status.state, "TASK_STATE_CANCELED");
  other.close();
  await willing.close();
  await hasty.close();
});

test("words alone are refused with what to send instead", async ({ seller, bench }) => {
  const said = { parts: [{ text: "Buy me the evening product." }], messageId: "m", role: "ROLE_USER" };
  for (const method of ["SendMessage", "SendStreamingMessage"]) {
    const { error } = await rpc(seller, method, { message: said }, v1);
    assert.is(error.code, -32602);
    assert.match(error.message, /\{"data": \{"skill": "<name>", "input": .*create_media_buy/);
  }
  const old = { ...said, kind: "message", role: "user", parts: [{ kind: "text", text: "Buy." }] };
  assert.match((await rpc(seller, "message/send", { message: old })).error.message, /one of .*get_products/);
  assert.is(bench.runs, 0);
});

test("under the protocol's profile a call ends at once, and says itself what goes on", async ({ bench, store }) => {
  const uri = "https://protocol.example/extensions/proto/v3";
  const seller = await openSeller<never>(bench, { store, a2aProfile: { uri, required: true } });
  try {
    const { capabilities } = (await seller.app.inject("/.well-known/agent-card.json")).json();
    assert.equal([capabilities.extensions[0].uri, capabilities.streaming], [uri, true]);
    const active = { ...v1, "a2a-extensions": `https://other.example/x, ${uri}` };
    const data = { skill: "create_media_buy", input: buyRequest("prod_manual") };
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ data }] };
    const response = await post(seller, "SendMessage", { message }, active);
    assert.is(response.headers["a2a-extensions"], uri);
    const { task } = response.json().result;
    const body = task.artifacts[0].parts.at(-1).data;
    assert.equal([task.status.state, body.status], ["TASK_STATE_COMPLETED", "submitted"]);
    const asked = { data: { skill: "get_task_status", input: { task_id: body.task_id } } };
    const polled = await rpc(seller, "SendMessage", { message: { ...message, parts: [asked] } }, active);
    assert.is(polled.result.task.artifacts[0].parts[0].data.status, "submitted");
    const without = await rpc(seller, "SendMessage", { message }, v1);
    assert.equal([without.error.code, without.error.message.includes(uri)], [-32008, true]);
  } finally {
    await seller.close();
  }
});

test.run();
