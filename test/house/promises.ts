/**
 * What the compiler lets pass of promises: started and waited for by nobody, or too late to hear of an error. Linters with
 * types see a statement that is a promise; they do not see one in an array, behind a type that hides it, or a flow that is
 * never run, and these are how a process ends by a rejection nobody hears.
 */
import path from "node:path";
import ts from "typescript";
import { type Finding, isHandled, isPromise, type Judge, methodCall } from "./promise-types.js";
import { collected, inArray, inObject, late } from "./promises-kept.js";

const isGenerator = (type: ts.Type): boolean => /^(Async)?Generator$/.test(type.symbol?.name ?? "");

const isAssignment = (node: ts.Expression): boolean =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
  node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** Statements that are a promise or a flow, and `void` in front of one that may reject. */
const floating: Judge = (report, node, checker) => {
  if (ts.isVoidExpression(node) && isPromise(checker.getTypeAtLocation(node.expression))) {
    if (!isHandled(node.expression)) report(node, "void hides a promise that may reject: give it a catch");
  }
  // What is assigned is kept, and looked at where it is.
  if (!ts.isExpressionStatement(node) || isAssignment(node.expression)) return;
  const type = checker.getTypeAtLocation(node.expression);
  if (isPromise(type) && !isHandled(node.expression)) report(node, "a promise nobody waits for");
  if (isGenerator(type)) report(node, "a flow that is made and not run: yield* it");
};

/** Types that take a promise out of the compiler's sight. */
const hidden: Judge = (report, node, checker) => {
  if (ts.isTypeReferenceNode(node) && node.typeName.getText() === "MaybePromise") {
    const { flags } = checker.getTypeFromTypeNode(node);
    if ((flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0)
      report(node, "MaybePromise of unknown is unknown: say what it answers");
  }
  if (!ts.isAsExpression(node)) return;
  const target = checker.getTypeFromTypeNode(node.type);
  const keeps = isPromise(target) || (target.flags & ts.TypeFlags.TypeParameter) !== 0;
  if (isPromise(checker.getTypeAtLocation(node.expression)) && !keeps) report(node, "a cast that hides a promise");
};

const answersPromise = (node: ts.Node, checker: ts.TypeChecker): boolean =>
  checker
    .getTypeAtLocation(node)
    .getCallSignatures()
    .some((one) => isPromise(one.getReturnType()));

/** A function in a place that says what is expected of it; undefined elsewhere, where it is only mentioned. */
function expectedAt(node: ts.Node, checker: ts.TypeChecker): ts.Type | undefined {
  const { parent } = node;
  // A member of an object is expected by the object's type: it is no expression of its own.
  if (ts.isMethodDeclaration(node) || (ts.isShorthandPropertyAssignment(parent) && parent.name === node)) {
    const object = ts.isMethodDeclaration(node) ? parent : parent.parent;
    if (!ts.isObjectLiteralExpression(object)) return undefined;
    const name = (ts.isMethodDeclaration(node) ? node.name : node).getText();
    const type = checker.getContextualType(object)?.getNonNullableType();
    const member = type === undefined ? undefined : checker.getPropertyOfType(type, name);
    return member === undefined ? undefined : checker.getTypeOfSymbol(member);
  }
  const given =
    (ts.isCallExpression(parent) && parent.expression !== node) ||
    ((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isVariableDeclaration(parent)) &&
      parent.initializer === node) ||
    (ts.isBinaryExpression(parent) && parent.right === node && isAssignment(parent)) ||
    (ts.isArrowFunction(parent) && parent.body === node) ||
    (ts.isConditionalExpression(parent) && parent.condition !== node) ||
    ts.isReturnStatement(parent) ||
    ts.isArrayLiteralExpression(parent);
  // Its own type first: what is expected of a name takes longer to say, and few names are such functions.
  const named = ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
  if (!given || (named && !answersPromise(node, checker))) return undefined;
  return checker.getContextualType(node as ts.Expression);
}

const mayBeGiven = (node: ts.Node): boolean =>
  ts.isArrowFunction(node) ||
  ts.isFunctionExpression(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isIdentifier(node) ||
  ts.isPropertyAccessExpression(node);

/** A function that answers a promise where one is called that nobody expects an answer of. */
const unexpected: Judge = (report, node, checker) => {
  if (!mayBeGiven(node)) return;
  const wanted = expectedAt(node, checker)?.getNonNullableType().getCallSignatures() ?? [];
  if (wanted.length === 0 || wanted.some((one) => (one.getReturnType().flags & ts.TypeFlags.Void) === 0)) return;
  // A plugin of fastify that takes no `done` may answer a promise; its types let either through the same parameter.
  if (methodCall(node.parent)?.name === "register" || !answersPromise(node, checker)) return;
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && isHandled(node.body)) return;
  report(node, "it answers a promise to who calls it and does not wait");
};

const judges: readonly Judge[] = [floating, inArray, inObject, collected, hidden, unexpected, late];

/** Compiler options of the repository, and a program of some of its files. */
export function programOf(root: string, files: readonly string[]): ts.Program {
  const read = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, root);
  const { incremental: _incremental, tsBuildInfoFile: _file, ...rest } = options;
  const host = ts.createCompilerHost(rest);
  // What is said of declarations is most of their text.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  return ts.createProgram(
    files.map((file) => path.join(root, file)),
    rest,
    host,
  );
}

export function findings(root: string, program: ts.Program, files: readonly string[]): Finding[] {
  const checker = program.getTypeChecker();
  const found: Finding[] = [];
  for (const file of files) {
    const source = program.getSourceFile(path.join(root, file))!;
    const report = (node: ts.Node, what: string): void => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ where: `${file}:${line + 1}`, what });
    };
    const visit = (node: ts.Node): void => {
      for (const judge of judges) judge(report, node, checker);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** The language's own: a browser's are most of what would be read otherwise. */
const LIBRARIES = ["lib.es2023.d.ts"];

/** @returns what is found in each of the texts, which are modules of their own, without any file */
export function findingsIn(texts: readonly string[]): Finding[][] {
  const host = ts.createCompilerHost({});
  const names = texts.map((_, at) => `example-${at}.ts`);
  // One program: whatever is made for it, of the language's own declarations, is made once.
  const examples = new Map(
    texts.map((text, at) => {
      const name = `/${names[at]}`;
      return [name, ts.createSourceFile(name, `${text}\nexport {};`, ts.ScriptTarget.ES2023, true)];
    }),
  );
  const program = ts.createProgram(
    [...examples.keys()],
    {
      strict: true,
      target: ts.ScriptTarget.ES2023,
      lib: LIBRARIES,
      module: ts.ModuleKind.NodeNext,
      types: [],
      noEmit: true,
    },
    {
      ...host,
      getSourceFile: (file, ...more) => examples.get(file) ?? host.getSourceFile(file, ...more),
      fileExists: (file) => examples.has(file) || host.fileExists(file),
    },
  );
  return names.map((name) => findings("/", program, [name]));
}
