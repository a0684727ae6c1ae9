/** What is told of a project that no longer compiles. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compiles } from "../../generator/scaffold/index.js";
import { tempFolder } from "../support/release.js";

function projectOf(source: string): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "src"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, noEmit: true, types: [] };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  writeFileSync(path.join(folder, "src/main.ts"), source);
  return folder;
}

test("a module that asks where it is and waits at its top is right", () => {
  const folder = projectOf("export const here: string = import.meta.url;\nawait Promise.resolve(here);\n");
  assert.equal(compiles(folder), { faults: [], more: 0 });
});

test("an object lacks members: where, and what to write", () => {
  const source = `interface Buy {\n  id: string;\n  revision: number;\n}\nconst keep = (buy: Buy) => buy;\nkeep({ id: "1" });\nexport const other: Buy = { id: "2" };\n`;
  const { faults } = compiles(projectOf(source));
  assert.equal(
    faults.map(({ place, write }) => ({ place, write })),
    [
      { place: "src/main.ts:6", write: ["revision: number"] },
      { place: "src/main.ts:7", write: ["revision: number"] },
    ],
  );
});

test("a configuration that is not there, or names no file, is what is told", () => {
  const folder = projectOf("export {};\n");
  assert.match(compiles(folder, "tsconfig.other.json").faults[0]!.what, "tsconfig.other.json");
  writeFileSync(path.join(folder, "tsconfig.json"), '{ "include": ["nothing"] }');
  const [fault] = compiles(folder).faults;
  assert.is(fault?.place, "tsconfig.json:1");
  assert.match(fault!.what, "No inputs were found");
});

test.run();
