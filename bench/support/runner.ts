/** Finds benches, runs those asked for, tells and keeps what they found. */
import { globSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { saveCurves, saveResult, table, thisMachine } from "./report.js";
import type { Bench, Row } from "./row.js";

export interface RunOptions {
  /** Holds `<name>.ts`, each a bench. */
  folder: string;
  /** Gets the figures, unless they are those of a short run. */
  results: string;
  /** Files of the folder that are no benches. */
  except: readonly string[];
  /** Told what to print: `out` is for figures, `err` for what went wrong. */
  out: (text: string) => void;
  err: (text: string) => void;
}

async function load(name: string, file: string): Promise<Bench> {
  const bench = (await import(pathToFileURL(file).href)) as Partial<Bench>;
  if (bench.run === undefined) throw new Error(`bench/${name}.ts exports no run(args)`);
  return bench as Bench;
}

/**
 * Runs benches. A missed target is told and no more: a busy machine is no fault of the code.
 * @param given names, all when there are none; words with a dash go to the benches, `--json` prints rows instead of tables
 * @returns exit code: 0, 1 when a bench crashed, 2 when a name is no bench
 */
export async function runBenches(given: readonly string[], options: RunOptions): Promise<number> {
  // `--queue nats` and `--split 4` as other commands have it.
  const valued = ["--queue", "--split"];
  const argv = given.flatMap((word, at) => {
    if (valued.includes(given[at - 1] ?? "")) return [];
    return [valued.includes(word) ? `${word}=${given[at + 1] ?? ""}` : word];
  });
  const { folder, results, except, out, err } = options;
  const files = globSync("*.ts", { cwd: folder }).filter((file) => !except.includes(file));
  const names = files.map((file) => path.basename(file, ".ts")).sort();
  if (argv.includes("--help") || argv.includes("-h")) {
    out(`./run bench [name...] [--short] [--json]\nbenches: ${names.join(", ")}; all when none is named`);
    return 0;
  }
  const args = argv.filter((word) => word.startsWith("-"));
  const asked = argv.filter((word) => !word.startsWith("-"));
  const unknown = asked.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    err(`bench: no bench is called ${unknown.join(", ")}; there are ${names.join(", ")}`);
    return 2;
  }
  const json = args.includes("--json");
  const partly = args.some((word) => /^--(only=|engine=|split=|(?:no-curve|millions|writers|followers)$)/.test(word));
  // Figures of fewer events or agents are not those that docs/figures.md shows under the same names, nor those of optional servers.
  const small = args.some((word) => /^--(short$|agents=|queue=|rounds=|pruned=|keys=|events=)/.test(word));
  const kept = small ? path.join(mkdtempSync(path.join(tmpdir(), "adbind-bench-short-")), "results.json") : results;
  if (small) err(`bench: figures of a short run, kept in ${path.dirname(kept)} only`);
  const all: Record<string, Row[]> = {};
  let crashed = false;
  for (const name of asked.length > 0 ? names.filter((one) => asked.includes(one)) : names) {
    try {
      const { run } = await load(name, path.join(folder, `${name}.ts`));
      const machine = thisMachine();
      const rows = await run(args);
      all[name] = rows;
      saveResult(kept, name, { machine, rows }, partly);
      for (const file of saveCurves(kept, name, rows, partly)) err(`curve: ${path.relative(process.cwd(), file)}`);
      if (!json)
        out(
          `${name} (load ${machine.load} on ${machine.cores} cores before it)\n${table(rows).replace(/^/gm, "  ")}\n`,
        );
    } catch (error) {
      crashed = true;
      err(`bench ${name} crashed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  if (json) out(JSON.stringify(all, null, 2));
  return crashed ? 1 : 0;
}
