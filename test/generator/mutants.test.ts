/**
 * Releases like the ones there are, changed: what stays legal generates, compiles and judges as plain ajv does, and what
 * does not is refused by rule and place, with nothing written.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { fromSource } from "../runner/from-source.js";
import { compilerSays } from "../scaffold/project.js";
import { cellsOf } from "../support/cells.js";
import { publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import * as mutate from "../support/mutate-release.js";
import { numbers } from "../support/random.js";
import { type Files, schema, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { type Broken, brokenJson, brokenManifests, brokenReferences, markers, withMarker } from "./mutants/broken.js";
import { combined } from "./mutants/combined.js";
import { disagreements, importGenerated, placesOf } from "./mutants/judge.js";
import { legal } from "./mutants/legal.js";
import { lists } from "./mutants/lists.js";
import { objects } from "./mutants/objects.js";
import { pointers } from "./mutants/pointers.js";
import { recursions } from "./mutants/recursions.js";
import { scalars } from "./mutants/scalars.js";
import type { Shape } from "./mutants/shape.js";
import { texts } from "./mutants/texts.js";
import { accept, agreeWithAjv, errorsOf, fresh, generatedCount, workspace } from "./mutants/workspace.js";

const root = path.resolve(import.meta.dirname, "../..");
/** What every shape is asked beside its own values. */
const anyValues = [null, 1, "a", "abc", true, [], {}, ["a"], { a: 1 }, { a: "x" }];

/** One release with a tool per shape. */
function shapesRelease(shapes: Record<string, Shape>): { files: Files; tools: Map<string, Shape> } {
  const files = smallRelease();
  const { tools } = mutate.manifestOf(files);
  const byTool = new Map<string, Shape>();
  for (const [index, shape] of Object.values(shapes).entries()) {
    const folder = `shape-${index}`;
    const request = `${folder}/shape-${index}-request.json`;
    tools[`shape_${index}`] = {
      ...tools.list_orders,
      request_schema: request,
      specialisms: [],
      deprecated_in: undefined,
    };
    files[request] = schema(request, { type: "object", properties: { mutant: shape.schema }, ...shape.root });
    for (const [file, body] of Object.entries(shape.files ?? {}))
      files[`${folder}/${file}`] = schema(`${folder}/${file}`, body);
    byTool.set(`shape_${index}`, shape);
  }
  return { files, tools: byTool };
}

const groups = { recursions, pointers, texts, scalars, lists, objects, combined };
/** Of one commit's run. */
const [SHAPES, LEGAL] = [1, 3];

for (const group of cellsOf(judgeCommand("mutants"), Object.keys(groups) as (keyof typeof groups)[], SHAPES)) {
  const shapes: Record<string, Shape> = groups[group];
  test(`types and validators agree with the judge on ${group}`, async () => {
    const { files, tools } = shapesRelease(shapes);
    const generated = await importGenerated(await accept(files), true);
    const values = placesOf(files).flatMap((place) => {
      const shape = place.part === "request" ? tools.get(place.tool) : undefined;
      if (shape === undefined) return [];
      return [...(shape.values ?? []), ...anyValues].map((mutant) => ({ place, value: { mutant } }));
    });
    const { found, accepted, refused } = await disagreements(files, generated, values);
    assert.equal(found, []);
    assert.ok(accepted > 20 && refused > 20);
  });
}

for (const name of cellsOf(judgeCommand("mutants"), Object.keys(legal), LEGAL)) {
  test(`a legal release with ${name} is taken as the judge takes it`, async () => {
    const files = fresh();
    legal[name]!(files);
    await agreeWithAjv(files, 12);
  });
}

const exampleTool = async (folder: string, file: string): Promise<mutate.Any> =>
  Object.values(await import(path.join(folder, "tools", file)))[0];

test("an async kind that goes takes its arm with it, and no other", async () => {
  // Without its file `submitted` would stay: a branch of the response says it.
  for (const kind of ["working", "input-required"]) {
    const files = fresh();
    const tool = mutate.manifestOf(files).tools.create_media_buy;
    tool.async_response_schemas = tool.async_response_schemas.filter((file: string) => !file.endsWith(`-${kind}.json`));
    const { arms } = await exampleTool(await accept(files), "create-media-buy.ts");
    const kinds = ["submitted", "working", "input-required"].filter((one) => one !== kind);
    assert.equal(Object.keys(arms), [...kinds, "completed", "failed", "canceled", "rejected"]);
  }
});

test("the marker counts in any case", async () => {
  for (const marker of markers) {
    const files = fresh();
    withMarker(marker)(files);
    const { idempotency, mutating } = await exampleTool(await accept(files), "create-media-buy.ts");
    assert.equal({ idempotency, mutating }, { idempotency: "exempt", mutating: true });
  }
});

test("specialisms may be empty, untitled, or none at all", async () => {
  const files = fresh();
  const { specialisms } = mutate.manifestOf(files);
  for (const specialism of Object.values<mutate.Any>(specialisms)) delete specialism.title;
  Object.assign(specialisms.brand_rights, { entry_point_tools: [], exercised_tools: [] });
  specialisms.constructor = {
    protocol: "brand",
    entry_point_tools: ["acquire_rights"],
    exercised_tools: ["acquire_rights"],
  };
  mutate.agree(files);
  const { checkSpecialism } = await import(path.join(await accept(files), "index.ts"));
  assert.equal(checkSpecialism("brand_rights", []).ok, true);
  assert.equal(checkSpecialism("constructor", []).missingEntryPoints, ["acquire_rights"]);
  assert.equal(checkSpecialism("toString", []).specialism, null);
  mutate.manifestOf(files).specialisms = {};
  mutate.agree(files);
  await accept(files);
});

test("a field the release's own meta-schema declares is kept out of the way", async () => {
  const files = fresh();
  const manifest = mutate.manifestOf(files);
  const meta = mutate.schemaAt(files, "manifest.schema.json");
  manifest.tools.list_accounts.summary = "x";
  manifest.task_result_resolution = { a: 1 };
  meta.properties.tools.additionalProperties.properties.summary = { type: "string" };
  meta.properties.task_result_resolution = {};
  await accept(files);
});

test("names that are words of the language, alone in a release", async () => {
  const names = [
    "class",
    "default",
    "then",
    "await",
    "type",
    "of",
    "async",
    "global_this",
    "to_string",
    "answer",
    "x2_y",
    "a1",
  ];
  const files = fresh();
  const { tools } = mutate.manifestOf(files);
  for (const name of names) tools[name] = { ...tools.list_accounts, specialisms: [] };
  const module = await import(path.join(await accept(files), "index.ts"));
  assert.equal(
    names.filter((name) => module.release.tools[name]?.name !== name),
    [],
  );
  assert.equal(module.then, undefined, "an export called then makes import() call it");
});

/** Trees of one commit's run that our own TypeScript compiles too, for five times of what the newest takes. */
const TREES = 2;

test("what is generated compiles: TypeScript 7, and 5.9, strict, every library checked", async () => {
  const trees = readdirSync(workspace).filter((name) => /^r\d+$/.test(name));
  assert.is(trees.length, generatedCount());
  assert.ok(trees.length > 5, "the tests before this one leave something to compile");
  const config = (names: readonly string[]): object => ({
    compilerOptions: {
      target: "es2023",
      lib: ["es2024"],
      module: "nodenext",
      customConditions: ["adbind-source"],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      skipLibCheck: false,
      noEmit: true,
    },
    include: names.map((name) => `${name}/**/*.ts`),
  });
  const file = path.join(workspace, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config(trees)));
  const { code, output } = await compilerSays(file, workspace);
  assert.equal([code, output], [0, ""]);
  writeFileSync(file, JSON.stringify(config(cellsOf(judgeCommand("mutants"), trees, TREES))));
  const { stdout } = spawnSync("node", [path.join(root, "node_modules/typescript/bin/tsc"), "-p", workspace], {
    encoding: "utf8",
  });
  assert.equal(stdout, "");
});

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(folder, file), readFileSync(file, "utf8")]),
  );

test("the order of files and of keys does not show", async () => {
  const files = mutate.readFiles(path.join(root, "manifests/3.1.0"));
  const outputs: Record<string, string>[] = [];
  for (const seed of [1, 2]) {
    const out = tempFolder();
    await generate([writeRelease(mutate.shuffle(files, numbers(seed)))], { out, standalone: true });
    outputs.push(filesIn(out));
  }
  const straight = tempFolder();
  await generate([path.join(root, "manifests/3.1.0")], { out: straight, standalone: true });
  for (const output of outputs) assert.equal(output, filesIn(straight));
});

for (const [name, { change, rule, file = "manifest.json", pointer }] of Object.entries<Broken>({
  ...brokenJson,
  ...brokenReferences,
  ...brokenManifests,
})) {
  test(`a broken release with ${name} is refused by rule and pointer`, async () => {
    const files = fresh();
    change(files, mutate.manifestOf(files));
    const out = path.join(tempFolder(), "out");
    const result = await generate([writeRelease(files)], { out });
    const errors = result.releases[0]!.findings.filter(({ level }) => level === "error");
    const hit = errors.find(
      (one) => one.rule === rule && one.file === file && (pointer ?? one.pointer) === one.pointer,
    );
    assert.ok(hit !== undefined, `no ${rule} at ${file}#${pointer ?? ""} in:\n${errorsOf(result).join("\n")}`);
    assert.ok(hit.remedy.length > 10 && hit.message.length > 5);
    assert.is(result.ok, false);
    assert.not(existsSync(out));
  });
}

test("partial leaves out what missing and dangling files break, and nothing else", async () => {
  const files = fresh();
  delete files["account/list-accounts-request.json"];
  mutate.requestOf(files, "get_signals").properties.mutant = { $ref: "#/$defs/none" };
  const out = path.join(workspace, "partial");
  const { ok, releases } = await generate([writeRelease(files)], { out, partial: true });
  assert.ok(ok);
  assert.equal(
    releases[0]!.leftOut.map(({ tool }) => tool),
    ["get_signals", "list_accounts"],
  );
  for (const { because } of releases[0]!.leftOut) assert.match(because.join(), /^[\w/.-]+#\/[^:]+: .*(not in|nothing)/);
  const { release } = await import(path.join(out, "3.1.0/index.ts"));
  assert.equal(Object.keys(release.tools), ["acquire_rights", "create_media_buy"]);
  Object.assign(files, { "brand/acquire-rights-request.json": "{" });
  const again = await generate([writeRelease(files)], { out: tempFolder(), partial: true });
  assert.not(again.ok, "a file that is not JSON is no missing file");
});

/** Runs the command; what it wrote to stderr, and its exit code. */
const command = (...args: string[]) => {
  const flags = [...fromSource, "cli/main.ts"];
  const { status, stderr, stdout } = spawnSync("node", [...flags, ...args], { cwd: root, encoding: "utf8" });
  return { status, stderr, stdout };
};

test("the command names file, pointer, rule and remedy, exits 1 and writes nothing", () => {
  const files = fresh();
  brokenManifests["undeclared tool field"]!.change(files, mutate.manifestOf(files));
  const out = path.join(tempFolder(), "out");
  const { status, stderr } = command("generate", writeRelease(files), path.join(root, "manifests/3.0.0"), "--out", out);
  assert.is(status, 1);
  assert.match(
    stderr,
    /manifest\.json#\/tools\/list_accounts\/summary: .* \[manifest-unknown-field\]\. Remove the field/,
  );
  assert.not(existsSync(out), "one broken release keeps its sound neighbour from being written");
});

const changes = ["another word", "every folder renamed, no id", "relative references, no ids"] as const;
for (const change of cellsOf(judgeCommand("mutants"), changes, 1))
  test(`a published release that was changed legally is taken: ${change}`, async () => {
    const folder = publishedReleases().at(-2);
    if (folder === undefined) return;
    const files = mutate.cut(folder, ["create_media_buy", "acquire_rights"]);
    legal[change]!(files);
    await agreeWithAjv(files, 8);
  });

test.run();
