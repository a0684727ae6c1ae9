/** README names every entry of the package, and its figures are the bench's; `docs.test.ts` holds the rest. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { FIGURES_HEAD, figureRows } from "../bench/support/figures.js";
import type { Results } from "../bench/support/report.js";

const root = path.resolve(import.meta.dirname, "..");
const readme = readFileSync(path.join(root, "README.md"), "utf8");

test("every entry of the package is in README's table, and the other way round", () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { exports: object };
  const entries = Object.keys(exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => `adbind${entry.slice(1)}`)
    .sort();
  const rows = readme
    .slice(readme.indexOf("| entry |"))
    .split("\n")
    .filter((line) => line.startsWith("| `adbind"));
  const named = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)).sort();
  assert.equal(named, entries);
});

test("README's figures are those of bench/results.json, every one of them", () => {
  const results = JSON.parse(readFileSync(path.join(root, "bench/results.json"), "utf8")) as Results;
  const table = readme.slice(readme.indexOf(FIGURES_HEAD) + FIGURES_HEAD.length, readme.indexOf("## What is where"));
  const shown = table.split("\n").filter((line) => line.startsWith("|"));
  assert.ok(shown.length > 5);
  // Who sees this fail: `./run tsx cli/dev/figures.ts` prints the table.
  assert.equal(shown, figureRows(results));
});

test("a figure says what was wanted of it, and whether that was missed", () => {
  const machine = { cpu: "x", cores: 1, node: "v24", date: "2026-01-02", load: 0 };
  const row = (name: string, value: number, target?: { max?: number; min?: number }) => ({
    ...{ name, value, unit: "ms" },
    ...(target && { target }),
  });
  const results = {
    seller: { machine, rows: [row("late", 20.49, { max: 20 })] },
    signing: { machine, rows: [row("raw, one verification", 104), row("told", 0.123456), row("kept", 2, { min: 2 })] },
  };
  assert.equal(figureRows(results), [
    "| told | 0.123 ms |  |",
    "| kept | 2 ms | at least 2 |",
    "| late | 20.5 ms | at most 20 (missed) |",
  ]);
  assert.throws(() => figureRows({ novel: { machine, rows: [] } }), /no place to novel/);
});

test.run();
