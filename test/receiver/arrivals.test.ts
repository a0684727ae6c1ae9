/** What becomes of events that were signed well: accepted once, matched to their task, in order, kept for later. */
import * as assert from "uvu/assert";
import { envelope, goBy, keysOf, SELLER, sellerKey, send, signed, statusOf, TOKEN } from "../support/receiver.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("arrivals");

test("a signed event is accepted once; its retries are duplicates and no-ops", async ({ open }) => {
  const s = await open();
  const body = envelope();
  const first = await send(s, body);
  assert.is(first.status, 200);
  assert.is(statusOf(first), "accepted");
  const again = await send(s, body);
  assert.is(again.status, 200);
  assert.is(statusOf(again), "duplicate");
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
  assert.equal(s.seen[0]!.body, body);
  assert.is(s.seen[0]!.operationId, "op-1");
  assert.is(s.seen[0]!.timestamp, "2026-04-18T14:00:00.000000000Z");
});

test("a buy's impairments come to the place its task was registered for, and are no events of the task", async ({
  open,
}) => {
  const impaired: unknown[] = [];
  const s = await open({
    handlers: { impairment: (_body, { kind, notificationId }) => void impaired.push([kind, notificationId]) },
  });
  await send(s, envelope({ status: "completed" }));
  const impairment = {
    idempotency_key: "7c3f8a52-0f5c-4b8e-9d3d-0c8d52f4a0f1",
    operation_id: "op-1",
    notification_id: "imp-1",
    notification_type: "impairment",
    media_buy_id: "mb-1",
    timestamp: "2026-04-18T13:00:00Z",
    result: { impairment_id: "imp-1" },
  };
  assert.is(statusOf(await send(s, impairment)), "accepted");
  assert.is(statusOf(await send(s, impairment)), "duplicate");
  await s.receiver.idle();
  assert.equal(impaired, [["impairment", "imp-1"]]);
  const enveloped = { ...impairment, idempotency_key: "another-key-of-16-chars", status: "working", task_id: "imp-t" };
  assert.is(statusOf(await send(s, enveloped)), "accepted", "releases give it a task's envelope");
  await s.receiver.idle();
  assert.is(impaired.length, 2);
});

test("operation_id may be missing only where a registration had none", async ({ open }) => {
  const s = await open();
  await s.receiver.expect({ route: "/hooks/any", sender: SELLER, kind: "task" });
  assert.is((await send(s, envelope({ operation_id: undefined }), { route: "/hooks/any" })).status, 200);
});

test("correlation is by operation_id in the body, never by the URL", async ({ open }) => {
  const s = await open();
  const route = "/hooks/op-2?operation_id=op-3";
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-1", token: TOKEN });
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-2" });
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-3" });
  assert.is((await send(s, envelope({ operation_id: "op-1" }), { route })).status, 401, "op-1 needs its token");
  assert.is((await send(s, envelope({ operation_id: "op-1", token: TOKEN }), { route })).status, 200);
  await s.receiver.idle();
  assert.is(s.seen[0]!.operationId, "op-1");
});

test("a query is part of a route where it was registered with one, and ignored where not", async ({ open }) => {
  const s = await open();
  await s.receiver.expect({ route: "/hooks/q?k=1", sender: SELLER, kind: "task", operationId: "op-1" });
  assert.is((await send(s, envelope(), { route: "/hooks/q?k=1" })).status, 200);
  assert.is((await send(s, envelope(), { route: "/hooks/q?k=2" })).status, 404);
  assert.is((await send(s, envelope({ task_id: "t-2" }), { route: "/hooks/a?any=thing" })).status, 200);
  for (const target of [
    "*",
    "http://hooks.buyer.example/hooks/a",
    "/hooks/\u0000",
    "/hööks",
    "",
    `/${"x".repeat(3000)}`,
  ]) {
    const answer = await s.receiver.handle({ ...(await signed(s, envelope())), target });
    assert.is(answer.status, 404, target);
  }
});

test("a changed body under one key: 200, the first copy holds, and it is noticed", async ({ open }) => {
  const s = await open();
  const body = envelope();
  await send(s, body);
  const answer = await send(s, { ...body, message: "other" });
  assert.is(statusOf(answer), "duplicate");
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
  assert.ok(s.logs.some((line) => line.includes("another body")));
});

test("what is not newer is answered 200 and not applied; a terminal state is final", async ({ open }) => {
  const s = await open();
  s.clock.ms += 4 * 3_600_000;
  const at = (timestamp: string, status = "working") => send(s, envelope({ timestamp, status }));
  assert.is(statusOf(await at("2026-04-18T14:00:10Z")), "accepted");
  assert.is(statusOf(await at("2026-04-18T16:00:10+02:00")), "stale", "the same instant");
  assert.is(statusOf(await at("2026-04-18T14:00:10.000001Z")), "accepted", "a microsecond later");
  assert.is(statusOf(await at("2026-04-18T15:00:09+00:00", "completed")), "accepted");
  assert.is(statusOf(await at("2026-04-18T17:00:00Z")), "stale");
  assert.is(statusOf(await at("2026-04-18T17:00:01Z", "failed")), "stale");
  await s.receiver.idle();
  assert.equal(
    s.seen.map((delivery) => delivery.status),
    ["working", "working", "completed"],
  );
  assert.ok(s.logs.some((line) => line.includes("ended otherwise")));
});

test("an event before its registration is parked and handled when it comes", async ({ open }) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope({ operation_id: "later" }))), "accepted");
  await s.receiver.idle();
  assert.is(s.seen.length, 0);
  const released = await s.receiver.expect({
    ...{ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "later", taskType: "create_media_buy" },
  });
  assert.is(released, 1);
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
});

test("a full keyspace is 429, with the sender's duplicates still answered 200", async ({ open }) => {
  const s = await open({ senderCap: 2 });
  const [one, two] = [envelope({ task_id: "t-1" }), envelope({ task_id: "t-2" })];
  await send(s, one);
  await send(s, two);
  const refused = await send(s, envelope({ task_id: "t-3" }));
  assert.is(refused.status, 429);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.is(statusOf(await send(s, one)), "duplicate");
  await goBy(s, 86_400_000);
  assert.is((await send(s, envelope({ task_id: "t-3" }))).status, 200);
});

test("when keys or the store cannot be reached the answer is 503, and the same event is accepted later", async ({
  open,
}) => {
  let down = true;
  const key = sellerKey();
  const real = keysOf(SELLER, key);
  const keys = {
    resolve: (kid: string) => (down ? { ok: false as const, code: "unavailable" as const } : real.resolve(kid)),
  };
  const s = await open({ senderConfig: { keys } });
  const body = envelope();
  const refused = await send(s, body, { key });
  assert.is(refused.status, 503);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  down = false;
  const { accept } = s.store.inbox;
  (s.store.inbox as { accept: unknown }).accept = async () => {
    throw new Error("disk");
  };
  assert.is((await send(s, body, { key })).status, 503);
  (s.store.inbox as { accept: unknown }).accept = accept;
  assert.is(statusOf(await send(s, body, { key })), "accepted");
});

test.run();
