/** What a bundler makes of the database for CommonJS, as functions of a cloud are often packed, opens one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { userProject } from "../support/project.js";

const root = path.resolve(import.meta.dirname, "../..");

type Format = "cjs" | "esm";

/** A program that opens a store, bundled into a project that has the driver. */
async function bundled(format: Format, define: Readonly<Record<string, string>> = {}) {
  const project = userProject();
  mkdirSync(path.join(project, "built"));
  symlinkSync(path.join(root, "node_modules/better-sqlite3"), path.join(project, "node_modules/better-sqlite3"));
  const outfile = path.join(project, "built", format === "cjs" ? "program.cjs" : "program.mjs");
  const contents = `import { openSqliteStore } from "adbind/store";
const store = openSqliteStore({ path: process.argv[2] });
console.log(store.db.prepare("SELECT 7 AS seven").get().seven);`;
  await build({
    stdin: { contents, resolveDir: project, loader: "ts" },
    ...{ bundle: true, outfile, format, platform: "node", logLevel: "silent", conditions: ["adbind-source"], define },
  });
  return { project, outfile };
}

/** What it prints, and what it says of what went wrong. */
function ran(project: string, outfile: string): [string, string] {
  const { stdout, stderr } = spawnSync("node", [outfile, path.join(project, "inbox.db")], {
    cwd: path.dirname(root),
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  return [stdout, stderr];
}

for (const format of ["cjs", "esm"] as const)
  test(`a program bundled as ${format} loads, and opens a store on SQLite by the driver that is installed`, async () => {
    const { project, outfile } = await bundled(format);
    assert.equal(ran(project, outfile), ["7\n", ""]);
  });

/** Names that bundlers put in place of `import.meta.url` and `__filename`, and that lead nowhere where the bundle runs. */
const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "the file's name where the bundle was made": { "import.meta.url": '"file:///build/node_modules/adbind/driver.js"' },
  "a name that is no place": { "import.meta.url": '"file:///build/driver.js"', __filename: '"src/driver.js"' },
};
for (const [name, define] of Object.entries(elsewhere))
  for (const format of ["cjs", "esm"] as const)
    test(`a bundle as ${format} that has ${name} finds the driver beside the program`, async () => {
      const { project, outfile } = await bundled(format, define);
      assert.equal(ran(project, outfile), ["7\n", ""]);
    });

test("nothing of the file that loads drivers is a form of require that webpack takes for its own", () => {
  const text = readFileSync(path.join(root, "runtime/db/driver.ts"), "utf8");
  assert.not.match(text, /import \{[^}]*\bcreateRequire\b|(?<!\w)require\(/);
});

test.run();
