/** How long a file and a function may be. */
import ts from "typescript";
import { type Finding, lineOf, type Rule } from "./source.js";

const FILE_LINES = 300;
const FUNCTION_LINES = 60;

/** Files of generator, runtime, cli, bench, test, templates and the examples of docs have at most 300 lines. */
export const fileSizeRule: Rule = (sources) =>
  sources
    .filter(({ path }) => !path.startsWith("generated/"))
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, "").split("\n").length }))
    .filter(({ lines }) => lines > FILE_LINES)
    .map(({ path, lines }) => ({
      key: path,
      file: path,
      line: FILE_LINES + 1,
      size: lines,
      message: `has ${lines} lines, ${FILE_LINES} are allowed: split it by subject`,
    }));

/** What a call is about when its first argument is a text, as in `test("it holds", () => {})`. */
const titleOf = (node: ts.Node): string | undefined => {
  const [first] = ts.isCallExpression(node) ? node.arguments : [];
  return first !== undefined && ts.isStringLiteralLike(first) ? first.text : undefined;
};

const isPart = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isPropertyAssignment(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isClassLike(node);

/** A function by the names around it, outermost first: `createWorker/take`, `sends in order`. */
function nameOf(node: ts.Node): string {
  const names: string[] = [];
  for (let at: ts.Node | undefined = node; at !== undefined; at = at.parent) {
    const name = isPart(at) ? (at as ts.NamedDeclaration).name?.getText() : titleOf(at);
    if (name !== undefined && names[0] !== name) names.unshift(name);
  }
  return names.join("/") || "(a function without a name)";
}

function longFunctions(path: string, tree: ts.SourceFile): Finding[] {
  const found: Finding[] = [];
  const lineAt = (position: number): number => tree.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    const body = ts.isFunctionLike(node) && "body" in node ? (node.body as ts.Node | undefined) : undefined;
    const lines = body === undefined ? 0 : lineAt(body.end) - lineAt(body.getStart(tree)) + 1;
    if (lines > FUNCTION_LINES) {
      const name = nameOf(node);
      const message = `${name} has ${lines} lines, ${FUNCTION_LINES} are allowed: give its steps names`;
      found.push({ key: `${path}#${name}`, file: path, line: lineOf(tree, node), size: lines, message });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/**
 * A function's body, from its first line to its last, has at most 60: arrow functions, methods and the callbacks of
 * tests included. Generated code is aside.
 */
export const functionSizeRule: Rule = (sources) =>
  sources.flatMap(({ path, tree }) => (tree === undefined ? [] : longFunctions(path, tree)));
