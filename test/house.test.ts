/** Who may import whom, and where the file system, the console and the process may be touched: the rules of the house. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { test } from "uvu";
import * as assert from "uvu/assert";

const root = path.resolve(import.meta.dirname, "..");

/** Leaves that import nothing of ours. */
const base = ["runtime/contract", "runtime/errors", "runtime/json", "runtime/url"];

const room = (name: string): string => `runtime/${name}/`;

/**
 * What each part may import beside itself. Two departures from the drawing, both by intent: the generator uses the
 * shared leaves `errors` and `json`, and generated validators use `adbind/standalone`.
 */
const allowed: [part: string, uses: string[]][] = [
  ...base.map((file): [string, string[]] => [file, []]),
  ["generated/", ["adbind/contract", "adbind/standalone"]],
  [room("db"), base],
  [room("validate"), base],
  [room("net"), base],
  // The program that runs at once or waits, and nothing else of the room.
  [room("signing"), [...base, room("net"), "runtime/db/coroutine"]],
  [room("store"), [...base, room("db"), room("signing")]],
  [room("queue"), [...base, room("db"), room("store")]],
  [room("extract"), base],
  ...["receiver", "sender", "registry", "buyer", "seller"].map((name): [string, string[]] => [
    room(name),
    [
      ...base,
      "runtime/db/coroutine",
      "runtime/db/engines",
      "runtime/db/types",
      ...["signing", "validate", "store", "net", "queue", "extract"].map(room),
    ],
  ]),
  ["generator/", ["runtime/contract", "runtime/errors", "runtime/json"]],
];

/** A seller is handed its sender, a buyer its receiver: what they need of each other is types. */
const handed = new Set(["receiver", "sender", "registry", "buyer", "seller"].map(room));
const isHanded = (part: string, { target, typeOnly }: Import): boolean =>
  typeOnly && handed.has(part) && [...handed].some((other) => within(other, target));

/** The registry's wire shapes are generated from its API document; they are types, and nothing of them is there at run time. */
const isWireShape = (part: string, { target, typeOnly }: Import): boolean =>
  typeOnly && part === room("registry") && target === "generated/registry/openapi";

const sources = globSync("{generator,generated,runtime,cli,bench,test}/**/*.ts", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "golden",
}).map((file) => file.split(path.sep).join("/"));

interface Import {
  target: string;
  typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const source = ts.createSourceFile(file, readFileSync(path.join(root, file), "utf8"), ts.ScriptTarget.ES2022);
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean): void => {
    if (node === undefined || !ts.isStringLiteral(node)) return;
    const target = node.text.startsWith(".")
      ? path.posix.join(path.posix.dirname(file), node.text).replace(/\.(js|ts)$/, "")
      : node.text;
    found.push({ target, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isOurs = ({ target }: Import): boolean => /^(generator|generated|runtime|cli|bench|test|adbind)\//.test(target);

const within = (part: string, target: string): boolean =>
  part.endsWith("/") ? target.startsWith(part) : target === part;

test("imports point downwards", () => {
  const offences: string[] = [];
  for (const file of sources) {
    const rule = allowed.find(([part]) => within(part, file.replace(/\.ts$/, "")));
    if (rule === undefined) {
      // Every room of runtime/ and generator/ has a rule; cli, bench and test may import anything.
      if (/^(runtime|generator)\//.test(file)) offences.push(`${file} is in no room`);
      continue;
    }
    const [part, uses] = rule;
    for (const used of importsOf(file).filter(isOurs)) {
      if (isWireShape(part, used) || isHanded(part, used)) continue;
      if (!within(part, used.target) && !uses.some((one) => within(one, used.target)))
        offences.push(`${file} imports ${used.target}`);
    }
  }
  assert.equal(offences, []);
});

test("only load, render and disk of the generator touch the file system", () => {
  const may = /^generator\/(load\/|emit\/(render|disk)|scaffold\/)/;
  const offenders = sources.filter(
    (file) =>
      file.startsWith("generator/") && !may.test(file) && importsOf(file).some(({ target }) => /^node:fs/.test(target)),
  );
  assert.equal(offenders, []);
});

test("only cli prints or exits", () => {
  const offenders = sources.filter(
    (file) =>
      /^(generator|runtime|generated)\//.test(file) &&
      /\bprocess\.(exit\b|stdout|stderr)|\bconsole\./.test(readFileSync(path.join(root, file), "utf8")),
  );
  assert.equal(offenders, []);
});

test("exports are named", () => {
  const offenders = sources.filter((file) => /^export default\b/m.test(readFileSync(path.join(root, file), "utf8")));
  assert.equal(offenders, []);
});

test("no protocol's name is in the code", () => {
  const offenders = sources.filter(
    (file) =>
      /^(generator|runtime|cli|generated)\//.test(file) && /adcp/i.test(readFileSync(path.join(root, file), "utf8")),
  );
  // The demo names the npm package it takes a published release from.
  assert.equal(
    offenders.filter((file) => file !== "cli/demo/bindings.ts"),
    [],
  );
});

test("templates decide nothing", () => {
  const logic = globSync("templates/*.hbs", { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), "utf8").matchAll(/\{\{[#~]*(\w+)/g)]
      .map((match) => match[1]!)
      .filter((helper) => /^(with|lookup|log|eq|and|or|not)$/.test(helper))
      .map((helper) => `${file}: ${helper}`),
  );
  assert.equal(logic, []);
});

test.run();
