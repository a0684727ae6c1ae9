/** What a run leaves behind: of files somebody edited, of runs that were killed, of several at once. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { assertReplaceable, compareFolder } from "../../generator/emit/disk.js";
import { generate } from "../../generator/index.js";
import { fromSource } from "../runner/from-source.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

const root = path.resolve(import.meta.dirname, "../..");
const source = writeRelease(smallRelease());
/** The same version with a code more, so that it has to be written. */
const newer = changedRelease((files) => {
  files["manifest.json"].error_codes.NEWER = { recovery: "terminal", description: "d", suggestion: "s" };
});

const written = async (): Promise<string> => {
  const out = tempFolder();
  await generate([source], { out });
  return out;
};

const treeOf = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true, encoding: "utf8" }) as string[])
    .filter((name) => name.endsWith(".ts") || name.endsWith(".json"))
    .sort()
    .map((name) => `${name} ${readFileSync(path.join(folder, name), "utf8")}`);

test("generated files that were edited are named, kept, and replaced only by force", async () => {
  const out = await written();
  const at = (file: string): string => path.join(out, "1.2.3", file);
  const before = readFileSync(at("errors.ts"), "utf8");
  for (const file of ["errors.ts", "tools/place-order.ts"]) writeFileSync(at(file), "// mine\n");
  for (const given of [source, newer]) {
    const error = await thrownBy(() => generate([given], { out }));
    assert.is(error.code, "output_edited");
    assert.match(error.message, "2 generated files were edited by hand: 1.2.3/errors.ts, 1.2.3/tools/place-order.ts");
    assert.match(error.remedy ?? "", "--force");
  }
  assert.is(readFileSync(at("errors.ts"), "utf8"), "// mine\n");
  assert.equal(readdirSync(out), ["1.2.3"]);
  assert.is((await generate([source], { out, force: true })).releases[0]?.outcome, "written");
  assert.is(readFileSync(at("errors.ts"), "utf8"), before);
});

test("an edit that is what would be written, and line ends of another system, are no edits", async () => {
  const out = await written();
  const file = path.join(out, "1.2.3/errors.ts");
  const other = tempFolder();
  await generate([newer], { out: other });
  writeFileSync(file, readFileSync(path.join(other, "1.2.3/errors.ts")));
  assert.is((await generate([newer], { out })).releases[0]?.outcome, "written");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("\n", "\r\n"));
  assert.is((await generate([newer], { out })).releases[0]?.outcome, "written");
  assert.not.match(readFileSync(file, "utf8"), "\r");
});

test("an edited file of a tool that is gone is kept too", async () => {
  const out = await written();
  writeFileSync(path.join(out, "1.2.3/tools/list-orders.ts"), "// mine\n");
  const without = changedRelease((files) => {
    files["media-buy/list-orders-request.json"] = undefined;
  });
  assert.is((await thrownBy(() => generate([without], { out, partial: true }))).code, "output_edited");
});

test("an owned.json that does not parse is said, and nothing is lost", async () => {
  const out = await written();
  writeFileSync(path.join(out, "1.2.3/owned.json"), "<<<<<<< HEAD\n");
  const error = await thrownBy(() => generate([source], { out }));
  assert.is(error.code, "output_conflict");
  assert.match(error.message, "owned.json cannot be read");
});

/** A number no process has. */
function deadPid(): number {
  return Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
}

test("folders of killed runs are removed, those of runs under way are not", async () => {
  const out = await written();
  const make = (name: string, hours = 0): string => {
    const folder = path.join(out, name);
    mkdirSync(path.join(folder, "new/9.9.9"), { recursive: true });
    writeFileSync(path.join(folder, "new/9.9.9/half.ts"), "half");
    const at = new Date(Date.now() - hours * 3_600_000);
    utimesSync(folder, at, at);
    return name;
  };
  const dead = deadPid();
  const alive = make(`.adbind-${process.ppid}-0123abcd`);
  const elsewhere = make(`.adbind-${dead}-0123abcd-ffffffff`);
  const mine = make(`.adbind-note-${dead}`);
  make(`.adbind-${dead}-0123abcd`);
  make(`.adbind-${process.ppid}-0123abce`, 2);
  make(`.adbind-${dead}-0123abce-ffffffff`, 2);
  make(`.adbind-${process.pid}-0123abce`, 0.9);
  // A comparison changes nothing.
  await generate([source], { out, check: true });
  assert.is(readdirSync(out).length, 8);
  assert.is((await generate([source], { out })).releases[0]?.outcome, "unchanged");
  assert.equal(readdirSync(out).sort(), ["1.2.3", alive, elsewhere, mine].sort());
});

test("a tree that was aside when a run was killed comes back, unless another has its name", async () => {
  const out = await written();
  const before = treeOf(path.join(out, "1.2.3"));
  const staging = path.join(out, `.adbind-${deadPid()}-0123abcd`);
  mkdirSync(path.join(staging, "old"), { recursive: true });
  renameSync(path.join(out, "1.2.3"), path.join(staging, "old/1.2.3"));
  cpSync(path.join(staging, "old/1.2.3"), path.join(staging, "new/1.2.3"), { recursive: true });
  assert.is((await generate([source], { out })).releases[0]?.outcome, "unchanged");
  assert.equal(treeOf(path.join(out, "1.2.3")), before);
  assert.equal(readdirSync(out), ["1.2.3"]);
  mkdirSync(path.join(staging, "old/1.2.3"), { recursive: true });
  writeFileSync(path.join(staging, "old/1.2.3/errors.ts"), "old");
  await generate([source], { out });
  assert.equal(treeOf(path.join(out, "1.2.3")), before);
  assert.equal(readdirSync(out), ["1.2.3"]);
});

/** Runs the command; `preload` is code that runs before it, with `fs` to change. */
function killedAt(out: string, preload: string): { signal: NodeJS.Signals | null; code: number | null; err: string } {
  const file = path.join(tempFolder(), "preload.mjs");
  writeFileSync(
    file,
    `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";\n${preload}\nsyncBuiltinESMExports();\n`,
  );
  const args = [...fromSource, "--import", file, "cli/main.ts", "generate", newer];
  const ran = spawnSync(process.execPath, [...args, "--out", out], { cwd: root, encoding: "utf8" });
  return { signal: ran.signal, code: ran.status, err: ran.stderr };
}

/** Of the run's own folder, as below: the reader of sources writes and renames too, when it has not read them before. */
const atRename = (nth: number, then: string): string =>
  `const real = fs.renameSync; let seen = 0;
   fs.renameSync = (...names) => {
     if (names.join().includes(".adbind-")) seen += 1;
     if (seen === ${nth}) { seen += 1; ${then}; }
     return real(...names);
   };`;
const atFifthFile = (then: string): string =>
  `const real = fs.writeFileSync; let seen = 0;
   fs.writeFileSync = (file, ...rest) => {
     if (String(file).includes(".adbind-")) seen += 1;
     if (seen === 5) { seen += 1; ${then}; }
     return real(file, ...rest);
   };`;
const DIE = 'process.kill(process.pid, "SIGKILL")';

test("kill -9 while files are being written leaves the old tree whole", async () => {
  const out = await written();
  const before = treeOf(path.join(out, "1.2.3"));
  assert.is(killedAt(out, atFifthFile(DIE)).signal, "SIGKILL");
  assert.equal(treeOf(path.join(out, "1.2.3")), before);
  assert.is(readdirSync(out).length, 2);
  await generate([source], { out });
  assert.equal(readdirSync(out), ["1.2.3"]);
});

test("kill -9 between the two renames: the next run finds the old tree, and goes on from it", async () => {
  const out = await written();
  const before = treeOf(path.join(out, "1.2.3"));
  // 1: the tree goes aside. 2: the new one takes its name.
  assert.is(killedAt(out, atRename(2, DIE)).signal, "SIGKILL");
  assert.is(existsSync(path.join(out, "1.2.3")), false);
  assert.is((await generate([source], { out })).releases[0]?.outcome, "unchanged");
  assert.equal(treeOf(path.join(out, "1.2.3")), before);
  assert.equal(readdirSync(out), ["1.2.3"]);
});

test("kill -9 after the renames: the new tree stands, and the old one does not come back", async () => {
  const out = await written();
  assert.is(killedAt(out, atRename(3, DIE)).signal, "SIGKILL");
  assert.match(readFileSync(path.join(out, "1.2.3/errors.ts"), "utf8"), "NEWER");
  assert.is((await generate([newer], { out })).releases[0]?.outcome, "unchanged");
  assert.equal(readdirSync(out), ["1.2.3"]);
});

test("a rename that fails leaves the old tree, and says why", async () => {
  const out = await written();
  const before = treeOf(path.join(out, "1.2.3"));
  const full = 'throw Object.assign(new Error("ENOSPC: no space left on device, rename"), { code: "ENOSPC" })';
  const { code, err } = killedAt(out, atRename(2, full));
  assert.is(code, 1);
  assert.match(err, /^adbind: the disk of the output folder is full \(.*\): .*ENOSPC/m);
  assert.not.match(err, /^\s+at /m);
  assert.equal(treeOf(path.join(out, "1.2.3")), before);
  assert.equal(readdirSync(out), ["1.2.3"]);
});

for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const]) {
  test(`${signal} leaves the old tree and nothing else`, async () => {
    const out = await written();
    const before = treeOf(path.join(out, "1.2.3"));
    const preload = atFifthFile(`process.kill(process.pid, "${signal}")`);
    const ran = killedAt(out, preload);
    assert.equal([ran.code, ran.signal], [code, null]);
    assert.match(ran.err, `adbind: interrupted (${signal}): nothing was written`);
    assert.equal(treeOf(path.join(out, "1.2.3")), before);
    assert.equal(readdirSync(out), ["1.2.3"]);
    const fresh = path.join(tempFolder(), "a/b");
    assert.is(killedAt(fresh, preload).code, code);
    assert.is(existsSync(path.dirname(fresh)), false);
  });
}

test("runs that write one folder at once all end well", async () => {
  const out = await written();
  const runs = Array.from({ length: 6 }, async (_, index) => {
    const child = spawn(
      process.execPath,
      [...fromSource, "cli/main.ts", "generate", index % 2 ? source : newer, "--out", out, "--force"],
      { cwd: root, stdio: ["ignore", "ignore", "pipe"] },
    );
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk;
    });
    const [status] = await once(child, "close");
    return `${status} ${status === 0 ? "" : err}`;
  });
  assert.equal(
    await Promise.all(runs),
    runs.map(() => "0 "),
  );
  assert.equal(readdirSync(out), ["1.2.3"]);
  const results = await Promise.all([source, newer].map((one) => generate([one], { out, check: true })));
  assert.is(results.filter(({ ok }) => ok).length, 1);
});

test("a tree that another run swaps while it is read is read again, never taken for a mix of both", async () => {
  const out = await written();
  const other = tempFolder();
  await generate([newer], { out: other });
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const swapper = new Worker(
    `const { renameSync } = require("node:fs");
    const { out, other, beside, until } = require("node:worker_threads").workerData;
    while (Atomics.load(until, 0) === 0) {
      renameSync(out, beside);
      renameSync(other, out);
      renameSync(beside, other);
      Atomics.wait(until, 0, 0, 20);
    }`,
    {
      eval: true,
      workerData: {
        out: path.join(out, "1.2.3"),
        other: path.join(other, "1.2.3"),
        beside: path.join(other, "beside"),
        until: stopped,
      },
    },
  );
  const ended = once(swapper, "exit");
  try {
    await once(swapper, "online");
    const plan = new Map([["errors.ts", ""]]);
    for (let read = 0; read < 500; read += 1) {
      assertReplaceable(out, new Map([["1.2.3", plan]]), false);
      const edited = compareFolder(path.join(out, "1.2.3"), plan).filter(({ what }) => what === "edited by hand");
      assert.equal(edited, []);
    }
  } finally {
    Atomics.store(stopped, 0, 1);
    await ended;
  }
});

test("an output that is a file is refused before anything is read", async () => {
  const out = path.join(tempFolder(), "file");
  writeFileSync(out, "");
  for (const options of [{ out }, { out, check: true }]) {
    const error = await thrownBy(() => generate([source], options));
    assert.is(error.code, "output_unusable");
    assert.match(error.message, "the output is a file");
  }
  rmSync(out);
  mkdirSync(out);
  writeFileSync(path.join(out, "1.2.3"), "");
  assert.is((await thrownBy(() => generate([source], { out }))).code, "output_unusable");
});

test.run();
