/** `adbind plan`: what delivering a load takes, from costs that were measured and a simulation. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printJson, shownPath, userPath, wholeNumber } from "./output.js";
import { readCosts } from "./plan/costs.js";
import { type SizedLoad, sizedPlan } from "./plan/size.js";
import { planLines } from "./plan/text.js";

/** Most of anything that is simulated. */
const [MOST_EVENTS, MOST_ENDPOINTS] = [1_000_000, 10_000_000];

interface Values {
  readonly eventsPerSecond: string;
  readonly endpoints: string;
  readonly failing: string;
  readonly retention: string;
  readonly waiting: string;
  readonly answerMs: string;
  readonly failingMs: string;
  readonly databaseCores: string;
  readonly concurrency: string;
  readonly connections: string;
  readonly maxConnections: string;
  readonly logMb: string;
  readonly costs?: string;
  readonly json?: boolean;
}

const MB = 1_000_000;

/** A part such as 0.02 or 2%. @throws AdbindError `usage` */
function share(text: string): number {
  const value = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (text.trim() !== "" && value >= 0 && value < 1) return value;
  throw new AdbindError("usage", `${text} is no part of the endpoints`, { remedy: "give one such as 0.02, or 2%" });
}

function capped(text: string, what: string, most: number): number {
  const value = wholeNumber(text, what, `give a whole number up to ${most.toLocaleString("en")}`);
  if (value <= most) return value;
  throw new AdbindError("usage", `${text} is more than is simulated`, {
    where: what,
    remedy: `give up to ${most.toLocaleString("en")}`,
  });
}

const LARGE = 1_000_000;

const optionsOf = (values: Values): SizedLoad => ({
  eventsPerSecond: capped(values.eventsPerSecond, "number of events a second", MOST_EVENTS),
  endpoints: capped(values.endpoints, "number of endpoints", MOST_ENDPOINTS),
  failing: share(values.failing),
  retentionDays: capped(values.retention, "number of days", LARGE),
  waitingDays: capped(values.waiting, "number of days", LARGE),
  answerMs: capped(values.answerMs, "time in milliseconds", LARGE),
  failingMs: capped(values.failingMs, "time in milliseconds", LARGE),
  databaseCores: capped(values.databaseCores, "number of cores", 1_024),
  concurrency: capped(values.concurrency, "number of attempts at once", LARGE),
  connections: capped(values.connections, "number of connections", LARGE),
  maxConnections: capped(values.maxConnections, "number of connections", LARGE),
  logBytesPerSecond: capped(values.logMb, "number of megabytes a second", LARGE) * MB,
});

/** Figures of this machine where they stand in the user's folder, else those that come with adbind: above `cli/` or `dist/cli/`. */
function costsFile(given: string | undefined): string {
  if (given !== undefined) return userPath(given);
  const here = userPath("bench/results.json");
  const own = ["..", "../.."].map((up) => path.resolve(import.meta.dirname, up, "bench/results.json"));
  return [here, ...own].find(existsSync) ?? here;
}

function plan(values: Values): void {
  const load = optionsOf(values);
  const file = costsFile(values.costs);
  const measured = readCosts(file);
  const made = sizedPlan(load, measured.costs);
  if (values.json) printJson({ load, ...measured, plan: made });
  else console.log(planLines(made, load, measured, shownPath(file)).join("\n"));
}

const HELP = `
Costs are those that \`./run bench plan\` of adbind's repository measured, on the machine that is named: other machines,
other figures. Endpoints that fail are probed once a minute each and hold a slot for as long as an attempt takes; their
events wait. How well the simulation agrees with what was measured stands in docs/scaling.md.

Example:
  adbind plan --events-per-second 5000 --endpoints 100000 --failing 2% --retention 30`;

export function register(command: Command): void {
  command
    .requiredOption("--events-per-second <n>", "events that are to be delivered")
    .requiredOption("--endpoints <n>", "endpoints they go to")
    .option("--failing <share>", "part of the endpoints that fail", "1%")
    .option("--retention <days>", "days that activity is kept", "30")
    .option("--waiting <days>", "days that events wait for an endpoint that fails", "7")
    .option("--answer-ms <n>", "mean time of an endpoint's answer, in milliseconds", "100")
    .option("--failing-ms <n>", "time of an attempt that fails, in milliseconds", "10000")
    .option("--database-cores <n>", "cores of one database server", "8")
    .option("--max-connections <n>", "connections that one database server allows", "100")
    .option("--log-mb <n>", "megabytes of write-ahead log that a server's disk takes in a second", "200")
    .option("--concurrency <n>", "attempts at once of a deliverer", "1024")
    .option("--connections <n>", "connections of a deliverer", "10")
    .option(
      "--costs <file>",
      "figures of ./run bench plan (default: bench/results.json here, else those that come with adbind)",
    )
    .option("--json", "prints the plan, the load and the costs as JSON")
    .addHelpText("after", HELP)
    .action(plan);
}
