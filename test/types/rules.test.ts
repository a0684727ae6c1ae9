/**
 * Each rule of how a schema becomes a type, on a schema made for it: what must compile, and, by `@ts-expect-error`, what
 * must not. The literals are checked by the compiler; were one that must not compile to compile, that is a fault too.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { lintRelease } from "../../generator/lint/release.js";
import { strictOptions } from "../support/literals.js";
import { changedRelease, schema, tempFolder } from "../support/release.js";
import { ruleProperties } from "./rule-schemas.js";

const text = { type: "string" };
const id = "/schemas/1.2.3/";

const source = changedRelease((files) => {
  files["core/told.json"] = schema("core/told.json", {
    type: "object",
    properties: { said: text },
    required: ["said"],
  });
  files["media-buy/place-order-request.json"] = schema("media-buy/place-order-request.json", {
    title: "Place Order Request",
    type: "object",
    properties: ruleProperties,
    required: ["idempotency_key"],
    additionalProperties: true,
    anyOf: [
      { required: ["budget"], properties: { level: { const: "low" } } },
      { required: ["lines"], not: { required: ["budget"] } },
    ],
  });
});

/** A project whose `adbind` is this one, with the release generated in it. */
async function generated(options: { open?: boolean } = {}): Promise<string> {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(path.resolve(import.meta.dirname, "../.."), path.join(folder, "node_modules/adbind"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  const { ok, releases } = await generate([source], { out: folder, ...options });
  assert.is(ok, true, JSON.stringify(releases[0]?.findings));
  return path.join(folder, "1.2.3");
}

const closed = await generated();

/** Those of the language itself are parsed once. */
const host = ts.createCompilerHost(strictOptions);
const parse = host.getSourceFile;
const library = path.dirname(ts.getDefaultLibFilePath(strictOptions));
const parsed = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (name, ...more) => {
  if (path.dirname(name) !== library) return parse(name, ...more);
  if (!parsed.has(name)) parsed.set(name, parse(name, ...more));
  return parsed.get(name);
};

/** What is wrong in a program but for the language's own declarations, which would be judged anew by each test. */
function diagnosticsOf(program: ts.Program): readonly ts.Diagnostic[] {
  const ours = program.getSourceFiles().filter((file) => !program.isSourceFileDefaultLibrary(file));
  return [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
}

/** Faults of statements over `R`, the request: those that must compile do, those marked do not. */
function faultsOf(folder: string, statements: readonly string[]): string[] {
  const file = path.join(folder, "zz-program.ts");
  const head = `import type { ListOrdersResponse, PlaceOrderArms, PlaceOrderRequest as R, PlaceOrderRequestLinesItem } from "./index.js";
const base: { idempotency_key: string; budget: { amount: number } } = { idempotency_key: "k", budget: { amount: 1 } };
export type Used = [ListOrdersResponse, PlaceOrderArms, PlaceOrderRequestLinesItem];`;
  writeFileSync(file, `${head}\n${statements.join("\n")}\nexport { base };\n`);
  const program = ts.createProgram([file], strictOptions, host);
  return diagnosticsOf(program).map(({ messageText, start, file: at }) => {
    const line = at === undefined ? "" : (at.text.slice(start).split("\n")[0] ?? "");
    return `${ts.flattenDiagnosticMessageText(messageText, " ")}: ${line}`;
  });
}

let count = 0;
const literal = (value: string): string => `export const v${count++}: R = ${value};`;
const wrong = (value: string): string => `// @ts-expect-error\n${literal(value)}`;

/** A rule, literals that keep it, literals that break it. */
const rules: [rule: string, right: string[], wrong: string[]][] = [
  [
    "an object that declares names takes no other, whether it says it is open or says nothing",
    ['{ ...base, open: { a: "x" }, silent: { a: "x" } }'],
    ['{ ...base, open: { a: "x", b: 1 } }', "{ ...base, silent: { b: 1 } }", "{ ...base, strange: 1 }"],
  ],
  [
    "an object that declares none takes any, and a map what it says",
    ["{ ...base, free: { any: [1] }, typed: { any: 1 } }"],
    ['{ ...base, typed: { any: "x" } }'],
  ],
  [
    "what names do not say, further properties may, beside what is declared",
    ['{ ...base, mixed: { a: "x", b: 1 } }', '{ ...base, fixed: { a: "x", x_b: 1 } }'],
    ["{ ...base, mixed: { a: 1 } }", "{ ...base, mixed: { b: true } }", "{ ...base, fixed: { x_b: true } }"],
  ],
  [
    "ext and context stay open, and keep what they declare",
    ['{ ...base, ext: { a: "x", more: 1 }, context: { said: "x", more: 1 } }'],
    ["{ ...base, ext: { a: 1 } }", "{ ...base, context: { more: 1 } }"],
  ],
  [
    "a map by pattern is a map to the union of what the patterns allow",
    ['{ ...base, assets: { one: { product_id: "p" }, two: { said: "x" } } }'],
    ["{ ...base, assets: { one: 1 } }", "{ ...base, assets: { one: { neither: 1 } } }"],
  ],
  [
    "a demanded name is demanded where nothing declares it",
    ['{ ...base, undeclared: { a: "x", b: [1] } }'],
    ['{ ...base, undeclared: { a: "x" } }', "{ ...base, undeclared: { b: 1 } }"],
  ],
  [
    "alternatives that differ in what they demand are a union, with the types that are declared",
    ['{ idempotency_key: "k", lines: [{ x: 1 }] }', '{ ...base, level: "low" }'],
    [
      '{ idempotency_key: "k" }',
      '{ idempotency_key: "k", budget: 1 }',
      '{ idempotency_key: "k", budget: { unit: "x" } }',
      '{ ...base, level: "high" }',
      '{ ...base, lines: [{ x: 1 }], level: "high" }',
    ],
  ],
  [
    "alternatives inside are too, and a name that one of them forbids is refused",
    ['{ ...base, nested: { one: "x" } }', '{ ...base, nested: { two: "x" } }'],
    ["{ ...base, nested: {} }", '{ ...base, nested: { one: "x", two: "x" } }'],
  ],
  ["more than eight are left to validators", ["{ ...base, many: {} }"], ["{ ...base, many: { j: 1 } }"]],
  [
    "a name that only a condition declares is taken, where names are not closed",
    [
      '{ ...base, element: { kind: "app", apps: { ios: {} }, store: "x" } }',
      '{ ...base, either: { a: "x", c: "y" } }',
      '{ ...base, sealed: { a: "x" } }',
    ],
    [
      '{ ...base, element: { kind: "app", strange: {} } }',
      '{ ...base, either: { a: "x", d: "y" } }',
      '{ ...base, sealed: { a: "x", c: "y" } }',
    ],
  ],
  [
    "a list that may not be empty is not",
    ["{ ...base, lines: undefined! }", 'export const item: PlaceOrderRequestLinesItem = { x: 1, z: "x" };'],
    ['{ idempotency_key: "k", lines: [] }', '{ idempotency_key: "k", lines: [{ w: 1 }] }'],
  ],
  [
    "a tuple keeps its open tail, and its length where it says one",
    ['{ ...base, pair: ["x"] }', '{ ...base, pair: ["x", 1, true, null] }', '{ ...base, shut: ["x", 1] }'],
    [
      "{ ...base, pair: [] }",
      '{ ...base, pair: ["x", "y"] }',
      '{ ...base, shut: ["x"] }',
      '{ ...base, shut: ["x", 1, 2] }',
    ],
  ],
  [
    "what is demanded of objects leaves null and texts alone, where kinds are listed with them",
    [
      "{ ...base, either_a_or_b: null }",
      '{ ...base, either_a_or_b: { b: "x" } }',
      '{ ...base, told: "x" }',
      '{ ...base, told: { a: "x" } }',
      "{ ...base, without: null }",
      '{ ...base, without: { a: "x", z: "y" } }',
    ],
    [
      "{ ...base, either_a_or_b: {} }",
      "{ ...base, told: {} }",
      "{ ...base, told: null }",
      "{ ...base, without: {} }",
      '{ ...base, without: { a: "x", b: "y" } }',
    ],
  ],
  [
    "listed values are the type, whatever is demanded of them beside",
    ['{ ...base, listed: "a" }', '{ ...base, listed: { k: 1, b: "x" } }', "{ ...base, listed: [1] }"],
    ['{ ...base, listed: "b" }', "{ ...base, listed: { k: 2, b: 'x' } }", "{ ...base, unmeant: 5 }"],
  ],
];

for (const [rule, right, broken] of rules) {
  test(rule, () => {
    const statements = [...right.map((one) => (one.startsWith("export") ? one : literal(one))), ...broken.map(wrong)];
    assert.equal(faultsOf(closed, statements), []);
  });
}

test("a finished answer has no branch of another arm, and its response has all of them", () => {
  const arms = [
    "export const completed = (data: PlaceOrderArms['completed']): string => data.order_id;",
    "// @ts-expect-error an answer of errors is no finished one",
    "export const failed: PlaceOrderArms['completed'] = { errors: [{ code: 'X', message: 'm' }] };",
  ];
  assert.equal(faultsOf(closed, arms), []);
});

test("--open takes names that nothing declares, and still demands what is demanded", async () => {
  const statements = [literal('{ ...base, strange: 1, open: { a: "x", b: 1 } }'), wrong('{ idempotency_key: "k" }')];
  assert.equal(faultsOf(await generated({ open: true }), statements), []);
});

test("a comment has the first sentence, then what the type cannot say, and ends where it should", () => {
  const made = readFileSync(path.join(closed, "types/place-order-request.ts"), "utf8");
  const comment = (name: string): string => {
    const end = made.indexOf(`\n  ${name}`);
    return made.slice(made.lastIndexOf("/**", end), end);
  };
  assert.is(
    comment("idempotency_key: "),
    '/**\n   * @pattern ^[a-z*\\/]+$\n   * @minLength 16\n   * @default "*\\/"\n   */',
  );
  assert.is(
    comment("level?: "),
    "/**\n   * How much.\n   * - `low`: Little.\n   * - `high`: Much * / more.\n   * @deprecated\n   */",
  );
});

test("a union that is its own member through others is refused by name", async () => {
  const looped = changedRelease((files) => {
    files["core/json.json"] = schema("core/json.json", { anyOf: [text, { $ref: `${id}core/json-too.json` }] });
    files["core/json-too.json"] = schema("core/json-too.json", { anyOf: [{ $ref: `${id}core/json.json` }] });
    files["media-buy/place-order-request.json"].properties.note = { $ref: `${id}core/json.json` };
  });
  const { findings } = await lintRelease(looped);
  assert.equal(
    findings.filter(({ level }) => level === "error").map(({ rule, file, pointer }) => `${rule} ${file}#${pointer}`),
    ["ref-loop core/json.json#/anyOf/1/$ref"],
  );
});

test("a union that holds itself inside a list compiles", async () => {
  const recursive = changedRelease((files) => {
    files["core/json.json"] = schema("core/json.json", {
      anyOf: [text, { type: "array", items: { $ref: `${id}core/json.json` } }],
    });
    files["media-buy/place-order-request.json"].properties.note = { $ref: `${id}core/json.json` };
  });
  const out = tempFolder();
  const { ok } = await generate([recursive], { out });
  assert.is(ok, true);
  const made = readFileSync(path.join(out, "1.2.3/types/json.ts"), "utf8");
  assert.match(made, "export type Json = string | Json[];");
});

test.run();
