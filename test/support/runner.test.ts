/** What the runner does for a run: what it keeps is bounded, and what it compiled of a text is found wherever the text stands. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bound } from "../runner/caches.js";
import { fromSource } from "../runner/from-source.js";
import { tempFolder } from "./release.js";

test("a folder of kept files is emptied when it holds more than it may, and not before", () => {
  const folder = path.join(tempFolder(), "kept");
  mkdirSync(path.join(folder, "within"), { recursive: true });
  for (const name of ["a", "within/b"]) writeFileSync(path.join(folder, name), "");
  bound(folder, 3);
  assert.is(readdirSync(folder, { recursive: true }).length, 3);
  bound(folder, 2);
  assert.is(existsSync(folder), false);
  bound(folder, 2);
});

test("a failure names the file it is in and its line, though the same text was compiled elsewhere", () => {
  const text = `interface Unused { a: number }\n\nclass A {\n  constructor(readonly text: string) {}\n}\nthrow new Error(new A("${Math.random()}").text);\n`;
  for (const folder of [tempFolder(), tempFolder()]) {
    const file = path.join(folder, "failing.ts");
    writeFileSync(file, text);
    const { stderr } = spawnSync(process.execPath, [...fromSource, file], { encoding: "utf8" });
    assert.match(stderr, `${file}:6:7`);
  }
});

test.run();
