/**
 * `./run bench [name...] [--json]`: measures, prints a table, and keeps bench/results.json, from which docs/figures.md's rows
 * are taken, and a curve as `bench/curves/<bench>-<curve>.svg`. Beside each figure stands its floor, the cheapest thing
 * that must be done, and how many times that it costs. `--short` tries a bench on less, and keeps nothing here.
 */
import path from "node:path";
import { runBenches } from "./support/runner.js";

export type { Bench, Row } from "./support/row.js";

process.exitCode = await runBenches(process.argv.slice(2), {
  folder: import.meta.dirname,
  results: path.join(import.meta.dirname, "results.json"),
  except: ["run.ts"],
  out: (text) => console.log(text),
  err: (text) => console.error(text),
});
