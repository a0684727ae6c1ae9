/** Which release agents and receivers are met with where none is given: that of the folder, else of the cache, and what comes with adbind last. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register as registerExplorer } from "../../cli/explorer.js";
import { wordHere } from "../../cli/protocol-word.js";
import { resolveForPeers } from "../../cli/release-here.js";
import { loadRelease } from "../../generator/load/load.js";
import type { AdbindError } from "../../runtime/errors.js";
import { fromSource } from "../runner/from-source.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { commandFolder, runCommand } from "./run-command.js";

const sources = tempFolder();
const test = suite<{ at: (name: string) => string; remove: () => void }>("the release at hand");

test.before.each((context) => {
  Object.assign(context, commandFolder());
  process.env.XDG_CACHE_HOME = tempFolder();
  delete process.env.ADBIND_SOURCES;
});
test.after.each(({ remove }) => remove());
test.after(() => {
  delete process.env.XDG_CACHE_HOME;
  delete process.env.ADBIND_SOURCES;
});

/** What was resolved, and what was told of it. */
async function resolved(given?: string): Promise<{ name: string; told: string }> {
  const { error } = console;
  const lines: unknown[] = [];
  console.error = (line: unknown) => void lines.push(line);
  try {
    const { word, version } = await loadRelease(await resolveForPeers(given));
    return { name: `${word}@${version}`, told: lines.join("\n") };
  } finally {
    console.error = error;
  }
}

/** The small release as another version, in a folder beside the others. */
function releaseOf(version: string): string {
  const folder = path.join(sources, version);
  const { proto_version: _, ...manifest } = smallRelease()["manifest.json"] as { proto_version: string };
  writeRelease({ ...smallRelease(), "manifest.json": { ads_version: version, ...manifest } }, folder);
  return folder;
}

function bindingsOf(folder: string, word: string, version: string): void {
  mkdirSync(path.join(folder, version), { recursive: true });
  writeFileSync(path.join(folder, version, "owned.json"), JSON.stringify({ word, version }));
}

test("with nothing at hand it is the one that comes with adbind, and that is told", async () => {
  const { name, told } = await resolved();
  assert.match(name, /^proto@/);
  assert.match(told, `${name} is taken, which comes with adbind to try it out: --release names another`);
});

test("bindings here say it, the newest of them, and the config before them", async ({ at }) => {
  const older = releaseOf("3.0.0");
  releaseOf("3.1.0");
  process.env.ADBIND_SOURCES = sources;
  bindingsOf(at("bindings"), "ads", "3.0.0");
  bindingsOf(at("bindings"), "ads", "3.1.0");
  assert.equal(await resolved(), {
    name: "ads@3.1.0",
    told: "ads@3.1.0 is the newest release of this folder",
  });
  assert.equal(await resolved(older), { name: "ads@3.0.0", told: "" });
  writeFileSync(at("adbind.config.json"), JSON.stringify({ releases: [older] }));
  assert.is((await resolved()).name, "ads@3.0.0");
});

test("bindings of two protocols are no guess", async ({ at }) => {
  bindingsOf(at("one"), "ads", "3.0.0");
  bindingsOf(at("two"), "proto", "3.1.0");
  const { code, message } = (await resolveForPeers(undefined).catch((error: unknown) => error)) as AdbindError;
  assert.equal([code, /several protocols.*proto@3\.1\.0/.test(message)], ["usage", true], message);
});

test("a site of the explorer says no protocol's word, by itself or beside bindings", async ({ at }) => {
  const { code } = await runCommand(registerExplorer, [releaseOf("3.1.0"), "--out", at("site")]);
  assert.equal([code, await wordHere()], [0, undefined]);
  bindingsOf(at("bindings"), "ads", "3.1.0");
  assert.is(await wordHere(), "ads");
});

test("a user that the system does not know, and who has no HOME, has no releases in a cache, and no failure of it", () => {
  const place = pathToFileURL(path.resolve(import.meta.dirname, "../../runtime/conformance/cache-place.ts")).href;
  // As it answers in a container that runs as a number: to become such a user only root may.
  const program = `import os from "node:os";
import { syncBuiltinESMExports } from "node:module";
os.homedir = () => { throw new Error("uv_os_homedir returned ENOENT"); };
syncBuiltinESMExports();
const { releaseCache } = await import(${JSON.stringify(place)});
console.log(releaseCache({}));`;
  const { stdout, stderr } = spawnSync(process.execPath, [...fromSource, "--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  assert.is(stdout, "/.cache/adbind/releases\n", stderr);
});

test.run();
