/** Type guards: what tells of a value that it is of a type is written once, or the copies come to disagree. */
import ts from "typescript";
import { type Finding, lineOf, type Rule } from "./source.js";

interface Guard {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

/** What a guard looks at, whatever it and its argument are called; undefined of a node that is none. */
function bodyOf(node: ts.Node): string | undefined {
  if (!ts.isFunctionDeclaration(node) && !ts.isArrowFunction(node)) return undefined;
  const [argument] = node.parameters;
  if (node.type === undefined || !ts.isTypePredicateNode(node.type) || argument === undefined) return undefined;
  const name = argument.name.getText();
  return node.body
    ?.getText()
    .replace(/\s+/g, " ")
    .replaceAll(new RegExp(`\\b${name}\\b`, "g"), "value");
}

const nameOf = (node: ts.Node): string => {
  const named = ts.isFunctionDeclaration(node) ? node : node.parent;
  return ts.isFunctionDeclaration(named) || ts.isVariableDeclaration(named) ? (named.name?.getText() ?? "") : "";
};

/** In generator, runtime and cli no two guards with a name, exported or not, look at the same things. */
export const guardsRule: Rule = (sources) => {
  const found = new Map<string, Guard[]>();
  for (const { path, tree } of sources) {
    if (tree === undefined || !/^(generator|runtime|cli)\//.test(path)) continue;
    const visit = (node: ts.Node): void => {
      const body = bodyOf(node);
      const name = body === undefined ? "" : nameOf(node);
      if (body !== undefined && name !== "")
        found.set(body, [...(found.get(body) ?? []), { name, file: path, line: lineOf(tree, node) }]);
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return [...found.values()].flatMap(([first, ...others]): Finding[] => {
    if (first === undefined || others.length === 0) return [];
    const elsewhere = others.map(({ name, file, line }) => `${name} in ${file}:${line}`).join(", ");
    const message = `asks in ${first.name} what is asked by ${elsewhere} too: write it once, and import it`;
    return [{ key: first.name, file: first.file, line: first.line, size: others.length + 1, message }];
  });
};
