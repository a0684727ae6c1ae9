/** The seller over A2A, before the official client and as 0.3 clients write. */

import path from "node:path";
import { ClientFactory } from "@a2a-js/sdk/client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Seller, tokenAuth } from "../../runtime/seller/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { current, legacy, rpc, v1 } from "./a2a-suite.js";
import { type Bench, buyRequest, call, newBench, openSeller } from "./fixture.js";

interface Context {
  store: SqliteStore;
  bench: Bench;
  network: FakeNetwork;
  sender: Sender;
  seller: Seller<never>;
}

const test = suite<Context>("seller over a2a");
const folder = tempFolder();
let count = 0;

test.before.each(async (context) => {
  count += 1;
  context.store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
  context.bench = newBench();
  const clock = { at: NOW };
  context.network = new FakeNetwork(clock);
  context.sender = (await createSender({
    ...optionsFor(clock, context.network),
    store: context.store,
  } as never)) as never;
  context.sender.start();
  context.seller = await openSeller(context.bench, { store: context.store, sender: context.sender });
});
test.after.each(async ({ seller, sender, store }) => {
  await seller.close();
  await sender.stop();
  await store.close();
});

test("the official client finds the card and calls a skill", async (context) => {
  const { bench, store } = context;
  // The card names where it is reached, so the port must be known before it is made.
  const port = await freePort();
  const seller = await openSeller<never>(bench, { store, baseUrl: `http://127.0.0.1:${port}` });
  await seller.start({ port });
  try {
    const client = await new ClientFactory().createFromUrl(`http://127.0.0.1:${port}`);
    const data = { skill: "get_products", parameters: { buying_mode: "brief", brief: "runners", context: { t: 1 } } };
    // biome-ignore lint/suspicious/noExplicitAny: a task or a message
    const task: any = await client.sendMessage({
      message: {
        messageId: "m1",
        contextId: "",
        taskId: "",
        role: 1,
        parts: [{ content: { $case: "data", value: data }, metadata: undefined, filename: "", mediaType: "" }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
      configuration: undefined,
      metadata: undefined,
      tenant: "",
    } as never);
    const shown = task.payload?.value ?? task;
    const { value } = shown.artifacts[0].parts[0].content;
    assert.is(value.products[0].product_id, "prod_ctv_evening");
    assert.equal(value.context, { t: 1 });
  } finally {
    await seller.close();
  }
});

test("what is final is an artifact, in both generations", async ({ seller }) => {
  const parameters = { buying_mode: "brief", brief: "b", context: { a: 1 } };
  const old = await rpc(seller, "message/send", legacy("get_products", parameters));
  assert.is(old.result.kind, "task");
  assert.is(old.result.status.state, "completed");
  assert.is(old.result.contextId, "c1");
  assert.equal(old.result.artifacts[0].parts[0].data.context, { a: 1 });
  const { result } = await rpc(seller, "SendMessage", current("get_products", parameters), v1);
  assert.is(result.task.status.state, "TASK_STATE_COMPLETED");
  assert.is(result.task.artifacts[0].parts[0].data.products.length, 1);
});

test("a failure is a failed task with the envelope in its artifact", async ({ seller }) => {
  const { result } = await rpc(seller, "SendMessage", current("create_media_buy", { context: { a: 1 } }), v1);
  assert.is(result.task.status.state, "TASK_STATE_FAILED");
  const { data } = result.task.artifacts[0].parts[0];
  assert.is(data.proto_error.code, "INVALID_REQUEST");
  assert.equal(data.context, { a: 1 });
  const unknown = await rpc(seller, "SendMessage", current("drop_tables", {}), v1);
  assert.is(unknown.result.task.artifacts[0].parts[0].data.proto_error.code, "UNSUPPORTED_FEATURE");
});

test("a task goes on: its webhooks have the shape of the channel they were registered by", async (context) => {
  const { seller, network } = context;
  const push = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };
  const native = { url: "https://buyer.example/hooks/native" };
  const request = buyRequest("prod_later");
  const { result } = await rpc(
    seller,
    "SendMessage",
    current("create_media_buy", request, { pushNotificationConfig: push, taskPushNotificationConfig: native }),
    v1,
  );
  const { task } = result;
  assert.is(task.status.state, "TASK_STATE_SUBMITTED");
  assert.is(task.status.message.parts[0].data.task_id, task.id);
  assert.is(task.artifacts, undefined);
  await until(
    () => network.sent.filter(({ body }) => (body.status?.state ?? body.status) === "completed").length === 2,
  );
  const last = (url: string) => network.sent.findLast((one) => one.url === url)?.body;
  assert.equal(
    [last(push.url).status, last(push.url).operation_id, last(push.url).task_id],
    ["completed", "op-1", task.id],
  );
  assert.equal([last(native.url).status.state, last(native.url).id], ["completed", task.id]);
  const later = await rpc(seller, "GetTask", { id: task.id }, v1);
  assert.is(later.result.status.state, "TASK_STATE_COMPLETED");
  assert.ok(later.result.artifacts[0].parts[0].data.media_buy_id);
  assert.is((await rpc(seller, "tasks/get", { id: task.id })).result.status.state, "completed");
  assert.is((await call(seller, "get_task_status", { task_id: task.id }, "anonymous")).status, "completed");
});

test("events of a buy follow its push_notification_config over A2A too, and no native registration", async (context) => {
  const { seller, sender, network } = context;
  const push = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };
  const native = { url: "https://buyer.example/hooks/native" };
  const registered = { pushNotificationConfig: push, taskPushNotificationConfig: native };
  for (const [product, key] of [
    ["prod_ctv_evening", "channel-at-once-1"],
    ["prod_later", "channel-later-0001"],
  ] as const) {
    const request = buyRequest(product, { idempotency_key: key });
    const { result } = await rpc(seller, "SendMessage", current("create_media_buy", request, registered), v1);
    const bought = async () => (await rpc(seller, "GetTask", { id: result.task.id }, v1)).result ?? result.task;
    const artifact = result.task.artifacts ?? [];
    if (artifact.length === 0) await until(async () => (await bought()).status.state === "TASK_STATE_COMPLETED");
    const { data } = (artifact[0] ?? (await bought()).artifacts[0]).parts[0];
    await sender.channels.impairment(data.media_buy_id, { notificationId: key, eventType: "fraud", impairment: {} });
    await until(() => network.sent.some(({ body }) => body.notification_id === key), key);
  }
  const told = network.sent.filter(({ body }) => body.notification_id !== undefined);
  assert.equal(
    told.map(({ url }) => url),
    [push.url, push.url],
  );
});

test("a native registration may come later, change and go", async ({ seller, network }) => {
  for (const [method, wrap] of [
    ["CreateTaskPushNotificationConfig", (taskId: string, url: string) => ({ taskId, id: "", url })],
    [
      "tasks/pushNotificationConfig/set",
      (taskId: string, url: string) => ({ taskId, pushNotificationConfig: { url } }),
    ],
  ] as const) {
    const headers: Record<string, string> = method.includes("/") ? {} : v1;
    const key = `native-${method.replaceAll("/", "-")}`;
    const request = buyRequest("prod_manual", { idempotency_key: key });
    const { result } = await rpc(seller, "SendMessage", current("create_media_buy", request), v1);
    const { id } = result.task;
    const inward = await rpc(seller, method, wrap(id, "http://169.254.169.254/x"), headers);
    assert.ok(inward.error, method);
    const url = `https://buyer.example/${key}`;
    assert.is((await rpc(seller, method, wrap(id, url), headers)).error, undefined, method);
    const kept = await rpc(seller, "ListTaskPushNotificationConfigs", { taskId: id }, v1);
    assert.is(kept.result.configs[0].url, url);
    await seller.task(id).fail({ code: "IO_REQUIRED", message: "It was not signed." });
    await until(() => network.sent.some((one) => one.url === url));
    const event = network.sent.find((one) => one.url === url)?.body;
    assert.equal([event.id, event.status.state], [id, "failed"]);
  }
  const gone = await rpc(
    seller,
    "CreateTaskPushNotificationConfig",
    { taskId: "none", id: "", url: "https://a.example" },
    v1,
  );
  assert.is(gone.error.code, -32001);
});

test("one key is one call, whichever transport it comes by", async ({ seller, bench }) => {
  const first = await call(seller, "create_media_buy", buyRequest(), "anonymous");
  const { result } = await rpc(seller, "message/send", legacy("create_media_buy", buyRequest()));
  const { data } = result.artifacts[0].parts[0];
  assert.equal([data.media_buy_id, data.replayed], [first.media_buy_id, true]);
  assert.is(bench.runs, 1);
});

test("what is not offered or not there is an error of the transport", async ({ seller }) => {
  assert.is((await rpc(seller, "GetTask", { id: "task-none" }, v1)).error.code, -32001);
  assert.is((await rpc(seller, "tasks/get", { id: "task-none" })).error.code, -32001);
  assert.is((await rpc(seller, "NoSuchMethod", {}, v1)).error.code, -32601);
  for (const payload of ["[]", '"text"', "null", "{", "[".repeat(5_000)]) {
    const response = await seller.app.inject({
      method: "POST",
      url: "/a2a",
      headers: { "content-type": "application/json" },
      payload,
    });
    assert.is(response.statusCode, 400, payload.slice(0, 8));
  }
  assert.is((await rpc(seller, "message/send", { message: 5 })).error !== undefined, true);
  const { skills } = (await seller.app.inject("/.well-known/agent-card.json")).json();
  assert.ok(skills.some(({ id }: { id: string }) => id === "create_media_buy"));
});

test("a message goes on with a task of its caller and its operation alone, and only where that waits", async (context) => {
  const auth = tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1", "key-of-buyer-2": "buyer-2" } });
  const seller = await openSeller<never>(context.bench, { store: context.store, auth });
  try {
    const send = (skill: string, taskId: unknown, args: object, caller = "key-of-buyer-1") => {
      const { message } = current(skill, args);
      const headers = { ...v1, authorization: `Bearer ${caller}` };
      return rpc(seller, "SendMessage", { message: { ...message, taskId } }, headers);
    };
    const brief = { buying_mode: "brief", brief: "b" };
    const { result } = await send("create_media_buy", "", buyRequest("prod_manual"));
    const { id, status } = result.task;
    assert.is(status.state, "TASK_STATE_SUBMITTED");
    const again = buyRequest("prod_ctv_evening");
    const refusals = [
      await send("create_media_buy", id, again, "key-of-buyer-2"),
      await send("create_media_buy", "no-such-task", again),
      await send("create_media_buy", "x".repeat(300), again),
      await send("create_media_buy", id, again),
      await send("create_media_buy", { id }, again),
    ];
    const notFound = -32001;
    const [unsupported, malformed] = [-32004, -32602];
    const codes = [notFound, notFound, notFound, unsupported, malformed];
    assert.equal(
      refusals.map(({ error }) => error?.code),
      codes,
    );
    assert.is(context.bench.runs, 1, "nothing was run");
    await (seller.task(id).inputRequired as (data: object) => Promise<void>)({ reason: "APPROVAL_REQUIRED" });
    const beside = (await send("get_products", id, brief)).result?.task;
    assert.is(beside?.status.state, "TASK_STATE_COMPLETED", "another operation is a call of its own");
    assert.is.not(beside?.id, id);
    const taken = await send("create_media_buy", id, again);
    assert.is(taken.result?.task.status.state, "TASK_STATE_COMPLETED", JSON.stringify(taken));
  } finally {
    await seller.close();
  }
});

test.run();
