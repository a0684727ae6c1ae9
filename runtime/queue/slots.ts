/** How many slots of a worker hosts and principals have, and those endpoints of which nothing good is known. */
import type { EndpointOptions } from "./endpoint-options.js";

/** What is known of an endpoint: nothing, where it has not been attempted yet. The last two are suspect. */
export type Standing = "well" | "new" | "failing";

/** How an endpoint fares. Times are unix milliseconds. */
export interface Fare {
  readonly host: string;
  readonly principal: string;
  /** Both: what one has there. */
  readonly place: string;
  out: number;
  width: number;
  standing: Standing;
  failures: number;
  successes: number;
  pauses: number;
  pausedUntil: number;
  failingSince: number | null;
  /** What the queue was told of it and not yet that it is over: that it is to be left alone, or that it fails as well. */
  told: "nothing" | "pause" | "failure";
  /** What it asked for, and as much of that as is kept here. */
  askedUntil: number;
  heldUntil: number;
  /** Least time between two starts, in milliseconds; 0 for no limit. */
  intervalMs: number;
  /** Its rate is used up to here. */
  spentUntil: number;
  /** When an operator resumed it here; 0 where none has. */
  resumedAt: number;
}

/** Counts by name; what is at zero takes no room. */
class Tally {
  readonly #counts = new Map<string, number>();
  total = 0;

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    this.total += by;
    const count = this.of(name) + by;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}

/** What was taken when it was first asked for: what is given back later is shared out by the next plan, to whose turn it is then. */
class FirstSeen {
  readonly #seen = new Map<string, number>();
  readonly #total: number;

  constructor(readonly tally: Tally) {
    this.#total = tally.total;
  }

  get total(): number {
    return Math.max(this.#total, this.tally.total);
  }

  of(name: string): number {
    const now = this.tally.of(name);
    const seen = this.#seen.get(name);
    if (seen === undefined) this.#seen.set(name, now);
    return Math.max(seen ?? 0, now);
  }
}

type Limits = Pick<EndpointOptions, "perEndpoint" | "perHost" | "perPrincipal" | "perUnproven">;

/**
 * Jobs that an endpoint which is well may have leased, for each of its slots: one under way, one whose end is being written down,
 * and those that wait for it. With four an endpoint that answers at once had none waiting for half of the time.
 */
export const LEASED_PER_SLOT = 6;

/** Where more than so many are left for each slot of an endpoint, much is left. */
const PLENTY_PER_SLOT = 4;

/**
 * Into so many parts what is left is shared out at most: most of those who are asked for may have no room, or are others' at other
 * hosts, and who has much to do is not held up by how many they are.
 */
const MOST_PARTS = 16;

/** What one principal may have of what others leave of a host. */
const PART_OF_HOST = 3 / 4;

/** What those that fail may have of the slots of suspects: who is new has room, however many of them hang. */
const PART_FAILING = 3 / 4;

export const isSuspect = ({ standing }: Fare): boolean => standing !== "well";

export class Slots {
  readonly #hosts = new Tally();
  readonly #principals = new Tally();
  readonly #places = new Tally();
  /** Of suspects, by principal. */
  readonly #suspects = new Tally();
  readonly #failing = new Tally();

  constructor(readonly limits: Limits) {}

  moved(fare: Fare, by: 1 | -1): void {
    fare.out += by;
    this.#hosts.add(fare.host, by);
    this.#principals.add(fare.principal, by);
    this.#places.add(fare.place, by);
    this.#count(fare, by);
  }

  judged(fare: Fare, standing: Standing): void {
    this.#count(fare, -fare.out);
    fare.standing = standing;
    this.#count(fare, fare.out);
  }

  #count(fare: Fare, by: number): void {
    if (isSuspect(fare)) this.#suspects.add(fare.principal, by);
    if (fare.standing === "failing") this.#failing.add(fare.principal, by);
  }

  /**
   * How many more slots an endpoint may have now, of those it wants. What one is given is not there for others of its host and
   * its owner, though it may have less to do: so it is given a quarter of what is left at most, and a half while it is the only one
   * and much is left; of a few that are asked for at once each has the same part. At a host its owner has
   * three quarters of what others leave at most: whoever comes there finds room, however slowly it answers.
   */
  plan(): (fare: Fare, wanted: number, others: number) => number {
    const [hosts, principals, places] = [new Tally(), new Tally(), new Tally()];
    const [suspects, failing] = [new Tally(), new Tally()];
    const [hostsBefore, principalsBefore] = [new FirstSeen(this.#hosts), new FirstSeen(this.#principals)];
    const [placesBefore, suspectsBefore] = [new FirstSeen(this.#places), new FirstSeen(this.#suspects)];
    const failingBefore = new FirstSeen(this.#failing);
    return (fare, wanted, others) => {
      const { perEndpoint, perHost, perPrincipal, perUnproven } = this.limits;
      const plenty = PLENTY_PER_SLOT * perEndpoint;
      const parts = Math.min(others + 1, MOST_PARTS);
      const shareOf = (most: number, out: number): number => {
        const rest = most - out;
        return Math.ceil(rest / Math.max(out === fare.out && rest > plenty ? 2 : 4, parts));
      };
      const host = hostsBefore.of(fare.host) + hosts.of(fare.host);
      const there = placesBefore.of(fare.place) + places.of(fare.place);
      const left = [
        wanted,
        shareOf(perHost, host),
        Math.ceil((Math.max(1, Math.floor((perHost - (host - there)) * PART_OF_HOST)) - there) / parts),
        shareOf(perPrincipal, principalsBefore.of(fare.principal) + principals.of(fare.principal)),
      ];
      if (isSuspect(fare)) {
        const own = suspectsBefore.of(fare.principal) + suspects.of(fare.principal);
        const all = suspectsBefore.total + suspects.total;
        left.push(perUnproven - all, Math.ceil((perUnproven - (all - own)) / 2) - own);
      }
      if (fare.standing === "failing")
        left.push(Math.max(1, Math.floor(perUnproven * PART_FAILING)) - failingBefore.total - failing.total);
      const room = Math.max(0, Math.min(...left));
      if (room > 0) {
        hosts.add(fare.host, room);
        principals.add(fare.principal, room);
        places.add(fare.place, room);
        if (isSuspect(fare)) suspects.add(fare.principal, room);
        if (fare.standing === "failing") failing.add(fare.principal, room);
      }
      return room;
    };
  }
}
