/** What was packed, bundled as strangers do it: webpack of now and of Next.js's age, rollup; and run where nothing of the build is. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { repository } from "../../cli/dev/pack/packages.js";
import { compiler } from "../runner/compiler.js";
import { packed, staged, unpack } from "../support/packed.js";
import { tempFolder } from "../support/release.js";

const peers = path.join(import.meta.dirname, "bundlers/node_modules");
const installed = existsSync(path.join(peers, "webpack-5.98"));
if (!installed) console.log("skipped: bundlers are not installed (npm ci in test/interop/bundlers)");

/** Longest that a bundle may take, in milliseconds, on a machine that does much else. */
const TIMEOUT_MS = 180_000;

const tarballs = installed ? packed(staged(compiler())) : undefined;

const program = `import { createValidator } from "adbind/validate";
import { openSqliteStore } from "adbind/store";
import * as receiver from "adbind/receiver";
const schema = { $id: "/a.json", type: "object", required: ["b"] };
const tool = { name: "a", request: "/a.json", arms: {} };
createValidator({ tools: { a: tool }, schemas: async () => ({ "/a.json": JSON.stringify(schema) }) }).then((validator) => {
  const store = openSqliteStore({ path: process.argv[2] });
  const { seven } = store.db.prepare("SELECT 7 AS seven").get();
  console.log(typeof receiver.createReceiver, validator.request("a", {}).ok, validator.request("a", { b: 1 }).ok, seven);
});
`;

/** A project with a program over the packages, at `build`, whose place is given up once it is bundled. */
function project(): string {
  const folder = path.join(tempFolder(), "build");
  mkdirSync(folder);
  unpack(tarballs!, folder);
  writeFileSync(path.join(folder, "package.json"), '{"name":"user","private":true,"type":"module"}');
  writeFileSync(path.join(folder, "program.mjs"), program);
  return folder;
}

function node(cwd: string, args: readonly string[]): string {
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { status, stdout, stderr } = spawnSync("node", args, { cwd, encoding: "utf8", timeout: TIMEOUT_MS, env });
  assert.is(status, 0, stdout + stderr);
  return stdout;
}

/** Runs a bundle where only it and the drivers are. */
function deployed(folder: string, file: string): string {
  const place = path.join(path.dirname(folder), "deployed");
  mkdirSync(path.join(place, "node_modules"), { recursive: true });
  symlinkSync(path.join(repository, "node_modules/better-sqlite3"), path.join(place, "node_modules/better-sqlite3"));
  renameSync(path.join(folder, "out"), path.join(place, "out"));
  renameSync(folder, `${folder}-gone`);
  return node(place, [path.join("out", file), path.join(place, "inbox.db")]);
}

const peer = (name: string): string => JSON.stringify(path.join(peers, name));

const webpackOutputs = {
  cjs: { output: { filename: "program.cjs" } },
  mjs: {
    output: { filename: "program.mjs", module: true, chunkFormat: "module" },
    experiments: { outputModule: true },
  },
} as const;

/** Makes a bundle by webpack's own function: the command is a package more. */
function webpack(folder: string, version: string, type: keyof typeof webpackOutputs): void {
  const { output, ...more } = webpackOutputs[type];
  const options = {
    ...{
      mode: "production",
      target: "node22",
      context: folder,
      entry: "./program.mjs",
      optimization: { minimize: false },
    },
    ...{ output: { ...output, path: path.join(folder, "out") }, ...more },
  };
  node(folder, [
    "--input-type=commonjs",
    "--eval",
    `require(${peer(version)})(${JSON.stringify(options)}, (error, stats) => {
  if (error) throw error;
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  for (const { message, moduleName } of [...errors, ...warnings]) console.error(moduleName, message);
  process.exitCode = errors.length + warnings.length;
});`,
  ]);
}

function rollup(folder: string, type: "cjs" | "mjs"): void {
  const plugins = ["node-resolve", "commonjs", "json"].map(
    (name) => `require(${peer(`@rollup/plugin-${name}`)}).default()`,
  );
  const format = type === "cjs" ? "cjs" : "esm";
  node(folder, [
    "--input-type=commonjs",
    "--eval",
    `require(${peer("rollup")}).rollup({ input: "program.mjs", onwarn() {}, plugins: [${plugins.join(", ")}] })
  .then((bundle) => bundle.write({ dir: "out", format: ${JSON.stringify(format)}, entryFileNames: "program.${type}", chunkFileNames: "[name].${type}" }));`,
  ]);
}

const bundlers: Readonly<Record<string, (folder: string, type: "cjs" | "mjs") => void>> = {
  webpack: (folder, type) => webpack(folder, "webpack", type),
  "webpack 5.98": (folder, type) => webpack(folder, "webpack-5.98", type),
  rollup,
};

if (installed)
  for (const [name, bundle] of Object.entries(bundlers))
    for (const type of ["cjs", "mjs"] as const)
      test(`${name} makes a ${type} that judges, and opens a database, where it is alone with its driver`, () => {
        const folder = project();
        bundle(folder, type);
        assert.is(deployed(folder, `program.${type}`), "function false true 7\n");
      });

test.run();
