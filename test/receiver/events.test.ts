/** Events of accounts and agents: a route takes a set of kinds, what is unknown is kept and told, a challenge is answered. */
import { randomUUID } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { EventHandlers, ReceiverHandlers } from "../../runtime/receiver/index.js";
import { eventRelease, notification, type typedEvents } from "../support/event-release.js";
import { bought, envelope, errorOf, SELLER, type Setup, send, setup, signed, statusOf } from "../support/receiver.js";
import { until } from "../support/until.js";

const opened: Setup[] = [];

async function open(options: Parameters<typeof setup>[0] = {}): Promise<Setup> {
  const made = await setup({ ...options, release: eventRelease } as never);
  opened.push(made);
  await made.receiver.expect({ route: "/hooks/account", sender: SELLER, kind: "account" });
  await made.receiver.expect({ route: "/hooks/task", sender: SELLER, kind: "task" });
  return made;
}

test.after.each(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const status = (over: object = {}) =>
  notification("account.status_changed", { account_id: "acct-1", status: "active", ...over });
const route = "/hooks/account";

test("an account's route takes every kind there is for accounts; each goes to its handler", async () => {
  const calls: unknown[] = [];
  const handlers = {
    "account.status_changed": (body, { event, kind }) => void calls.push([event, kind, body.status]),
    "account.change_recorded": (body) => void calls.push(body.change_id),
    "capabilities.changed": () => undefined,
  } satisfies EventHandlers<typeof typedEvents, never>;
  const s = await open({ handlers: { events: handlers } as never });
  assert.is(statusOf(await send(s, status(), { route })), "accepted");
  const change = notification("account.change_recorded", { account_id: "acct-1", change_id: "chg-1" });
  assert.is(statusOf(await send(s, change, { route })), "accepted");
  await s.receiver.idle();
  assert.equal(calls, [["account.status_changed", "account", "active"], "chg-1"]);
  assert.is(s.seen.length, 0);
});

test("a kind that is unknown, or was not registered, is kept and told, and not refused", async () => {
  const s = await open();
  const events = ["account.status_changed"];
  await s.receiver.expect({ route: "/hooks/some", sender: SELLER, kind: "account", events });
  assert.is(statusOf(await send(s, notification("account.exploded", { why: 1 }), { route })), "accepted");
  const other = notification("account.change_recorded", { account_id: "a", change_id: "c" });
  assert.is(statusOf(await send(s, other, { route: "/hooks/some" })), "accepted");
  assert.is(statusOf(await send(s, { idempotency_key: "a-key-of-nothing-at-all" }, { route })), "accepted");
  await s.receiver.idle();
  const noted = s.seen.map(({ event, notes }) => [event, notes.map(({ code }) => code).join()]);
  assert.equal(noted, [
    ["account.exploded", "kind_unknown"],
    ["account.change_recorded", "kind_unregistered"],
    [null, "kind_unknown"],
  ]);
  assert.ok(s.logs.some((line) => line.includes("does not have; it is kept")));
});

test("what an account is told may come to a task's route: it is kept there too", async () => {
  const s = await open();
  assert.is(statusOf(await send(s, status(), { route: "/hooks/task" })), "accepted");
  await s.receiver.idle();
  assert.equal(
    s.seen.map(({ kind, event, notes }) => [kind, event, notes[0]?.code]),
    [["account", "account.status_changed", "kind_unregistered"]],
  );
});

test("a body that its kind's schema refuses is marked", async () => {
  const s = await open();
  await send(s, status({ status: 7 }), { route });
  await s.receiver.idle();
  assert.equal(
    s.seen[0]!.notes.map(({ code, pointer }) => [code, pointer]),
    [["schema_mismatch", "/status"]],
  );
});

test("kinds that are none are refused where they are registered", async () => {
  const s = await open();
  const wrong = { route: "/hooks/w", sender: SELLER, kind: "account" } as const;
  for (const events of [["capabilities.changed"], ["nope"], []]) {
    await s.receiver.expect({ ...wrong, events }).then(
      () => assert.unreachable("it was taken"),
      (error) => assert.is(error.code, "registration_invalid"),
    );
  }
  await s.receiver.expect({ ...wrong, kind: "agent", events: ["capabilities.changed"] });
});

test("a challenge is answered with what it asks, once for its signature, and kept nowhere", async () => {
  const s = await open();
  const challenge = { type: "webhook.challenge", challenge: "c".repeat(40), account_id: "a", subscriber_id: "b" };
  const request = await signed(s, challenge, { route });
  const answer = await s.receiver.handle(request);
  assert.is(answer.status, 200);
  assert.equal(JSON.parse(answer.body), { challenge: challenge.challenge });
  assert.is((await s.receiver.handle(request)).status, 401, "its nonce is used up");
  assert.is((await send(s, { ...challenge, challenge: "<script>" }, { route })).status, 400);
  assert.equal(await s.store.inbox.list(), []);
  assert.is((await send(s, challenge, { route: "/hooks/task" })).status, 400, "a task's route is asked nothing");
});

test("where a key stands for one payload, another one under it is 409; the same, however it is written, a duplicate", async () => {
  const s = await open();
  const body = status();
  assert.is(statusOf(await send(s, body, { route })), "accepted");
  const turned = Object.fromEntries(Object.entries(body).reverse());
  assert.is(statusOf(await send(s, turned, { route })), "duplicate");
  const other = await send(s, { ...body, status: "closed" }, { route });
  assert.equal([other.status, errorOf(other)], [409, "idempotency_key_conflict"]);
});

test("a payload that has no canonical form is known by its bytes", async () => {
  const s = await open();
  const text = JSON.stringify(status({ reason: "cut" }));
  for (const odd of [text.replace('"cut"', '"cut \\ud83d"'), text.replace('"cut"', "1e400")]) {
    const keyed = (key: string) => ({
      raw: Buffer.from(odd.replace(/"idempotency_key":"[^"]*"/, `"idempotency_key":"${key}"`)),
      route,
    });
    const key = randomUUID();
    assert.is(statusOf(await send(s, undefined, keyed(key))), "accepted");
    assert.is(statusOf(await send(s, undefined, keyed(key))), "duplicate");
    assert.is((await send(s, { ...status(), idempotency_key: key }, { route })).status, 409);
  }
});

test("while a key is being claimed, the same payload is asked to wait, and another one refused", async () => {
  const s = await open();
  const body = status();
  const gate = Promise.withResolvers<void>();
  const { accept } = s.store.inbox;
  let waiting = 0;
  Object.assign(s.store.inbox, {
    accept: async (arrival: never) => {
      waiting += 1;
      await gate.promise;
      return accept(arrival);
    },
  });
  const first = send(s, body, { route });
  await until(() => waiting === 1, "the first is being claimed");
  const same = await send(s, body, { route });
  assert.equal([same.status, same.headers["retry-after"]], [503, "1"]);
  assert.is((await send(s, { ...body, status: "closed" }, { route })).status, 409);
  gate.resolve();
  assert.is(statusOf(await first), "accepted");
  assert.is(statusOf(await send(s, body, { route })), "duplicate");
});

test("one change of an account is handled once, whatever keys it comes under", async () => {
  const s = await open();
  const change = notification("account.change_recorded", { account_id: "acct-1", change_id: "chg-1" });
  assert.is(statusOf(await send(s, change, { route })), "accepted");
  const again = { ...change, idempotency_key: "another-subscriber-00001", subscriber_id: "other" };
  assert.is(statusOf(await send(s, again, { route })), "duplicate");
  assert.is(
    statusOf(await send(s, { ...again, idempotency_key: "yet-another-key-00001", change_id: "chg-2" }, { route })),
    "accepted",
  );
  await s.receiver.idle();
  assert.is(s.seen.length, 2);
});

test("an end whose result is not what its tool answers ends nothing: it is told, and kept for a human", async () => {
  const s = await open();
  const sent = { task_id: "t-1", operation_id: undefined, status: "completed" };
  const wrong = await send(s, envelope({ ...sent, result: { media_buy_id: 7 } }), { route: "/hooks/task" });
  assert.equal([wrong.status, errorOf(wrong)], [400, "result_invalid"]);
  const [dead] = await s.store.inbox.list({ state: "dead" });
  assert.match(dead!.error!, /not what its release says: \//);
  assert.is(await s.store.task(SELLER, "t-1"), undefined);
  assert.is(statusOf(await send(s, envelope({ ...sent, result: bought }), { route: "/hooks/task" })), "accepted");
  await s.receiver.idle();
  assert.equal(
    s.seen.map(({ status: applied }) => applied),
    ["completed"],
  );
});

type Typed = ReceiverHandlers<(typeof eventRelease)["tools"], never, typeof typedEvents>;
const fallback = (): undefined => undefined;
const all: EventHandlers<typeof typedEvents, never> = {
  "account.status_changed": () => undefined,
  "account.change_recorded": () => undefined,
  "capabilities.changed": () => undefined,
};
const { "capabilities.changed": _, ...missing } = all;
// @ts-expect-error a kind of the release has no handler
export const unhandled: Typed = { fallback, events: missing };
// @ts-expect-error its body is not a string
export const misread: Typed = { fallback, events: { ...all, "account.status_changed": (body: string) => void body } };

test.run();
