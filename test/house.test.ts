/**
 * The rules of the house. Each stands in test/house/ as a function of the sources, and is broken by made-up ones in
 * test/house/rules.test.ts. What breaks a rule today is on a list that only shrinks: test/house/exceptions.json, by the
 * subject of the issue that will mend it.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { disagreements, namesOf, readGlossary } from "./house/glossary.js";
import { type Exceptions, judge, type RuleName, rules } from "./house/rules.js";
import { serverFaults } from "./house/servers.js";
import { readSources } from "./house/source.js";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

const sources = readSources(root);
const exceptions: Readonly<Record<string, Exceptions>> = JSON.parse(read("test/house/exceptions.json"));

/** How many things break each rule today. Lower a number with what is taken off the list; none is raised. */
const listed: Readonly<Record<RuleName, number>> = {
  "imports point downwards between rooms": 0,
  "imports point down a room's ranks": 0,
  "no import circle between files": 0,
  "no two folders import each other": 0,
  "only load, render and disk of the generator touch the file system": 0,
  "only cli prints or exits": 0,
  "exports are named": 0,
  "no protocol's name is in the code": 1,
  "a file has at most 300 lines": 0,
  "a function has at most 60 lines": 0,
  "an exported name means one thing": 8,
  "a type guard is written once": 0,
  "a database engine is named in its own folder only": 20,
  "the statuses of a task are listed once": 1,
  "nothing is cast to never": 1,
  "no string of SQL has a backslash": 0,
  "a test's name states a fact": 0,
};

/** Fails with every line, one below the other: a diff of two arrays hides what is to be done. */
const none = (lines: readonly string[]): void => {
  assert.is(lines.length, 0, `\n${lines.join("\n")}`);
};

const countOf = (known: Exceptions): number =>
  Object.values(known).reduce((sum, keys) => sum + Object.keys(keys).length, 0);

for (const [name, rule] of Object.entries(rules))
  test(name, () => {
    none(judge(rule, sources, exceptions[name] ?? {}));
  });

test("the list of exceptions has as many entries as are written here", () => {
  const found = Object.fromEntries(Object.entries(exceptions).map(([name, known]) => [name, countOf(known)]));
  assert.equal(found, listed);
});

test("each exception says why it stays", () => {
  const named = Object.values(exceptions).flatMap((one) => Object.keys(one));
  none(named.filter((reason) => !reason.startsWith("It stays: ")));
});

test("the glossary's names that go are in the code, and those that went are not", () => {
  none(disagreements(readGlossary(read("docs/glossary.md")), namesOf(sources)));
});

test("only tests with a reason on the list start a PostgreSQL of their own", () => {
  none(serverFaults(sources));
});

test("templates hold no logic of their own", () => {
  const logic = globSync("templates/*.hbs", { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\{\{[#~]*(\w+)/g)]
      .map((match) => match[1]!)
      .filter((helper) => /^(with|lookup|log|eq|and|or|not)$/.test(helper))
      .map((helper) => `${file}: ${helper}`),
  );
  assert.equal(logic, []);
});

test.run();
