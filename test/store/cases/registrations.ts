/** Registrations, and what waits for them. */
import { randomBytes } from "node:crypto";
import * as assert from "uvu/assert";
import type { Arrival } from "../../../runtime/store/types.js";
import { wide } from "../../support/wide.js";
import { accepted, type Cases, goBy, ordered, take } from "./case.js";
import { arrival, DAY_SECONDS, NOW, newEvent, registration, SELLER } from "./events.js";

export const registrations: Cases = {
  "the longest names that a receiver takes are registered, and wait for it": async ({ store }) => {
    const place = {
      route: `/${randomBytes(1_200)
        .toString("base64url")
        .slice(0, 1_599 - SELLER.length)}`,
      operationId: wide(256),
    };
    accepted(await store.inbox.accept(arrival(newEvent(place), { registered: false })));
    assert.equal(await store.registrations.add(registration(place), NOW), { released: 1 });
  },

  "an event before its registration is parked, and released in order by it": async ({ store }) => {
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
  },

  "a parked event whose token is not the registration's goes to the dead letters": async ({ store }) => {
    const token = randomBytes(32);
    const wrong = arrival(newEvent(), { registered: false, tokenDigest: randomBytes(32) });
    const right = arrival(newEvent(), { registered: false, tokenDigest: token });
    accepted(await store.inbox.accept(wrong));
    accepted(await store.inbox.accept(right));
    assert.equal(await store.registrations.add(registration({ tokenDigest: token }), NOW), { released: 1 });
    assert.equal(await store.inbox.backlog(), { pending: 1, parked: 0, dead: 1 });
  },

  "parked events are given up after the window": async ({ store }) => {
    accepted(await store.inbox.accept(arrival(newEvent(), { registered: false })));
    await goBy(store, NOW + DAY_SECONDS * 1000);
    assert.is((await store.sweep(NOW + DAY_SECONDS * 1000 - 1)).deadLettered, 0);
    assert.is((await store.sweep(NOW + DAY_SECONDS * 1000)).deadLettered, 1);
    assert.is((await store.inbox.list({ state: "dead" }))[0]!.error, "no registration came for its operation");
  },

  "parking and registering at the same moment never strand an event": async ({ store, open }) => {
    const second = await open();
    for (let i = 0; i < 15; i += 1) {
      const operationId = `race-${i}`;
      const event = arrival(newEvent({ operationId, taskId: `t-${i}` }), {
        registered: false,
        order: { instant: "2026-04-18T14:00:00.000000000", status: "working", terminal: false, by: "sender" },
      });
      await Promise.all([store.inbox.accept(event), second.registrations.add(registration({ operationId }), NOW)]);
    }
    assert.equal(await store.inbox.backlog(), { pending: 15, parked: 0, dead: 0 });
    await second.close();
  },

  "registrations: own, the route's, conflicts, removal, expiry": async ({ store }) => {
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
  },

  "registrations that are asked for at the same time are each their own": async ({ store, open }) => {
    const { registrations } = store;
    for (const operationId of ["op-1", "op-2", null]) await registrations.add(registration({ operationId }), NOW);
    const asked = ["op-2", "op-3", null, "op-1", "op-2"];
    const route = { route: "/hooks/a", sender: SELLER };
    const found = await Promise.all(asked.map((operationId) => registrations.own(route, operationId)));
    assert.equal(
      found.map((one) => one?.operationId),
      ["op-2", undefined, null, "op-1", "op-2"],
    );
    const second = await open();
    const two = () =>
      Promise.allSettled([second.registrations.own(route, "op-1"), second.registrations.own(route, "op-2")]);
    assert.equal(
      (await two()).map(({ status }) => status),
      ["fulfilled", "fulfilled"],
    );
    await second.close();
    // Each is told that it has no answer, and none is kept waiting.
    assert.equal(
      (await two()).map(({ status }) => status),
      ["rejected", "rejected"],
    );
  },

  "a registration that is given again takes the new values": async ({ store }) => {
    await store.registrations.add(registration({ taskType: "get_products" }), NOW);
    await store.registrations.add(registration({ taskType: "sync_creatives" }), NOW);
    assert.is((await store.registrations.find("/hooks/a", "op-1"))!.taskType, "sync_creatives");
  },
};
