/**
 * Others beside a principal of whom a look has found nothing but his own: turns go from endpoint to endpoint, and of those one
 * may have any number.
 */
import type { PostgresDatabase } from "../../db/index.js";
import type { TakeRequest } from "../types.js";
import { nextEndpoints } from "./jobs.js";
import { type Room, roomsOf } from "./rooms.js";

/** Endpoints looked at in one statement, and statements of one look. */
const ENDPOINTS = 64;
const PAGES = 8;
/** Where there was nobody, the next look is after so long, in milliseconds. */
const REST_MS = 200;

export class Beside {
  #cursor = "";
  /** Since it went round the last time it has found somebody. */
  #found = false;
  #restUntil = Number.NEGATIVE_INFINITY;

  /** @param clock milliseconds, the process's own by default */
  constructor(
    readonly database: Pick<PostgresDatabase, "query">,
    readonly topic: string,
    readonly clock: () => number = () => performance.now(),
  ) {}

  /** @returns some of others than the one whose all of the first are; none where they are several's */
  async rooms({ now, limit, room, ownerOf }: TakeRequest, first: readonly Room[]): Promise<Room[]> {
    if (ownerOf === undefined || this.clock() < this.#restUntil) return [];
    const { principal } = ownerOf(first[0]![0]);
    const isOthers = (endpoint: string): boolean => ownerOf(endpoint).principal !== principal;
    if (first.some(([endpoint]) => isOthers(endpoint))) return [];
    for (let pages = 0; pages < PAGES; pages++) {
      const page = { after: this.#cursor, limit: ENDPOINTS, now };
      const found = await this.database.query((q) => nextEndpoints(q, this.topic, page));
      const due = found.filter(({ endpoint, next }) => next <= now && isOthers(endpoint));
      const others = roomsOf(
        due.map(({ endpoint }) => endpoint),
        room,
        limit,
      );
      this.#found ||= others.length > 0;
      const last = found.at(-1)?.endpoint;
      if (last === undefined || found.length < ENDPOINTS) this.#roundEnded();
      else this.#cursor = isOthers(last) ? last : (ownerOf(last).end ?? last);
      if (others.length > 0 || this.#cursor === "") return others;
    }
    return [];
  }

  #roundEnded(): void {
    this.#cursor = "";
    if (!this.#found) this.#restUntil = this.clock() + REST_MS;
    this.#found = false;
  }
}
