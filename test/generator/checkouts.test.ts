/** Output that lies as a checkout or a person laid it: line ends of Windows, a link to a tree elsewhere. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

const source = writeRelease(smallRelease());
const newer = changedRelease((files) => {
  files["manifest.json"].error_codes.NEWER = { recovery: "terminal", description: "d", suggestion: "s" };
});

const eachFile = (folder: string, change: (text: string) => string): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) writeFileSync(file, change(readFileSync(file, "utf8")));
  }
};

test("a checkout with line ends of Windows holds what was committed, and what is old in it is still told", async () => {
  const out = tempFolder();
  await generate([source], { out, standalone: true });
  eachFile(out, (text) => text.replaceAll("\n", "\r\n"));
  const check = (given: string) => generate([given], { out, standalone: true, check: true });
  const same = await check(source);
  assert.equal([same.ok, same.releases[0]?.differences], [true, []]);
  const { ok, releases } = await check(newer);
  assert.is(ok, false);
  assert.ok(releases[0]?.differences.some(({ file, what }) => file === "errors.ts" && what === "differs"));
  assert.not.ok(releases[0]?.differences.some(({ what }) => what === "edited by hand"));
});

test("a link to a tree elsewhere stays, and the tree it leads to is written", async () => {
  const shared = path.join(tempFolder(), "kept");
  const out = tempFolder();
  mkdirSync(shared);
  const link = path.join(out, "1.2.3");
  symlinkSync(shared, link);
  for (const given of [source, newer]) assert.is((await generate([given], { out })).releases[0]?.outcome, "written");
  assert.is(lstatSync(link).isSymbolicLink(), true);
  assert.match(readFileSync(path.join(shared, "errors.ts"), "utf8"), "NEWER");
  assert.equal([readdirSync(path.dirname(shared)), readdirSync(out)], [["kept"], ["1.2.3"]]);
  assert.is((await generate([newer], { out, check: true })).ok, true);
});

/** The same release as another version. */
const later = changedRelease((files) => {
  files["manifest.json"].proto_version = "1.2.4";
});

test("until all trees are written, wherever links lead, none is replaced", async () => {
  const [out, shared] = [tempFolder(), path.join(tempFolder(), "kept")];
  mkdirSync(shared);
  symlinkSync(shared, path.join(out, "1.2.4"));
  const seen: boolean[] = [];
  const signal = Object.assign(new AbortController().signal, {
    throwIfAborted: () => seen.push(existsSync(path.join(out, "1.2.3")), readdirSync(shared).length > 0),
  });
  await generate([source, later], { out, signal });
  assert.equal([...new Set(seen)], [false]);
  assert.equal(
    [out, shared].map((one) => readdirSync(one).includes("errors.ts")),
    [false, true],
  );
});

test("two releases do not go to one folder, where a link of one leads to the other", async () => {
  const out = tempFolder();
  await generate([source], { out });
  symlinkSync("1.2.3", path.join(out, "1.2.4"));
  const fault = await thrownBy(() => generate([source, later], { out }));
  assert.is(fault.code, "output_unusable");
  assert.match(fault.message, "1.2.3");
  assert.match(readFileSync(path.join(out, "1.2.3", "owned.json"), "utf8"), '"version": "1.2.3"');
});

test("bindings that came without their owned.json, as one that git ignores, are written where they are what is wanted", async () => {
  const out = tempFolder();
  const lose = async (): Promise<void> => {
    await generate([source], { out });
    rmSync(path.join(out, "1.2.3/owned.json"));
  };
  await lose();
  assert.is((await generate([source], { out })).releases[0]?.outcome, "written");
  assert.is((await generate([source], { out, check: true })).ok, true);
  await lose();
  const other = await thrownBy(() => generate([newer], { out }));
  assert.is(other.code, "output_conflict");
  assert.match(other.message, "owned.json is not there");
  symlinkSync("nowhere", path.join(out, "1.2.3/mine.ts"));
  assert.match((await thrownBy(() => generate([source], { out }))).message, "did not write: mine.ts");
});

test("a manifest in UTF-16, as a shell of Windows writes it, is told so", async () => {
  const release = writeRelease(smallRelease());
  const file = path.join(release, "manifest.json");
  writeFileSync(file, `\ufeff${readFileSync(file, "utf8")}`, "utf16le");
  const { releases } = await generate([release], { out: tempFolder() });
  assert.match(releases[0]?.findings[0]?.message ?? "", "UTF-16");
});

test.run();
