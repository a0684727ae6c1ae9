/** What emitted code is to whoever bundles it, or runs it as it is. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { publishedReleases } from "../support/corpus.js";
import { cut, manifestOf, readFiles } from "../support/mutate-release.js";
import { browserBundle, builtProject, userProject } from "../support/project.js";
import { smallRelease, writeRelease } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");

/** Most that one tool and its handler may add to a bundle, in bytes: its data is about a thousand. */
const MAX_TOOL_BYTES = 1_536;

/** One of so many tools stands beside the one that is bundled. */
const SHARE = 8;

const largest = publishedReleases().at(-1) ?? path.join(root, "manifests/3.1.0");

test("one tool out of the index brings nothing of the others along", async () => {
  const folder = userProject();
  const every = Object.keys(manifestOf(readFiles(largest)).tools);
  // As many as tell whether an index brings its tools along; bindings of all take most of the time otherwise.
  const some = every.filter((name, at) => at % SHARE === 0 || name === "create_media_buy");
  assert.ok(some.length > 5);
  const { releases } = await generate([writeRelease(cut(largest, some))], { out: path.join(folder, "bindings") });
  const bundled = await browserBundle({
    folder,
    program: `import { createMediaBuy, handleCreateMediaBuy } from "./bindings/${releases[0]!.version}/index.js";
      globalThis.kept = [createMediaBuy, handleCreateMediaBuy];`,
  });
  const { tools, error_codes } = JSON.parse(readFileSync(path.join(largest, "manifest.json"), "utf8")) as {
    tools: Record<string, unknown>;
    error_codes: Record<string, unknown>;
  };
  assert.match(bundled, "create_media_buy");
  const strangers = [...Object.keys(tools), ...Object.keys(error_codes)].filter(
    (name) => name !== "create_media_buy" && new RegExp(`\\b${name}\\b`).test(bundled),
  );
  assert.equal(strangers, []);
  assert.ok(bundled.length <= MAX_TOOL_BYTES, `${bundled.length} bytes`);
});

const erasable: ts.CompilerOptions = {
  strict: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: [],
  lib: ["lib.es2024.d.ts"],
  skipLibCheck: true,
  noEmit: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  customConditions: ["adbind-source"],
};

test("--import-extension ts: plain node runs the output as it is", async () => {
  const folder = await builtProject({ contract: "runtime/contract/index.ts" });
  const out = path.join(folder, "bindings");
  await generate([writeRelease(smallRelease())], { out, importExtension: "ts" });
  const program = path.join(folder, "program.ts");
  writeFileSync(
    program,
    `import { type ErrorCode, placeOrder, recoveryOf, release } from "./bindings/1.2.3/index.ts";
const code: ErrorCode = "BUSY";
console.log(placeOrder.name, recoveryOf(code), Object.keys(await release.schemas()).length > 5);
`,
  );
  // By itself from Node 23.6 on; Node 22 wants to be asked.
  const node = spawnSync(process.execPath, ["--experimental-strip-types", "--no-warnings", program], {
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  assert.is(node.stdout, "place_order transient true\n", node.stderr);
});

for (const [importExtension, ending] of [
  ["js", ".js"],
  ["ts", ".ts"],
  ["none", ""],
] as const) {
  test(`--import-extension ${importExtension}: every file imports so, and nothing has to be compiled away but types`, async () => {
    const folder = userProject();
    const out = path.join(folder, "bindings");
    const made = await generate([writeRelease(smallRelease())], { out, importExtension, standalone: true });
    assert.is(made.ok, true);
    const files = ts.sys.readDirectory(out, [".ts"]);
    for (const file of files) {
      const { importedFiles } = ts.preProcessFile(readFileSync(file, "utf8"), true, true);
      const wrong = importedFiles
        .map(({ fileName }) => fileName)
        .filter((name) => name.startsWith(".") && path.extname(name) !== ending);
      assert.equal(wrong, [], file);
    }
    const resolution =
      importExtension === "none"
        ? { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
        : {};
    const program = ts.createProgram(files, { ...erasable, ...resolution });
    const faults = ts
      .getPreEmitDiagnostics(program)
      .filter(({ file }) => file === undefined || file.fileName.startsWith(out))
      .map(({ messageText }) => messageText);
    assert.equal(faults, []);
    // The option is part of what was made: another one makes the files anew.
    const again = await generate([writeRelease(smallRelease())], { out, importExtension, standalone: true });
    assert.is(again.releases[0]?.outcome, "unchanged");
    const other = importExtension === "js" ? "ts" : "js";
    const changed = await generate([writeRelease(smallRelease())], { out, importExtension: other, standalone: true });
    assert.is(changed.releases[0]?.outcome, "written");
  });
}

test("every file says its types itself: isolatedDeclarations makes its declarations without another file", async () => {
  const out = path.join(userProject(), "bindings");
  const { ok } = await generate([writeRelease(smallRelease())], { out, standalone: true });
  assert.ok(ok);
  const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  assert.ok(files.length > 20);
  const faults = files.flatMap((fileName) => {
    const text = readFileSync(path.join(out, fileName), "utf8");
    const compilerOptions = { ...erasable, noEmit: false, declaration: true, isolatedDeclarations: true };
    const { diagnostics = [] } = ts.transpileDeclaration(text, { fileName, compilerOptions, reportDiagnostics: true });
    return diagnostics.map(({ messageText }) => `${fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
  });
  assert.equal(faults, []);
});

test.run();
