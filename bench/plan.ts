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
/** Events a second that keep nobody busy: each is asked for by itself. What is done without any comes of their difference. */
const CALM_RATES = [100, 300] as const;
const SECONDS = 8;
/** Parts of what the machine should carry by the costs. */
const LOADS = [0.2, 0.4, 0.6];
/** What comes so many times faster than it can be delivered waits in a line, as what was stored before does. */
const TOO_FAST = 2;
/** How far simulation and measurement may be apart. */
const WITHIN = 0.3;

const floor = { none: "a cost, which others are sums of" } as const;

interface Measured extends StepFigures {
  readonly leaseMs: number;
  readonly leaseOwnMs: number;
  readonly wakeMs: number;
}

/**
 * What one more event takes where each is asked for by itself, over what it takes as one of many, is the price of asking. An
 * event's way is no longer than was measured: where processor times of steps that run side by side add up to more, asking is the
 * part that does.
 */
function calmCosts(
  steps: StepFigures,
  [few, some]: readonly [Carried, Carried],
): Pick<Measured, "leaseMs" | "leaseOwnMs" | "wakeMs"> {
  const [low, high] = CALM_RATES;
  const oneMore = (name: "databaseMs" | "delivererMs"): number => (some[name] * high - few[name] * low) / (high - low);
  const leaseMs = Math.max(0, oneMore("databaseMs") - steps.storeMs - steps.handOutMs);
  const leaseOwnMs = Math.max(0, oneMore("delivererMs") - steps.deliverMs);
  const left = Math.max(0, few.p50Ms - steps.handOutMs / 2 - steps.deliverMs);
  const asking = leaseMs + leaseOwnMs;
  const part = asking === 0 ? 0 : Math.min(1, left / asking);
  return { leaseMs: leaseMs * part, leaseOwnMs: leaseOwnMs * part, wakeMs: left - asking * part };
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
  const [few, some] = CALM_RATES;
  return { ...steps, ...calmCosts(steps, [await runsOf(cluster, few, rounds), await runsOf(cluster, some, rounds)]) };
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
  const { applicationMs, answerMs } = costs;
  const together = { cores, applicationMs, answerMs };
  const fleet = { deliverers: 1, concurrency: 1_024, databaseCores: cores, together };
  return simulate(load, fleet, costs, { seconds: SECONDS });
}

async function compared(cluster: TestPostgres, costs: Measured, rounds: number): Promise<Compared[]> {
  const all = costs.storeMs + costs.applicationMs + costs.handOutMs + costs.deliverMs + costs.answerMs;
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
  const { handOutMs, deliverMs, answerMs } = costs;
  const most = Math.min(1_000 / deliverMs, (1_000 * cores) / (handOutMs + deliverMs + answerMs));
  const { perSecond } = simulated({ ...costs, storeMs: 0, applicationMs: 0 }, Math.round(most * TOO_FAST));
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
