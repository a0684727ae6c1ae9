/** Which release a suite is judged by where none is named: that of its own bundle, packed or not. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { placesOf } from "../../cli/conform/places.js";
import { bundleFiles, pack } from "../support/bundle.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { codeOf } from "../support/thrown.js";

const TOP = "proto-1.2.3";
const release = bundleFiles(smallRelease());
const suite = {
  [`${TOP}/compliance/index.json`]: { published_version: "1.2.3" },
  [`${TOP}/compliance/universal/one.yaml`]: "id: one\nphases: [{id: only, steps: [{id: first, task: list_places}]}]\n",
};

test.before(() => {
  process.env.ADBIND_CORPUS = "";
  process.env.XDG_CACHE_HOME = tempFolder();
});
test.after(() => {
  delete process.env.ADBIND_CORPUS;
  delete process.env.XDG_CACHE_HOME;
});

const judgedBy = async (place: string) => (await placesOf({ suite: place }, async () => [])).release.version;

test("a bundle that is given as the suite has the release too, and so has the folder around the suite", async () => {
  const files = { ...release, ...suite };
  assert.is(await judgedBy(await pack(files)), "1.2.3");
  assert.is(await judgedBy(path.join(writeRelease(files), TOP, "compliance")), "1.2.3");
});

test("a suite alone is not judged by whatever is there", async () => {
  const alone = path.join(writeRelease(suite), TOP, "compliance");
  assert.is(await codeOf(() => judgedBy(alone)), "usage");
});

test.run();
