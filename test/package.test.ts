/** What `npm pack` gives installs in an empty project and works there: every entry, its types, and the command. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compiler } from "./runner/compiler.js";
import { provesSetup } from "./support/judges.js";
import { packed, quietNpm, staged, unpack } from "./support/packed.js";
import { tempFolder } from "./support/release.js";

const root = path.resolve(import.meta.dirname, "..");

/** Largest tarball we would publish, in bytes. */
const MAX_TARBALL_BYTES = 2 * 1024 * 1024;

const installed = provesSetup("an installed package");
// What is installed was built as what is published is; what is only looked at, by the compiler that takes a quarter of the
// time and writes the same.
const tarball = packed(staged(installed ? "tsc" : compiler()));
assert.ok(readFileSync(tarball).length < MAX_TARBALL_BYTES);
const project = tempFolder();
writeFileSync(path.join(project, "package.json"), '{"name":"empty","private":true,"type":"module"}');
if (installed) execFileSync("npm", ["install", ...quietNpm, tarball, "typescript@5.9"], { cwd: project });
else unpack(tarball, project);

/** What only an installation can tell. */
const whenInstalled = (name: string, proof: () => void): void => {
  if (installed) test(name, proof);
};

const run = (command: string, args: string[]) => spawnSync(command, args, { cwd: project, encoding: "utf8" });

const { exports } = JSON.parse(readFileSync(path.join(project, "node_modules/adbind/package.json"), "utf8")) as {
  exports: object;
};
const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");

/** Every file a member of package.json names; the condition `adbind-source` is of this repository alone. */
function named(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("#") ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "adbind-source" ? [] : named(inner)));
}

test("what package.json names is shipped", () => {
  const own = path.join(project, "node_modules/adbind");
  const { exports, imports, bin } = JSON.parse(readFileSync(path.join(own, "package.json"), "utf8"));
  const missing = named([exports, imports, bin]).filter((file) => !existsSync(path.join(own, file)));
  assert.equal(missing, []);
});

test("every entry loads", () => {
  const program = entries.map((entry) => `await import("adbind${entry.slice(1)}");`).join("\n");
  const { status, stderr } = run("node", ["--input-type=module", "--eval", program]);
  assert.is(status, 0, stderr);
});

/**
 * Most JavaScript of ours an entry may pull in when it is loaded, in KiB: what a bundler or a cold start pays. An entry
 * that is not listed has no budget yet, and that fails too.
 */
const budgets: Record<string, number> = {
  // Reading every form of a release is part of it; emitting and archives load on use.
  ".": 145,
  "./contract": 16,
  "./standalone": 36,
  "./validate": 30,
  "./net": 48,
  // The profiles of every release line are part of it.
  "./signing": 145,
  "./signing/web": 145,
  // Asking an agent over both transports, and the rules of releases, are part of it.
  "./signing/discovery": 155,
  "./facts": 30,
  // What registries keep is part of it, lists and grants too.
  "./store": 256,
  // Both engines, with their tables, and what finds the primary of several servers.
  "./db": 165,
  "./queue": 268,
  // Judging a body alone, spans, and finding keys by the release are part of it.
  "./receiver": 280,
  // Secrets, signers, retention, traces, proofs of endpoints, sets of standing notifications and what operators do.
  "./sender": 642,
  "./extract": 30,
  // Both transports, what a model is listed, and what mounts, traces and audits.
  "./seller": 388,
  // The seller and the sender are part of it, with their stores; conversations, transformers and claims of brands too.
  "./behaviours": 1630,
  // Ends of tasks, intents, routes, many agents, tokens in files, and answers to what tasks ask; OAuth and governance are
  // loaded where they are wanted.
  "./buyer": 150,
  "./buyer/web": 132,
  // Storyboards of sellers and of buyers, checks by a buyer without them, both transports, what plays a seller to a buyer, signs webhooks to it, and judges a run.
  "./conformance": 630,
  // Lists and checks of them, bulk lookups, logins and tokens, proofs of who owns a domain, and what of all that is kept.
  "./registry": 1134,
  "./registry/client": 30,
  // A receiver on SQLite, with what signs and forges.
  "./testing": 530,
};

/** Bytes of the package's own modules behind an entry, followed along its static imports. */
function ownBytes(file: string, seen = new Set<string>()): number {
  if (seen.has(file)) return 0;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/^(?:import|export)\b[^"'=(;]*?["'](\.{1,2}\/[^"']+)["']/gm)].map(
    (found) => found[1]!,
  );
  const behind = imported.map((name) => ownBytes(path.resolve(path.dirname(file), name), seen));
  return Buffer.byteLength(text) + behind.reduce((sum, bytes) => sum + bytes, 0);
}

test("each entry stays within its budget", () => {
  const sizes = entries.map((entry): [string, number] => {
    const target = (exports as Record<string, { default: string }>)[entry]!.default;
    return [entry, Math.ceil(ownBytes(path.join(project, "node_modules/adbind", target)) / 1024)];
  });
  console.log(sizes.map(([entry, kib]) => `${entry} ${kib} KiB`).join(", "));
  const over = sizes.filter(([entry, kib]) => !(kib <= (budgets[entry] ?? 0)));
  assert.equal(over, []);
});

whenInstalled("publint and attw find nothing wrong with what is published", () => {
  const lint = spawnSync("publint", [tarball, "--strict"], { cwd: root, encoding: "utf8" });
  assert.is(lint.status, 0, lint.stdout + lint.stderr);
  // Only ES modules are shipped: a CommonJS caller requires them, which every supported Node can.
  const types = spawnSync("attw", [tarball, "--profile", "esm-only", "--format", "ascii"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.is(types.status, 0, types.stdout + types.stderr);
});

const compilerOptions = { strict: true, module: "nodenext", target: "es2023", skipLibCheck: false, noEmit: true };

whenInstalled("the types of every entry hold with skipLibCheck: false", () => {
  writeFileSync(
    path.join(project, "all.ts"),
    entries.map((entry, index) => `export * as e${index} from "adbind${entry.slice(1)}";`).join("\n"),
  );
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["all.ts"] }));
  const { status, stdout } = run("node_modules/.bin/tsc", ["-p", "."]);
  assert.is(status, 0, stdout);
});

/** Where the machine has an older Node, as a system's own often is. */
const olderNode = (process.env.PATH ?? "")
  .split(path.delimiter)
  .concat("/usr/bin", "/usr/local/bin")
  .map((folder) => path.join(folder, "node"))
  .find((node) => /^v(1[4-9]|2[01])\./.test(spawnSync(node, ["--version"], { encoding: "utf8" }).stdout ?? ""));

test("on an older Node the command says in one line which it needs", () => {
  const bin = path.join(project, "node_modules/adbind/dist/cli/bin.js");
  assert.match(readFileSync(bin, "utf8"), /^#!\/usr\/bin\/env node\n/);
  if (olderNode === undefined) return console.log("no older Node on this machine to ask");
  const { status, stdout, stderr } = spawnSync(olderNode, [bin, "generate", "x"], { cwd: project, encoding: "utf8" });
  assert.equal([status, stdout], [1, ""]);
  assert.match(stderr, /^adbind: this is Node [\d.]+, and adbind needs 22\.20 or newer: .*\n$/);
});

whenInstalled("the command generates bindings that compile and run there, without node's types", () => {
  const made = run("node_modules/.bin/adbind", [
    "generate",
    "node_modules/adbind/manifests/3.1.0",
    "--out",
    "bindings",
  ]);
  assert.is(made.status, 0, made.stderr);
  writeFileSync(
    path.join(project, "program.ts"),
    `import { createMediaBuy, recoveryOf, release } from "./bindings/3.1.0/index.js";
import { createValidator } from "adbind/validate";
const validator = await createValidator(release);
const verdict: boolean = validator.request("create_media_buy", {}).ok;
export const line = [createMediaBuy.name, verdict, recoveryOf("RATE_LIMITED")].join(" ");
(globalThis as unknown as { console: { log(text: string): void } }).console.log(line);
`,
  );
  const options = { ...compilerOptions, noEmit: false, outDir: "built", types: [], lib: ["es2024"] };
  writeFileSync(
    path.join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["program.ts"] }),
  );
  const compiled = run("node_modules/.bin/tsc", ["-p", "."]);
  assert.is(compiled.status, 0, compiled.stdout);
  const ran = run("node", ["built/program.js"]);
  assert.is(ran.stdout, "create_media_buy false transient\n", ran.stderr);
});

test.run();
