/** What a bundler makes of the database for CommonJS, as functions of a cloud are often packed, opens one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { userProject } from "../support/project.js";

const root = path.resolve(import.meta.dirname, "../..");

for (const format of ["cjs", "esm"] as const)
  test(`a program bundled as ${format} loads, and opens a store on SQLite by the driver that is installed`, async () => {
    const project = userProject();
    mkdirSync(path.join(project, "built"));
    symlinkSync(path.join(root, "node_modules/better-sqlite3"), path.join(project, "node_modules/better-sqlite3"));
    const outfile = path.join(project, "built", format === "cjs" ? "program.cjs" : "program.mjs");
    const contents = `import { openSqliteStore } from "adbind/store";
const store = openSqliteStore({ path: process.argv[2] });
console.log(store.db.prepare("SELECT 7 AS seven").get().seven);`;
    await build({
      stdin: { contents, resolveDir: project, loader: "ts" },
      ...{ bundle: true, outfile, format, platform: "node", logLevel: "silent", conditions: ["adbind-source"] },
    });
    const { stdout, stderr } = spawnSync("node", [outfile, path.join(project, "inbox.db")], {
      cwd: path.dirname(root),
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    assert.is(stdout, "7\n", stderr);
  });

test.run();
