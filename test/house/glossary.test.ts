/** How docs/glossary.md is read and held against code; house.test.ts holds it against ours. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { disagreements, namesOf, readGlossary } from "./glossary.js";
import { parse } from "./source.js";

const root = path.resolve(import.meta.dirname, "../..");
const glossary = readGlossary(readFileSync(path.join(root, "docs/glossary.md"), "utf8"));

const table = (goes: string, gone: string): string =>
  `| Term | Means | Where | Goes | Gone |\n| --- | --- | --- | --- | --- |\n| dead letter | Given up. | queue | ${goes} | ${gone} |\n`;

const code = namesOf(
  parse([
    { path: "runtime/queue/a.ts", text: "export const bury = (job: Job): void => job.settle();" },
    { path: "runtime/buyer/b.ts", text: '// settleAll\nexport const text = "settleSome";' },
    { path: "templates/project/tidings.ts", text: "" },
  ]),
);

test("each term stands once, and each name goes once a place", () => {
  const twice = (names: readonly string[]): string[] => names.filter((name, at) => names.indexOf(name) !== at);
  const { terms, goes, gone } = glossary;
  assert.ok(terms.length > 50, `${terms.length} terms were read`);
  assert.equal(twice(terms), []);
  assert.equal(twice([...goes, ...gone].map(({ name, place = "" }) => `${name} in ${place}`)), []);
});

test("a name that goes and is there still is right, in its place or as a file", () => {
  assert.equal(disagreements(readGlossary(table("`bury`, `settle` in `runtime/queue/`, `tidings.ts`", "")), code), []);
});

test("a name that goes and is nowhere, or elsewhere only, or but a text, is asked to be moved", () => {
  const found = disagreements(readGlossary(table("`letGo`, `settle` in `runtime/buyer/`, `settleSome`", "")), code);
  assert.is(found.length, 3, found.join("\n"));
  assert.match(found[1] ?? "", "nobody says settle in runtime/buyer/ any more");
});

test("a name that went and is back is told with its file", () => {
  const found = disagreements(readGlossary(table("", "`bury`, `settle` in `runtime/buyer/`, `letGo`")), code);
  assert.is(found.length, 1, found.join("\n"));
  assert.match(found[0] ?? "", "bury went, and is back in runtime/queue/a.ts");
});

test("a row that cannot be read is told", () => {
  assert.throws(() => readGlossary(table("bury", "")), /is no list of/);
  assert.throws(() => readGlossary("| dead letter | Given up. |\n"), /five cells/);
});

test.run();
