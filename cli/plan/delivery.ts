/** What is simulated of deliveries: the load, who delivers it, what its steps cost, and what came of it. */

/** What has to be delivered. */
export interface DeliveryLoad {
  readonly eventsPerSecond: number;
  readonly endpoints: number;
  /** Part of the endpoints that fail, 0 to 1: their events wait, and each is probed. */
  readonly failing: number;
  /** Mean time of an endpoint's answer, in milliseconds. */
  readonly answerMs: number;
  /** Time of an attempt that fails, in milliseconds: it holds a slot for so long. */
  readonly failingMs: number;
}

/** What delivers it. */
export interface Fleet {
  /** Processes, of one core each. */
  readonly deliverers: number;
  /** Attempts at once of each. */
  readonly concurrency: number;
  readonly databaseCores: number;
  /** Least time between two notifications of what stores events, in milliseconds. Default 5: one process stores them. */
  readonly tellMs?: number;
  /**
   * All of it stands on one machine with so many cores, as in a bench: the processor time of what stores an event and of what
   * answers it, in milliseconds, is spent there too.
   */
  readonly together?: { readonly cores: number; readonly applicationMs: number; readonly answerMs: number };
}

/** Processor milliseconds of an event's steps, and how soon an idle deliverer begins. */
export interface StepCosts {
  /** The database's, for storing it. */
  readonly storeMs: number;
  /** The database's, for leasing and acknowledging it as one of many. */
  readonly handOutMs: number;
  /** The deliverer's, for an attempt as one of many. */
  readonly deliverMs: number;
  /** The database's and the deliverer's, for asking for work once, however many events come of it. */
  readonly leaseMs: number;
  readonly leaseOwnMs: number;
  /** From the commit until a deliverer with nothing else to do has it, in milliseconds; no processor is busy with it. */
  readonly wakeMs: number;
}

export interface Simulated {
  /** Events that arrived at healthy endpoints, a second. */
  readonly perSecond: number;
  /** From the commit to the arrival, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Attempts at endpoints that fail, a second. */
  readonly probesPerSecond: number;
  /** Parts of the time that processors are busy, 0 to 1. */
  readonly delivererBusy: number;
  readonly databaseBusy: number;
  /** Events of healthy endpoints that had not arrived when it ended. */
  readonly waiting: number;
}

export interface SimulationOptions {
  /** Simulated; the first fifth is not measured. Default: as many as a million events take, 10 to 120. */
  readonly seconds?: number;
  /** The same number gives the same run. Default 1. */
  readonly seed?: number;
}
