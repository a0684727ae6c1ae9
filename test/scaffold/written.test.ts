/** Files of a project that is there: what nobody changed is written anew, and what somebody did stays, with the new one beside it. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readRecord, writeRecord, writeUnchanged } from "../../generator/scaffold/written.js";
import { tempFolder } from "../support/release.js";

const BEFORE = "FROM node:20\n";
const NOW = "FROM node:24\n";
const FILE = "deploy/Dockerfile";
const BESIDE = `${FILE}.new`;

let folder: string;
const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");
const write = (file: string, text: string): void => writeFileSync(path.join(folder, file), text);

/** Writes a project's one file as it would be written now. */
function update(text: string) {
  const record = readRecord(folder);
  const { written, kept, known } = writeUnchanged(folder, new Map([[FILE, text]]), record);
  writeRecord(folder, { name: "shop", also: [], files: known }, record);
  return { written, kept };
}

test.before.each(() => {
  folder = tempFolder();
  assert.equal(update(BEFORE), { written: [FILE], kept: [] });
});

test("a file that nobody changed since it was written is written anew", () => {
  assert.equal(update(BEFORE), { written: [], kept: [] });
  assert.equal(update(NOW), { written: [FILE], kept: [] });
  assert.is(read(FILE), NOW);
});

test("line ends of Windows are nobody's change", () => {
  write(FILE, BEFORE.replaceAll("\n", "\r\n"));
  assert.equal(update(NOW), { written: [FILE], kept: [] });
});

test("a file that somebody changed stays, and what it would be now is written beside it once", () => {
  const mine = `${BEFORE}RUN mine\n`;
  write(FILE, mine);
  assert.equal(update(BEFORE), { written: [], kept: [] }, "there is nothing new");
  assert.equal(update(NOW), { written: [], kept: [{ file: FILE, beside: BESIDE }] });
  assert.equal([read(FILE), read(BESIDE)], [mine, NOW]);
  rmSync(path.join(folder, BESIDE));
  assert.equal(update(NOW), { written: [], kept: [] }, "it was said");
  assert.not(existsSync(path.join(folder, BESIDE)));
});

test("a file that was taken over by hand is written anew the next time", () => {
  write(FILE, "mine\n");
  update(NOW);
  write(FILE, NOW);
  assert.equal(update("FROM node:26\n"), { written: [FILE], kept: [] });
});

test("a newer one takes the place of what stands beside a changed file, unless somebody changed that too", () => {
  write(FILE, "mine\n");
  update(NOW);
  assert.equal(update("FROM node:26\n").kept, [{ file: FILE, beside: BESIDE }]);
  assert.is(read(BESIDE), "FROM node:26\n");
  write(BESIDE, "mine, too\n");
  for (const _ of [1, 2]) assert.equal(update("FROM node:28\n").kept, [{ file: FILE, beside: null }]);
  assert.equal([read(FILE), read(BESIDE)], ["mine\n", "mine, too\n"]);
});

test("where nothing says what was written, a file is its owner's", () => {
  const record = path.join(folder, "adbind.scaffold.json");
  for (const [at, text] of [undefined, "{", "null", '{"files":[]}', '{"name":"a","also":[],"files":null}'].entries()) {
    if (text === undefined) rmSync(record);
    else writeFileSync(record, text);
    rmSync(path.join(folder, BESIDE), { force: true });
    assert.equal(update(NOW).kept, [{ file: FILE, beside: BESIDE }], String(at));
    assert.is(read(FILE), BEFORE);
  }
});

test("a file that is gone is written again, and a folder of its name is left alone", () => {
  rmSync(path.join(folder, FILE));
  assert.equal(update(NOW), { written: [FILE], kept: [] });
  const project = writeUnchanged(folder, new Map([["deploy", NOW]]), readRecord(folder));
  assert.equal([project.written, project.kept], [[], [{ file: "deploy", beside: "deploy.new" }]]);
});

test.run();
