import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runBenches } from "../../bench/support/runner.js";

interface Context {
  folder: string;
  results: string;
  out: string[];
  err: string[];
  bench: (argv: string[]) => Promise<number>;
}

const test = suite<Context>("bench runner");

const slow = '[{ name: "a figure", value: 9, unit: "s", target: { max: 1 } }]';
const benches = {
  fine: `export const run = async (args) => [{ name: "args", value: args.length, unit: "x" }];`,
  missing: `export const run = async () => ${slow};`,
  broken: `export const run = async () => { throw new Error("no such release"); };`,
  empty: "export {};",
};

test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-runner-"));
  context.results = path.join(context.folder, "results.json");
  context.out = [];
  context.err = [];
  writeFileSync(path.join(context.folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(benches)) writeFileSync(path.join(context.folder, `${name}.ts`), text);
  writeFileSync(path.join(context.folder, "shared.ts"), 'throw new Error("not a bench, and imported");');
  context.bench = (argv) =>
    runBenches(argv, {
      folder: context.folder,
      results: context.results,
      except: ["shared.ts"],
      out: (text) => context.out.push(text),
      err: (text) => context.err.push(text),
    });
});

test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

test("a missed target is told and fails nothing", async ({ bench, out, err, results }) => {
  assert.is(await bench(["missing"]), 0);
  assert.match(out.join("\n"), /a figure +9 s +<= 1 s +MISSED/);
  assert.equal(err, []);
  assert.is(JSON.parse(readFileSync(results, "utf8")).missing.rows[0].value, 9);
});

test("a bench that crashes fails the run, and the others still run", async ({ bench, out, err, results }) => {
  assert.is(await bench([]), 1);
  assert.match(err.join("\n"), /bench broken crashed: Error: no such release/);
  assert.match(err.join("\n"), /bench empty crashed: Error: bench\/empty\.ts exports no run\(args\)/);
  assert.equal(Object.keys(JSON.parse(readFileSync(results, "utf8"))), ["fine", "missing"]);
  assert.is(out.length, 2);
});

test("an unknown name runs nothing and says what there is", async ({ bench, err, results }) => {
  assert.is(await bench(["fine", "shared"]), 2);
  assert.match(err.join("\n"), /no bench is called shared; there are broken, empty, fine, missing/);
  assert.not(existsSync(results));
});

test("a short run says where its figures are, and leaves those that are published alone", async ({
  bench,
  err,
  results,
}) => {
  assert.is(await bench(["missing", "--short"]), 0);
  assert.not(existsSync(results));
  const kept = /figures of a short run, kept in (\S+)/.exec(err.join("\n"))![1]!;
  assert.is(JSON.parse(readFileSync(path.join(kept, "results.json"), "utf8")).missing.rows[0].value, 9);
  rmSync(kept, { recursive: true });
});

test("options reach the bench, and --json prints rows only", async ({ bench, out }) => {
  assert.is(await bench(["fine", "--json", "--quick"]), 0);
  assert.equal(JSON.parse(out.join("")), { fine: [{ name: "args", value: 2, unit: "x" }] });
});

test.run();
