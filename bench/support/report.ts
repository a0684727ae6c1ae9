/** Figures -> a table for people, and bench/results.json for docs/figures.md. */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import path from "node:path";
import { type Row, verdictOf } from "./row.js";
import { drawCurve } from "./svg.js";

export interface Machine {
  cpu: string;
  cores: number;
  node: string;
  /** Day of the run, ISO 8601. */
  date: string;
  /** Processes that wanted a core before the bench began, a minute's mean: figures of a busy machine say little. */
  load: number;
}

/** Figures of one bench and where they come from: benches may have been run on different days and machines. */
export interface BenchResult {
  machine: Machine;
  rows: Row[];
}

export type Results = Record<string, BenchResult>;

export const thisMachine = (now = new Date()): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: availableParallelism(),
  node: process.version,
  date: now.toISOString().slice(0, 10),
  load: Number(loadavg()[0]!.toFixed(2)),
});

/** Three digits say all a measurement knows; whole numbers keep theirs. */
const amount = (value: number): string =>
  Number.isFinite(value) ? String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))) : "none";

const targetText = ({ target, unit }: Row): string =>
  [
    ...(target?.max === undefined ? [] : [`<= ${target.max} ${unit}`]),
    ...(target?.min === undefined ? [] : [`>= ${target.min} ${unit}`]),
  ].join(", ");

const verdictText = { ok: "ok", missed: "MISSED" } as const;

const floorText = ({ floor }: Row): string =>
  floor === undefined ? "" : "none" in floor ? `none: ${floor.none}` : `${amount(floor.times)} x ${floor.of}`;

const cells = (row: Row): string[] => {
  const verdict = verdictOf(row);
  return [
    row.name,
    `${amount(row.value)} ${row.unit}`,
    targetText(row),
    verdict === undefined ? "" : verdictText[verdict],
    floorText(row),
    row.note ?? "",
  ];
};

/** Rows as aligned columns: name, value, target, verdict, cost in floors, note. */
export function table(rows: readonly Row[]): string {
  const lines = [["name", "value", "target", "verdict", "floor", "note"], ...rows.map(cells)];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : {};
}

/**
 * Draws the curves of a bench beside the results file, each as `curves/<bench>-<curve>.svg`; those that it draws no more go.
 * @param partly only some of the bench's parts were run: curves of the others stay
 * @returns the files
 * @throws Error when two curves have one name, or one has no points
 */
export function saveCurves(results: string, name: string, rows: readonly Row[], partly = false): string[] {
  const folder = path.join(path.dirname(results), "curves");
  const drawn = new Map<string, string>();
  for (const curve of rows.flatMap(({ curves = [] }) => curves)) {
    const file = path.join(folder, `${name}-${curve.name}.svg`);
    if (drawn.has(file)) throw new Error(`two curves of ${name} are called ${curve.name}`);
    drawn.set(file, drawCurve(curve));
  }
  const before = partly ? [] : globSync(`${name}-*.svg`, { cwd: folder }).map((file) => path.join(folder, file));
  for (const file of before) if (!drawn.has(file)) rmSync(file);
  if (drawn.size > 0) mkdirSync(folder, { recursive: true });
  for (const [file, svg] of drawn) writeFileSync(file, svg);
  return [...drawn.keys()];
}

/**
 * Puts one bench's figures into the results file; those of the others stay. Written beside and renamed, so a reader
 * never sees half of it.
 * @param partly only some of the bench's parts were run: figures of the others stay
 * @throws SyntaxError when the file is there and is not JSON
 */
export function saveResult(file: string, name: string, result: BenchResult, partly = false): void {
  const rows = result.rows.map(({ curves: _, ...row }) => row);
  const before = readResults(file);
  // Each in its place: who reads the tables of two runs compares lines.
  const byName = (list: readonly Row[]) => list.map((row) => [row.name, row] as const);
  const merged = () => [...new Map([...byName(before[name]?.rows ?? []), ...byName(rows)]).values()];
  const results: Results = { ...before, [name]: { ...result, rows: partly ? merged() : rows } };
  const sorted = Object.fromEntries(Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1)));
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(sorted, null, 2)}\n`);
  renameSync(beside, file);
}
