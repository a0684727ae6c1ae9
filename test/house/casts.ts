/** Casts by which a value is taken out of the compiler's sight. */
import ts from "typescript";
import { lineOf, type Rule, type Source } from "./source.js";

function neverCasts({ path, tree }: Source) {
  const lines: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.NeverKeyword) lines.push(lineOf(tree!, node));
    ts.forEachChild(node, visit);
  };
  if (tree !== undefined) visit(tree);
  const message = "casts to never, which fits everywhere and says nothing: give the type that is meant";
  return lines.map((line) => ({ key: path, file: path, line, message }));
}

/** In the runtime nothing is cast to `never`. */
export const neverCastRule: Rule = (sources) =>
  sources.filter(({ path }) => path.startsWith("runtime/")).flatMap(neverCasts);
