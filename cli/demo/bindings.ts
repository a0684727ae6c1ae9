/**
 * The demo's first part: bindings of our own releases and of a published one, type-checked under strict, then used. The
 * published release comes with the npm package of the protocol's own SDK; it lacks two schema files, so it needs `--partial`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type GenerateResult, generate } from "../../generator/index.js";
import { plural } from "../output.js";
import { root } from "./processes.js";

const peer = path.join(root, "test/interop/peer");
const published = path.join(peer, "node_modules/@adcp/sdk/dist/lib/schemas-data/3.0");
const PUBLISHED_VERSION = "3.0.6";
const example = path.join(root, "docs/examples/first-steps.ts");

type Say = (line?: string) => void;
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Runs a program of the package. @throws Error with what it said, when it fails */
function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
}

/** A user's project: the bindings of one release, adbind as a dependency, and one program. */
function makeProject(home: string, version: string, bindings: string): string {
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

function report(say: Say, { ok, releases }: GenerateResult): void {
  for (const { word, version, outcome, tools, codes, specialisms, files, leftOut, findings } of releases) {
    const counts =
      outcome === "unchanged"
        ? ""
        : `: ${plural(tools, "tool")}, ${plural(codes, "error code")}, ${plural(specialisms, "specialism")}, ${plural(files, "file")}`;
    say(`   ${word} ${version} ${outcome}${counts}`);
    for (const { tool, because } of leftOut) say(`   left out ${tool}: ${because[0]}`);
    for (const { level, file, message } of findings) if (level === "error") say(`   ${file}: ${message}`);
  }
  if (!ok) throw new Error("a release could not be read");
}

/** @throws Error when something does not generate, compile or run */
export async function showBindings(home: string, say: Say): Promise<void> {
  if (!existsSync(published)) {
    const [there, folder] = [published, peer].map((one) => path.relative(root, one));
    throw new Error(`The published release is not at ${there}: run npm ci in ${folder}`);
  }
  const out = path.join(home, "out");
  const own = ["manifests/3.0.0", "manifests/3.1.0"].map((folder) => path.join(root, folder));
  const generated = performance.now();
  report(say, await generate(own, { out: path.join(root, "generated") }));
  report(say, await generate([published], { out, partial: true }));
  say(`   ${seconds(generated)}\n`);
  const projects = [
    makeProject(home, "3.1.0", path.join(root, "generated/3.1.0")),
    makeProject(home, PUBLISHED_VERSION, path.join(out, PUBLISHED_VERSION)),
  ];
  for (const folder of projects) {
    say(`   A program over ${path.basename(folder)}: ${path.relative(root, path.join(folder, "program.ts"))}`);
    const checked = performance.now();
    run("tsc", ["-p", "tsconfig.json"], folder);
    say(`   type-checked with its bindings, strict and without skipLibCheck: ${seconds(checked)}`);
    const output = run("node", ["--import", "tsx", "--conditions=adbind-source", "program.ts"], folder);
    say(output.trimEnd().replace(/^/gm, "   > "));
    say();
  }
}
