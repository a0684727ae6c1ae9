/**
 * Others beside those of whom a look has found endpoints: turns go from endpoint to endpoint, and of those one principal may have
 * any number.
 */
import type { PostgresDatabase } from "../../db/index.js";
import type { TakeRequest } from "../types.js";
import { nextEndpoints } from "./due-endpoints.js";
import { type Room, roomsOf } from "./rooms.js";

/** Endpoints looked at in one statement, and statements of one look. */
const ENDPOINTS = 64;
const PAGES = 8;
/** Of so many principals at a time some have their turn: nobody's endpoints are most. */
const MANY = 32;
/** Where there was nobody, the next look is after so long, in milliseconds. */
const REST_MS = 200;

export class Beside {
  #cursor = "";
  /** Since it went round the last time it has found somebody. */
  #found = false;
  /** Of an odd number of jobs half is one more every other time. */
  #odd = 0;
  #restUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param leaseMs how long a lease lasts, in milliseconds
   * @param clock milliseconds, the process's own by default
   */
  constructor(
    readonly database: Pick<PostgresDatabase, "query">,
    readonly topic: string,
    readonly leaseMs: number,
    readonly clock: () => number = () => performance.now(),
  ) {}

  /** @returns some of others than those who are among the first, for half of the jobs at most */
  async rooms({ now, limit, room, ownerOf }: TakeRequest, first: readonly Room[]): Promise<Room[]> {
    if (ownerOf === undefined || this.clock() < this.#restUntil) return [];
    this.#odd = 1 - this.#odd;
    let left = Math.floor((limit + this.#odd) / 2);
    const known = new Set<string>();
    // Those behind are not come to.
    for (let [n, jobs] = [0, left]; n < first.length && jobs < limit; n++) {
      known.add(ownerOf(first[n]![0]).principal);
      jobs += first[n]![1];
    }
    const isKnown = (endpoint: string): boolean => known.has(ownerOf(endpoint).principal);
    const others: Room[] = [];
    for (let pages = 0; pages < PAGES && known.size < MANY && left > 0; pages++) {
      const page = { after: this.#cursor, limit: ENDPOINTS, now, leaseMs: this.leaseMs };
      const found = await this.database.query((q) => nextEndpoints(q, this.topic, page));
      const due = found.filter(({ endpoint, next }) => next <= now && !isKnown(endpoint));
      const rooms = roomsOf(
        due.map(({ endpoint }) => endpoint),
        room,
        limit,
      );
      const some: Room[] = [];
      for (const [endpoint, wanted] of rooms) {
        if (left === 0) break;
        some.push([endpoint, Math.min(wanted, left)]);
        left -= Math.min(wanted, left);
        known.add(ownerOf(endpoint).principal);
      }
      others.push(...some);
      this.#found ||= some.length > 0;
      const whole = some.length === rooms.length;
      // Those for whom nothing was left are the first the next time.
      const last = whole ? (found.length < ENDPOINTS ? undefined : found.at(-1)!.endpoint) : some.at(-1)![0];
      if (last === undefined) {
        this.#roundEnded();
        break;
      }
      // However many more he has beside this one, others are next; where he has no room here, he has it in his turn.
      const { principal, end } = ownerOf(last);
      const seen = isKnown(last) || due.some(({ endpoint }) => ownerOf(endpoint).principal === principal);
      this.#cursor = seen ? (end ?? last) : last;
    }
    return others;
  }

  #roundEnded(): void {
    this.#cursor = "";
    if (!this.#found) this.#restUntil = this.clock() + REST_MS;
    this.#found = false;
  }
}
