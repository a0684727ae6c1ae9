/** `adbind plan` as its user meets it. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { costRows, readCosts } from "../../cli/plan/costs.js";
import { type SizedLoad, sizedPlan } from "../../cli/plan/size.js";
import { bytes } from "../../cli/plan/text.js";
import { register } from "../../cli/plan.js";
import { runCommand } from "../cli/run-command.js";
import { tempFolder } from "../support/release.js";

const values: Record<keyof typeof costRows, number> = {
  ...{ storeMs: 0.2, applicationMs: 0.2, handOutMs: 0.15, deliverMs: 0.25, leaseMs: 1, leaseOwnMs: 0.5, wakeMs: 5 },
  ...{ logBytes: 4_000, keptBytes: 1_000, waitingBytes: 2_500 },
};
const folder = tempFolder();
const costs = path.join(folder, "results.json");
const machine = { cpu: "A CPU", cores: 2, node: "v24.0.0", date: "2026-11-23", load: 0 };
const rows = Object.entries(costRows).map(([key, name]) => ({ name, value: values[key as keyof typeof costRows] }));
writeFileSync(costs, JSON.stringify({ plan: { machine, rows } }));

const load: SizedLoad = {
  ...{ eventsPerSecond: 5_000, endpoints: 100_000, failing: 0.02, answerMs: 100, failingMs: 10_000 },
  ...{ retentionDays: 30, waitingDays: 7, databaseCores: 8, concurrency: 1_024, connections: 10 },
  ...{ maxConnections: 100, logBytesPerSecond: 200_000_000 },
};

test("the line that help prints runs in an empty folder, by the figures that come with the package", async () => {
  const help: string[] = [];
  const command = new Command("plan").configureOutput({ writeOut: (text) => void help.push(text) });
  register(command);
  command.outputHelp();
  const [, printed] = /^ +adbind plan (.*)$/m.exec(help.join(""))!;
  process.env.ADBIND_CWD = tempFolder();
  try {
    const made = await runCommand(register, printed!.split(" "));
    assert.is(made.code, 0, made.err);
    assert.match(made.out, "bench/results.json");
  } finally {
    delete process.env.ADBIND_CWD;
  }
  const { files } = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../cli/package.json"), "utf8"));
  assert.ok(files.includes("bench/results.json"));
});

test("a plan names what is needed, and what is full first", () => {
  const { costs: read } = readCosts(costs);
  const plan = sizedPlan(load, read);
  // Two would do by their processors; 286 probes are under way at a time, in an eighth of the slots.
  assert.is(plan.deliverers, 3);
  assert.is(plan.databases, 1);
  assert.is(plan.partitions, 38);
  assert.is(plan.logPerDay, 5_000 * 86_400 * 4_000);
  assert.is(plan.waiting, 5_000 * 0.02 * 86_400 * 7 * 2_500);
  assert.ok(Math.abs(plan.simulated.perSecond / 4_900 - 1) < 0.02);
  assert.ok(plan.walls.every(({ at }, index) => index === 0 || at >= plan.walls[index - 1]!.at));
  assert.ok(plan.walls.length === 5 && plan.walls[0]!.at > load.eventsPerSecond);
});

test("ten times the load takes about ten times the machines, and finds other walls", () => {
  const { costs: read } = readCosts(costs);
  const plan = sizedPlan({ ...load, eventsPerSecond: 50_000 }, read);
  assert.ok(plan.deliverers >= 18 && plan.deliverers <= 30, `${plan.deliverers}`);
  assert.ok(plan.databases >= 3, `${plan.databases}`);
  assert.ok(plan.simulated.delivererBusy < 0.86);
});

test("the command prints it, and the same as JSON", async () => {
  const given = ["--events-per-second", "500", "--endpoints", "1000", "--failing", "2%", "--costs", costs];
  const text = await runCommand(register, given);
  assert.is(text.code, 0, text.err);
  for (const about of ["Deliverers", "Database", "Arrival", "Disk", "Partitions", "Next wall"])
    assert.match(text.out, new RegExp(`^${about} `, "m"));
  assert.match(text.out, /measured 2026-11-23 on 2 x A CPU/);
  const json = JSON.parse((await runCommand(register, [...given, "--json"])).out) as { plan: { deliverers: number } };
  assert.is(json.plan.deliverers, 1);
});

test("what cannot be planned is refused with what to do", async () => {
  const base = ["--events-per-second", "500", "--endpoints", "1000"];
  const refused: readonly (readonly [string[], RegExp])[] = [
    [[...base, "--costs", path.join(folder, "none.json")], /run bench plan/],
    [[...base, "--costs", costs, "--failing", "120%"], /no part of the endpoints/],
    [["--events-per-second", "0", "--endpoints", "1", "--costs", costs], /number of events a second/],
    [["--events-per-second", "9999999", "--endpoints", "1", "--costs", costs], /up to 1,000,000/],
  ];
  for (const [argv, says] of refused) {
    const { code, err } = await runCommand(register, argv);
    assert.is(code, 2, argv.join(" "));
    assert.match(err, says);
  }
});

test("bytes are said in the unit that leaves a number people can say", () => {
  assert.equal([0, 999, 1_500, 2_345_678, 5e12].map(bytes), ["0 bytes", "999 bytes", "1.5 KB", "2.35 MB", "5 TB"]);
});

test.run();
