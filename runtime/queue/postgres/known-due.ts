/** Endpoints of which more was found due than has been leased since: for a moment they need not be looked for. */
import type { TakeRequest } from "../types.js";
import { countsOf, type Room, roomsOf } from "./rooms.js";

/**
 * How long they are leased from without a look, in milliseconds. What others have that falls due meanwhile, and of which nobody
 * tells, waits so long.
 */
const KNOWN_MS = 100;
/** Where a look takes long, as many times as it took, so that looking is a small part of the work; so many milliseconds at most. */
const KNOWN_LOOKS = 50;
const MOST_KNOWN_MS = 500;

export class KnownDue {
  /** The one whose turn is next first. */
  #endpoints: readonly string[] = [];
  #until = Number.NEGATIVE_INFINITY;
  #whole = false;

  /** @param clock milliseconds, the process's own by default */
  constructor(readonly clock: () => number = () => performance.now()) {}

  /** @returns those for which there is room now */
  rooms({ limit, likely }: TakeRequest): Room[] {
    if (likely === undefined || this.clock() > this.#until) return [];
    return roomsOf(this.#endpoints, likely, limit);
  }

  /** They were found due. @param whole there are no others @param tookMs how long the look took, in milliseconds */
  looked(rooms: readonly Room[], whole: boolean, tookMs: number): void {
    this.#endpoints = rooms.map(([endpoint]) => endpoint);
    this.#until = this.clock() + Math.max(KNOWN_MS, Math.min(MOST_KNOWN_MS, tookMs * KNOWN_LOOKS));
    this.#whole = whole;
  }

  /**
   * Jobs of them were leased, in their turn. Of whom less came than there was room for, nothing is left; the others may have more, and
   * their next turn is after all others': those that were not looked for come first.
   */
  leased(rooms: readonly Room[], jobs: readonly { readonly endpoint: string }[], limit: number): void {
    const counts = countsOf(jobs);
    // The last one that was served had less than there was room for because there was no more for all.
    const last = jobs.length < limit ? -1 : rooms.findLastIndex(([endpoint]) => counts.has(endpoint));
    const served = last < 0 ? rooms : rooms.slice(0, last + 1);
    const more = served.filter(([endpoint, room], at) => at === last || counts.get(endpoint) === room);
    const had = new Set(served.map(([endpoint]) => endpoint));
    const wait = this.#endpoints.filter((endpoint) => !had.has(endpoint));
    this.#endpoints = this.#whole ? [...wait, ...more.map(([endpoint]) => endpoint)] : wait;
  }
}
