/** What the runner does for a run: what it keeps is bounded, and what it compiled of a text is found wherever the text stands. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bound } from "../runner/caches.js";
import { processesIn } from "../runner/folder-processes.js";
import { fromSource } from "../runner/from-source.js";
import { keepTook, startingOrder, tookBefore } from "../runner/order.js";
import { runFile } from "../runner/test-files.js";
import { tempFolder } from "./release.js";
import { notTheirTurn } from "./turns.js";
import { until } from "./until.js";

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

const types = "interface Unused {\n  a: number;\n}\n";
const failing = {
  "types alone": `${types}const text: string = "${Math.random()}";\n\nthrow new Error(text as string);\n`,
  "a parameter that is a field": `${types}class A { constructor(readonly text: string) {} }\n\nthrow new Error(new A("${Math.random()}").text);\n`,
};

for (const [what, text] of Object.entries(failing)) {
  test(`${what}: a failure names its file and line, though the same text was compiled elsewhere, and nothing else is said`, () => {
    for (const folder of [tempFolder(), tempFolder()]) {
      const file = path.join(folder, "failing.ts");
      writeFileSync(file, text);
      const { stderr } = spawnSync(process.execPath, [...fromSource, file], { encoding: "utf8" });
      assert.match(stderr.split("\n")[0]!, new RegExp(`^(file://)?${file}:6$`));
      assert.match(stderr, `${file}:6:7`);
      assert.not.match(stderr, "Warning");
    }
  });
}

const named = (...names: string[]) => names.map((name) => ({ name }));
const waits = "test/registry/crawl-queue.test.ts";

test("what took longest in the last run starts first, and what mostly waits goes beside it", () => {
  const folder = tempFolder();
  const jobs = named("quick", "test/docs.test.ts", waits, "new", "lint");
  const namesOf = () => {
    const { waiting, working } = startingOrder(jobs, tookBefore(folder));
    return [waiting, working].map((list) => list.map(({ name }) => name));
  };
  assert.equal(namesOf(), [[waits], ["test/docs.test.ts", "lint", "quick", "new"]]);
  keepTook(folder, { quick: 8, [waits]: 1, gone: 100 });
  keepTook(folder, { new: 7.5 });
  assert.equal(namesOf(), [[waits], ["test/docs.test.ts", "quick", "new", "lint"]]);
});

test("files that share a process start before one that is alone, where nothing is known of either", () => {
  const together = { name: "b", files: ["b", "c", "d"] };
  const { working } = startingOrder([{ name: "a" }, together, { name: "e" }]);
  assert.equal(
    working.map(({ name }) => name),
    ["b", "a", "e"],
  );
});

test("dear files go by turns: each commit leaves some, the same ones again, and all of them leave none", () => {
  assert.equal(notTheirTurn("all"), []);
  const commits = Array.from({ length: 60 }, (_, at) => `commit ${at}`);
  const left = commits.map((commit) => notTheirTurn(commit));
  for (const [at, commit] of commits.entries()) {
    assert.ok(left[at]!.length > 0);
    assert.equal(notTheirTurn(commit), left[at]);
    for (const file of left[at]!.filter((name) => name.startsWith("test/")))
      assert.ok(existsSync(path.resolve(import.meta.dirname, "../..", file)), file);
  }
  const ever = left.reduce((common, files) => common.filter((file) => files.includes(file)));
  assert.equal(ever, [], "everything has its turn");
});

test("a test file ends with a runner that is killed, though it has not ended itself", async () => {
  const folder = realpathSync(tempFolder());
  const file = path.join(folder, "endless.ts");
  writeFileSync(file, `process.chdir(${JSON.stringify(folder)});\nsetInterval(() => undefined, 1_000);\n`);
  const runner = path.join(import.meta.dirname, "../runner/test-files.ts");
  const program = `import { runFile } from ${JSON.stringify(runner)};\nawait runFile(${JSON.stringify(file)});`;
  const owner = spawn(process.execPath, [...fromSource, "--input-type=module", "--eval", program], { stdio: "ignore" });
  await until(() => processesIn(folder).length === 1, "it has begun");
  owner.kill("SIGKILL");
  await until(() => processesIn(folder).length === 0, "it is gone");
});

const lingering = `
import { spawn } from "node:child_process";
import { test } from ${JSON.stringify(import.meta.resolve("uvu"))};
test("passes", () => undefined);
test.run();
spawn(process.execPath, ["--eval", "setTimeout(() => undefined, 20_000)"], { stdio: "inherit" });
setInterval(() => undefined, 1_000);
`;

test("a test file that does not end after its totals is ended, and has failed", async () => {
  const file = path.join(tempFolder(), "lingering.ts");
  writeFileSync(file, lingering);
  const { passed, failed, output } = await runFile(file, { lingerMs: 1_000 });
  assert.equal([passed, failed], [1, 1]);
  assert.match(output, "killed: it had not ended 1 s after its totals");
});

test.run();
