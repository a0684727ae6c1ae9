/** What every store must do: one body, run against each. */
import { randomBytes } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AcceptOutcome, Arrival, Effect, NewEvent, Store } from "../../runtime/store/types.js";
import { arrival, DAY_SECONDS, NOW, newEvent, registration, SELLER } from "./events.js";

export interface StoreCase<Tx> {
  readonly name: string;
  /** Another handle on the same, fresh database as long as `reset` is not called. */
  open(): Promise<Store<Tx>>;
  reset(): Promise<void>;
  /** An effect that inserts `value` into a table of the application, made here on first use. */
  record(value: string): Effect<Tx>;
  recorded(store: Store<Tx>): Promise<string[]>;
}

const ordered = (taskId: string, second: number, status = "working", terminal = false): Arrival => {
  const instant = `2026-04-18T14:00:${String(second).padStart(2, "0")}.000000000`;
  return arrival(newEvent({ taskId, instant, status }), { order: { instant, status, terminal } });
};

const accepted = (outcome: AcceptOutcome) => {
  assert.is(outcome.outcome, "accepted");
  return outcome as Extract<AcceptOutcome, { outcome: "accepted" }>;
};

export function storeCase<Tx>({ name, open, reset, record, recorded }: StoreCase<Tx>): void {
  const test = suite<{ store: Store<Tx> }>(name);
  test.before.each(async (context) => {
    await reset();
    context.store = await open();
  });
  test.after.each(async (context) => context.store.close());

  const take = (store: Store<Tx>, owner: string, now = NOW, limit = 100) =>
    store.inbox.take({ owner, until: now + 30_000, now, limit });

  test("a key is accepted once, and its duplicate is known by its body", async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    assert.equal(await store.inbox.accept(arrival(event)), { outcome: "duplicate", changed: false });
    const changed = { ...event, body: Buffer.from('{"a":2}') };
    assert.equal(await store.inbox.accept(arrival(changed)), { outcome: "duplicate", changed: true });
    const [kept] = await store.inbox.list();
    assert.equal(Buffer.from(kept!.body).toString(), '{"a":1}');
    assert.is((await store.inbox.list()).length, 1);
  });

  test("senders have keyspaces of their own", async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    accepted(await store.inbox.accept(arrival({ ...event, sender: "https://other.example/" })));
  });

  test("of many concurrent copies on several handles exactly one is accepted", async ({ store }) => {
    const second = await open();
    const event = newEvent({ taskId: "t-1" });
    const order = { instant: event.instant!, status: "working", terminal: false };
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, i) => (i % 2 ? store : second).inbox.accept(arrival(event, { order }))),
    );
    assert.is(outcomes.filter((one) => one.outcome === "accepted").length, 1);
    assert.is(outcomes.filter((one) => one.outcome === "duplicate").length, 23);
    await second.close();
  });

  test("what was accepted is there for another handle", async ({ store }) => {
    const event = newEvent({
      notes: [{ code: "schema_mismatch", pointer: "/a\u0000", message: "no" }],
      notificationId: "n-1",
      taskId: "t-9",
    });
    const { id } = accepted(await store.inbox.accept(arrival(event)));
    const other = await open();
    const { body, ...kept } = (await other.inbox.get(id))!;
    const { body: sent, ...given } = event;
    assert.equal(kept, { ...given, id, state: "pending", reemission: false, attempts: 0, due: NOW, error: null });
    assert.equal(Buffer.from(body), Buffer.from(sent));
    await other.close();
  });

  test("a claim ends with its window, and its count with it", async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    const late = NOW + DAY_SECONDS * 1000;
    assert.is((await store.inbox.accept(arrival(event, { now: late - 1 }))).outcome, "duplicate");
    accepted(await store.inbox.accept(arrival(event, { now: late })));
    assert.is(await store.claims(SELLER), 1);
    assert.is((await store.sweep(late)).removed, 0);
    assert.is((await store.sweep(late + DAY_SECONDS * 1000)).removed, 1);
    assert.is(await store.claims(SELLER), 0);
  });

  test("the sender's bound refuses without keeping anything, duplicates still get through", async ({ store }) => {
    const events = Array.from({ length: 5 }, () => newEvent());
    const bounded = (event: NewEvent, now = NOW) => store.inbox.accept(arrival(event, { senderCap: 4, now }));
    for (const event of events.slice(0, 4)) accepted(await bounded(event));
    assert.equal(await bounded(events[4]!), { outcome: "full" });
    assert.is((await bounded(events[0]!)).outcome, "duplicate");
    assert.is((await store.inbox.list()).length, 4);
    assert.is(await store.claims(SELLER), 4);
    accepted(await store.inbox.accept(arrival(newEvent({ sender: "https://other.example/" }), { senderCap: 4 })));
    // The window is over: expired claims make room although nothing was swept.
    accepted(await bounded(events[4]!, NOW + DAY_SECONDS * 1000));
  });

  test("concurrent arrivals never pass the bound", async ({ store }) => {
    const second = await open();
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (i % 2 ? store : second).inbox.accept(arrival(newEvent(), { senderCap: 10 })),
      ),
    );
    assert.is(outcomes.filter((one) => one.outcome === "accepted").length, 10);
    assert.is(await store.claims(SELLER), 10);
    await second.close();
  });

  test("only a strictly newer event of a task applies", async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10)));
    assert.equal(await store.inbox.accept(ordered("t-1", 10)), {
      outcome: "stale",
      reason: "not_newer",
      conflict: false,
    });
    assert.is((await store.inbox.accept(ordered("t-1", 9))).outcome, "stale");
    accepted(await store.inbox.accept(ordered("t-1", 11)));
    accepted(await store.inbox.accept(ordered("t-2", 1)));
    assert.is((await store.inbox.list()).length, 3);
    assert.is((await store.task(SELLER, "t-1"))!.instant, "2026-04-18T14:00:11.000000000");
    assert.is(await store.task(SELLER, "t-3"), undefined);
  });

  test("a terminal state is never left, and another terminal one is a conflict", async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10, "completed", true)));
    assert.equal(await store.inbox.accept(ordered("t-1", 11)), {
      outcome: "stale",
      reason: "terminal",
      conflict: false,
    });
    assert.equal(await store.inbox.accept(ordered("t-1", 12, "failed", true)), {
      outcome: "stale",
      reason: "terminal",
      conflict: true,
    });
    assert.equal(await store.task(SELLER, "t-1"), {
      instant: "2026-04-18T14:00:10.000000000",
      status: "completed",
      terminal: true,
    });
  });

  test("a stale event keeps its key claimed", async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10)));
    const stale = ordered("t-1", 5);
    assert.is((await store.inbox.accept(stale)).outcome, "stale");
    assert.is((await store.inbox.accept(stale)).outcome, "duplicate");
  });

  test("events of a task are handled one at a time in their order, others beside them", async ({ store }) => {
    const first = accepted(await store.inbox.accept(ordered("t-1", 1)));
    const second = accepted(await store.inbox.accept(ordered("t-1", 2)));
    const third = accepted(await store.inbox.accept(ordered("t-1", 3)));
    const other = accepted(await store.inbox.accept(ordered("t-2", 1)));
    const ids = async (owner: string, now: number) => (await take(store, owner, now)).map((event) => event.id);
    assert.equal(await ids("a", NOW), [first.id, other.id]);
    await store.inbox.retry({ id: first.id, owner: "a", now: NOW }, NOW + 60_000, "down");
    assert.equal(await ids("a", NOW + 1_000), [], "the one in back-off holds the next");
    assert.equal(await ids("a", NOW + 60_000), [first.id, other.id], "a lease that ran out is taken again");
    await store.inbox.complete({ id: first.id, owner: "a", now: NOW + 60_000 });
    assert.equal(await ids("b", NOW + 60_000), [second.id]);
    await store.inbox.bury({ id: second.id, owner: "b", now: NOW + 60_000 }, "poison");
    assert.equal(await ids("b", NOW + 60_000), [third.id]);
  });

  test("two owners never hold one event", async ({ store }) => {
    const second = await open();
    for (let i = 0; i < 40; i += 1) await store.inbox.accept(arrival(newEvent()));
    const rounds = await Promise.all([
      ...[1, 2, 3].map(() => take(store, "a", NOW, 8)),
      ...[1, 2, 3].map(() => take(second, "b", NOW, 8)),
    ]);
    const ids = rounds.flat().map((event) => event.id);
    assert.is(new Set(ids).size, ids.length);
    assert.ok(ids.length >= 24, `${ids.length}`);
    await second.close();
  });

  test("an arrival may be leased at once, unless one of its task is before it", async ({ store }) => {
    const lease = { owner: "a", until: NOW + 30_000 };
    const first = accepted(await store.inbox.accept({ ...ordered("t-1", 1), lease }));
    const second = accepted(await store.inbox.accept({ ...ordered("t-1", 2), lease }));
    assert.ok(first.leased);
    assert.not(second.leased);
    assert.is((await take(store, "b")).length, 0);
    assert.is(await store.inbox.complete({ id: first.id, owner: "b", now: NOW }), "lost");
    assert.is(await store.inbox.complete({ id: first.id, owner: "a", now: NOW }), "completed");
    assert.is(await store.inbox.complete({ id: first.id, owner: "a", now: NOW }), "lost");
    assert.equal(
      (await take(store, "b")).map((event) => event.id),
      [second.id],
    );
  });

  test("a renewed lease is kept, an expired one is lost to its next owner", async ({ store }) => {
    const { id } = accepted(await store.inbox.accept(arrival(newEvent())));
    await take(store, "a");
    await store.inbox.renew([id], { owner: "a", until: NOW + 90_000 });
    assert.is((await take(store, "b", NOW + 60_000)).length, 0);
    assert.is((await take(store, "b", NOW + 90_000)).length, 1);
    await store.inbox.retry({ id, owner: "a", now: NOW }, NOW, "not mine any more");
    assert.is(await store.inbox.complete({ id, owner: "a", now: NOW }), "lost");
    assert.is((await store.inbox.get(id))!.attempts, 0);
    assert.is(await store.inbox.complete({ id, owner: "b", now: NOW }), "completed");
  });

  test("an effect commits with the completion or not at all", async ({ store }) => {
    const lease = { owner: "a", until: NOW + 30_000 };
    const one = accepted(await store.inbox.accept(arrival(newEvent(), { lease })));
    const two = accepted(await store.inbox.accept(arrival(newEvent(), { lease })));
    const failing: Effect<Tx> = async (tx) => {
      await record("two")(tx);
      throw new Error("no");
    };
    const failingSync: Effect<Tx> = (tx) => {
      record("two")(tx);
      throw new Error("no");
    };
    const held = (id: number, owner = "a") => ({ id, owner, now: NOW });
    const results = await Promise.allSettled([
      store.inbox.complete(held(one.id), record("one")),
      store.inbox.complete(held(two.id), store.kind === "sqlite" ? failingSync : failing),
    ]);
    assert.equal(
      results.map((result) => result.status),
      ["fulfilled", "rejected"],
    );
    assert.equal(await recorded(store), ["one"]);
    assert.is(await store.inbox.complete(held(one.id), record("again")), "lost");
    assert.is(await store.inbox.complete(held(two.id, "b"), record("thief")), "lost");
    assert.equal(await recorded(store), ["one"]);
    assert.is(await store.inbox.complete(held(two.id), record("two")), "completed");
    assert.equal(await recorded(store), ["one", "two"]);
  });

  test("dead letters are listed, replayed with their attempts forgotten, and dropped", async ({ store }) => {
    const { id } = accepted(await store.inbox.accept(arrival(newEvent())));
    await take(store, "a");
    await store.inbox.retry({ id, owner: "a", now: NOW }, NOW, "first");
    await take(store, "a");
    await store.inbox.bury({ id, owner: "a", now: NOW }, "second");
    const [dead] = await store.inbox.list({ state: "dead" });
    assert.is(dead!.error, "second");
    assert.is(dead!.attempts, 2);
    assert.equal(await store.inbox.backlog(), { pending: 0, parked: 0, dead: 1 });
    assert.is((await take(store, "a")).length, 0);
    assert.ok(await store.inbox.replay(id, NOW));
    assert.not(await store.inbox.replay(id, NOW), "it is pending already");
    const [again] = await take(store, "a");
    assert.is(again!.attempts, 0);
    assert.ok(await store.inbox.drop(id, NOW));
    assert.not(await store.inbox.drop(id, NOW));
    assert.equal(await store.inbox.list({ sender: SELLER }), []);
  });

  test("an event before its registration is parked, and released in order by it", async ({ store }) => {
    const parked = (a: Arrival): Arrival => ({ ...a, registered: false });
    const first = accepted(await store.inbox.accept(parked(ordered("t-1", 1))));
    accepted(await store.inbox.accept(parked(ordered("t-1", 2))));
    accepted(await store.inbox.accept(parked(arrival(newEvent({ operationId: "op-2" })))));
    assert.ok(first.parked);
    assert.equal(await store.inbox.backlog(), { pending: 0, parked: 3, dead: 0 });
    assert.equal(await store.registrations.add(registration(), NOW), { released: 2 });
    assert.equal(
      (await take(store, "a")).map((event) => event.id),
      [first.id],
    );
    await store.inbox.complete({ id: first.id, owner: "a", now: NOW });
    assert.is((await take(store, "a")).length, 1);
    const late = accepted(await store.inbox.accept(parked(arrival(newEvent()))));
    assert.not(late.parked, "the registration is there by now");
  });

  test("a parked event whose token is not the registration's goes to the dead letters", async ({ store }) => {
    const token = randomBytes(32);
    const wrong = arrival(newEvent(), { registered: false, tokenDigest: randomBytes(32) });
    const right = arrival(newEvent(), { registered: false, tokenDigest: token });
    accepted(await store.inbox.accept(wrong));
    accepted(await store.inbox.accept(right));
    assert.equal(await store.registrations.add(registration({ tokenDigest: token }), NOW), { released: 1 });
    assert.equal(await store.inbox.backlog(), { pending: 1, parked: 0, dead: 1 });
  });

  test("parked events are given up after the window", async ({ store }) => {
    accepted(await store.inbox.accept(arrival(newEvent(), { registered: false })));
    assert.is((await store.sweep(NOW + DAY_SECONDS * 1000 - 1)).buried, 0);
    assert.is((await store.sweep(NOW + DAY_SECONDS * 1000)).buried, 1);
    assert.is((await store.inbox.list({ state: "dead" }))[0]!.error, "no registration came for its operation");
  });

  test("parking and registering at the same moment never strand an event", async ({ store }) => {
    const second = await open();
    for (let i = 0; i < 15; i += 1) {
      const operationId = `race-${i}`;
      const event = arrival(newEvent({ operationId, taskId: `t-${i}` }), {
        registered: false,
        order: { instant: "2026-04-18T14:00:00.000000000", status: "working", terminal: false },
      });
      await Promise.all([store.inbox.accept(event), second.registrations.add(registration({ operationId }), NOW)]);
    }
    assert.equal(await store.inbox.backlog(), { pending: 15, parked: 0, dead: 0 });
    await second.close();
  });

  test("registrations: own, the route's, conflicts, removal, expiry", async ({ store }) => {
    const { registrations } = store;
    assert.is(await registrations.find("/hooks/a", "op-1"), undefined);
    const own = registration({
      expires: NOW + 1000,
      format: "mcp",
      release: "3.1.0",
      tokenDigest: Buffer.alloc(32, 1),
    });
    await registrations.add(own, NOW);
    const found = (await registrations.find("/hooks/a", "op-1"))!;
    assert.equal({ ...found, tokenDigest: Buffer.from(found.tokenDigest!) }, own);
    assert.is(await registrations.find("/hooks/a", null), undefined);
    await registrations.add(registration({ operationId: null, format: "mcp" }), NOW);
    assert.is((await registrations.find("/hooks/a", null))!.operationId, null);
    assert.is((await registrations.find("/hooks/a", "op-7"))!.operationId, null);
    assert.is((await registrations.find("/hooks/a", "op-1"))!.operationId, "op-1");
    assert.is((await registrations.binding("/hooks/a"))!.mode, "signature");
    assert.is(await registrations.binding("/hooks/b"), undefined);
    const other = await registrations.add(registration({ operationId: "op-2", format: "mcp", mode: "Bearer" }), NOW);
    assert.is("conflict" in other && other.conflict.mode, "signature");
    assert.is((await store.sweep(NOW + 1000)).removed, 1);
    assert.ok(await registrations.remove("/hooks/a", null));
    assert.not(await registrations.remove("/hooks/a", null));
    assert.is(await registrations.binding("/hooks/a"), undefined);
  });

  test("a registration that is given again takes the new values", async ({ store }) => {
    await store.registrations.add(registration({ taskType: "get_products" }), NOW);
    await store.registrations.add(registration({ taskType: "sync_creatives" }), NOW);
    assert.is((await store.registrations.find("/hooks/a", "op-1"))!.taskType, "sync_creatives");
  });

  test("a notification id under a second key is a re-emission", async ({ store }) => {
    const event = () => arrival(newEvent({ kind: "impairment", notificationId: "imp-1" }));
    assert.not(accepted(await store.inbox.accept(event())).reemission);
    const { id, reemission } = accepted(await store.inbox.accept(event()));
    assert.ok(reemission);
    assert.ok((await store.inbox.get(id))!.reemission);
    const elsewhere = newEvent({ kind: "impairment", notificationId: "imp-1", sender: "https://other.example/" });
    assert.not(accepted(await store.inbox.accept(arrival(elsewhere))).reemission);
  });

  test("nonces: once per key, until they expire, seen before full", async ({ store }) => {
    const replay = store.replay({ keyCap: 3 });
    const now = NOW / 1000;
    assert.is(await replay.insert("k1", "n1", now + 300, now), "inserted");
    assert.is(await replay.insert("k1", "n1", now + 300, now), "seen");
    assert.is(await replay.insert("k2", "n1", now + 300, now), "inserted");
    assert.is(await replay.insert("k1", "n2", now + 100, now), "inserted");
    assert.not(await replay.atCap("k1", now));
    assert.is(await replay.insert("k1", "n3", now + 300, now), "inserted");
    assert.ok(await replay.atCap("k1", now));
    assert.is(await replay.insert("k1", "n4", now + 300, now), "full");
    assert.is(await replay.insert("k1", "n1", now + 300, now), "seen");
    assert.is(await replay.insert("k1", "n2", now + 100, now + 100), "seen", "through its last second");
    assert.is(await replay.insert("k1", "n4", now + 400, now + 101), "inserted", "an expired one made room");
    assert.is(await replay.insert("k1", "n2", now + 400, now + 101), "full");
    assert.not(await replay.atCap("k1", now + 301), "the rest expired");
    assert.not(await replay.atCap("never-seen", now));
    const long = "n".repeat(9000);
    assert.is(await replay.insert("k3", long, now + 300, now), "inserted");
    assert.is(await replay.insert("k3", long, now + 300, now), "seen");
  });

  test("a nonce is used with its event, or nothing is kept", async ({ store }) => {
    const nonce = { keyid: "k", nonce: "n", expiresAt: NOW / 1000 + 300, now: NOW / 1000 };
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event, { nonce })));
    assert.is((await store.inbox.accept(arrival(newEvent(), { nonce }))).outcome, "replayed");
    assert.is((await store.inbox.accept(arrival(event, { nonce }))).outcome, "replayed", "before the key is looked at");
    assert.is(await store.replay().insert("k", "n", nonce.expiresAt, nonce.now), "seen");
    assert.is((await store.inbox.list()).length, 1);
    assert.is(await store.claims(SELLER), 1);
    const second = await open();
    const race = { ...nonce, nonce: "race" };
    const outcomes = await Promise.all(
      [store, second, store, second].map((one) => one.inbox.accept(arrival(newEvent(), { nonce: race }))),
    );
    assert.is(outcomes.filter((one) => one.outcome === "accepted").length, 1);
    assert.is(outcomes.filter((one) => one.outcome === "replayed").length, 3);
    await second.close();
  });

  test("nonces are shared by handles, and concurrent inserts never pass the cap", async ({ store }) => {
    const second = await open();
    const now = NOW / 1000;
    const [a, b] = [store.replay({ keyCap: 10 }), second.replay({ keyCap: 10 })];
    const same = await Promise.all([1, 2, 3, 4].map((i) => (i % 2 ? a : b).insert("k", "one", now + 300, now)));
    assert.is(same.filter((one) => one === "inserted").length, 1);
    const many = await Promise.all(
      Array.from({ length: 24 }, (_, i) => (i % 2 ? a : b).insert("k", `n${i}`, now + 300, now)),
    );
    assert.is(many.filter((one) => one === "inserted").length, 9);
    assert.is(many.filter((one) => one === "full").length, 15);
    await second.close();
  });

  test("the aggregate bound of nonces holds over keys", async ({ store }) => {
    const replay = store.replay({ keyCap: 100, totalCap: 3 });
    const now = NOW / 1000;
    for (const i of [0, 1, 2]) assert.is(await replay.insert(`k${i}`, "n", now + 300, now + i * 2), "inserted");
    assert.is(await replay.insert("k9", "n", now + 300, now + 6), "full");
    assert.is(await replay.insert("k0", "n", now + 300, now + 6), "seen");
  });

  test("a sweep is bounded and says when there is more", async ({ store }) => {
    for (let i = 0; i < 25; i += 1) await store.inbox.accept(arrival(newEvent(), { windowSeconds: 1 + i }));
    const swept: number[] = [];
    for (let more = true; more; ) {
      const result = await store.sweep(NOW + 20_000, 8);
      swept.push(result.removed);
      more = result.more;
    }
    assert.equal(swept, [8, 8, 4]);
    assert.is(await store.claims(SELLER), 5);
  });

  test("many at once share commits and each gets its own answer", async ({ store }) => {
    const events = Array.from({ length: 200 }, (_, i) => ordered(`t-${i % 50}`, Math.floor(i / 50)));
    const outcomes = await Promise.all(events.map((event) => store.inbox.accept(event)));
    const kept = outcomes.filter((one) => one.outcome === "accepted").length;
    assert.is(kept, (await store.inbox.list({ limit: 1000 })).length);
    assert.ok(kept >= 50);
    let done = 0;
    for (let batch = await take(store, "a", NOW, 50); batch.length > 0; batch = await take(store, "a", NOW, 50)) {
      assert.is(new Set(batch.map((event) => event.taskId)).size, batch.length, "one event of a task at a time");
      await Promise.all(batch.map((event) => store.inbox.complete({ id: event.id, owner: "a", now: NOW })));
      done += batch.length;
    }
    assert.is(done, kept);
  });

  test.run();
}
