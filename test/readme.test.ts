/** README says what is so: its code stands in examples, its output is what they print, its figures are the bench's. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

const root = path.resolve(import.meta.dirname, "..");
const readme = readFileSync(path.join(root, "README.md"), "utf8");

/** Fenced blocks with the comment before each. */
const blocks = [...readme.matchAll(/<!-- (.+?) -->\n```\w*\n([\s\S]*?)```/g)].map((match) => ({
  about: match[1]!,
  text: match[2]!,
}));

test("code in README stands in an example", () => {
  const shown = blocks.filter(({ about }) => !about.startsWith("output of "));
  assert.ok(shown.length > 0);
  for (const { about, text } of shown) assert.ok(readFileSync(path.join(root, about), "utf8").includes(text), about);
});

for (const { about, text } of blocks.filter((block) => block.about.startsWith("output of "))) {
  test(`${about} is as README has it`, () => {
    const file = about.slice("output of ".length);
    const printed = execFileSync("node", ["--import", "tsx", "--conditions=adbind-source", file], {
      cwd: root,
      encoding: "utf8",
    });
    assert.ok(printed.startsWith(text), printed);
  });
}

test("every file README links to is there", () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]!);
  for (const link of links) assert.ok(existsSync(path.join(root, link)), link);
});

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

test("every command README shows is there", () => {
  const help = execFileSync(path.join(root, "run"), ["help"], { encoding: "utf8" });
  for (const [, command] of readme.matchAll(/(?:^ {4}|`)\.\/run (\w+)/gm))
    assert.match(help, new RegExp(`^\\./run ${command}\\b`, "m"));
  const adbind = execFileSync("node", ["--import", "tsx", "--conditions=adbind-source", "cli/main.ts", "--help"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const [, command] of readme.matchAll(/`?adbind ([a-z]+)\b/g)) {
    if (command !== "reads") assert.match(adbind, new RegExp(`^ {2}${command}\\b`, "m"), command);
  }
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
