/** How much of everything a load needs, and where the next wall stands. */
import type { DeliveryCosts } from "./costs.js";
import type { DeliveryLoad, Simulated } from "./delivery.js";
import { PROBE_PAUSE_MS, simulate } from "./simulate.js";

export interface SizedLoad extends DeliveryLoad {
  /** Days that the activity of an event is kept. */
  readonly retentionDays: number;
  /** Days that what waits for an endpoint that fails is kept. */
  readonly waitingDays: number;
  /** Cores of one database server. */
  readonly databaseCores: number;
  /** Attempts at once of a deliverer, and its connections. */
  readonly concurrency: number;
  readonly connections: number;
  /** Connections that one database server allows. */
  readonly maxConnections: number;
  /** Bytes of log that a server's disk takes in a second. */
  readonly logBytesPerSecond: number;
}

/** Something that is full at some load. */
export interface Wall {
  readonly what: string;
  /** Events a second. */
  readonly at: number;
  readonly then: string;
}

export interface DeliveryPlan {
  readonly deliverers: number;
  readonly databases: number;
  readonly connections: number;
  readonly simulated: Simulated;
  /** Bytes. */
  readonly logPerDay: number;
  readonly kept: number;
  readonly waiting: number;
  /** Partitions by day of each of the two tables that have them. */
  readonly partitions: number;
  /** What is full first stands first. */
  readonly walls: readonly Wall[];
}

/** Part of a processor that is planned to be busy: the rest is for bursts, and for what is done besides. */
const BUSY = 0.7;
const DAY_SECONDS = 86_400;
/** Days for which partitions are made ahead, and the one that is dropped last. */
const AHEAD_DAYS = 8;
/** A simulation that misses half a promise is run again with more; not for ever. */
const MOST_TRIES = 8;

const probesPerSecond = ({ endpoints, failing, failingMs }: DeliveryLoad): number =>
  (endpoints * failing * 1_000) / (PROBE_PAUSE_MS + failingMs);

/** Processor milliseconds a second, of deliverers and of the database. */
function work(
  load: DeliveryLoad,
  { storeMs, handOutMs, deliverMs }: DeliveryCosts,
): { deliverer: number; database: number } {
  const sent = load.eventsPerSecond * (1 - load.failing);
  const probes = probesPerSecond(load);
  return {
    deliverer: (sent + probes) * deliverMs,
    database: load.eventsPerSecond * storeMs + (sent + probes) * handOutMs,
  };
}

/** Slots that are taken at a time: of endpoints that answer, and of those that fail. */
const slots = (load: DeliveryLoad): { well: number; failing: number } => ({
  well: (load.eventsPerSecond * (1 - load.failing) * load.answerMs) / 1_000,
  failing: (probesPerSecond(load) * load.failingMs) / 1_000,
});

function deliverersFor(load: SizedLoad, costs: DeliveryCosts): number {
  const { well, failing } = slots(load);
  return Math.max(
    1,
    Math.ceil(work(load, costs).deliverer / (1_000 * BUSY)),
    Math.ceil(well / (load.concurrency * BUSY)),
    Math.ceil((8 * failing) / load.concurrency),
  );
}

function wallsOf(load: SizedLoad, costs: DeliveryCosts, deliverers: number, databases: number): Wall[] {
  const { eventsPerSecond: rate } = load;
  const { database, deliverer } = work(load, costs);
  const split = "give principals databases of their own, or feed deliverers from NATS (docs/scaling.md)";
  const byShare = (what: string, share: number, then: string): Wall => ({ what, at: rate / share, then });
  return [
    byShare(
      `the processors of ${databases === 1 ? "the database" : "the databases"}`,
      database / (databases * load.databaseCores * 1_000),
      split,
    ),
    byShare("the processors of the deliverers", deliverer / (deliverers * 1_000), "start more: they need no setting"),
    byShare(
      "the slots of the deliverers",
      slots(load).well / (deliverers * load.concurrency),
      "start more deliverers, or give them more concurrency",
    ),
    byShare(
      "connections to the database",
      ((deliverers / databases) * load.connections) / load.maxConnections,
      "put a pooler in front (pgbouncer, by transaction), with listenUrl past it",
    ),
    byShare("the disk of the log", (rate * costs.logBytes) / databases / load.logBytesPerSecond, split),
  ].sort((a, b) => a.at - b.at);
}

/** Sizes a load, and simulates it at that size. */
export function sizedPlan(load: SizedLoad, costs: DeliveryCosts, seed = 1): DeliveryPlan {
  const databases = Math.max(1, Math.ceil(work(load, costs).database / (1_000 * BUSY * load.databaseCores)));
  let deliverers = deliverersFor(load, costs);
  let simulated: Simulated;
  for (let tries = 1; ; tries += 1) {
    const fleet = { deliverers, concurrency: load.concurrency, databaseCores: databases * load.databaseCores };
    simulated = simulate(load, fleet, costs, { seed });
    if (simulated.delivererBusy <= (1 + BUSY) / 2 || tries === MOST_TRIES) break;
    deliverers = Math.ceil(deliverers * 1.2);
  }
  const { eventsPerSecond: rate, failing, retentionDays, waitingDays } = load;
  return {
    ...{ deliverers, databases, connections: deliverers * load.connections, simulated },
    logPerDay: rate * DAY_SECONDS * costs.logBytes,
    kept: rate * (1 - failing) * DAY_SECONDS * retentionDays * costs.keptBytes,
    waiting: rate * failing * DAY_SECONDS * waitingDays * costs.waitingBytes,
    partitions: retentionDays + AHEAD_DAYS,
    walls: wallsOf(load, costs, deliverers, databases),
  };
}
