/** A plan as people read it. */
import type { MeasuredCosts } from "./costs.js";
import type { DeliveryPlan, SizedLoad } from "./size.js";

const number = (value: number): string => Math.round(value).toLocaleString("en");
const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;
const ms = (value: number): string => `${Number(value.toPrecision(2))} ms`;

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"];

/** Bytes in the unit that leaves a number people can say. */
export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1_000 ** power).toPrecision(3))} ${UNITS[power]}`;
}

const some = (count: number, one: string, more = `${one}s`): string => `${number(count)} ${count === 1 ? one : more}`;

/** Lines of a plan, each with what it is about. */
export function planLines(
  plan: DeliveryPlan,
  load: SizedLoad,
  { machine, date }: MeasuredCosts,
  file: string,
): string[] {
  const { simulated, walls } = plan;
  const cores = plan.databases * load.databaseCores;
  const [first, ...later] = walls;
  const waits =
    plan.waiting === 0 ? "" : `; ${bytes(plan.waiting)} wait for endpoints that fail (${load.waitingDays} days)`;
  const rows: [string, string][] = [
    [
      "Load",
      `${number(load.eventsPerSecond)} events/s to ${number(load.endpoints)} endpoints, of which ${percent(load.failing)} fail`,
    ],
    ["Costs", `measured ${date} on ${machine} (${file})`],
    [
      "Deliverers",
      `${some(plan.deliverers, "process", "processes")} of one core, ${percent(simulated.delivererBusy)} busy, ${number(load.concurrency)} attempts at once each`,
    ],
    [
      "Database",
      `${number(plan.databases)} PostgreSQL with ${some(cores, "core")} in all, ${percent(simulated.databaseBusy)} busy, ${some(plan.connections, "connection")}`,
    ],
    ["Arrival", `${ms(simulated.p50Ms)} after the commit (p50), ${ms(simulated.p99Ms)} (p99), answers not waited for`],
    ["Probes", `${number(simulated.probesPerSecond)}/s at endpoints that fail`],
    ["Disk", `${bytes(plan.logPerDay)} of log a day; ${bytes(plan.kept)} kept (${load.retentionDays} days)${waits}`],
    ["Partitions", `${some(plan.partitions, "day")} each of bodies and activity (adbind db partitions, daily)`],
    ["Next wall", `${first!.what}: full at ${number(first!.at)} events/s; ${first!.then}`],
    ...later.map(({ what, at }): [string, string] => ["", `then ${what}: ${number(at)} events/s`]),
  ];
  return rows.map(([about, text]) => `${about.padEnd(12)}${text}`);
}
