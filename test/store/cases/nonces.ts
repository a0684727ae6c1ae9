/** Nonces: once, bounded, shared. */
import * as assert from "uvu/assert";
import { accepted, type Cases } from "./case.js";
import { arrival, NOW, newEvent, SELLER } from "./events.js";

export const nonces: Cases = {
  "nonces: once per key, until they expire, seen before full": async ({ store }) => {
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
  },

  "a nonce is used with its event, or nothing is kept": async ({ store, open }) => {
    const nonce = { keyid: `${SELLER} k`, nonce: "n", expiresAt: NOW / 1000 + 300, now: NOW / 1000 };
    const event = newEvent();
    accepted(await store.inbox.accept(arrival(event, { nonce })));
    assert.is((await store.inbox.accept(arrival(newEvent(), { nonce }))).outcome, "replayed");
    assert.is((await store.inbox.accept(arrival(event, { nonce }))).outcome, "replayed", "before the key is looked at");
    assert.is(await store.replay().insert(nonce.keyid, "n", nonce.expiresAt, nonce.now), "seen");
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
  },

  "nonces are shared by handles, and concurrent inserts never pass the cap": async ({ store, open }) => {
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
  },

  "the aggregate bound of nonces holds over keys": async ({ store }) => {
    const replay = store.replay({ keyCap: 100, totalCap: 3 });
    const now = NOW / 1000;
    for (const i of [0, 1, 2])
      assert.is(await replay.insert(`${SELLER} k${i}`, "n", now + 300, now + i * 2), "inserted");
    assert.is(await replay.insert(`${SELLER} k9`, "n", now + 300, now + 6), "full");
    assert.is(await replay.insert(`${SELLER} k0`, "n", now + 300, now + 6), "seen");
  },
};
