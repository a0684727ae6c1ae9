/** Dedup, bounds and order of events. */
import * as assert from "uvu/assert";
import type { Arrival, NewEvent, TaskOrder } from "../../../runtime/store/types.js";
import { accepted, type Cases, goBy, ordered } from "./case.js";
import { arrival, DAY_SECONDS, NOW, newEvent, SELLER } from "./events.js";

export const claims: Cases = {
  "a key is accepted once, and its duplicate is known by its body": async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    assert.equal(await store.inbox.accept(arrival(event)), { outcome: "duplicate", changed: false });
    const changed = { ...event, body: Buffer.from('{"a":2}') };
    assert.equal(await store.inbox.accept(arrival(changed)), { outcome: "duplicate", changed: true });
    const [kept] = await store.inbox.list();
    assert.equal(Buffer.from(kept!.body).toString(), '{"a":1}');
    assert.is((await store.inbox.list()).length, 1);
  },

  "senders have keyspaces of their own": async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    accepted(await store.inbox.accept(arrival({ ...event, sender: "https://other.example/" })));
  },

  "of many concurrent copies on several handles exactly one is accepted": async ({ store, open }) => {
    const second = await open();
    const event = newEvent({ taskId: "t-1" });
    const order = { instant: event.instant!, status: "working", terminal: false, by: "sender" as const };
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, i) => (i % 2 ? store : second).inbox.accept(arrival(event, { order }))),
    );
    assert.is(outcomes.filter((one) => one.outcome === "accepted").length, 1);
    assert.is(outcomes.filter((one) => one.outcome === "duplicate").length, 23);
    await second.close();
  },

  "what was accepted is there for another handle": async ({ store, open }) => {
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
  },

  "a claim ends with its window, and its count with it": async ({ store }) => {
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event)));
    const late = NOW + DAY_SECONDS * 1000;
    await goBy(store, late);
    assert.is((await store.inbox.accept(arrival(event, { now: late - 1 }))).outcome, "duplicate");
    accepted(await store.inbox.accept(arrival(event, { now: late })));
    assert.is(await store.claims(SELLER), 1);
    assert.is((await store.sweep(late)).removed, 0);
    await goBy(store, late + DAY_SECONDS * 1000);
    assert.is((await store.sweep(late + DAY_SECONDS * 1000)).removed, 1);
    assert.is(await store.claims(SELLER), 0);
  },

  "the sender's bound refuses without keeping anything, duplicates still get through": async ({ store }) => {
    const events = Array.from({ length: 5 }, () => newEvent());
    const bounded = (event: NewEvent, now = NOW) => store.inbox.accept(arrival(event, { senderCap: 4, now }));
    for (const event of events.slice(0, 4)) accepted(await bounded(event));
    assert.equal(await bounded(events[4]!), { outcome: "full" });
    assert.is((await bounded(events[0]!)).outcome, "duplicate");
    assert.is((await store.inbox.list()).length, 4);
    assert.is(await store.claims(SELLER), 4);
    accepted(await store.inbox.accept(arrival(newEvent({ sender: "https://other.example/" }), { senderCap: 4 })));
    await goBy(store, NOW + DAY_SECONDS * 1000);
    // The window is over: expired claims make room although nothing was swept.
    accepted(await bounded(events[4]!, NOW + DAY_SECONDS * 1000));
  },

  "a clock that jumps ahead and back sweeps nothing of its window; one that stays ahead is believed a window later":
    async ({ store }) => {
      const event = newEvent();
      accepted(await store.inbox.accept(arrival(event)));
      await store.sweep(NOW);
      const ahead = NOW + 2 * DAY_SECONDS * 1000;
      assert.is((await store.sweep(ahead)).removed, 0);
      assert.is((await store.inbox.accept(arrival(event, { now: ahead + 1 }))).outcome, "duplicate");
      assert.is((await store.sweep(NOW + 4_000)).removed, 0);
      assert.is((await store.inbox.accept(arrival(event, { now: NOW + 5_000 }))).outcome, "duplicate");

      await store.sweep(ahead);
      await store.database.execute(`update adbind_clock set mark = ${ahead + DAY_SECONDS * 1000 - 1}`);
      assert.is((await store.sweep(ahead + DAY_SECONDS * 1000)).removed, 1);
    },

  "concurrent arrivals never pass the bound": async ({ store, open }) => {
    const second = await open();
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (i % 2 ? store : second).inbox.accept(arrival(newEvent(), { senderCap: 10 })),
      ),
    );
    assert.is(outcomes.filter((one) => one.outcome === "accepted").length, 10);
    assert.is(await store.claims(SELLER), 10);
    await second.close();
  },

  "only a strictly newer event of a task applies": async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10)));
    assert.equal(await store.inbox.accept(ordered("t-1", 10)), {
      outcome: "stale",
      reason: "not_newer",
      conflict: false,
      missed: false,
    });
    assert.is((await store.inbox.accept(ordered("t-1", 9))).outcome, "stale");
    accepted(await store.inbox.accept(ordered("t-1", 11)));
    accepted(await store.inbox.accept(ordered("t-2", 1)));
    assert.is((await store.inbox.list()).length, 3);
    assert.is((await store.task(SELLER, "t-1"))!.instant, "2026-04-18T14:00:11.000000000");
    assert.is(await store.task(SELLER, "t-3"), undefined);
  },

  "a terminal state is never left, and another terminal one is a conflict": async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10, "completed", true)));
    assert.equal(await store.inbox.accept(ordered("t-1", 11)), {
      outcome: "stale",
      reason: "terminal",
      conflict: false,
      missed: false,
    });
    assert.equal(await store.inbox.accept(ordered("t-1", 12, "failed", true)), {
      outcome: "stale",
      reason: "terminal",
      conflict: true,
      missed: false,
    });
    assert.equal(await store.task(SELLER, "t-1"), {
      instant: "2026-04-18T14:00:10.000000000",
      status: "completed",
      terminal: true,
      missed: null,
    });
  },

  "a terminal state that is not newer marks its task, a poll's is applied once, and an arrival's needs no later time":
    async ({ store }) => {
      accepted(await store.inbox.accept(ordered("t-1", 10)));
      const late = ordered("t-1", 10, "completed", true);
      assert.equal(await store.inbox.accept(late), {
        outcome: "stale",
        reason: "not_newer",
        conflict: false,
        missed: true,
      });
      assert.is((await store.task(SELLER, "t-1"))!.missed, NOW);
      const by = (arrival: Arrival, whose: TaskOrder["by"]): Arrival => ({
        ...arrival,
        order: { ...arrival.order!, by: whose },
      });
      assert.is((await store.inbox.accept(by(ordered("t-1", 9), "poll"))).outcome, "stale", "a poll that goes on");
      accepted(await store.inbox.accept(by(ordered("t-1", 9, "completed", true), "poll")));
      assert.is((await store.inbox.accept(by(ordered("t-1", 9, "completed", true), "poll"))).outcome, "stale");
      const state = { instant: "2026-04-18T14:00:10.000000000", status: "completed", terminal: true, missed: null };
      assert.equal(await store.task(SELLER, "t-1"), state);

      accepted(await store.inbox.accept(by(ordered("t-2", 10), "arrival")));
      // By an instance whose clock is behind, or was set back: it came later all the same.
      accepted(await store.inbox.accept(by(ordered("t-2", 8, "input-required"), "arrival")));
      assert.is((await store.task(SELLER, "t-2"))!.instant, "2026-04-18T14:00:10.000000000");
      accepted(await store.inbox.accept(by(ordered("t-2", 9, "failed", true), "arrival")));
      assert.is((await store.inbox.accept(by(ordered("t-2", 9), "arrival"))).outcome, "stale", "an end is never left");
    },

  "a task id in another operation is another task, whose end the first one's does not shut": async ({ store }) => {
    const of = (operation: string, second: number, status = "working", terminal = false) => {
      const { event, order } = ordered("t-1", second, status, terminal);
      return store.inbox.accept(
        arrival({ ...event, operationId: operation }, { order: { ...order!, operation } as const }),
      );
    };
    accepted(await of("op-1", 10, "completed", true));
    accepted(await of("op-2", 5));
    assert.is((await of("op-2", 5)).outcome, "stale");
    assert.is((await of("op-1", 30)).outcome, "stale", "the first one has ended");
    const missed = await of("op-2", 4, "failed", true);
    assert.equal(missed, { outcome: "stale", reason: "not_newer", conflict: false, missed: true });
    assert.is((await store.task(SELLER, "t-1", "op-2"))!.missed, NOW);
    accepted(await of("op-2", 20, "failed", true));
    assert.equal(await of("op-2", 21, "completed", true), {
      ...{ outcome: "stale", reason: "terminal", conflict: true, missed: false },
    });
    const statuses = ["op-1", "op-2", "op-3"].map(async (one) => (await store.task(SELLER, "t-1", one))?.status);
    assert.equal(await Promise.all(statuses), ["completed", "failed", undefined]);
    assert.is((await store.task(SELLER, "t-1"))!.status, "completed");
    assert.is((await store.task(SELLER, "t-1", "op-2"))!.missed, null);
    assert.is((await store.inbox.accept(ordered("t-1", 40))).outcome, "stale", "what names none is the first one's");
  },

  "a stale event keeps its key claimed": async ({ store }) => {
    accepted(await store.inbox.accept(ordered("t-1", 10)));
    const stale = ordered("t-1", 5);
    assert.is((await store.inbox.accept(stale)).outcome, "stale");
    assert.is((await store.inbox.accept(stale)).outcome, "duplicate");
  },

  "a notification id under a second key is a re-emission": async ({ store }) => {
    const event = () => arrival(newEvent({ kind: "impairment", notificationId: "imp-1" }));
    assert.not(accepted(await store.inbox.accept(event())).reemission);
    const { id, reemission } = accepted(await store.inbox.accept(event()));
    assert.ok(reemission);
    assert.ok((await store.inbox.get(id))!.reemission);
    const elsewhere = newEvent({ kind: "impairment", notificationId: "imp-1", sender: "https://other.example/" });
    assert.not(accepted(await store.inbox.accept(arrival(elsewhere))).reemission);
  },

  "a sweep is bounded and says when there is more": async ({ store }) => {
    for (let i = 0; i < 25; i += 1) await store.inbox.accept(arrival(newEvent(), { windowSeconds: 1 + i }));
    const swept: number[] = [];
    for (let more = true; more; ) {
      const result = await store.sweep(NOW + 20_000, 8);
      swept.push(result.removed);
      more = result.more;
    }
    assert.equal(swept, [8, 8, 4]);
    assert.is(await store.claims(SELLER), 5);
  },
};
