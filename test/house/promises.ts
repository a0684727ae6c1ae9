/**
 * What the compiler lets pass of promises: started and waited for by nobody, or too late to hear of an error. Linters with
 * types see a statement that is a promise; they do not see one in an array, behind a type that hides it, or a flow that is
 * never run, and these are how a process ends by a rejection nobody hears.
 */
import path from "node:path";
import ts from "typescript";

export interface Finding {
  /** `file:line`. */
  readonly where: string;
  readonly what: string;
}

export type Judge = (report: (node: ts.Node, what: string) => void, node: ts.Node, checker: ts.TypeChecker) => void;

const isPromise = (type: ts.Type): boolean =>
  type.isUnion() ? type.types.some(isPromise) : type.symbol?.name === "Promise";

const isGenerator = (type: ts.Type): boolean => /^(Async)?Generator$/.test(type.symbol?.name ?? "");

/** Of an array or a tuple, what its elements are. */
const elementOf = (type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined =>
  checker.isArrayLikeType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined;

const holdsPromises = (type: ts.Type, checker: ts.TypeChecker): boolean => {
  const element = elementOf(type, checker);
  return element !== undefined && isPromise(element);
};

/** `x.name(...)`: what it is called on, and with how much. */
function methodCall(node: ts.Node): { on: ts.Expression; name: string; count: number } | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  return { on: node.expression.expression, name: node.expression.name.text, count: node.arguments.length };
}

/** Its errors go to a handler, or it has none. */
function isHandled(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return true;
  const call = methodCall(node);
  if (call === undefined) return false;
  if (call.name === "catch") return call.count > 0;
  if (call.name === "then") return call.count > 1;
  if (call.name === "finally") return isHandled(call.on);
  return call.name === "allSettled";
}

const isAssignment = (node: ts.Expression): boolean =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
  node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** `Promise.all` and its like, which listen to every promise at once, however it is handed to them. */
function isWaitedForTogether(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isSpreadElement(parent) || ts.isArrayLiteralExpression(parent) || ts.isParenthesizedExpression(parent))
    return isWaitedForTogether(parent);
  const call = methodCall(parent);
  return call !== undefined && call.on.getText() === "Promise" && /^(all|allSettled|race|any)$/.test(call.name);
}

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

/** Several promises kept side by side: while one is waited for, the others reject unheard. */
const sideBySide: Judge = (report, node, checker) => {
  // Arrays of promises begin as a literal, or by one of these.
  const made = /^(map|flatMap|from|fill)$/.test(methodCall(node)?.name ?? "");
  if (!ts.isArrayLiteralExpression(node) && !made) return;
  const inside = ts.isArrayLiteralExpression(node)
    ? node.elements.some((one) => !ts.isSpreadElement(one) && isPromise(checker.getTypeAtLocation(one)))
    : holdsPromises(checker.getTypeAtLocation(node), checker);
  if (inside && !isWaitedForTogether(node))
    report(node, "promises in an array that is not handed to Promise.all at once");
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

/** A function that answers a promise where one is called that nobody expects an answer of. */
const unexpected: Judge = (report, node, checker) => {
  if (
    !ts.isArrowFunction(node) &&
    !ts.isFunctionExpression(node) &&
    !ts.isIdentifier(node) &&
    !ts.isPropertyAccessExpression(node)
  )
    return;
  if (!ts.isCallExpression(node.parent) && !ts.isPropertyAssignment(node.parent)) return;
  if (ts.isCallExpression(node.parent) && !node.parent.arguments.includes(node)) return;
  if (ts.isPropertyAssignment(node.parent) && node.parent.initializer !== node) return;
  const returned = checker
    .getTypeAtLocation(node)
    .getCallSignatures()
    .map((one) => one.getReturnType());
  // A plugin of fastify that takes no `done` may answer a promise; its types let either through the same parameter.
  if (!returned.some(isPromise) || methodCall(node.parent)?.name === "register") return;
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && isHandled(node.body)) return;
  const wanted = checker.getContextualType(node)?.getNonNullableType().getCallSignatures() ?? [];
  if (wanted.length > 0 && wanted.every((one) => (one.getReturnType().flags & ts.TypeFlags.Void) !== 0))
    report(node, "it answers a promise to who calls it and does not wait");
};

const isFunction = (node: ts.Node): boolean => ts.isFunctionLike(node);

const bodyOf = (node: ts.Node): ts.Node => ts.findAncestor(node.parent, isFunction) ?? node.getSourceFile();

/** May wait for something while a promise lies about: its own function is asynchronous, or a flow. */
const waits = (body: ts.Node): boolean =>
  ts.isSourceFile(body) ||
  (ts.isFunctionLike(body) &&
    ((ts.getCombinedModifierFlags(body as ts.Declaration) & ts.ModifierFlags.Async) !== 0 ||
      ("asteriskToken" in body && body.asteriskToken !== undefined)));

/** A promise in a variable that is first looked at after something else was waited for. */
const late: Judge = (report, node, checker) => {
  if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return;
  const { name, initializer } = node;
  if (initializer === undefined || !ts.isCallExpression(initializer) || isHandled(initializer)) return;
  const body = bodyOf(node);
  if (!waits(body) || !isPromise(checker.getTypeAtLocation(name))) return;
  const symbol = checker.getSymbolAtLocation(name);
  let firstUse = Number.POSITIVE_INFINITY;
  let firstWait = Number.POSITIVE_INFINITY;
  const visit = (one: ts.Node): void => {
    if (one.getEnd() <= node.getEnd()) return;
    if (ts.isIdentifier(one) && one !== name && one.text === name.text && checker.getSymbolAtLocation(one) === symbol)
      firstUse = Math.min(firstUse, one.getStart());
    if ((ts.isAwaitExpression(one) || ts.isYieldExpression(one)) && bodyOf(one) === body)
      firstWait = Math.min(firstWait, one.getEnd());
    ts.forEachChild(one, visit);
  };
  ts.forEachChild(body, visit);
  if (firstWait < firstUse) report(node, "a promise that is looked at only after something else was waited for");
};

const judges: readonly Judge[] = [floating, sideBySide, hidden, unexpected, late];

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
