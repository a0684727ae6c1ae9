/** `adbind.config.json`, and what the command line says over it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/generate.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { type Ran, runCommand } from "./run-command.js";

const test = suite<{ folder: string; run: (config: unknown, ...args: string[]) => Promise<Ran> }>("config");

test.before.each((context) => {
  const folder = tempFolder();
  process.env.ADBIND_CWD = folder;
  process.env.XDG_CACHE_HOME = tempFolder();
  writeRelease(smallRelease(), path.join(folder, "releases/1.2.3"));
  context.folder = folder;
  context.run = (config, ...args) => {
    const text = typeof config === "string" ? config : JSON.stringify(config);
    if (config !== undefined) writeFileSync(path.join(folder, "adbind.config.json"), text);
    return runCommand(register, args);
  };
});

test.after.each(() => {
  delete process.env.ADBIND_CWD;
  delete process.env.XDG_CACHE_HOME;
});

const options = (folder: string, out: string): object =>
  JSON.parse(readFileSync(path.join(folder, out, "1.2.3/owned.json"), "utf8")).options;

test("releases, out, standalone and filters come from the config", async ({ folder, run }) => {
  const config = {
    releases: ["releases/1.2.3"],
    out: "src/bindings",
    standalone: true,
    filters: { tools: ["list_orders"] },
  };
  const { code, err } = await run(config);
  assert.is(code, 0, err);
  assert.equal(options(folder, "src/bindings"), { standalone: true, partial: false, "tool list_orders": true });
});

test("the command line wins, and a filter on it replaces the config's", async ({ folder, run }) => {
  const config = { releases: ["nowhere"], out: "no", standalone: true, filters: { tools: ["list_orders"] } };
  const args = ["releases/1.2.3", "--out", "yes", "--no-standalone", "--specialism", "selling"];
  const { code, err } = await run(config, ...args);
  assert.is(code, 0, err);
  assert.equal(options(folder, "yes"), { standalone: false, partial: false, "specialism selling": true });
  assert.is(existsSync(path.join(folder, "no")), false);
});

test("another config is read with --config, and its paths start from its own folder", async ({ folder, run }) => {
  const file = path.join(folder, "tools/other.json");
  writeRelease({ "other.json": { releases: ["../releases"], out: "made" } }, path.dirname(file));
  const { code, err } = await run(undefined, "--config", "tools/other.json");
  assert.is(code, 0, err);
  assert.ok(existsSync(path.join(folder, "tools/made/1.2.3/index.ts")));
  assert.is((await run(undefined, "--config", "gone.json")).code, 2);
});

test("names in it are looked up in its source", async ({ folder, run }) => {
  const { code, err } = await run({ releases: ["proto@latest"], source: "releases", out: "out" });
  assert.is(code, 0, err);
  assert.ok(existsSync(path.join(folder, "out/1.2.3/index.ts")));
});

test("without a release on the command line or in a config, what to do is said", async ({ run }) => {
  const { code, err } = await run(undefined);
  assert.is(code, 2);
  assert.match(err, /no release is given: give a folder, .* or list releases in adbind\.config\.json/);
});

for (const [what, config, told] of [
  ["what is not JSON", "{", /adbind\.config\.json\): Correct the file/],
  ["a key twice", '{"out": "a", "out": "b"}', /duplicate object keys: out/],
  [
    "an unknown setting",
    { output: "x" },
    /there is no such setting \(.*#\/output\): use one of .*releases, out, standalone/,
  ],
  ["an unknown filter", { filters: { tool: [] } }, /#\/filters\/tool\): use one of tools, protocols, specialisms/],
  ["a wrong type", { releases: "releases" }, /the setting must be array \(.*#\/releases\)/],
  ["no release in the list", { releases: [] }, /#\/releases/],
  ["a list", [], /must be object/],
] as const) {
  test(`${what} is refused with file, pointer and remedy`, async ({ run }) => {
    const { code, err } = await run(config);
    assert.is(code, 2);
    assert.match(err, told);
  });
}

test("the schema that is shipped is one, and says what each setting is", () => {
  const schema = JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../../adbind.config.schema.json"), "utf8"));
  assert.ok(new Ajv().compile(schema)({ $schema: "x", releases: ["a@1.2.3"], partial: true, source: "y" }));
  for (const one of Object.values<{ description?: string }>(schema.properties)) assert.ok(one.description);
});

test.run();
