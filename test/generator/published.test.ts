/** The published releases are the judge: each generates, type-checks, and its validators say what plain ajv says. */
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { openRelease } from "../../generator/load/files.js";
import type { AnyTool, Release } from "../../runtime/contract/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { compilerSays } from "../scaffold/project.js";
import { cellsOf } from "../support/cells.js";
import { corpus, peerRelease, publishedReleases } from "../support/corpus.js";
import { notEveryDisks } from "../support/disk-names.js";
import { judgeCommand } from "../support/judges.js";
import { mutations, spread } from "../support/mutations.js";
import { userProject } from "../support/project.js";

const root = path.resolve(import.meta.dirname, "../..");
/** Releases of one commit's run. */
const RELEASES = 1;
const everyRelease = publishedReleases();
const chosen = cellsOf(
  judgeCommand("published"),
  everyRelease.map((folder) => path.basename(folder)),
  RELEASES,
);
const releases = everyRelease.filter((folder) => chosen.includes(path.basename(folder)));

const folder = userProject();
const out = path.join(folder, "bindings");
const result = releases.length === 0 ? undefined : await generate(releases, { out });

test("published releases generate in one run", () => {
  if (result === undefined) return;
  assert.equal(
    result.releases.flatMap(({ findings }) => findings).filter(({ level }) => level === "error"),
    [],
  );
  assert.ok(result.releases.every(({ outcome, tools }) => outcome === "written" && tools > 50));
});

test("what they give stands on every disk: no two files differ in case only, and none is called as a device", () => {
  if (result === undefined) return;
  assert.equal(notEveryDisks(readdirSync(out, { recursive: true, encoding: "utf8" })), []);
});

test("a release in another form gives the same bytes", async () => {
  if (result === undefined) return;
  const forms = new Map([
    ["releases/3.0.26", "bundles/3.0.26.tgz"],
    ["releases/3.2.4", "repacked/3.2.4"],
  ]);
  for (const name of cellsOf(judgeCommand("published"), [...forms.keys()], 1)) {
    const own = path.join(folder, "forms");
    await generate([path.join(corpus, name)], { out: own });
    const again = await generate([path.join(corpus, forms.get(name)!)], { out: own, check: true });
    assert.equal(
      again.releases.map(({ outcome }) => outcome),
      ["same"],
      name,
    );
  }
});

const compilerOptions: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2024.d.ts"],
  noEmit: true,
  skipLibCheck: false,
  types: [],
  customConditions: ["adbind-source"],
};

/** Type errors of every file below a folder. */
function typeErrors(below: string): string[] {
  const files = ts.sys.readDirectory(below, [".ts"]);
  const program = ts.createProgram(files, compilerOptions);
  return ts
    .getPreEmitDiagnostics(program)
    .map((one) => ts.flattenDiagnosticMessageText(one.messageText, " ") + (one.file?.fileName ?? ""));
}

test("what they give type-checks, strictly and without skipLibCheck", () => {
  if (result !== undefined) assert.equal(typeErrors(out), []);
});

test("TypeScript 7 accepts them too", async () => {
  const tsc = path.join(root, "test/interop/typescript-7/node_modules/.bin/tsc");
  if (!existsSync(tsc)) console.log("skipped: TypeScript 7 is not installed (npm ci in test/interop/typescript-7)");
  if (result === undefined || !existsSync(tsc)) return;
  const { lib: _, module: _module, moduleResolution: _resolution, target: _target, ...options } = compilerOptions;
  const config = {
    compilerOptions: { ...options, lib: ["es2024"], module: "nodenext", target: "es2023" },
    include: ["bindings"],
  };
  const file = path.join(folder, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  const { code, output } = await compilerSays(file, folder);
  assert.is(code, 0, output);
});

test("no type is another's twin with a number behind its name", () => {
  if (result === undefined) return;
  for (const types of globSync(`${out}/*/types`)) {
    const text = readdirSync(types).map((file) => readFileSync(path.join(types, file), "utf8"));
    const names = new Set(
      text.flatMap((one) => [...one.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, n]) => n!)),
    );
    assert.ok(names.size > 100);
    const twins = [...names].filter((name) => /\d$/.test(name) && names.has(name.replace(/\d+$/, "")));
    assert.equal(twins, [], types);
  }
});

const releaseOf = async (version: string): Promise<Release> =>
  (await import(path.join(out, version, "index.ts"))).release as Release;

interface Payload {
  tool: string;
  direction: string;
  schema: string;
  payload: unknown;
}

const statusOf = (direction: string): string =>
  direction === "response" ? "completed" : direction.replace(/^async-/, "");

/** A reference as the release spells it, in ids or without: whole, from its root, or from the file. */
function placeOf(ref: string, file: string): string {
  const [uri, fragment] = [ref.replace(/#.*$/, ""), ref.includes("#") ? ref.slice(ref.indexOf("#")) : ""];
  const inRelease = /^(?:https:\/\/[^/]+)?\/schemas\/[^/]+\/(.+)$/.exec(uri)?.[1];
  const at = inRelease ?? (uri === "" ? file : path.posix.join(path.posix.dirname(file), uri));
  return `https://judge.invalid/${at}${fragment}`;
}

/** A schema with every reference as the place of a file, and without ids. */
function placed(value: unknown, file: string): unknown {
  if (Array.isArray(value)) return value.map((one) => placed(one, file));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, one]) => !(key === "$id" && typeof one === "string"));
  return Object.fromEntries(
    entries.map(([key, one]) => [
      key,
      key === "$ref" && typeof one === "string" ? placeOf(one, file) : placed(one, file),
    ]),
  );
}

/** Plain ajv over the schemas as published, each found by its path: ids repeat, and newer packages have none. */
async function published(source: string): Promise<(file: string, data: unknown) => boolean> {
  const files = await openRelease(source);
  const ajv = new Ajv({ strict: false, validateSchema: false, logger: false, code: { optimize: false } });
  formats.default(ajv);
  for (const file of files.list())
    ajv.addSchema(placed(JSON.parse(files.read(file)!.toString()), file) as object, `https://judge.invalid/${file}`);
  return (file, data) => ajv.getSchema(`https://judge.invalid/${file}`)!(data) as boolean;
}

/** Most mutants of one payload judged. */
const MUTANTS = 40;

/** The newest release, repackaged without ids, gets the same payloads. */
const judged = chosen.includes("3.2.4") ? [...releases, path.join(corpus, "repacked/3.2.4")] : releases;

for (const source of judged) {
  const version = path.basename(source);
  const name = path.relative(corpus, source);
  const file = path.join(corpus, "payloads", `${version}.json`);
  if (!existsSync(file)) continue;
  test(`${name}: payloads are valid, and mutants get the verdict of plain ajv`, async () => {
    const payloads = JSON.parse(readFileSync(file, "utf8")) as Payload[];
    const release = await releaseOf(version);
    const validator = await createValidator(release);
    const plain = await published(source);
    const judge = ({ tool, direction }: Payload, data: unknown): boolean =>
      (direction === "request"
        ? validator.request(tool, data)
        : validator.arm(tool, statusOf(direction) as never, data)
      ).ok;
    let refused = 0;
    for (const payload of payloads) {
      assert.is(judge(payload, payload.payload), true, `${payload.tool} ${payload.direction}`);
      for (const mutant of spread(payload.payload, MUTANTS)) {
        const verdict = judge(payload, mutant);
        const what = `${payload.tool} ${JSON.stringify(mutant).slice(0, 300)}`;
        assert.is(verdict, plain(payload.schema, mutant), what);
        if (!verdict) refused++;
      }
    }
    assert.ok(refused > payloads.length, "mutants must be refused, or this proves nothing");
  });

  // The examples are the same in both packages, and the dearest to judge.
  if (!releases.includes(source)) continue;
  test(`${name}: the examples of every schema a tool reaches get the verdict of plain ajv`, async () => {
    const release = await releaseOf(version);
    const validator = await createValidator(release);
    const plain = await published(source);
    const files = await openRelease(source);
    const refs = Object.values(release.tools).flatMap((tool: AnyTool) => [tool.request, ...Object.values(tool.arms)]);
    let judged = 0;
    for (const ref of new Set(refs.filter((one): one is string => typeof one === "string" && !one.includes("#")))) {
      const { examples = [] } = JSON.parse(files.read(ref)!.toString()) as { examples?: unknown[] };
      for (const example of examples) {
        const value = isWrapped(example) ? example.data : example;
        for (const data of [value, ...mutations(value, 2)].slice(0, MUTANTS)) {
          assert.is(validator.schema(ref, data).ok, plain(ref, data), `${ref} ${JSON.stringify(data).slice(0, 200)}`);
          judged++;
        }
      }
    }
    assert.ok(judged > 100);
  });
}

/** Some published examples stand beside a description of themselves. */
const isWrapped = (example: unknown): example is { data: unknown } =>
  typeof example === "object" &&
  example !== null &&
  "data" in example &&
  "description" in example &&
  Object.keys(example).length === 2;

test("the release of the protocol's SDK needs --partial, which names what it leaves out", async () => {
  const source = peerRelease();
  if (source === undefined) return;
  const target = path.join(userProject(), "bindings");
  const refused = await generate([source], { out: target });
  assert.is(refused.ok, false);
  const partial = await generate([source], { out: target, partial: true });
  assert.is(partial.ok, true);
  assert.equal(
    partial.releases[0]?.leftOut.map(({ tool }) => tool),
    ["comply_test_controller"],
  );
  assert.equal(typeErrors(target), []);
});

test.run();
