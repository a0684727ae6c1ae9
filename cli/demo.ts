/**
 * `./run demo`: bindings of our own releases and of a published one, type-checked under strict, then used. The published
 * release comes with the npm package of the protocol's own SDK; it lacks two schema files, so it needs `--partial`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type GenerateResult, generate } from "../generator/index.js";
import { plural } from "./output.js";

const root = path.resolve(import.meta.dirname, "..");
const peer = path.join(root, "test/interop/peer");
const published = path.join(peer, "node_modules/@adcp/sdk/dist/lib/schemas-data/3.0");
const home = path.join(root, ".cache/demo");
const example = path.join(root, "docs/examples/first-steps.ts");

const started = performance.now();
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const say = (text = ""): void => console.log(text);

/** Runs a program of the package and ends the demo when it fails. */
function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  say(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  process.exit(1);
}

/** A user's project: the bindings of one release, adbind as a dependency, and one program. */
function makeProject(version: string, bindings: string): string {
  const folder = path.join(home, version);
  mkdirSync(path.join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  cpSync(bindings, path.join(folder, "bindings"), { recursive: true });
  cpSync(example, path.join(folder, "program.ts"));
  writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify(
      { name: `demo-${version}`, type: "module", imports: { "#bindings": "./bindings/index.ts" } },
      null,
      2,
    ),
  );
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2023",
    lib: ["es2024"],
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ["node"],
    typeRoots: [path.join(root, "node_modules/@types")],
    customConditions: ["adbind-source"],
  };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["program.ts", "bindings"] }, null, 2),
  );
  return folder;
}

function report({ ok, releases }: GenerateResult): void {
  for (const { word, version, outcome, tools, codes, specialisms, files, leftOut, findings } of releases) {
    const counts =
      outcome === "unchanged"
        ? ""
        : `: ${plural(tools, "tool")}, ${plural(codes, "error code")}, ${plural(specialisms, "specialism")}, ${plural(files, "file")}`;
    say(`   ${word} ${version} ${outcome}${counts}`);
    for (const { tool, because } of leftOut) say(`   left out ${tool}: ${because[0]}`);
    for (const { level, file, message } of findings) if (level === "error") say(`   ${file}: ${message}`);
  }
  if (!ok) process.exit(1);
}

if (!existsSync(published)) {
  say(`The published release is not at ${path.relative(root, published)}: run npm ci in ${path.relative(root, peer)}`);
  process.exit(1);
}
rmSync(home, { recursive: true, force: true });

say("1. Bindings from releases");
const out = path.join(home, "out");
const own = ["manifests/3.0.0", "manifests/3.1.0"].map((folder) => path.join(root, folder));
const generated = performance.now();
report(await generate(own, { out: path.join(root, "generated") }));
report(await generate([published], { out, partial: true }));
say(`   ${seconds(generated)}\n`);

const version = "3.0.6";
const projects = [
  makeProject("3.1.0", path.join(root, "generated/3.1.0")),
  makeProject(version, path.join(out, version)),
];
for (const [index, folder] of projects.entries()) {
  const name = path.basename(folder);
  say(`${index + 2}. A program over ${name}: ${path.relative(root, path.join(folder, "program.ts"))}`);
  const checked = performance.now();
  run("tsc", ["-p", "tsconfig.json"], folder);
  say(`   type-checked with its bindings, strict and without skipLibCheck: ${seconds(checked)}`);
  const output = run("node", ["--import", "tsx", "--conditions=adbind-source", "program.ts"], folder);
  say(output.trimEnd().replace(/^/gm, "   > "));
  say();
}
say(
  `Done in ${seconds(started)}. Look around: generated/3.1.0/tools/create-media-buy.ts, generated/3.1.0/specialisms.ts`,
);
