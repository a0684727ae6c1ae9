/** What `./run pack` gives installs in an empty project and works there: every entry, its types, and the commands. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  installations,
  manifestOf,
  type PackageManifest,
  type PackageName,
  packages,
} from "../cli/dev/pack/packages.js";
import { boundFaults, bytesOf } from "../cli/dev/pack/weigh.js";
import { compiler } from "./runner/compiler.js";
import { budgets } from "./support/entry-budgets.js";
import { closureWeight } from "./support/lock-closure.js";
import { filesIn, modulesNamed, packageOf } from "./support/package-files.js";
import { packed, quietNpm, staged, unpack } from "./support/packed.js";
import { tempFolder } from "./support/release.js";
import { proves } from "./support/turns.js";

const root = path.resolve(import.meta.dirname, "..");

/** Largest tarball we would publish, in bytes. */
const MAX_TARBALL_BYTES = 1.25 * 1024 * 1024;

const installed = proves("an installed package");
// What is installed was built as what is published is; what is only looked at, by the compiler that takes a quarter of the
// time and writes the same.
const tarballs = packed(staged(installed ? "tsc" : compiler()));
const names = Object.keys(packages) as PackageName[];
for (const name of names) assert.ok(readFileSync(tarballs[name]).length < MAX_TARBALL_BYTES, name);
const project = tempFolder();
writeFileSync(path.join(project, "package.json"), '{"name":"empty","private":true,"type":"module"}');
if (installed)
  execFileSync("npm", ["install", ...quietNpm, ...Object.values(tarballs), "typescript@5.9"], { cwd: project });
else unpack(tarballs, project);

/** What only an installation can tell. */
const whenInstalled = (name: string, proof: () => void): void => {
  if (installed) test(name, proof);
};

const run = (command: string, args: string[], cwd = project) => spawnSync(command, args, { cwd, encoding: "utf8" });

const folderOf = (name: PackageName): string => path.join(project, "node_modules", name);
const packedManifest = (name: PackageName): PackageManifest =>
  JSON.parse(readFileSync(path.join(folderOf(name), "package.json"), "utf8"));

/** Entry as it is imported -> its file. */
const entries = new Map(
  names.flatMap((name) =>
    Object.entries(packedManifest(name).exports).flatMap(([entry, target]): [string, string][] =>
      typeof target === "string" || entry.includes("*")
        ? []
        : [[`${name}${entry.slice(1)}`, path.join(folderOf(name), target.default!)]],
    ),
  ),
);

/** Every file a member of package.json names; the condition `adbind-source` is of this repository alone. */
function named(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("#") || value.includes("*") ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "adbind-source" ? [] : named(inner)));
}

for (const name of names)
  test(`what package.json of ${name} names is shipped`, () => {
    const { exports, bin } = packedManifest(name);
    const missing = named([exports, bin]).filter((file) => !existsSync(path.join(folderOf(name), file)));
    assert.equal(missing, []);
  });

test("no built file is in both packages, and the light one has neither generator, commands, conformance nor a registry's server", () => {
  const built = (name: PackageName) => filesIn(folderOf(name)).filter((file) => file.startsWith("dist/"));
  const light = new Set(built("adbind"));
  assert.ok(light.size > 500, `${light.size} files`);
  assert.equal(
    built("adbind-cli").filter((file) => light.has(file)),
    [],
  );
  const heavy =
    /^dist\/(generator\/|cli\/(?!adbind|launch)|runtime\/conformance\/|runtime\/registry\/(?!client|client-places))/;
  assert.equal(
    [...light].filter((file) => heavy.test(file)),
    [],
  );
});

for (const name of names)
  test(`what files of ${name} import is in it, or in what its package.json names`, () => {
    const own = folderOf(name);
    const { dependencies, peerDependencies } = packedManifest(name);
    const there = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
    const wrong = modulesNamed(own).filter(({ file, specifier }) => {
      if (specifier.startsWith(".")) return !existsSync(path.join(own, path.dirname(file), specifier));
      const inside = /^adbind\/internal\/(.*)$/.exec(specifier)?.[1];
      if (inside !== undefined && !existsSync(path.join(folderOf("adbind"), "dist", inside))) return true;
      const from = packageOf(specifier);
      return from !== undefined && !there.has(from);
    });
    assert.equal(wrong, []);
  });

test("both packages have one version, and the same range of whatever both name", () => {
  const [light, cli] = [manifestOf("adbind"), manifestOf("adbind-cli")];
  assert.is(cli.version, light.version);
  assert.is(cli.dependencies.adbind, light.version);
  const ranges = { ...light.devDependencies, ...light.dependencies };
  const { adbind: _, ...others } = { ...cli.dependencies, ...cli.peerDependencies, ...light.peerDependencies };
  const differ = Object.entries(others).filter(([name, range]) => ranges[name] !== range);
  assert.equal(differ, []);
});

test("a changeset is of adbind alone, whose version its command takes, and names nothing that is no package", () => {
  const folder = path.join(root, ".changeset");
  const files = readdirSync(folder).filter((file) => file.endsWith(".md"));
  const wrong = files.filter((file) => {
    const [, head, text] = readFileSync(path.join(folder, file), "utf8").split(/^---$/m);
    return !/^\n"adbind": (?:patch|minor|major)\n$/.test(head ?? "") || text?.trim() === "";
  });
  assert.equal(wrong, []);
});

for (const one of installations)
  test(`${one.what}: by the lock there are no more packages and megabytes than promised`, () => {
    const own = one.package === "adbind" ? ["adbind"] : names;
    const wanted = own.flatMap((name) => Object.keys(manifestOf(name as PackageName).dependencies));
    const { packages: count, bytes } = closureWeight([...wanted.filter((name) => name !== "adbind"), ...one.peers]);
    const ownBytes = own.map((name) => bytesOf(folderOf(name as PackageName), ["node_modules"]));
    const weight = { packages: count + own.length, bytes: ownBytes.reduce((sum, each) => sum + each, bytes) };
    assert.equal(boundFaults(one, weight), []);
  });

test("every entry loads in plain Node", () => {
  const program = [...entries.keys()].map((entry) => `await import("${entry}");`).join("\n");
  const { status, stderr } = run("node", ["--input-type=module", "--eval", program]);
  assert.is(status, 0, stderr);
});

test("every entry is what code in CommonJS requires, too", () => {
  const program = [...entries.keys()].map((entry) => `require("${entry}");`).join("\n");
  const { status, stderr } = run("node", ["--input-type=commonjs", "--eval", program]);
  assert.equal([status, stderr], [0, ""]);
});

test("what is thrown by adbind-cli is an error of adbind", () => {
  const program = `import { AdbindError } from "adbind/internal/runtime/errors.js";
import { generate } from "adbind-cli";
console.log(await generate(["nowhere"], { out: "x" }).catch((error) => error instanceof AdbindError));`;
  const { stdout, stderr } = run("node", ["--input-type=module", "--eval", program]);
  assert.is(stdout, "true\n", stderr);
});

/** Bytes of the packages' own modules behind an entry, followed along its static imports. */
function ownBytes(file: string, seen = new Set<string>()): number {
  if (seen.has(file)) return 0;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  const imported = [
    ...text.matchAll(/^(?:import|export)\b[^"'=(;]*?["'](\.{1,2}\/[^"']+|adbind\/internal\/[^"']+)["']/gm),
  ]
    .map((found) => found[1]!.replace(/^adbind\/internal/, path.join(folderOf("adbind"), "dist")))
    .map((name) => path.resolve(path.dirname(file), name));
  const behind = imported.map((one) => ownBytes(one, seen));
  return Buffer.byteLength(text) + behind.reduce((sum, bytes) => sum + bytes, 0);
}

test("each entry stays within its budget", () => {
  const sizes = [...entries].map(([entry, file]): [string, number] => [entry, Math.ceil(ownBytes(file) / 1024)]);
  console.log(sizes.map(([entry, kib]) => `${entry} ${kib} KiB`).join(", "));
  const over = sizes.filter(([entry, kib]) => !(kib <= (budgets[entry] ?? 0)));
  assert.equal(over, []);
});

whenInstalled("publint and attw find nothing wrong with what is published", () => {
  for (const tarball of Object.values(tarballs)) {
    const lint = spawnSync("publint", [tarball, "--strict"], { cwd: root, encoding: "utf8" });
    assert.is(lint.status, 0, lint.stdout + lint.stderr);
    // Only ES modules are shipped: a CommonJS caller requires them, which every supported Node can. What stands under
    // `internal` is nobody's entry, and a command has no types.
    const left = ["--exclude-entrypoints", "./internal/*.js", "./bin"];
    const types = spawnSync("attw", [tarball, "--profile", "esm-only", "--format", "ascii", ...left], {
      cwd: root,
      encoding: "utf8",
    });
    assert.is(types.status, 0, types.stdout + types.stderr);
  }
});

const compilerOptions = { strict: true, module: "nodenext", target: "es2023", skipLibCheck: false, noEmit: true };

whenInstalled("the types of every entry hold with skipLibCheck: false", () => {
  writeFileSync(
    path.join(project, "all.ts"),
    [...entries.keys()].map((entry, index) => `export * as e${index} from "${entry}";`).join("\n"),
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

for (const name of names)
  test(`on an older Node the command of ${name} says in one line which it needs`, () => {
    const bin = path.join(folderOf(name), Object.values(packedManifest(name).bin)[0]!);
    assert.match(readFileSync(bin, "utf8"), /^#!\/usr\/bin\/env node\n/);
    if (olderNode === undefined) return console.log("no older Node on this machine to ask");
    const { status, stdout, stderr } = run(olderNode, [bin, "generate", "x"]);
    assert.equal([status, stdout], [1, ""]);
    assert.match(stderr, /^adbind: this is Node [\d.]+, and adbind needs 22\.20 or newer: .*\n$/);
  });

const lightBin = path.join(folderOf("adbind"), packedManifest("adbind").bin.adbind!);

test("the light command hands everything to adbind-cli of the folder it is called in", () => {
  const { status, stdout, stderr } = run("node", [lightBin, "explain", "--help"]);
  assert.is(status, 0, stderr);
  assert.match(stdout, "Usage: adbind explain");
});

test("the packed command makes a seller that installs what it runs with", () => {
  const shop = path.join(tempFolder(), "shop");
  const args = ["--specialism", "sales_guaranteed", "--release", path.join(root, "manifests/3.1.0")];
  const made = run("node", [lightBin, "new", "seller", shop, ...args, "--adbind", tarballs.adbind]);
  assert.is(made.status, 0, made.stderr);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(shop, "package.json"), "utf8"));
  for (const [what, file] of [
    [dependencies.adbind, tarballs.adbind],
    [devDependencies["adbind-cli"], tarballs["adbind-cli"]],
  ])
    assert.is(path.resolve(shop, what.replace(/^file:/, "")), file);
  const { peers } = installations.find(({ entries }) => entries.includes("behaviours"))!;
  assert.equal(
    peers.filter((name) => dependencies[name] === undefined),
    [],
  );
});

test("alone it names the command and the line that installs it, and knows its version", () => {
  const alone = tempFolder();
  const own = path.join(alone, "node_modules/adbind");
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", tarballs.adbind, "-C", own, "--strip-components=1"]);
  const bin = path.join(own, packedManifest("adbind").bin.adbind!);
  const asked = run("node", [bin, "generate", "x"], alone);
  assert.equal([asked.status, asked.stdout], [1, ""]);
  assert.match(asked.stderr, /^adbind: `adbind generate` .* npm install --save-dev adbind-cli\n$/);
  assert.is(run("node", [bin, "--version"], alone).stdout, `${packedManifest("adbind").version}\n`);
  const help = run("node", [bin, "--help"], alone);
  assert.equal([help.status, help.stderr], [0, ""]);
  assert.match(help.stdout, "npm install --save-dev adbind-cli");
});

whenInstalled("the command generates bindings that compile and run there, without node's types", () => {
  const made = run("node_modules/.bin/adbind", [
    "generate",
    "node_modules/adbind-cli/manifests/3.1.0",
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
