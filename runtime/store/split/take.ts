/** Due events of all databases: one that is slow or away stops none of the others. */
import type { Inbox, InboxEvent, Lease } from "../types.js";
import { outerId } from "./ids.js";
import type { SetMember } from "./member.js";
import type { ReceiverPart, ReceiverRouter } from "./receiver-part.js";

/** How long one database is waited for when all are asked, in milliseconds, by default. */
const TAKE_MS = 500;

interface Late {
  readonly event: InboxEvent;
  /** When half of its lease is over: by then another instance may look at it as nobody's. */
  readonly half: number;
}

type Request = Lease & { readonly now: number };

/** Makes `Inbox.take` of a set. What is leased by an answer that comes too late is handed out with the next ones. */
export function taker<Tx>(router: ReceiverRouter<Tx>, takeMs = TAKE_MS): Inbox<Tx>["take"] {
  /** Databases whose last answer is still to come. */
  const slow = new Set<string>();
  let late: Late[] = [];
  let turn = 0;

  const ask = async (member: SetMember<ReceiverPart<Tx>>, request: Request, limit: number): Promise<InboxEvent[]> => {
    if (slow.has(member.name) || member.away) return [];
    let over = false;
    const { promise: waited, resolve } = Promise.withResolvers<InboxEvent[]>();
    const timer = setTimeout(() => {
      over = true;
      slow.add(member.name);
      resolve([]);
    }, takeMs);
    const half = request.now + (request.until - request.now) / 2;
    const answer = member
      .use(({ store }) => store.inbox.take({ ...request, limit }))
      // Its health is told of; the next look asks it again.
      .catch((): InboxEvent[] => [])
      .then((taken) => {
        clearTimeout(timer);
        const events = taken.map((event) => ({ ...event, id: outerId(router, member.name, event.id) }));
        if (!over) return events;
        slow.delete(member.name);
        late.push(...events.map((event) => ({ event, half })));
        return [];
      });
    return Promise.race([answer, waited]);
  };

  return async ({ limit, ...request }) => {
    const usable = late.filter(({ half }) => half > request.now);
    const events = usable.slice(0, limit).map(({ event }) => event);
    late = usable.slice(events.length);
    const all = router.used();
    const order = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
    turn += 1;
    // Each is asked for its share; who gave all of that may have more, and is asked for what the others left.
    for (let left = order; left.length > 0 && events.length < limit; ) {
      const share = Math.max(1, Math.floor((limit - events.length) / left.length));
      const now = left.slice(0, limit - events.length);
      const answers = await Promise.all(now.map((member) => ask(member, request, share)));
      events.push(...answers.flat());
      left = [...left.slice(now.length), ...now.filter((_, at) => answers[at]!.length === share)];
    }
    return events;
  };
}
