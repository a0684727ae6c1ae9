/**
 * The names of all periodic steps, read from the source: a step is an object with a name and what holds meanwhile, and what
 * expires one with what it is and how it is removed. A part of a name that is known only when it runs is `*`.
 */
import { globSync, readFileSync } from "node:fs";
import ts from "typescript";

interface Tree {
  readonly tree: ts.SourceFile;
  /** Of all files: names in capitals are written once. */
  readonly constants: ReadonlyMap<string, string>;
}

const ANY = "*";

/** What a property has been given, by its own name where that is all there is. */
function givenTo(object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  for (const one of object.properties) {
    if (one.name?.getText() !== name) continue;
    if (ts.isPropertyAssignment(one)) return one.initializer;
    if (ts.isShorthandPropertyAssignment(one)) return one.name;
  }
  return undefined;
}

const has = (object: ts.ObjectLiteralExpression, name: string): boolean =>
  object.properties.some((one) => one.name?.getText() === name);

/** The function around a node that has a parameter of a name, its own name, and which parameter that is. */
function parameterOf(node: ts.Node, name: string): { readonly called: string; readonly at: number } | undefined {
  for (let around: ts.Node | undefined = node.parent; around !== undefined; around = around.parent) {
    if (!ts.isFunctionLike(around)) continue;
    const at = around.parameters.findIndex((one) => one.name.getText() === name);
    if (at < 0) continue;
    const called = ts.isFunctionDeclaration(around) ? around.name : (around.parent as ts.VariableDeclaration).name;
    return called !== undefined && ts.isIdentifier(called) ? { called: called.text, at } : undefined;
  }
  return undefined;
}

function argumentsOf({ tree, constants }: Tree, { called, at }: { called: string; at: number }): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === called && node.arguments[at] !== undefined)
      found.push(...textsOf({ tree, constants }, node.arguments[at]));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** What an expression says: what its function is called with, where it is a parameter of one. */
function textsOf(from: Tree, node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isIdentifier(node)) {
    const constant = from.constants.get(node.text);
    if (constant !== undefined) return [constant];
    const parameter = parameterOf(node, node.text);
    const given = parameter === undefined ? [] : argumentsOf(from, parameter);
    return given.length > 0 ? given : [ANY];
  }
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      (texts, { expression, literal }) =>
        texts.flatMap((text) => textsOf(from, expression).map((one) => `${text}${one}${literal.text}`)),
      [node.head.text],
    );
  return [ANY];
}

function namesIn(from: Tree): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const [name, what] = [givenTo(node, "name"), givenTo(node, "what")];
      if (name !== undefined && has(node, "meanwhile")) names.push(...textsOf(from, name));
      if (what !== undefined && has(node, "remove")) names.push(...textsOf(from, what).map((one) => `remove ${one}`));
    }
    ts.forEachChild(node, visit);
  };
  visit(from.tree);
  return names;
}

const constant = /^(?:export )?const ([A-Z_]+) = "(.+)";$/gm;

export function stepNames(): string[] {
  const files = globSync("{runtime,cli}/**/*.ts").map((file) => [file, readFileSync(file, "utf8")] as const);
  const steps = files.filter(([, text]) => /\bmeanwhile\b|\bremove\b/.test(text));
  const constants = new Map(
    files.flatMap(([, text]) => [...text.matchAll(constant)].map(([, name, value]) => [name!, value!] as const)),
  );
  return steps.flatMap(([file, text]) =>
    namesIn({ tree: ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true), constants }),
  );
}
