/**
 * How each endpoint fares in this process: how much of it may be leased at once, and when it is left alone for a while. Those
 * of whom nothing good is known share a small part of the slots, so that a thousand dead ones never hold those of the living.
 */
import type { EndpointOptions, RoomOf } from "./endpoint-options.js";
import { type Fare, isSuspect, LEASED_PER_SLOT, Slots } from "./slots.js";

/** Successes in a row that end an endpoint's bad spell (docs/protocol/webhooks.md#retries). */
const SUCCESSES_TO_CLOSE = 2;
/** Endpoints remembered; at twice as many, those with nothing leased are forgotten down to it, the well ones first. */
const REMEMBERED = 10_000;
/** Later than any clock. */
const FAR = Number.MAX_SAFE_INTEGER;

/** What an outcome means for its endpoint. */
export type Turn =
  | { readonly kind: "same" }
  /** `failingSince` is null where it asked for the pause and does not fail. */
  | { readonly kind: "paused"; readonly until: number; readonly failingSince: number | null }
  /**
   * It may go on from `until` at the latest, which is 0 unless it has asked to be left alone for longer, and later than any
   * clock where it is others who know of its pause.
   */
  | { readonly kind: "recovered"; readonly until: number };

const SAME: Turn = { kind: "same" };

export class Endpoints {
  readonly #endpoints = new Map<string, Fare>();
  readonly #slots: Slots;
  /** Those of which a bad spell is noted in the queue, from before this process began or by another. */
  #noted: Set<string> = new Set();

  constructor(readonly options: EndpointOptions) {
    this.#slots = new Slots(options);
  }

  /**
   * Shares out what is free, once: the answers are how many more of each endpoint may be leased. What one is given counts
   * against its owner's others; an endpoint that is asked for again has the same answer.
   * @param ahead jobs that may be leased before there is a slot for them, of endpoints that are well
   */
  plan(free: number, now: number, ahead = 0): RoomOf {
    const given = new Map<string, number>();
    const slots = this.#slots.plan();
    // A quarter of what is free: the last slots are never all one endpoint's.
    const share = Math.ceil(free / 4);
    const { leasedPerSlot: perSlot = LEASED_PER_SLOT } = this.options;
    let left = ahead;
    return (name, others = 0) => {
      const known = given.get(name);
      if (known !== undefined) return known;
      const fare = this.#endpoints.get(name) ?? this.#fresh(name);
      const resting = fare.pausedUntil > now || fare.heldUntil > now;
      const width = widthOf(fare);
      const atOnce = resting ? 0 : Math.max(0, Math.min(width - fare.out, share, allowance(fare, now)));
      const steady = !resting && !isSuspect(fare) && fare.intervalMs === 0;
      const later = steady
        ? Math.max(0, Math.min((perSlot - 1) * width, left, perSlot * width - fare.out - atOnce))
        : 0;
      const wanted = atOnce + later;
      const room = wanted === 0 ? 0 : slots(fare, wanted, others);
      left -= Math.max(0, room - atOnce);
      given.set(name, room);
      return room;
    };
  }

  /** How many attempts of an endpoint may be under way. */
  widthOf(name: string): number {
    return widthOf(this.#of(name));
  }

  /** A job of it was leased, and will start. */
  started(name: string, now: number): void {
    const fare = this.#of(name);
    this.#slots.moved(fare, 1);
    // The database would not have given it: what it asked for is over, or an operator has ended it.
    if (fare.heldUntil <= now) fare.askedUntil = 0;
    if (fare.intervalMs > 0) fare.spentUntil = Math.max(fare.spentUntil, now - BURST_MS) + fare.intervalMs;
  }

  /** A job left without saying anything of its endpoint. */
  returned(name: string): void {
    this.#slots.moved(this.#of(name), -1);
    this.#trim();
  }

  /** Most jobs of an endpoint that start in a second; null takes the limit away. */
  limit(name: string, perSecond: number | null): void {
    this.#of(name).intervalMs = perSecond === null ? 0 : 1_000 / perSecond;
  }

  /** An operator has ended whatever it is left alone for. @param now unix milliseconds @returns whether it was */
  resumed(name: string, now: number): boolean {
    const fare = this.#endpoints.get(name);
    if (fare === undefined) return false;
    const { pausedUntil, heldUntil, askedUntil } = fare;
    Object.assign(fare, { pausedUntil: 0, heldUntil: 0, askedUntil: 0, resumedAt: now });
    return Math.max(pausedUntil, heldUntil, askedUntil) > now;
  }

  /** Whether an operator has resumed it after a time: an attempt that began before and fails says nothing of it any more. */
  resumedSince(name: string, began: number): boolean {
    return (this.#endpoints.get(name)?.resumedAt ?? 0) > began;
  }

  /** The endpoint asked to be left alone until a time. */
  hold(name: string, until: number, now: number): Turn {
    const fare = this.#of(name);
    if (until <= fare.askedUntil) return SAME;
    fare.askedUntil = until;
    // The database keeps the rest of it, where an operator can end it.
    fare.heldUntil = Math.min(until, now + this.options.maxPauseMs);
    if (fare.told === "nothing") fare.told = "pause";
    if (fare.failingSince !== null) fare.told = "failure";
    return { kind: "paused", until, failingSince: fare.failingSince };
  }

  succeeded(name: string, now: number): Turn {
    const fare = this.#of(name);
    this.#slots.moved(fare, -1);
    fare.width = Math.min(this.options.perEndpoint, fare.width + 1);
    fare.successes += 1;
    const bad = fare.failures >= this.options.failuresToPause;
    if (bad && fare.successes < SUCCESSES_TO_CLOSE) return SAME;
    Object.assign(fare, { failures: 0, pauses: 0, failingSince: null, pausedUntil: 0 });
    this.#slots.judged(fare, "well");
    this.#trim();
    return this.#recovered(name, fare, now);
  }

  /** What there is to take back of what the queue has noted. */
  #recovered(name: string, fare: Fare, now: number): Turn {
    const { told, askedUntil } = fare;
    const asked = askedUntil > now;
    const noted = this.#noted.delete(name);
    if (told === "nothing" && !noted) return SAME;
    if (told === "pause" && asked) return SAME;
    fare.told = asked ? "pause" : "nothing";
    return { kind: "recovered", until: told === "nothing" ? FAR : asked ? askedUntil : 0 };
  }

  /** These have a bad spell noted in the queue: the first success ends it. */
  note(names: readonly string[]): void {
    this.#noted = new Set(names);
  }

  failed(name: string, now: number): Turn {
    const fare = this.#of(name);
    this.#slots.moved(fare, -1);
    fare.successes = 0;
    fare.failures += 1;
    fare.failingSince = Math.min(fare.failingSince ?? now, now);
    fare.width = Math.max(1, Math.floor(fare.width / 2));
    this.#trim();
    const { failuresToPause, pauseMs, maxPauseMs } = this.options;
    const bad = fare.failures >= failuresToPause;
    if (bad || isSuspect(fare)) this.#slots.judged(fare, "failing");
    if (!bad) return SAME;
    if (fare.pausedUntil > now) return SAME;
    fare.pausedUntil = now + Math.min(maxPauseMs, pauseMs * 2 ** Math.min(fare.pauses, 16));
    fare.pauses += 1;
    fare.told = "failure";
    return { kind: "paused", until: fare.pausedUntil, failingSince: fare.failingSince };
  }

  /** The clock was set back: no pause may outlast what it was meant to last. */
  pull(now: number): void {
    const horizon = now + this.options.maxPauseMs;
    for (const fare of this.#endpoints.values()) {
      if (fare.pausedUntil > horizon) fare.pausedUntil = 0;
      if (fare.heldUntil > horizon) fare.heldUntil = 0;
      fare.askedUntil = 0;
      fare.spentUntil = Math.min(fare.spentUntil, now);
      fare.resumedAt = Math.min(fare.resumedAt, now);
    }
  }

  #fresh(name: string): Fare {
    const zeros = { out: 0, width: 1, failures: 0, successes: 0, pauses: 0, pausedUntil: 0, heldUntil: 0 };
    const { host, principal } = this.options.ownerOf(name);
    return {
      ...zeros,
      host,
      principal,
      place: `${host} ${principal}`,
      standing: this.#noted.has(name) ? "failing" : "new",
      failingSince: null,
      told: "nothing",
      askedUntil: 0,
      intervalMs: 0,
      spentUntil: 0,
      resumedAt: 0,
    };
  }

  #of(name: string): Fare {
    let fare = this.#endpoints.get(name);
    if (fare === undefined) {
      fare = this.#fresh(name);
      this.#endpoints.set(name, fare);
    }
    return fare;
  }

  #trim(): void {
    if (this.#endpoints.size < 2 * REMEMBERED) return;
    for (const most of [0, Number.POSITIVE_INFINITY]) {
      for (const [name, { out, failures }] of this.#endpoints) {
        if (this.#endpoints.size <= REMEMBERED) return;
        if (out === 0 && failures <= most) this.#endpoints.delete(name);
      }
    }
  }
}

const widthOf = (fare: Fare): number => (isSuspect(fare) ? 1 : fare.width);

/** What a limited endpoint may start at once after it was left alone, in milliseconds of its rate: a queue is not asked more often. */
const BURST_MS = 1_000;

/** How many jobs its rate lets start now. */
function allowance({ intervalMs, spentUntil }: Fare, now: number): number {
  if (intervalMs === 0) return Number.POSITIVE_INFINITY;
  const saved = Math.min(BURST_MS, now - spentUntil);
  return Math.max(Math.floor(saved / intervalMs), saved >= BURST_MS ? 1 : 0);
}
