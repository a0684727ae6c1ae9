/**
 * Deliveries as queues: events are stored in a database, leased by deliverers, sent and acknowledged, while some endpoints
 * fail and are probed. What each step costs is given; waiting comes of itself.
 */
import type { DeliveryLoad, Fleet, Simulated, SimulationOptions, StepCosts } from "./delivery.js";
import { Moments } from "./heap.js";
import { Cores, DelivererProcess, Line, random } from "./resources.js";

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
const [COMMITTED, LEASED, SENT, ANSWER, PROBE, PROBED] = [0, 1, 2, 3, 4, 5];
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
  readonly #machine: Cores | undefined;
  #databaseMs = 0;
  /** When the event of a number was committed; numbers are used again. */
  #committed = new Float64Array(4_096);
  /** Which deliverer has it. */
  #holder = new Int32Array(4_096);
  readonly #unused: number[] = [];
  #numbers = 0;
  /** Events that no deliverer has leased yet, oldest first. */
  readonly #line = new Line();
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
    this.#machine = fleet.together && new Cores(fleet.together.cores);
    this.#database = this.#machine ?? new Cores(fleet.databaseCores);
    this.#from = endMs * WARM_UP;
    const failing = Math.round(load.endpoints * load.failing);
    for (let at = 0; at < failing; at += 1)
      this.#moments.add(this.#random() * (PROBE_PAUSE_MS + load.failingMs), PROBE, 0);
  }

  run(): Simulated {
    const between = 1_000 / (this.#load.eventsPerSecond * (1 - this.#load.failing));
    let arrival = this.#exponential(between);
    for (;;) {
      const next = Math.min(arrival, this.#moments.next);
      if (next >= this.endMs) break;
      if (arrival <= this.#moments.next) {
        this.#store(arrival);
        arrival += this.#exponential(between);
      } else this.#turn();
    }
    return this.#result();
  }

  #exponential(mean: number): number {
    return -mean * Math.log(1 - this.#random());
  }

  #databaseDone(at: number, costMs: number): number {
    this.#databaseMs += costMs;
    return this.#database.done(at, costMs);
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
    this.#besides(at);
    const committed = this.#databaseDone(at, this.#costs.storeMs);
    this.#committed[number] = committed;
    this.#stored += 1;
    this.#moments.add(committed + this.#costs.wakeMs, COMMITTED, number);
  }

  /** Half of it when an event is stored, half when it arrives. */
  #besides(at: number): void {
    this.#machine?.done(at, this.#fleet.together!.besidesMs / 2);
  }

  #turn(): void {
    const { at, what, who } = this.#moments.take();
    if (what === COMMITTED) this.#committedAt(at, who);
    else if (what === LEASED) this.#leased(at, this.#deliverers[who]!);
    else if (what === SENT) this.#sent(at, this.#deliverers[who]!);
    else if (what === ANSWER) this.#answered(at, who);
    else if (what === PROBE) this.#probe(at);
    else this.#deliverers[who]!.probes -= 1;
  }

  #committedAt(at: number, number: number): void {
    this.#line.add(number);
    this.#ask(at, this.#pick());
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
    if (count === 0) return;
    deliverer.out += count;
    const { leaseMs, handOutMs } = this.#costs;
    this.#moments.add(this.#databaseDone(at, leaseMs + (count * handOutMs) / 2), LEASED, deliverer.number);
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
    this.#moments.add(this.#machine?.done(at, ownMs) ?? at + ownMs, SENT, deliverer.number);
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
    this.#besides(at);
    if (at >= this.#from) {
      this.#arrived += 1;
      this.#delays.push(at - this.#committed[number]!);
    }
    this.#moments.add(at + this.#exponential(this.#load.answerMs), ANSWER, number);
  }

  #answered(at: number, number: number): void {
    this.#databaseDone(at, this.#costs.handOutMs / 2);
    const deliverer = this.#deliverers[this.#holder[number]!]!;
    deliverer.out -= 1;
    this.#unused.push(number);
    this.#stored -= 1;
    if (this.#line.size > 0) this.#ask(at, deliverer);
  }

  #probe(at: number): void {
    const deliverer = this.#deliverers[Math.floor(this.#random() * this.#deliverers.length)]!;
    if (deliverer.probes >= this.#fleet.concurrency * UNPROVEN) {
      this.#moments.add(at + NO_SLOT_MS, PROBE, 0);
      return;
    }
    deliverer.probes += 1;
    if (at >= this.#from) this.#probes += 1;
    this.#databaseDone(at, this.#costs.handOutMs);
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
