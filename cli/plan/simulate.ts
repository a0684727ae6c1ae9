/**
 * Deliveries as queues: events are stored in a database, leased by deliverers, sent and acknowledged, while some endpoints
 * fail and are probed. What each step costs is given; waiting comes of itself.
 */
import type { DeliveryLoad, Fleet, Simulated, SimulationOptions, StepCosts } from "./delivery.js";
import { Moments } from "./heap.js";
import { Cores, DelivererProcess, Line, random, SharedCores } from "./resources.js";

const MAX_EVENTS = 1_000_000;
const [LEAST_SECONDS, MOST_SECONDS] = [10, 120];
const WARM_UP = 0.2;
/** Longest pause between two probes of an endpoint, in milliseconds (runtime/queue/worker-options.ts). */
export const PROBE_PAUSE_MS = 60_000;
/** Part of a deliverer's slots for endpoints that fail. */
const UNPROVEN = 1 / 8;
/** A probe that finds no slot comes back after this, in milliseconds. */
const NO_SLOT_MS = 1_000;

/** What happens at a moment, and whom it concerns: an event's number, or a deliverer's. */
const [TOLD, LEASED, SENT, ANSWER, PROBE, PROBED, STORED, NOTHING] = [0, 1, 2, 3, 4, 5, 6, 7];
/** Least time between two notifications of what stores events, in milliseconds (runtime/queue, the waker). */
const TELL_MS = 5;
/** In a deliverer's line: an attempt at an endpoint that fails; what asking for work once takes of its processor. */
const [A_PROBE, A_LEASE] = [-1, -2];

class Simulation {
  readonly #load: DeliveryLoad;
  readonly #fleet: Fleet;
  readonly #costs: StepCosts;
  readonly #random: () => number;
  readonly #moments = new Moments();
  readonly #deliverers: DelivererProcess[];
  readonly #database: Cores;
  /** Where all of it stands on one machine. */
  readonly #machine: SharedCores | undefined;
  #databaseMs = 0;
  /** When the event of a number was committed; numbers are used again. */
  #committed = new Float64Array(4_096);
  /** Which deliverer has it. */
  #holder = new Int32Array(4_096);
  readonly #unused: number[] = [];
  #numbers = 0;
  /** Events that no deliverer has leased yet, oldest first. */
  readonly #line = new Line();
  /** When deliverers were last told, or will be, that something is to be leased. */
  #told = Number.NEGATIVE_INFINITY;
  readonly #from: number;
  readonly #delays: number[] = [];
  #probes = 0;
  #stored = 0;
  #arrived = 0;

  constructor(
    load: DeliveryLoad,
    fleet: Fleet,
    costs: StepCosts,
    readonly endMs: number,
    seed: number,
  ) {
    this.#load = load;
    this.#fleet = fleet;
    this.#costs = costs;
    this.#random = random(seed);
    this.#deliverers = Array.from({ length: fleet.deliverers }, (_, at) => new DelivererProcess(at));
    this.#machine = fleet.together && new SharedCores(fleet.together.cores);
    this.#database = new Cores(fleet.databaseCores);
    this.#from = endMs * WARM_UP;
    const failing = Math.round(load.endpoints * load.failing);
    for (let at = 0; at < failing; at += 1)
      this.#moments.add(this.#random() * (PROBE_PAUSE_MS + load.failingMs), PROBE, 0);
  }

  run(): Simulated {
    const between = 1_000 / (this.#load.eventsPerSecond * (1 - this.#load.failing));
    let arrival = this.#exponential(between);
    for (;;) {
      const [moment, done] = [this.#moments.next, this.#machine?.next ?? Number.POSITIVE_INFINITY];
      if (Math.min(arrival, moment, done) >= this.endMs) break;
      if (arrival <= moment && arrival <= done) {
        this.#store(arrival);
        arrival += this.#exponential(between);
      } else this.#turn(done <= moment ? this.#machine!.take() : this.#moments.take());
    }
    return this.#result();
  }

  #exponential(mean: number): number {
    return -mean * Math.log(1 - this.#random());
  }

  /** The database works, and what follows happens when it is done. */
  #work(at: number, costMs: number, what: number, who: number): void {
    this.#databaseMs += costMs;
    if (this.#machine === undefined) this.#moments.add(this.#database.done(at, costMs), what, who);
    else this.#machine.add(at, costMs, what, who);
  }

  /** The one of two that has less to do: whoever is idle leases first. */
  #pick(): DelivererProcess {
    const all = this.#deliverers;
    const [one, other] = [all[Math.floor(this.#random() * all.length)]!, all[Math.floor(this.#random() * all.length)]!];
    return one.waiting <= other.waiting ? one : other;
  }

  #store(at: number): void {
    const number = this.#unused.pop() ?? this.#numbers++;
    if (number === this.#committed.length) this.#widen();
    this.#machine?.add(at, this.#fleet.together!.applicationMs, NOTHING, 0);
    this.#stored += 1;
    this.#work(at, this.#costs.storeMs, STORED, number);
  }

  #turn({ at, what, who }: { at: number; what: number; who: number }): void {
    if (what === NOTHING) return;
    if (what === STORED) this.#storedAt(at, who);
    else if (what === TOLD) this.#ask(at, this.#pick());
    else if (what === LEASED) this.#leased(at, this.#deliverers[who]!);
    else if (what === SENT) this.#sent(at, this.#deliverers[who]!);
    else if (what === ANSWER) this.#answered(at, who);
    else if (what === PROBE) this.#probe(at);
    else this.#deliverers[who]!.probes -= 1;
  }

  /** Who asks from now on finds it; who does not is told, seldom. */
  #storedAt(at: number, number: number): void {
    this.#committed[number] = at;
    this.#line.add(number);
    if (this.#told >= at) return;
    this.#told = Math.max(at, this.#told + (this.#fleet.tellMs ?? TELL_MS));
    this.#moments.add(this.#told + this.#costs.wakeMs, TOLD, 0);
  }

  /** One question at a time, as the next thing its thread does: what is committed until then comes with it. */
  #ask(at: number, deliverer: DelivererProcess): void {
    if (deliverer.asks) return;
    deliverer.asks = true;
    if (deliverer.working === undefined) this.#begin(deliverer, at, A_LEASE);
    else deliverer.willAsk = true;
  }

  #lease(at: number, deliverer: DelivererProcess): void {
    for (let free = this.#fleet.concurrency - deliverer.out; free > 0; free -= 1) {
      const number = this.#line.take();
      if (number === undefined) break;
      this.#holder[number] = deliverer.number;
      deliverer.leased.push(number);
    }
    const count = deliverer.leased.length;
    deliverer.asks = count > 0;
    deliverer.full = deliverer.out + count >= this.#fleet.concurrency;
    if (count === 0) return;
    deliverer.out += count;
    const { leaseMs, handOutMs } = this.#costs;
    this.#work(at, leaseMs + (count * handOutMs) / 2, LEASED, deliverer.number);
  }

  #leased(at: number, deliverer: DelivererProcess): void {
    const numbers = deliverer.leased;
    deliverer.leased = [];
    deliverer.asks = false;
    for (const number of numbers) this.#give(deliverer, at, number);
    if (this.#line.size > 0) this.#ask(at, deliverer);
  }

  #give(deliverer: DelivererProcess, at: number, work: number): void {
    deliverer.waiting += 1;
    if (deliverer.working === undefined) this.#begin(deliverer, at, work);
    else deliverer.line.add(work);
  }

  #begin(deliverer: DelivererProcess, at: number, work: number): void {
    const { deliverMs, leaseOwnMs } = this.#costs;
    const ownMs = work === A_LEASE ? leaseOwnMs : deliverMs;
    deliverer.working = work;
    deliverer.busyMs += ownMs;
    if (this.#machine === undefined) this.#moments.add(at + ownMs, SENT, deliverer.number);
    else this.#machine.add(at, ownMs, SENT, deliverer.number);
  }

  #sent(at: number, deliverer: DelivererProcess): void {
    const work = deliverer.working!;
    deliverer.working = undefined;
    if (work !== A_LEASE) deliverer.waiting -= 1;
    if (work === A_PROBE) {
      this.#moments.add(at + this.#load.failingMs, PROBED, deliverer.number);
      this.#moments.add(at + this.#load.failingMs + PROBE_PAUSE_MS, PROBE, 0);
    } else if (work === A_LEASE) this.#lease(at, deliverer);
    else this.#arrive(at, work);
    const next = deliverer.willAsk ? A_LEASE : deliverer.line.take();
    deliverer.willAsk = false;
    if (next !== undefined) this.#begin(deliverer, at, next);
  }

  #arrive(at: number, number: number): void {
    this.#machine?.add(at, this.#fleet.together!.answerMs, NOTHING, 0);
    if (at >= this.#from) {
      this.#arrived += 1;
      this.#delays.push(at - this.#committed[number]!);
    }
    this.#moments.add(at + this.#exponential(this.#load.answerMs), ANSWER, number);
  }

  #answered(at: number, number: number): void {
    this.#work(at, this.#costs.handOutMs / 2, NOTHING, 0);
    const deliverer = this.#deliverers[this.#holder[number]!]!;
    deliverer.out -= 1;
    this.#unused.push(number);
    this.#stored -= 1;
    if (!deliverer.full) return;
    deliverer.full = false;
    this.#ask(at, deliverer);
  }

  #probe(at: number): void {
    const deliverer = this.#deliverers[Math.floor(this.#random() * this.#deliverers.length)]!;
    if (deliverer.probes >= this.#fleet.concurrency * UNPROVEN) {
      this.#moments.add(at + NO_SLOT_MS, PROBE, 0);
      return;
    }
    deliverer.probes += 1;
    if (at >= this.#from) this.#probes += 1;
    this.#work(at, this.#costs.handOutMs, NOTHING, 0);
    this.#give(deliverer, at, A_PROBE);
  }

  #widen(): void {
    const [committed, holder] = [this.#committed, this.#holder];
    this.#committed = new Float64Array(committed.length * 2);
    this.#committed.set(committed);
    this.#holder = new Int32Array(holder.length * 2);
    this.#holder.set(holder);
  }

  #result(): Simulated {
    const measuredMs = this.endMs - this.#from;
    const sorted = Float64Array.from(this.#delays).sort();
    const part = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    const own = this.#deliverers.reduce((sum, { busyMs }) => sum + busyMs, 0);
    const busy = (ms: number, cores: number): number => Math.min(1, ms / (cores * this.endMs));
    return {
      perSecond: (this.#arrived * 1_000) / measuredMs,
      p50Ms: part(0.5),
      p99Ms: part(0.99),
      probesPerSecond: (this.#probes * 1_000) / measuredMs,
      delivererBusy: busy(own, this.#fleet.deliverers),
      databaseBusy: busy(this.#databaseMs, this.#fleet.databaseCores),
      waiting: this.#stored,
    };
  }
}

/** Runs a load on a fleet. The same arguments give the same answer. */
export function simulate(
  load: DeliveryLoad,
  fleet: Fleet,
  costs: StepCosts,
  { seconds, seed = 1 }: SimulationOptions = {},
): Simulated {
  const fitting = Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, MAX_EVENTS / load.eventsPerSecond));
  return new Simulation(load, fleet, costs, (seconds ?? fitting) * 1_000, seed).run();
}
