/** A declaration as the reference shows it: signature, what its docstring says, its members. */
import ts from "typescript";
import { declarationsOf, type Exported, type ParsedSources } from "./exports.js";

export interface Docstring {
  readonly text: string;
  readonly params: readonly { readonly name: string; readonly text: string }[];
  readonly returns?: string;
  readonly throws: readonly string[];
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

const commentText = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string =>
  oneLine(ts.getTextOfJSDocComment(comment) ?? "").replace(/^- /, "");

/** The comment and its tags; undefined for a declaration without a comment. */
export function docstringOf(nodes: readonly ts.Node[]): Docstring | undefined {
  const found = nodes.flatMap((node) => ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc));
  if (found.length === 0) return undefined;
  const tags = found.flatMap(({ tags }) => [...(tags ?? [])]);
  const returns = tags.find(ts.isJSDocReturnTag);
  return {
    text: found
      .map(({ comment }) => commentText(comment))
      .join(" ")
      .trim(),
    params: tags
      .filter(ts.isJSDocParameterTag)
      .map((tag) => ({ name: tag.name.getText(), text: commentText(tag.comment) })),
    ...(returns !== undefined && { returns: commentText(returns.comment) }),
    throws: tags.filter((tag) => tag.tagName.text === "throws").map(({ comment }) => commentText(comment)),
  };
}

/** `export const { verifyWebhook } = createSigning(...)`: the member of what that function says it returns. */
export function memberBehind(sources: ParsedSources, { file, name, nodes }: Exported): readonly ts.Node[] {
  const [node] = nodes;
  if (node === undefined || !ts.isBindingElement(node)) return nodes;
  const { initializer } = node.parent.parent as ts.VariableDeclaration;
  if (initializer === undefined || !ts.isCallExpression(initializer)) return nodes;
  const maker = declarationsOf(sources, file, initializer.expression.getText());
  const [made] = maker?.nodes ?? [];
  const type = made !== undefined && ts.isFunctionDeclaration(made) ? made.type?.getText() : undefined;
  const holder = type === undefined || maker === undefined ? undefined : declarationsOf(sources, maker.file, type);
  const members = holder?.nodes.filter(ts.isInterfaceDeclaration).flatMap((one) => [...one.members]) ?? [];
  const found = members.filter((member) => member.name?.getText() === name);
  return found.length > 0 ? found : nodes;
}

/** As the source lays it out, without what it is indented by. */
const laidOut = (node: ts.Node, end = node.getEnd()): string => {
  const file = node.getSourceFile();
  const start = node.getStart();
  const indent = start - file.getPositionOfLineAndCharacter(file.getLineAndCharacterOfPosition(start).line, 0);
  return file.text.slice(start, end).replaceAll(`\n${" ".repeat(indent)}`, "\n");
};

const withoutBody = (node: ts.FunctionLikeDeclaration): string =>
  laidOut(node, node.body?.getStart())
    .replace(/^((export|async|default) )+/, "")
    .replace(/[\s;]+$/, "");

function signatureOfConst(node: ts.VariableDeclaration): string {
  const name = node.name.getText();
  if (node.type !== undefined) return `const ${name}: ${node.type.getText()}`;
  const { initializer } = node;
  if (initializer === undefined || !ts.isArrowFunction(initializer)) return `const ${name}`;
  const head = laidOut(initializer, initializer.equalsGreaterThanToken.getStart()).replace(/^async /, "");
  return `function ${name}${head.trimEnd()}`;
}

const heritage = (node: ts.InterfaceDeclaration | ts.ClassDeclaration): string =>
  `${node.typeParameters === undefined ? "" : `<${oneLine(node.typeParameters.map((one) => one.getText()).join(", "))}>`}${(
    node.heritageClauses ?? []
  )
    .map((one) => ` ${oneLine(one.getText())}`)
    .join("")}`;

/** The declaration without its body. */
export function signatureOf(node: ts.Node): string {
  if (ts.isFunctionDeclaration(node)) return withoutBody(node);
  if (ts.isVariableDeclaration(node)) return signatureOfConst(node);
  if (ts.isInterfaceDeclaration(node)) return `interface ${node.name.text}${heritage(node)}`;
  if (ts.isClassDeclaration(node)) return `class ${node.name?.text ?? ""}${heritage(node)}`;
  if (ts.isTypeAliasDeclaration(node))
    return laidOut(node)
      .replace(/^export /, "")
      .replace(/;$/, "");
  if (ts.isMethodSignature(node)) return `function ${laidOut(node).replace(/;$/, "")}`;
  return laidOut(node).replace(/[;,]$/, "");
}

export interface DeclaredMember {
  readonly name: string;
  readonly type: string;
  readonly docstring: Docstring | undefined;
}

const isHidden = (node: ts.ClassElement | ts.TypeElement): boolean =>
  (ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : []).some(
    ({ kind }) => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword,
  ) ||
  (node.name !== undefined && ts.isPrivateIdentifier(node.name));

/** What an interface, a class or a type of an object holds. */
export function declaredMembers(node: ts.Node): DeclaredMember[] {
  const elements =
    ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)
      ? [...node.members]
      : ts.isTypeAliasDeclaration(node) && ts.isTypeLiteralNode(node.type)
        ? [...node.type.members]
        : [];
  return elements.flatMap((element) => {
    if (element.name === undefined || isHidden(element)) return [];
    const optional = "questionToken" in element && element.questionToken !== undefined ? "?" : "";
    const name = `${element.name.getText()}${optional}`;
    const docstring = docstringOf([element]);
    if (ts.isPropertySignature(element) || ts.isPropertyDeclaration(element))
      return [{ name, type: oneLine(element.type?.getText() ?? ""), docstring }];
    if (ts.isMethodSignature(element)) {
      const rest = element.getText().slice(element.name.getEnd() - element.getStart());
      return [{ name, type: oneLine(rest).replace(/;$/, ""), docstring }];
    }
    if (ts.isMethodDeclaration(element) || ts.isGetAccessorDeclaration(element))
      return [{ name, type: oneLine(withoutBody(element)).replace(/^(async |get )*[\w$]+/, ""), docstring }];
    return [];
  });
}
