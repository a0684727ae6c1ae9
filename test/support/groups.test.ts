/** Test files that share a process: each is told of as if it had been alone, and none is passed over. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { groupsOf, outcomesOf, runGroup } from "../runner/groups.js";
import { BEGINS, ENDS } from "../runner/test-file.js";
import { tempFolder } from "./release.js";

const root = path.resolve(import.meta.dirname, "../..");
const uvu = import.meta.resolve("uvu");

/** Files of a folder, each by what stands between the import of uvu and the end. */
function written(bodies: readonly string[]): string[] {
  const folder = tempFolder();
  return bodies.map((body, at) => {
    const file = path.join(folder, `${at}.test.ts`);
    writeFileSync(file, `import { test } from "${uvu}";\n${body}\ntest.run();\n`);
    return file;
  });
}

const passes = 'test("passes", () => undefined);';
const fails = 'test("fails", () => { throw new Error("for a reason"); });';

async function told(bodies: readonly string[]) {
  const files = written(bodies);
  const outcomes = await runGroup(files);
  assert.equal(
    outcomes.map(({ name }) => name),
    files,
  );
  return outcomes;
}

test("each file has its own totals, and what it printed", async () => {
  const counts = await told([passes, `${fails}${passes}${passes}`, `${passes}test.skip("later");`, ""]);
  assert.equal(
    counts.map(({ passed, failed, skipped }) => [passed, failed, skipped]),
    // The last has no test at all.
    [
      [1, 0, 0],
      [2, 1, 0],
      [1, 0, 1],
      [0, 1, 0],
    ],
  );
  assert.equal(
    counts.map(({ output }) => output.includes("for a reason")),
    [false, true, false, false],
  );
  for (const { processor } of counts) assert.type(processor, "number");
});

test("a file without tests has failed, unless what its tests want may not be there", async () => {
  for (const files of [written([passes, ""]), written([""])])
    for (const mayBeEmpty of [false, true]) {
      const { failed, skipped } = (await runGroup(files, { mayBeEmpty })).at(-1)!;
      assert.equal([failed, skipped], mayBeEmpty ? [0, 1] : [1, 0]);
    }
  const [broken] = await runGroup(written(['throw new Error("not loaded");']), { mayBeEmpty: true });
  assert.is(broken!.failed, 1);
});

test("what comes after a file that ends the process, or cannot be loaded, is run all the same", async () => {
  const outcomes = await told([
    passes,
    `${passes}test("ends", () => process.exit(0));`,
    'throw new Error("not loaded");',
    passes,
    'test("a promise of nobody", async () => { Promise.reject(new Error("alone")); await new Promise(setImmediate); });',
    passes,
  ]);
  assert.equal(
    outcomes.map(({ passed, failed }) => [passed, failed]),
    [
      [1, 0],
      [0, 1],
      [0, 1],
      [1, 0],
      [0, 1],
      [1, 0],
    ],
  );
  assert.match(outcomes[2]!.output, "not loaded");
  assert.match(outcomes[4]!.output, "alone");
});

test("an error is told of the file that ended by it, though it was read before the line that begins that file", () => {
  const totals = "  Total:     1\n  Passed:    1\n  Skipped:   0\n";
  const stdout = `\n${BEGINS}0\n${totals}\n${ENDS}0 {"code":0,"seconds":1,"processor":1}\n\n${BEGINS}1\n`;
  const stderr = `\n${BEGINS}0\n\n${BEGINS}1\nError: alone\n`;
  const ended = { code: 1, output: stderr + stdout, printed: [stdout, stderr], seconds: 2 } as const;
  const outcomes = outcomesOf(["a", "b"], ended, {});
  assert.equal(
    outcomes.map(({ name, passed, failed, output }) => [name, passed, failed, output.includes("alone")]),
    [
      ["a", 1, 0, false],
      ["b", 0, 1, true],
    ],
  );
});

test("who keeps the process from ending is told of where its last file is", async () => {
  const files = written([passes, `${passes}setInterval(() => undefined, 1_000);`]);
  const outcomes = await runGroup(files, { lingerMs: 1_000 });
  assert.equal(
    outcomes.map(({ passed, failed }) => [passed, failed]),
    [
      [1, 0],
      [1, 1],
    ],
  );
  assert.match(outcomes[1]!.output, "killed: it had not ended 1 s after its totals");
});

test("those of a folder go together, but what uses what a process has once", () => {
  const files = written([passes, passes, "process.env.A = 'b';", passes, "globalThis.fetch = undefined;"]);
  const groups = groupsOf("/", files).map((group) => group.map((file) => path.basename(file, ".test.ts")));
  assert.equal(groups, [["0", "1", "3"], ["2"], ["4"]]);
  const many = groupsOf("/", written(Array.from({ length: 20 }, () => passes)));
  assert.equal(
    many.map(({ length }) => length),
    [8, 8, 4],
  );
  assert.equal(groupsOf(root, ["test/sender/sqlite.test.ts", "test/docs.test.ts"]).length, 2);
});

test.run();
