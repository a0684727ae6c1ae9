/** `adbind releases list`, and how every command that takes one release treats a place with several. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register as lint } from "../../cli/lint.js";
import { register as create } from "../../cli/new.js";
import { resolveForNew } from "../../cli/release/resolve.js";
import { register } from "../../cli/releases.js";
import { loadRelease } from "../../generator/load/load.js";
import { bundleFiles, pack, writeChecksum } from "../support/bundle.js";
import { manifestOf } from "../support/mutate-release.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { runCommand } from "./run-command.js";

const test = suite<{ folder: string }>("releases");

test.before.each((context) => {
  context.folder = tempFolder();
  process.env.ADBIND_CWD = context.folder;
  process.env.XDG_CACHE_HOME = tempFolder();
});

test.after.each(() => {
  delete process.env.ADBIND_CWD;
  delete process.env.XDG_CACHE_HOME;
});

/** A release in a folder and another as a bundle. */
async function writeBoth(folder: string): Promise<void> {
  writeRelease(smallRelease(), path.join(folder, "1.2.3"));
  const files = smallRelease();
  manifestOf(files).proto_version = "1.3.0";
  await pack(bundleFiles(files), "1.3.0.tgz", folder);
}

test("list says version, word, numbers and digest of what lies in a folder and of what comes with adbind", async ({
  folder,
}) => {
  await writeBoth(folder);
  const { code, out, err } = await runCommand(register, ["list", "."]);
  assert.is(code, 0, err);
  const { digest } = await loadRelease(path.join(folder, "1.2.3"));
  assert.match(out, new RegExp(`proto@1\\.2\\.3 +3 +2 +2 +${digest.slice(0, 12)} +folder +1\\.2\\.3\n`));
  assert.match(out, /proto@1\.3\.0 +3 +2 +2 +\w{12} +folder +1\.3\.0\.tgz\n/);
  assert.match(out, /proto@3\.1\.0 +\d+ +\d+ +\d+ +\w{12} +package/);
});

test("--json has all of it, the whole digest too", async ({ folder }) => {
  await writeBoth(folder);
  const { out } = await runCommand(register, ["list", ".", "--json"]);
  const { cache, releases, passedOver } = JSON.parse(out);
  assert.is(cache, path.join(process.env.XDG_CACHE_HOME!, "adbind/releases"));
  assert.equal(passedOver, []);
  const { digest } = await loadRelease(path.join(folder, "1.2.3"));
  assert.equal(releases[0], {
    word: "proto",
    version: "1.2.3",
    tools: 3,
    codes: 2,
    specialisms: 2,
    digest,
    where: "folder",
    path: path.join(folder, "1.2.3"),
  });
});

test("a folder with a bundle that is not what its checksum says is refused", async ({ folder }) => {
  await writeBoth(folder);
  writeChecksum(path.join(folder, "1.3.0.tgz"), "0".repeat(64));
  const { code, err } = await runCommand(register, ["list", "."]);
  assert.is(code, 1);
  assert.match(err, /beside it says/);
});

test("where one release is meant, several are refused by the list of them", async ({ folder }) => {
  await writeBoth(folder);
  for (const [command, args] of [
    [lint, ["."]],
    [create, ["seller", "project", "--specialism", "selling", "--release", "."]],
  ] as const) {
    const { code, err } = await runCommand(command, args);
    assert.is(code, 2);
    assert.match(err, /there are 2 releases .*name one of them:.*1\.2\.3.*1\.3\.0\.tgz/);
  }
});

test("a checksum is of an archive, and is 64 digits", async ({ folder }) => {
  await writeBoth(folder);
  const ask = (release: string, hex: string) => runCommand(lint, [release, "--sha256", hex]);
  assert.match((await ask("1.2.3", "0".repeat(64))).err, /of an archive, and this is a folder/);
  assert.match((await ask("1.3.0.tgz", "abc")).err, /--sha256 is no SHA-256 \(abc\)/);
  const { code, err } = await ask("1.3.0.tgz", "0".repeat(64));
  assert.is(code, 1);
  assert.match(err, /--sha256 says 0{64}/);
});

test("lint says what is alike once, with number and places; --all lists every one", async () => {
  const twice = changedRelease((files) => {
    for (let index = 0; index < 9; index++) files[`twins/${index}.json`] = files["core/error.json"];
  });
  const { code, err } = await runCommand(lint, [twice]);
  assert.is(code, 0);
  const lines = err.trimEnd().split("\n");
  assert.is(lines.filter((line) => line.includes("another file has this $id too")).length, 1);
  assert.match(err, /\[duplicate-id\], 9 places\. Give the file an id of its own/);
  assert.match(err, /\n +twins\/0\.json#\/\$id \(core\/error\.json\)\n/);
  assert.match(err, /and 5 more \(adbind lint --all lists them\)/);
  const all = (await runCommand(lint, [twice, "--all"])).err;
  for (let index = 0; index < 9; index++) assert.match(all, `twins/${index}.json`);
  // One of its kind is a line as ever, with file, pointer, rule and remedy.
  assert.match(
    err,
    /manifest\.json#\/specialisms\/selling\/exercised_tools\/2: no tool has this name; .* \(expect_webhook\) \[exercised-tool\]/,
  );
});

test("show prints what a release says of itself, with the place of each", async ({ folder }) => {
  await writeBoth(folder);
  const { code, out, err } = await runCommand(register, ["show", "1.2.3"]);
  assert.is(code, 0, err);
  assert.match(out, /^proto 1\.2\.3 \(digest [0-9a-f]{64}\)\n/);
  assert.match(out, /\nsigning\.profile: 3\.1 {2}\[version\]\n/);
  assert.match(out, /\nroles\.selling: seller {2}\[manifest\.json#\/specialisms\/selling\/protocol\]\n/);
  assert.match(out, /\nmissing: projections\n/);
  const bundle = await runCommand(register, ["show", "1.3.0.tgz", "--json"]);
  const { release, facts, missing, assumed } = JSON.parse(bundle.out);
  assert.is(release.version, "1.3.0");
  assert.equal(facts.recovery.errors.from, "manifest.json#/error_codes");
  assert.equal([missing.includes("tools.task"), assumed], [true, []]);
});

test("show tells what it assumes of a release newer than any it knows", async ({ folder }) => {
  const files = smallRelease();
  manifestOf(files).proto_version = "9.0.0";
  writeRelease(files, path.join(folder, "9"));
  const { err } = await runCommand(register, ["show", "9"]);
  assert.match(err, /warning: assumed: what a pin holds a key by: as 3\.3 has it, "thumbprint"/);
});

test("something new is made of the newest stable release in the cache; without one it is said what to give", async ({
  folder,
}) => {
  const argv = ["seller", "shop", "--specialism", "sales_guaranteed"];
  const none = await runCommand(create, argv);
  assert.is(none.code, 2);
  assert.match(none.err, /none is in the cache .*word@version.*proto@3\.1\.0/);
  await pack(bundleFiles(smallRelease()), "small.tgz", folder);
  for (const [word, version] of [
    ["ads", "1.2.3"],
    ["ads", "1.10.0"],
    ["ads", "2.0.0-beta.1"],
  ] as const) {
    const place = path.join(process.env.XDG_CACHE_HOME!, "adbind/releases", word, version);
    mkdirSync(place, { recursive: true });
    cpSync(path.join(folder, "small.tgz"), path.join(place, `${word}-${version}.tgz`));
    writeFileSync(path.join(place, `${word}-${version}.tgz.sha256`), "");
  }
  const newest = await resolveForNew(undefined);
  assert.match(newest, /ads-1\.10\.0\.tgz$/);
  const other = path.join(process.env.XDG_CACHE_HOME!, "adbind/releases/bids/1.0.0");
  mkdirSync(other, { recursive: true });
  for (const end of ["", ".sha256"]) writeFileSync(path.join(other, `bids-1.0.0.tgz${end}`), "");
  const several = await runCommand(create, argv);
  assert.match(several.err, /of several protocols .*ads@1\.2\.3.*bids@1\.0\.0/);
});

test.run();
