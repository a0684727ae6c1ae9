/** Leases, effects, back-off and dead letters. */
import * as assert from "uvu/assert";
import type { Effect, Store } from "../../../runtime/store/types.js";
import { accepted, type Cases, ordered, take } from "./case.js";
import { arrival, NOW, newEvent, SELLER } from "./events.js";

export const inbox: Cases = {
  "events of a task are handled one at a time in their order, others beside them": async ({ store }) => {
    const first = accepted(await store.inbox.accept(ordered("t-1", 1)));
    const second = accepted(await store.inbox.accept(ordered("t-1", 2)));
    const third = accepted(await store.inbox.accept(ordered("t-1", 3)));
    const other = accepted(await store.inbox.accept(ordered("t-2", 1)));
    const ids = async (owner: string, now: number) => (await take(store, owner, now)).map((event) => event.id);
    assert.equal(await ids("a", NOW), [first.id, other.id]);
    await store.inbox.retry({ id: first.id, owner: "a", now: NOW }, NOW + 60_000, "down");
    assert.equal(await ids("a", NOW + 1_000), [], "the one in back-off holds the next");
    assert.equal(await ids("a", NOW + 60_000), [first.id], "a lease that looks run out is watched first");
    assert.equal(await ids("a", NOW + 75_000), [other.id], "one that was not renewed meanwhile is taken again");
    await store.inbox.complete({ id: first.id, owner: "a", now: NOW + 60_000 });
    assert.equal(await ids("b", NOW + 60_000), [second.id]);
    await store.inbox.deadLetter({ id: second.id, owner: "b", now: NOW + 60_000 }, "poison");
    assert.equal(await ids("b", NOW + 60_000), [third.id]);
  },

  "two owners never hold one event": async ({ store, open }) => {
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
  },

  "an arrival may be leased at once, unless one of its task is before it": async ({ store }) => {
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
  },

  "a renewed lease is kept, an expired one is lost to its next owner": async ({ store }) => {
    const { id } = accepted(await store.inbox.accept(arrival(newEvent())));
    await take(store, "a");
    await store.inbox.renew([id], { owner: "a", until: NOW + 90_000 });
    assert.is((await take(store, "b", NOW + 60_000)).length, 0);
    assert.is((await take(store, "b", NOW + 90_000)).length, 0, "by its own clock it may be renewed yet");
    await store.inbox.renew([id], { owner: "a", until: NOW + 90_001 });
    assert.is((await take(store, "b", NOW + 105_000)).length, 0, "and it was");
    assert.is((await take(store, "b", NOW + 120_000)).length, 1);
    await store.inbox.retry({ id, owner: "a", now: NOW }, NOW, "not mine any more");
    assert.is(await store.inbox.complete({ id, owner: "a", now: NOW }), "lost");
    assert.is((await store.inbox.get(id))!.attempts, 0);
    assert.is(await store.inbox.complete({ id, owner: "b", now: NOW }), "completed");
  },

  "after a clock is set back what waits is as far off as before, and what a dead holder held is free within a lease":
    async ({ store, open }) => {
      const [minute, hour] = [60_000, 3_600_000];
      const add = async (lease?: { owner: string; until: number }) =>
        accepted(await store.inbox.accept(arrival(newEvent(), lease && { lease }))).id;
      const taken = async (by: Store, now: number) => (await take(by, "a", now)).map((event) => event.id);
      const fails = (id: number, now: number, due: number) => store.inbox.retry({ id, owner: "a", now }, due, "later");
      const failed = await add();
      assert.equal(await taken(store, NOW), [failed]);
      await fails(failed, NOW, NOW + 10 * minute);
      const fresh = await add();
      const left = await add({ owner: "dead", until: NOW + 30_000 });
      const back = NOW - 5 * hour;
      assert.equal(await taken(store, back), [fresh]);
      await store.inbox.complete({ id: fresh, owner: "a", now: back });
      // Seen to look run out, and half a lease later not renewed.
      assert.equal(await taken(store, back + 30_000), []);
      assert.equal(await taken(store, back + 45_000), [left]);
      await store.inbox.complete({ id: left, owner: "a", now: back });
      assert.equal(await taken(store, back + 10 * minute - 1), []);
      assert.equal(await taken(store, back + 10 * minute), [failed]);

      // Where it was set back while nobody looked, no failure can have put off what is due in days.
      await fails(failed, back, back + hour);
      const held = await add({ owner: "live", until: NOW });
      const other = await open();
      const longAgo = back - 48 * hour;
      assert.equal(await taken(other, longAgo), [failed]);
      await store.inbox.renew([held], { owner: "live", until: longAgo + 40_000 });
      assert.equal(await taken(other, longAgo + 30_000), [], "a holder that lives renews");
      await other.close();
    },

  "an effect commits with the completion or not at all": async ({ store, record, recorded }) => {
    const lease = { owner: "a", until: NOW + 30_000 };
    const one = accepted(await store.inbox.accept(arrival(newEvent(), { lease })));
    const two = accepted(await store.inbox.accept(arrival(newEvent(), { lease })));
    const failing: Effect<unknown> = async (tx) => {
      await record("two")(tx);
      throw new Error("no");
    };
    const failingSync: Effect<unknown> = (tx) => {
      record("two")(tx);
      throw new Error("no");
    };
    const held = (id: number, owner = "a") => ({ id, owner, now: NOW });
    const results = await Promise.allSettled([
      store.inbox.complete(held(one.id), record("one")),
      store.inbox.complete(held(two.id), store.database.shared ? failing : failingSync),
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
  },

  "dead letters are listed, replayed with their attempts forgotten, and dropped": async ({ store }) => {
    const { id } = accepted(await store.inbox.accept(arrival(newEvent())));
    await take(store, "a");
    await store.inbox.retry({ id, owner: "a", now: NOW }, NOW, "first");
    await take(store, "a");
    await store.inbox.deadLetter({ id, owner: "a", now: NOW }, "second");
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
  },

  "many at once share commits and each gets its own answer": async ({ store }) => {
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
  },
};
