/** Each rule of the house is broken once, by sources made up for it, and kept by others. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { lines, proofs } from "./proofs.js";
import { judge, type RuleName, rules } from "./rules.js";
import { parse, readAliases, type Source, sourcePaths } from "./source.js";

const contract = {
  path: "runtime/contract.ts",
  text: 'export const taskStatuses = ["submitted", "working", "completed", "failed"] as const satisfies string[];',
};

const aliases = { "#bindings": "generated/3.1.0/index.ts", "#room/*": "runtime/*.ts" };

const tree = (texts: Readonly<Record<string, string>>): Source[] =>
  parse([contract, ...Object.entries(texts).map(([path, text]) => ({ path, text }))], aliases);

const broken = (name: RuleName, texts: Readonly<Record<string, string>>): string[] =>
  judge(rules[name], tree(texts), {});

for (const name of Object.keys(proofs) as RuleName[]) {
  const { breaks, says, keeps } = proofs[name];
  test(`${name}: sources that break it fail, each with file, line and remedy`, () => {
    const found = broken(name, breaks);
    assert.is(found.length, says.length, found.join("\n"));
    for (const pattern of says)
      assert.ok(
        found.some((line) => pattern.test(line)),
        `${pattern}:\n${found.join("\n")}`,
      );
  });
  test(`${name}: sources that keep it pass`, () => {
    assert.equal(broken(name, keeps), []);
  });
}

const long = tree({ "runtime/url.ts": lines(310) });
const rule = rules["a file has at most 300 lines"];

test("what is on the list passes, at the size that is written there", () => {
  assert.equal(judge(rule, long, { "Some issue": { "runtime/url.ts": 310 } }), []);
});

test("what is on the list and shrank fails until the list says so", () => {
  const [line = "", ...others] = judge(rule, long, { "Some issue": { "runtime/url.ts": 320 } });
  assert.match(line, '"runtime/url.ts" has shrunk from 320 to 310: write 310');
  assert.equal(others, []);
});

test("what is on the list and grew fails", () => {
  const [line = "", ...others] = judge(rule, long, { "Some issue": { "runtime/url.ts": 309 } });
  assert.match(line, "grew from 309 to 310");
  assert.equal(others, []);
});

test("an entry that breaks its rule no longer is asked to be taken off", () => {
  const [line = "", ...others] = judge(rule, long, { "Some issue": { "runtime/url.ts": 310, "runtime/json.ts": 400 } });
  assert.match(line, '"runtime/json.ts" breaks this rule no longer');
  assert.equal(others, []);
});

test("the sources under the rules are all that are written here, and none that others generate", () => {
  const paths = sourcePaths(path.resolve(import.meta.dirname, "../.."));
  for (const folder of ["templates/buyer/src", "templates/project/test", "docs/examples", "docs/deploy"])
    assert.ok(
      paths.some((one) => one.startsWith(`${folder}/`)),
      folder,
    );
  assert.equal(
    paths.filter((one) => /node_modules|prisma\/client/.test(one)),
    [],
  );
});

test("names that stand for files are read from tsconfig.json", () => {
  assert.match(readAliases(path.resolve(import.meta.dirname, "../.."))["#bindings"] ?? "", /^generated\/.*\.ts$/);
});

test("without the contract's list of statuses the rule says so", () => {
  assert.throws(() => rules["the statuses of a task are listed once"](parse([])), /declares no taskStatuses/);
});

test.run();
