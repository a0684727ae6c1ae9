/**
 * How each endpoint fares in this process: how much of it may be leased at once, and when it is left alone for a while. An endpoint
 * starts narrow and widens with every success, so that a hundred dead ones never hold the slots of a living one.
 */
export interface EndpointOptions {
  /** Most jobs of an endpoint at once. */
  readonly perEndpoint: number;
  /** Failures in a row after which the endpoint is paused. */
  readonly failuresToPause: number;
  /** First pause, in milliseconds; doubled with each probe that fails. */
  readonly pauseMs: number;
  /** Longest pause, in milliseconds. */
  readonly maxPauseMs: number;
}

/** Width of an endpoint nothing is known of, and of one that fails. */
const FIRST_WIDTH_JOBS = 2;
/** Successes in a row that end an endpoint's bad spell (webhooks-facts.md 6). */
const SUCCESSES_TO_CLOSE = 2;
/** Endpoints remembered that have nothing leased; beyond it the oldest are forgotten. */
const IDLE_ENDPOINTS = 10_000;

interface Fare {
  out: number;
  width: number;
  failures: number;
  successes: number;
  pauses: number;
  pausedUntil: number;
  failingSince: number | null;
}

/** What an outcome means for its endpoint. */
export type Turn =
  | { readonly kind: "same" }
  | { readonly kind: "paused"; readonly until: number; readonly failingSince: number }
  | { readonly kind: "recovered" };

export class Endpoints {
  readonly #endpoints = new Map<string, Fare>();

  constructor(readonly options: EndpointOptions) {}

  /**
   * How many more of an endpoint may start.
   * @param free slots nobody has
   */
  room(name: string, free: number, now: number): number {
    const fare = this.#endpoints.get(name);
    // A quarter of what is free: the last slots are never all one endpoint's.
    const share = Math.ceil(free / 4);
    if (fare === undefined) return Math.min(FIRST_WIDTH_JOBS, this.options.perEndpoint, share);
    if (fare.pausedUntil > now) return 0;
    const width = fare.failures >= this.options.failuresToPause ? 1 : fare.width;
    return Math.max(0, Math.min(width - fare.out, share));
  }

  started(name: string): void {
    this.#of(name).out += 1;
  }

  /** A job left without saying anything of its endpoint. */
  returned(name: string): void {
    this.#of(name).out -= 1;
    this.#trim();
  }

  succeeded(name: string): Turn {
    const fare = this.#of(name);
    fare.out -= 1;
    fare.width = Math.min(this.options.perEndpoint, fare.width + 1);
    fare.successes += 1;
    const bad = fare.failingSince !== null;
    if (bad && fare.failures >= this.options.failuresToPause && fare.successes < SUCCESSES_TO_CLOSE) {
      return { kind: "same" };
    }
    const reported = fare.pauses > 0;
    Object.assign(fare, { failures: 0, pauses: 0, failingSince: null, pausedUntil: 0 });
    this.#trim();
    return reported ? { kind: "recovered" } : { kind: "same" };
  }

  failed(name: string, now: number): Turn {
    const fare = this.#of(name);
    fare.out -= 1;
    fare.successes = 0;
    fare.failures += 1;
    fare.failingSince = Math.min(fare.failingSince ?? now, now);
    fare.width = Math.max(1, Math.floor(fare.width / 2));
    const { failuresToPause, pauseMs, maxPauseMs } = this.options;
    if (fare.failures < failuresToPause || fare.pausedUntil > now) return { kind: "same" };
    fare.pausedUntil = now + Math.min(maxPauseMs, pauseMs * 2 ** Math.min(fare.pauses, 16));
    fare.pauses += 1;
    return { kind: "paused", until: fare.pausedUntil, failingSince: fare.failingSince };
  }

  /** The clock was set back: no pause may outlast what it was meant to last. */
  pull(horizon: number): void {
    for (const fare of this.#endpoints.values()) if (fare.pausedUntil > horizon) fare.pausedUntil = 0;
  }

  #of(name: string): Fare {
    let fare = this.#endpoints.get(name);
    if (fare === undefined) {
      const width = Math.min(FIRST_WIDTH_JOBS, this.options.perEndpoint);
      fare = { out: 0, width, failures: 0, successes: 0, pauses: 0, pausedUntil: 0, failingSince: null };
      this.#endpoints.set(name, fare);
    }
    return fare;
  }

  #trim(): void {
    if (this.#endpoints.size <= IDLE_ENDPOINTS) return;
    for (const [name, { out, failures }] of this.#endpoints) {
      if (out === 0 && failures === 0) this.#endpoints.delete(name);
      if (this.#endpoints.size <= IDLE_ENDPOINTS) return;
    }
  }
}
