/** Events that come at the same time: each is judged as if it had come alone. */
import * as assert from "uvu/assert";
import type { AcceptOutcome, Arrival, NewEvent } from "../../../runtime/store/types.js";
import type { Cases } from "./case.js";
import { arrival, NOW, newEvent, SELLER } from "./events.js";

const SECONDS = NOW / 1000;

/** Of a task, signed with a nonce of its own unless one is given. */
const signed = (over: Partial<NewEvent>, { nonce = crypto.randomUUID(), terminal = false, ...rest }: Signed = {}) => {
  const event = newEvent(over);
  return arrival(event, {
    nonce: { keyid: `${event.sender} k`, nonce, expiresAt: SECONDS + 300, now: SECONDS },
    order: { instant: event.instant!, status: event.status!, terminal, by: "sender" },
    ...rest,
  });
};

interface Signed extends Partial<Omit<Arrival, "nonce">> {
  readonly nonce?: string;
  readonly terminal?: boolean;
}

const tally = (outcomes: readonly AcceptOutcome[]): Record<string, number> => {
  const counted: Record<string, number> = {};
  for (const { outcome } of outcomes) counted[outcome] = (counted[outcome] ?? 0) + 1;
  return counted;
};

export const together: Cases = {
  "of events that come at the same time, copies, used nonces and late ones are told as if each came alone": async ({
    store,
  }) => {
    const fresh = Array.from({ length: 20 }, (_, n) =>
      signed({ taskId: `task-${n}`, body: Buffer.from(`{"n":${n}}`) }, { terminal: n % 2 === 0 }),
    );
    const copies = fresh.slice(0, 5).map(({ event, order }) => arrival(event, { ...(order && { order }) }));
    const replays = fresh
      .slice(5, 10)
      .map(({ nonce }, n) => signed({ taskId: `other-${n}` }, { nonce: nonce!.nonce, senderCap: 1_000_000 }));
    const outcomes = await Promise.all([...fresh, ...copies, ...replays].map((one) => store.inbox.accept(one)));
    // Of an event and its copy, and of two with one nonce, either may be first.
    assert.equal(tally(outcomes), { accepted: 20, duplicate: 5, replayed: 5 });
    assert.is(await store.claims(SELLER), 20);
    const kept = await store.inbox.list({ limit: 100 });
    assert.equal(
      new Set(outcomes.flatMap((one) => (one.outcome === "accepted" ? [one.id] : []))),
      new Set(kept.map(({ id }) => id)),
    );
    for (const { taskId, body } of kept) {
      const [, n] = /^task-(\d+)$/.exec(taskId!) ?? [];
      if (n !== undefined) assert.is(Buffer.from(body).toString(), `{"n":${n}}`);
    }
  },

  "events of one task that come at the same time are applied once for each instant": async ({ store }) => {
    const same = Array.from({ length: 6 }, () => signed({ taskId: "task" }));
    assert.equal(tally(await Promise.all(same.map((one) => store.inbox.accept(one)))), { accepted: 1, stale: 5 });
  },

  "a bound of the sender is kept to the one among events that come at the same time": async ({ store }) => {
    const many = Array.from({ length: 12 }, (_, n) => signed({ taskId: `task-${n}` }, { senderCap: 5 }));
    const outcomes = await Promise.all(many.map((one) => store.inbox.accept(one)));
    assert.equal(tally(outcomes), { accepted: 5, full: 7 });
    assert.is(await store.claims(SELLER), 5);
    // Nothing of those that were refused was kept: not their nonces either.
    const refused = many.filter((_, n) => outcomes[n]!.outcome === "full");
    const again = await Promise.all(refused.map((one) => store.inbox.accept({ ...one, senderCap: 100 })));
    assert.equal(tally(again), { accepted: 7 });
  },

  "an event that comes with others and cannot be kept fails alone": async ({ store }) => {
    const many = Array.from({ length: 8 }, (_, n) => signed({ taskId: `task-${n}` }));
    // No database of ours keeps a body that is none.
    const broken = signed({ taskId: "broken", kind: undefined as never });
    const results = await Promise.allSettled([...many, broken].map((one) => store.inbox.accept(one)));
    assert.equal(results.map(({ status }) => status).slice(0, 8), Array(8).fill("fulfilled"));
    assert.is(results[8]!.status, "rejected");
    assert.is((await store.inbox.list()).length, 8);
  },
};
