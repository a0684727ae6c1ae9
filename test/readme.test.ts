/** README names every entry of the package, and its figures are the bench's; `docs.test.ts` holds the rest. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

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

interface Row {
  name: string;
  value: number;
  unit: string;
}

test("README's figures are those of bench/results.json", () => {
  const results = JSON.parse(readFileSync(path.join(root, "bench/results.json"), "utf8")) as Record<
    string,
    { rows: Row[] }
  >;
  const rows = Object.values(results).flatMap((one) => one.rows);
  const table = readme.slice(readme.indexOf("| figure |"), readme.indexOf("## What is where"));
  const shown = table.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| figure"));
  assert.ok(shown.length > 5);
  for (const line of shown) {
    const [, name, value] = line.split("|").map((cell) => cell.trim());
    const row = rows.find((one) => one.name === name);
    assert.ok(row, `no bench prints ${name}`);
    assert.is(value, `${Number(row!.value.toPrecision(3))} ${row!.unit}`, name);
  }
});

test.run();
