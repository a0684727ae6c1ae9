/**
 * Events that are leased and wait in memory for a free handler: under load most wait a moment only, and what is at hand need not
 * be read from the store again. They are few, and not kept for long: another instance may have a handler free.
 */
import type { InboxEvent } from "../store/types.js";
import type { EventContent } from "./envelope.js";

/** Events that wait, run, or are being stored as handled, beyond the handlers that may run. */
const AHEAD_EVENTS = 256;
/** Most bytes of bodies that wait; one more event is taken from the store when its turn comes. */
const AHEAD_BYTES = 8 * 1024 * 1024;

export interface WaitingEvent {
  readonly event: InboxEvent;
  /** Its body, where it was read already. */
  readonly read: EventContent | undefined;
}

export interface WaitingEvents {
  /** @param held events this instance holds leases of, or is about to, besides those that wait */
  hasRoom(held: number): boolean;
  add(waiting: WaitingEvent): void;
  /** The one that waited longest. */
  next(): WaitingEvent | undefined;
  readonly ids: () => number[];
  readonly count: () => number;
  /** All of them, if the first has waited so many milliseconds; nobody waits here any more then. */
  overdue(ms: number): number[];
}

/** @param limit handlers that may run at once */
export function waitingEvents(limit: number): WaitingEvents {
  let events: (WaitingEvent & { readonly since: number })[] = [];
  let at = 0;
  let bytes = 0;
  const ids = (): number[] => events.slice(at).map(({ event }) => event.id);
  return {
    hasRoom: (held) => held + events.length - at < limit + AHEAD_EVENTS && bytes < AHEAD_BYTES,
    add(waiting) {
      bytes += waiting.event.body.length;
      events.push({ ...waiting, since: performance.now() });
    },
    next() {
      const first = events[at];
      if (first === undefined) return undefined;
      bytes -= first.event.body.length;
      at += 1;
      if (at === events.length) [events, at] = [[], 0];
      return first;
    },
    ids,
    count: () => events.length - at,
    overdue(ms) {
      const first = events[at];
      if (first === undefined || performance.now() - first.since < ms) return [];
      const all = ids();
      [events, at, bytes] = [[], 0, 0];
      return all;
    },
  };
}
