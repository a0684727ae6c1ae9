/**
 * `./run bench [name...] [--json]`: measures, prints a table, keeps bench/results.json, from which README's figures are
 * taken. A missed target is printed, not asserted: a busy machine is no fault of the code. A bench that crashes is one.
 */
import { globSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { saveResult, table, thisMachine } from "./support/report.js";
import type { Bench, Row } from "./support/row.js";

export type { Bench, Row } from "./support/row.js";

const folder = import.meta.dirname;

/** Every bench there is, by name. */
const benches = new Map(
  globSync("*.ts", { cwd: folder })
    .filter((file) => file !== "run.ts")
    .sort()
    .map((file) => [path.basename(file, ".ts"), path.join(folder, file)]),
);

async function runOne(name: string, file: string, args: readonly string[]): Promise<Row[]> {
  const bench = (await import(pathToFileURL(file).href)) as Partial<Bench>;
  if (bench.run === undefined) throw new Error(`bench/${name}.ts exports no run(args)`);
  return bench.run(args);
}

async function main(argv: readonly string[]): Promise<void> {
  const args = argv.filter((word) => word.startsWith("-"));
  const asked = argv.filter((word) => !word.startsWith("-"));
  const unknown = asked.filter((name) => !benches.has(name));
  if (unknown.length > 0) {
    console.error(`bench: no bench is called ${unknown.join(", ")}; there are ${[...benches.keys()].join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const all: Record<string, Row[]> = {};
  for (const [name, file] of benches) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    try {
      const rows = await runOne(name, file, args);
      all[name] = rows;
      saveResult(path.join(folder, "results.json"), name, { machine: thisMachine(), rows });
      if (!args.includes("--json")) console.log(`${name}\n${table(rows).replace(/^/gm, "  ")}\n`);
    } catch (error) {
      console.error(`bench ${name} crashed:`, error);
      process.exitCode = 1;
    }
  }
  if (args.includes("--json")) console.log(JSON.stringify(all, null, 2));
}

await main(process.argv.slice(2));
