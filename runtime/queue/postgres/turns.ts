/** Whose turn it is: endpoints with something due are gone through in their order, however many there are. */
import type { PostgresDatabase } from "../../db/index.js";
import type { TakeRequest } from "../types.js";
import { Beside } from "./beside.js";
import { nextEndpoints } from "./due-endpoints.js";
import { NamedEndpoints } from "./named-endpoints.js";
import { countsOf, type Room, roomsOf } from "./rooms.js";

/** Endpoints looked at in one statement. */
const ENDPOINTS = 256;
/** Endpoints that are tried before any is looked for: of those that had something lately, and of those that jobs were added for. */
const LIKELY = 16;
const NAMED = 64;
/** Later than any clock. */
const FAR = Number.MAX_SAFE_INTEGER;
/**
 * Statements in one take that look for endpoints with room; the next take goes on from there, after a rest: a round over tens of
 * thousands of endpoints of which nothing is due is not worth a database that is asked all the time.
 */
const PAGES = 32;

/** A look from endpoint to endpoint, until it comes to where it began. */
interface Round {
  readonly start: string;
  after: string;
  /** It has been at the end of all names. */
  again: boolean;
  /** When the next of what it has found is due, and whether something was. */
  next: number;
  due: boolean;
  /** Jobs were added since it began: where it has been already it may have missed them. */
  stale: boolean;
}

/** Endpoints that are tried without a look, and those of them that jobs were added for, with room or not. */
interface Guess {
  readonly rooms: readonly Room[];
  readonly names: readonly string[];
}

export class Turns {
  /** Endpoints after this one are looked at next, and leased from first. */
  #cursor = "";
  /** When the next of what the last look found is due. */
  #next = 0;
  /** Endpoints that had something due lately, the last ones last. */
  readonly #lately = new Set<string>();
  /** Endpoints that jobs were added for since jobs were last guessed at. */
  readonly #named = new NamedEndpoints();
  /** It has been looked since jobs were last guessed at. */
  #mayGuess = true;
  /** The last look found nothing due; and of what the last one that did find something found, some was of those. */
  #quiet = false;
  #guessed = true;
  /** A round that found nobody with room so far, and has not come to its end. */
  #round: Round | undefined;
  /** The last look came round: whatever it did not find had nothing due, or no room. */
  whole = false;
  /** The last look was broken off for endpoints that jobs were added for, and goes on at once. */
  goesOn = false;
  readonly #beside: Beside;
  /** Of the last look, without those that were found beside, and where it began. */
  #served: { readonly rooms: readonly Room[]; readonly start: string } = { rooms: [], start: "" };

  /**
   * @param leaseMs how long a lease lasts, in milliseconds
   * @param clock milliseconds, the process's own by default
   */
  constructor(
    readonly database: Pick<PostgresDatabase, "query">,
    readonly topic: string,
    readonly leaseMs: number,
    clock?: () => number,
  ) {
    this.#beside = new Beside(database, topic, leaseMs, clock);
  }

  /**
   * Endpoints that need no look: those that jobs were added for; and after a look that found nothing due, or not yet, those that had
   * something due lately, unless that was a bad guess the last time. Between two guesses it is looked: whoever is told of all the
   * time keeps nobody from his turn.
   */
  likely({ limit, likely, ownerOf }: TakeRequest): Guess {
    if (likely === undefined || !this.#mayGuess) return { names: [], rooms: [] };
    const names = this.#named.next(NAMED, (endpoint) => ownerOf?.(endpoint).principal ?? endpoint);
    const lately = this.#guessed && (this.#quiet || this.#round !== undefined) ? [...this.#lately].toReversed() : [];
    const guesses = [...new Set([...names, ...lately])];
    this.#mayGuess = guesses.length === 0;
    return { names, rooms: roomsOf(guesses, likely, limit) };
  }

  /**
   * What a guess has brought. Who was told of and not tried, since there was no more to be had, is guessed at again. A round that is
   * under way knows nothing of those that had no room, or more than that, or whose jobs are not due yet.
   * @param limit jobs that could be had; 0 where it failed
   */
  guessed({ names, rooms }: Guess, jobs: readonly { readonly endpoint: string }[], limit: number): void {
    const counts = countsOf(jobs);
    const tried = jobs.length < limit ? rooms.length : 1 + rooms.findLastIndex(([endpoint]) => counts.has(endpoint));
    const untried = new Set(rooms.slice(tried).map(([endpoint]) => endpoint));
    const emptied = new Set(
      rooms.filter(([name, room]) => counts.has(name) && counts.get(name)! < room).map(([name]) => name),
    );
    for (const name of names) {
      if (untried.has(name)) this.#named.add([name]);
      else if (this.#round !== undefined && !emptied.has(name)) this.#round.stale = true;
    }
  }

  /** Jobs were added: a round that is under way need not come to them first. @param endpoints theirs; none where it is not known which */
  added(endpoints: readonly string[]): void {
    const known = this.#named.add(endpoints);
    // Those that are known are guessed at.
    if (this.#round !== undefined && !known) this.#round.stale = true;
  }

  /** Something of them was due. @param looked for, not guessed */
  had(endpoints: Iterable<string>, looked: boolean): void {
    let known = false;
    for (const endpoint of endpoints) {
      known = this.#lately.delete(endpoint) || known;
      this.#lately.add(endpoint);
    }
    if (looked) this.#guessed = known;
    for (const endpoint of this.#lately) {
      if (this.#lately.size <= LIKELY) return;
      this.#lately.delete(endpoint);
    }
  }

  /** The next endpoints with something due for which there is room, in turn, and for how many jobs of each. */
  async rooms(request: TakeRequest): Promise<Room[]> {
    const { now, limit, room } = request;
    const start = this.#cursor;
    const round = this.#round ?? {
      start,
      after: start,
      again: false,
      next: FAR,
      due: false,
      stale: false,
    };
    this.#round = round;
    this.#mayGuess = true;
    this.goesOn = false;
    for (let pages = 0; pages < PAGES; pages++) {
      const page = { after: round.after, limit: ENDPOINTS, now, leaseMs: this.leaseMs };
      const found = await this.database.query((q) => nextEndpoints(q, this.topic, page));
      const due = found.filter((one) => one.next <= now);
      round.next = Math.min(round.next, ...found.map((one) => one.next));
      const rooms = roomsOf(
        due.map(({ endpoint }) => endpoint),
        room,
        limit,
      );
      const ended = found.length < ENDPOINTS;
      const after = ended ? "" : found.at(-1)!.endpoint;
      const all = ended ? round.again || round.start === "" : round.again && after >= round.start;
      this.#ended(all && !round.stale && !this.#named.any, round.next, now);
      if (rooms.length > 0 || all) {
        this.#served = { rooms, start };
        this.#round = undefined;
      }
      if (rooms.length > 0) {
        // Those for which there was no room any more come first the next time.
        this.#cursor = rooms.length < due.length ? rooms.at(-1)![0] : after;
        return all ? rooms : await this.#withOthers(request, rooms, start);
      }
      round.due ||= due.length > 0;
      if (all) {
        // Nobody was served: whose turn it was has it still. Where nothing is due it is nobody's.
        if (!round.due) this.#cursor = "";
        return [];
      }
      round.after = after;
      round.again ||= ended;
      // Jobs of theirs need not wait until all others have been looked at, where those are many.
      this.goesOn = !ended && this.#named.any;
      if (this.goesOn) break;
    }
    return [];
  }

  /** Others first: their turn is their own. */
  async #withOthers(request: TakeRequest, rooms: readonly Room[], start: string): Promise<Room[]> {
    const others = await this.#beside.rooms(request, rooms);
    const names = new Set(others.map(([endpoint]) => endpoint));
    const own = rooms.filter(([endpoint]) => !names.has(endpoint));
    this.#served = { rooms: own, start };
    return [...others, ...own];
  }

  /** @param all whether it has come round, and knows of everybody */
  #ended(all: boolean, next: number, now: number): void {
    this.whole = all;
    this.#next = all ? next : 0;
    this.#quiet = all && next > now;
  }

  /** No more could be had: those behind the last endpoint that was served in its turn come first in the next one. */
  endedAt(jobs: readonly { readonly endpoint: string }[]): void {
    const served = new Set(jobs.map(({ endpoint }) => endpoint));
    const { rooms, start } = this.#served;
    this.#cursor = rooms.findLast(([endpoint]) => served.has(endpoint))?.[0] ?? start;
  }

  /** For how long nothing that the last look found will be due, in milliseconds. */
  quietMs(now: number): number {
    return Math.max(0, this.#next - now);
  }
}
