/** Every command that judges something ends with what it counted, and with exit code 1 when something failed. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { closingLine } from "../cli/closing-line.js";
import { cellsOf, choose } from "./support/cells.js";
import { peerRelease } from "./support/corpus.js";
import { closed, judged, runScript } from "./support/judged.js";
import { judgeCommand, judges } from "./support/judges.js";

const root = path.resolve(import.meta.dirname, "..");
const lastOf = (output: string): string => output.trimEnd().split("\n").at(-1)!;

test("a closing line has the unit, and names what is skipped and known only where there is any", () => {
  assert.is(closingLine({ passed: 2, failed: 0 }), "2 passed, 0 failed");
  assert.is(closingLine({ passed: 2, failed: 1, skipped: 3 }, "steps"), "steps: 2 passed, 1 failed, 3 skipped");
  assert.is(closingLine({ passed: 2, failed: 0, known: 1 }, "steps"), "steps: 2 passed, 0 failed, 1 known");
  assert.equal(closed("x\nsteps: 2 passed, 1 failed, 3 skipped, 1 known\n"), { unit: "steps", passed: 2, failed: 1 });
  const whole = "steps: 2 passed, 1 failed, 3 skipped, 0 not graded, 0 faulty\n";
  assert.equal(closed(whole), { unit: "steps", passed: 2, failed: 1 });
  assert.is(closed("steps: 2 passed, 1 failed\nmore\n"), undefined);
});

test("a judge that found a fault, or judged nothing, exits 1", async () => {
  const module = path.join(root, "cli/closing-line.ts");
  for (const [totals, code] of [
    ["{ passed: 1, failed: 0 }", 0],
    ["{ passed: 0, failed: 0, skipped: 1 }", 0],
    ["{ passed: 1, failed: 1 }", 1],
    ["{ passed: 0, failed: 0 }", 1],
  ] as const) {
    const program = `import { willClose } from ${JSON.stringify(module)}; willClose("cells")(${totals});`;
    const ran = await runScript(["--input-type=module", "--eval", program]);
    assert.is(ran.code, code, `${totals} ${ran.all}`);
  }
});

test("a judge that breaks off ends with a failure, and one that was asked wrongly counts nothing", async () => {
  const module = path.join(root, "cli/closing-line.ts");
  const program = (job: string): string =>
    `import { willClose } from ${JSON.stringify(module)}; const close = willClose("cells"); ${job}`;
  for (const [job, code, last] of [
    ["throw new Error('broke off');", 1, "cells: 0 passed, 1 failed"],
    ["process.exitCode = 2;", 2, undefined],
    ["close({ passed: 2, failed: 0 }); throw new Error('afterwards');", 1, "cells: 2 passed, 0 failed"],
  ] as const) {
    const ran = await runScript(["--input-type=module", "--eval", program(job)]);
    assert.equal([ran.code, ran.stdout.trimEnd() || undefined], [code, last], ran.all);
  }
});

const bundles = ["capability_discovery", "schema_validation", "signal_owned", "property_lists", "sales_non_guaranteed"];

/** Commands that judge, each run as its users do. */
const commands = {
  async "fuzz counts requests"() {
    const said = await judged(["test/fuzz/receiver.ts", "--count", "200"], { unit: "requests" });
    assert.match(said, /^seed \d+$/m);
  },
  async "soak counts events"() {
    const port = 30_000 + (process.pid % 100) * 20;
    await judged(["cli/soak.ts", "--minutes", "0.05", "--port", `${port}`], { unit: "events" });
  },
  async "conformance counts steps"() {
    if (peerRelease() === undefined) return;
    for (const bundle of cellsOf("./run conformance peer", bundles, 1))
      await judged(["test/conformance/second-opinion.ts", bundle], { unit: "steps" });
  },
  async "a judge counts cells, and takes those that it is told to"() {
    const few = await judged(["test/judge.ts", "requests", "--cells", "a commit"], { unit: "cells", passed: 2 });
    assert.match(/^cells: 2 of \d+: .*$/m.exec(few)?.[0] ?? "", judgeCommand("requests"));
  },
};
const names = Object.keys(commands) as (keyof typeof commands)[];
for (const name of cellsOf("ADBIND_CELLS=all ./run test test/judges", names, 1)) test(name, commands[name]);

test("a judge that is not there is refused, and those that are there are told", async () => {
  const { code, all } = await runScript(["test/judge.ts", "nobody"]);
  assert.is(code, 2);
  for (const name of Object.keys(judges)) assert.match(all, name);
});

test("the same commit chooses the same cells, and many commits choose all of them", () => {
  const every = Array.from({ length: 40 }, (_, n) => `cell ${n}`);
  const commits = Array.from({ length: 100 }, (_, n) => choose(`commit ${n}`, every, 4));
  assert.equal(choose("commit 0", every, 4), commits[0]);
  for (const cells of commits) assert.is(cells.length, 4);
  assert.is(new Set(commits.flat()).size, every.length);
});

test("every judge is in the help", () => {
  const { stdout } = spawnSync(path.join(root, "run"), ["help"], { encoding: "utf8" });
  for (const name of Object.keys(judges)) assert.match(stdout, new RegExp(`run judge .*\\b${name}\\b`));
});

test("./run test, and what CI calls, end with the totals of what ran, and with a failure when that is nothing", async () => {
  const own = await runScript(["test/run.ts", "test/bench/report", "test/cli/keys"]);
  const each = [...own.stdout.matchAll(/^ok {3}\S+ {2}(\d+) passed/gm)].map(([, passed]) => Number(passed));
  assert.is(each.length, 2, own.all);
  assert.is(lastOf(own.stdout), `${each[0]! + each[1]!} passed, 0 failed`);
  assert.is(own.code, 0);
  const ci = spawnSync(path.join(root, ".ci/run"), ["test/bench/report", "test/cli/keys"], { encoding: "utf8" });
  assert.equal([ci.status, lastOf(ci.stdout)], [0, lastOf(own.stdout)], ci.stderr);
  const nothing = await runScript(["test/run.ts", "test/no-such-file"]);
  assert.equal([nothing.code, lastOf(nothing.stdout)], [1, "0 passed, 1 failed"]);
});

test.run();
