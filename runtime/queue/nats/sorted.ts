/** Tickets as they come, by what can be made of them here. */
import type { LeasedTicket } from "./servers.js";

/** How often a ticket goes back to the stream for want of room; then its row goes back to the relays, who go by room. */
const BACK_TO_STREAM = 1;

export interface SortedTickets {
  /** Whose rows may be claimed. */
  readonly byJob: ReadonlyMap<number, LeasedTicket>;
  /** Of a row that another one of them is of. */
  readonly doubles: readonly LeasedTicket[];
  /** No room here; another deliverer may have it. */
  readonly back: readonly LeasedTicket[];
  /** Nobody had room. The stream gives out first what went back to it: of an endpoint that is dead they would come before all others'. */
  readonly toRelay: readonly LeasedTicket[];
}

/** @param room how many more of an endpoint there is room for */
export function sortTickets(tickets: readonly LeasedTicket[], room: (endpoint: string) => number): SortedTickets {
  const byJob = new Map<number, LeasedTicket>();
  const [doubles, back, toRelay]: [LeasedTicket[], LeasedTicket[], LeasedTicket[]] = [[], [], []];
  const wanted = new Map<string, number>();
  for (const ticket of tickets) {
    const count = wanted.get(ticket.endpoint) ?? 0;
    if (byJob.has(ticket.job)) doubles.push(ticket);
    else if (count >= room(ticket.endpoint)) (ticket.deliveries > BACK_TO_STREAM ? toRelay : back).push(ticket);
    else {
      wanted.set(ticket.endpoint, count + 1);
      byJob.set(ticket.job, ticket);
    }
  }
  return { byJob, doubles, back, toRelay };
}
