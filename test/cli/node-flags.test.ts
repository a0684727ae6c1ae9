/** Commands in a Node whose flags keep it from something: they work, or say which flag it is. */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { commandFailureOf } from "../../cli/failure.js";
import { fromSource } from "../runner/from-source.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");
const source = writeRelease(smallRelease());

/** A command in a Node with flags. */
function flagged(flags: readonly string[], ...argv: string[]) {
  const all = [...flags, ...fromSource, path.join(root, "cli/main.ts"), ...argv];
  const { status, stderr } = spawnSync(process.execPath, all, { cwd: root, encoding: "utf8" });
  return { code: status, err: stderr };
}

test("what a flag of Node forbids is told by that flag, and is no fault of adbind's", () => {
  const { code, err } = flagged(["--disallow-code-generation-from-strings"], "lint", source);
  assert.equal(
    [code, err.split("\n").at(-2)],
    [1, "adbind: Node may make no code of text here: run it without --disallow-code-generation-from-strings"],
  );
  const forbidden = (permission: string, resource: string) =>
    commandFailureOf(Object.assign(new Error("Access"), { code: "ERR_ACCESS_DENIED", permission, resource })).message;
  assert.equal(
    [forbidden("FileSystemRead", "/a/b"), forbidden("", "")],
    [
      "Node's permissions forbid it (/a/b): give it by --allow-fs-read",
      "Node's permissions forbid it: run it without --permission",
    ],
  );
});

test("a key is made where Node's permissions allow to write it, which never allow to change a mode", () => {
  const folder = tempFolder();
  const may = ["--permission", "--allow-worker", "--allow-addons", "--allow-fs-read=*", `--allow-fs-write=${folder}`];
  // First without: what compiles the sources for this test may write where they are kept.
  for (const [file, flags] of [
    ["free.json", []],
    ["kept.json", may],
  ] as const) {
    const { code, err } = flagged(flags, "keys", "generate", "--word", "proto", "--out", path.join(folder, file));
    assert.is(code, 0, err);
    assert.is(statSync(path.join(folder, file)).mode & 0o777, 0o600);
  }
});

test.run();
