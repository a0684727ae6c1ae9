/** The inbox of a receiver in several databases: each event in its sender's, all of them taken together. */
import type { Database } from "../../db/types.js";
import { LIST_LIMIT_ROWS } from "../rows.js";
import type { Inbox, InboxEvent, InboxFilter } from "../types.js";
import { askAll, innerId, outerId } from "./ids.js";
import { SLOTS } from "./placement.js";
import type { ReceiverPart, ReceiverRouter } from "./receiver-part.js";
import { listForeign } from "./rows.js";
import { taker } from "./take.js";

/** @param takeMs see `ReceiverSplitOptions` */
export function splitInbox<Tx>(router: ReceiverRouter<Tx>, takeMs?: number): Inbox<Tx> {
  const { members } = router;
  const inside = async <T>(outer: number, gone: T, work: (inbox: Inbox<Tx>, id: number) => Promise<T>): Promise<T> => {
    const { id, name } = innerId(router, outer);
    if (name === undefined) return gone;
    const result = await router.inside(name, async ({ store }) => ({ value: await work(store.inbox, id) }));
    return result === "gone" ? gone : result.value;
  };
  const grouped = async (
    outer: readonly number[],
    work: (inbox: Inbox<Tx>, ids: readonly number[]) => Promise<void>,
  ): Promise<void> => {
    const byName = Map.groupBy(
      outer.map((one) => innerId(router, one)),
      ({ name }) => name,
    );
    const done = await Promise.allSettled(
      [...byName].map(([name, own]) => {
        const ids = own.map(({ id }) => id);
        return members.get(name ?? "")?.use(({ store }) => work(store.inbox, ids));
      }),
    );
    // Each database has had its turn, though another failed.
    for (const one of done) if (one.status === "rejected") throw one.reason;
  };
  return {
    async accept(arrival) {
      const { name, outcome } = await router.at(arrival.event.sender, async (part) => ({
        name: part.name,
        outcome: await part.store.inbox.accept(arrival),
      }));
      return outcome.outcome === "accepted" ? { ...outcome, id: outerId(router, name, outcome.id) } : outcome;
    },
    take: taker(router, takeMs),
    renew: (ids, lease) => grouped(ids, (inbox, own) => inbox.renew(own, lease)),
    releaseLease: (ids, holder) => grouped(ids, (inbox, own) => inbox.releaseLease(own, holder)),
    // What has moved meanwhile is leased there, and handled when that lease is over: nothing was written here.
    complete: (held, effect) =>
      inside<"completed" | "lost">(held.id, "lost", (inbox, id) => inbox.complete({ ...held, id }, effect)),
    retry: (held, due, error) =>
      inside<void>(held.id, undefined, (inbox, id) => inbox.retry({ ...held, id }, due, error)),
    deadLetter: (held, error) =>
      inside<void>(held.id, undefined, (inbox, id) => inbox.deadLetter({ ...held, id }, error)),
    list: (filter) => list(router, filter ?? {}),
    async get(outer) {
      const { id, name } = innerId(router, outer);
      const event = await members.get(name ?? "")?.use(({ store }) => store.inbox.get(id));
      return event && { ...event, id: outer };
    },
    replay: (outer, now) => inside(outer, false, (inbox, id) => inbox.replay(id, now)),
    drop: (outer, now) => inside(outer, false, (inbox, id) => inbox.drop(id, now)),
    ...counting(router),
  };
}

/** How much waits, and how long it has, in the databases that answer. */
const counting = <Tx>(router: ReceiverRouter<Tx>): Pick<Inbox<Tx>, "backlog" | "oldest"> => ({
  async backlog() {
    const all = await askAll(router, ({ store }) => store.inbox.backlog());
    const sum = (of: "pending" | "parked" | "dead"): number => all.reduce((total, one) => total + one[of], 0);
    return { pending: sum("pending"), parked: sum("parked"), dead: sum("dead") };
  },
  async oldest() {
    const times = await askAll(router, ({ store }) => store.inbox.oldest());
    const known = times.filter((at) => at !== null);
    return known.length === 0 ? null : Math.min(...known);
  },
});

/** In the order of numbers, which is that of arrival within a database only. */
async function list<Tx>(
  router: ReceiverRouter<Tx>,
  { after = 0, limit = LIST_LIMIT_ROWS, ...filter }: InboxFilter,
): Promise<InboxEvent[]> {
  const listed = async ({ name, store }: ReceiverPart<Tx>, database: Database): Promise<InboxEvent[]> => {
    const first = Math.max(0, Math.ceil((after + 1 - outerId(router, name, 0)) / SLOTS) - 1);
    const events = await store.inbox.list({ ...filter, limit, after: first });
    // What is copied here, or was, is another database's to list.
    const others = await database.query((q) => listForeign(q, "sender"));
    const own = events.filter(({ sender }) => !others.includes(sender));
    return own.map((event) => ({ ...event, id: outerId(router, name, event.id) }));
  };
  if (filter.sender !== undefined) {
    const found = await router.look(filter.sender, async (part, database) => {
      const events = await listed(part, database);
      return events.length === 0 ? undefined : events;
    });
    return found ?? [];
  }
  const lists = await askAll(router, listed);
  return lists
    .flat()
    .sort((a, b) => a.id - b.id)
    .slice(0, Math.min(limit, LIST_LIMIT_ROWS));
}
