/** What was packed, where people run and compile it who are not on the newest Node: docs/install.md says what is promised of each. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type PackageManifest, repository } from "../../cli/dev/pack/packages.js";
import { compiler } from "../runner/compiler.js";
import { packed, staged, unpack } from "../support/packed.js";
import { tempFolder } from "../support/release.js";

const peers = path.join(import.meta.dirname, "runtimes/node_modules");
const installed = existsSync(path.join(peers, ".bin/deno"));
if (!installed) console.log("skipped: other runtimes are not installed (npm ci in test/interop/runtimes)");

/** Longest that any of them may take, in milliseconds, on a machine that does much else. */
const TIMEOUT_MS = 180_000;

interface Run {
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** @returns what it printed @throws what it said, where it failed */
function printed({ cwd, command, args }: Run): string {
  const env = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: TIMEOUT_MS, env });
  assert.is(status, 0, stdout + stderr);
  return stdout;
}

const project = tempFolder();
const bin = "node_modules/adbind-cli/dist/cli/bin.js";
if (installed) {
  unpack(packed(staged(compiler())), project);
  for (const name of ["fastify", "pino", "better-sqlite3"])
    symlinkSync(path.join(repository, "node_modules", name), path.join(project, "node_modules", name));
  const manifest = {
    name: "user",
    private: true,
    type: "module",
    imports: { "#bindings": "./bindings/3.1.0/index.ts" },
  };
  writeFileSync(path.join(project, "package.json"), JSON.stringify(manifest));
}

/** Runs of another runtime, with what comes before the program. */
const runtimes: Readonly<Record<string, readonly string[]>> = {
  bun: [],
  deno: ["run", "--allow-all", "--node-modules-dir=manual"],
};

const whenInstalled = (name: string, proof: () => void): void => {
  if (installed) test(name, proof);
};

for (const [name, before] of Object.entries(runtimes)) {
  const inside = (...args: string[]): string =>
    printed({ cwd: project, command: path.join(peers, ".bin", name), args: [...before, ...args] });
  const options = ["proto@3.1.0", "--out", "bindings", "--import-extension", "ts"];

  whenInstalled(`${name} generates bindings that node finds nothing wrong with`, () => {
    inside(bin, "generate", ...options, "--force");
    printed({ cwd: project, command: "node", args: [bin, "generate", ...options, "--check"] });
  });

  whenInstalled(`${name} verifies signed webhooks and keeps them, as the example of the README does on node`, () => {
    const example = "receive-webhooks.ts";
    copyFileSync(path.join(repository, "docs/examples", example), path.join(project, example));
    const [accepted, duplicate, forged, ...rows] = inside(example).trim().split("\n");
    assert.equal(
      [accepted, duplicate, forged],
      [
        '200 {"status":"accepted"}',
        '200 {"status":"duplicate"}',
        '401 Signature error="webhook_signature_digest_mismatch"',
      ],
    );
    assert.match(rows.join(" "), /media_buy_id: ["']mb-7["'],\s+times: 1\b/);
  });
}

/** Every entry of the light package. */
const entriesOf = (folder: string): string[] => {
  const { exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as PackageManifest;
  return Object.keys(exports)
    .filter((entry) => !/[*]|json$/.test(entry))
    .map((entry) => `adbind${entry.slice(1)}`);
};

/** The oldest compiler that takes a kind of module, and the kind. */
const compilers = [
  ["typescript-5.7", "module"],
  ["typescript-5.8", "commonjs"],
] as const;

for (const [name, type] of compilers)
  whenInstalled(`${name} compiles a program of type ${type} over every entry and bindings, and node runs it`, () => {
    const folder = path.join(project, name);
    const out = path.join(name, "bindings");
    printed({ cwd: project, command: "node", args: [bin, "generate", "proto@3.1.0", "--out", out] });
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type }));
    const entries = entriesOf(path.join(project, "node_modules/adbind"));
    const program = `${entries.map((entry, index) => `import * as e${index} from "${entry}";`).join("\n")}
import { createMediaBuy, release } from "./bindings/3.1.0/index.js";
declare const console: { log(...told: unknown[]): void };
const all: object[] = [${entries.map((_, index) => `e${index}`).join(", ")}];
e${entries.indexOf("adbind/validate")}.createValidator(release).then((validator) => {
  console.log(all.length, validator.request(createMediaBuy.name, {}).ok);
});`;
    writeFileSync(path.join(folder, "program.ts"), program);
    const compilerOptions = {
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
      ...{ module: "nodenext", target: "es2022", declaration: true, outDir: "built", types: [] },
      // CommonJS has no imports of its own, which is what this would hold the sources to.
      verbatimModuleSyntax: type === "module",
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }));
    printed({ cwd: folder, command: "node", args: [path.join(peers, name, "bin/tsc"), "-p", "."] });
    const said = printed({ cwd: folder, command: "node", args: ["built/program.js"] });
    assert.is(said, `${entries.length} false\n`);
  });

test.run();
