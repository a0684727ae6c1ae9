/**
 * What deliveries cost on this machine, for `adbind plan`; and whether its simulation agrees with what the machine carries.
 * `--short` for fewer events and rounds; `--only=costs` for what the plan reads, without the comparison.
 */
import { availableParallelism } from "node:os";
import { costRows } from "../cli/plan/costs.js";
import { simulate } from "../cli/plan/simulate.js";
import { startPostgres, type TestPostgres } from "../test/support/postgres.js";
import { median } from "./support/measure.js";
import { partsOf } from "./support/options.js";
import { type Carried, carried, type StepFigures, stepFigures } from "./support/plan-runs.js";
import type { Row } from "./support/row.js";
import { listening } from "./support/sender-prompt.js";

const [EVENTS, SHORT_EVENTS] = [20_000, 6_000];
const [ROUNDS, SHORT_ROUNDS] = [5, 1];
const IDLE_RATE = 50; // Events a second.
const BUSY_RATE = 1_000;
const SECONDS = 8;
/** Parts of what the machine should carry by the costs. */
const LOADS = [0.2, 0.4, 0.6];
/** How far simulation and measurement may be apart. */
const WITHIN = 0.3;

const floor = { none: "a cost, which others are sums of" } as const;

interface Measured extends StepFigures {
  readonly leaseMs: number;
  readonly leaseOwnMs: number;
  readonly wakeMs: number;
  /** What stores events and answers them takes of this machine, in milliseconds an event, while it is well employed. */
  readonly besidesMs: number;
}

/**
 * What an event takes at 50/s over what it takes as one of many is the price of asking for work. An event's way is no longer
 * than was measured: where processor times of steps that run side by side add up to more, asking is the part that does.
 */
function idleCosts(steps: StepFigures, idle: Carried): Pick<Measured, "leaseMs" | "leaseOwnMs" | "wakeMs"> {
  const leaseMs = Math.max(0, idle.databaseMs - steps.storeMs - steps.handOutMs);
  const leaseOwnMs = Math.max(0, idle.delivererMs - steps.deliverMs);
  const left = Math.max(0, idle.p50Ms - steps.handOutMs / 2 - steps.deliverMs);
  const part = Math.min(1, left / (leaseMs + leaseOwnMs));
  return { leaseMs: leaseMs * part, leaseOwnMs: leaseOwnMs * part, wakeMs: left - (leaseMs + leaseOwnMs) * part };
}

const medians = <T extends Carried | StepFigures>(all: readonly T[]): T => {
  const names = Object.keys(all[0]!) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, median(all.map((one) => one[name] as number))])) as unknown as T;
};

async function runsOf(cluster: TestPostgres, rate: number, rounds: number): Promise<Carried> {
  const runs: Carried[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await carried(cluster, rate, SECONDS));
  return medians(runs);
}

async function costsOf(cluster: TestPostgres, events: number, rounds: number): Promise<Measured> {
  const { live, stop } = await listening(() => undefined);
  const all: StepFigures[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await stepFigures(cluster, live, events));
  stop();
  const steps = medians(all);
  const busy = await runsOf(cluster, BUSY_RATE, 1);
  return {
    ...steps,
    ...idleCosts(steps, await runsOf(cluster, IDLE_RATE, rounds)),
    besidesMs: busy.besidesMs,
  };
}

const costsRows = (measured: Measured): Row[] =>
  (Object.keys(costRows) as (keyof typeof costRows)[]).map((key) => ({
    name: costRows[key],
    value: measured[key],
    unit: key.endsWith("Bytes") ? "bytes" : "ms",
    floor,
  }));

/** A load, and what became of it. */
interface Compared {
  /** Events that come in a second; infinite where all of them wait already. */
  readonly rate: number;
  readonly simulated: { readonly perSecond: number; readonly p50Ms: number };
  readonly measured: { readonly perSecond: number; readonly p50Ms: number };
}

const cores = availableParallelism();

/** One deliverer, on this machine with everything else. */
function simulated(costs: Measured, rate: number): Compared["simulated"] {
  const load = { eventsPerSecond: rate, endpoints: 50, failing: 0, answerMs: 1, failingMs: 1 };
  const together = { cores, besidesMs: costs.besidesMs };
  const fleet = { deliverers: 1, concurrency: 1_024, databaseCores: cores, together };
  return simulate(load, fleet, costs, { seconds: SECONDS });
}

async function compared(cluster: TestPostgres, costs: Measured, rounds: number): Promise<Compared[]> {
  const all = costs.storeMs + costs.handOutMs + costs.deliverMs + costs.besidesMs;
  const capacity = Math.min((1_000 * cores) / all, 1_000 / costs.deliverMs);
  const found: Compared[] = [];
  for (const part of LOADS) {
    const rate = Math.round(capacity * part);
    found.push({ rate, simulated: simulated(costs, rate), measured: await runsOf(cluster, rate, rounds) });
  }
  return found;
}

/** Everything waits already: nothing is stored any more, and a process is as busy as it can be. */
function drained(costs: Measured): Compared {
  const waiting: Measured = { ...costs, storeMs: 0, besidesMs: costs.besidesMs / 2 };
  const capacity = Math.min(1_000 / costs.deliverMs, (1_000 * cores) / (costs.handOutMs + costs.deliverMs));
  const { perSecond } = simulated(waiting, Math.round(capacity));
  return {
    rate: Number.POSITIVE_INFINITY,
    simulated: { perSecond, p50Ms: Number.NaN },
    measured: { perSecond: costs.drainedPerSecond, p50Ms: Number.NaN },
  };
}

/** How far apart they are at most, as a part of what was measured. */
function agreement(name: string, unit: "/s" | "ms", all: readonly Compared[]): Row {
  const of = (one: Compared["measured"]): number => (unit === "ms" ? one.p50Ms : one.perSecond);
  const when = (rate: number): string => (Number.isFinite(rate) ? `at ${rate}/s` : "with all of it waiting");
  const said = ({ rate, simulated, measured }: Compared): string =>
    `${when(rate)} ${of(simulated).toPrecision(3)} against ${of(measured).toPrecision(3)} ${unit}`;
  const drawn = all.filter(({ rate }) => Number.isFinite(rate));
  return {
    name,
    value: Math.max(...all.map(({ simulated, measured }) => Math.abs(of(simulated) / of(measured) - 1))),
    unit: "x",
    target: { max: WITHIN },
    floor: { none: "a difference, and nothing need be apart" },
    note: all.map(said).join(", "),
    curves: [
      {
        name: unit === "ms" ? "arrival" : "throughput",
        title: unit === "ms" ? "Commit to arrival, simulated and measured" : "Deliveries, simulated and measured",
        x: { label: "events stored a second" },
        y: { label: unit === "ms" ? "median, ms" : "arrivals a second" },
        lines: (["simulated", "measured"] as const).map((line) => ({
          name: line,
          points: drawn.map((one) => [one.rate, of(one[line])] as const),
        })),
      },
    ],
  };
}

/** @param args `--short`, `--only=costs,agreement` */
export async function run(args: readonly string[] = []): Promise<Row[]> {
  const short = args.includes("--short");
  const asked = partsOf(args);
  const cluster = await startPostgres({ max_connections: "200" });
  const rounds = short ? SHORT_ROUNDS : ROUNDS;
  try {
    const costs = await costsOf(cluster, short ? SHORT_EVENTS : EVENTS, rounds);
    const rows = costsRows(costs);
    if (!asked("agreement")) return rows;
    const carriedLoads = await compared(cluster, costs, rounds);
    return [
      ...rows,
      agreement("throughput, simulated beside measured, furthest apart", "/s", [...carriedLoads, drained(costs)]),
      agreement("median from commit to arrival, simulated beside measured, furthest apart", "ms", carriedLoads),
    ];
  } finally {
    await cluster.stop();
  }
}
