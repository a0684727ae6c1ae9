/** What an expression is to the rules about promises: one, several, or one whose errors are heard. */
import ts from "typescript";

export interface Finding {
  /** `file:line`. */
  readonly where: string;
  readonly what: string;
}

export type Judge = (report: (node: ts.Node, what: string) => void, node: ts.Node, checker: ts.TypeChecker) => void;

export const isPromise = (type: ts.Type): boolean =>
  type.isUnion() ? type.types.some(isPromise) : type.symbol?.name === "Promise";

/** Of an array or a tuple, what its elements are. */
const elementOf = (type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined =>
  checker.isArrayLikeType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined;

export const holdsPromises = (type: ts.Type, checker: ts.TypeChecker): boolean => {
  const element = elementOf(type, checker);
  return element !== undefined && isPromise(element);
};

/** `x.name(...)`: what it is called on, and with what. */
export function methodCall(
  node: ts.Node,
): { on: ts.Expression; name: string; given: readonly ts.Expression[] } | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  return { on: node.expression.expression, name: node.expression.name.text, given: node.arguments };
}

/** Its errors go to a handler, or it has none. */
export function isHandled(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return true;
  const call = methodCall(node);
  if (call === undefined) return false;
  if (call.name === "catch") return call.given.length > 0;
  if (call.name === "then") return call.given.length > 1;
  if (call.name === "finally") return isHandled(call.on);
  return call.name === "allSettled";
}

/** `Promise.all` and its like, which listen to every promise at once, however it is handed to them. */
export function isWaitedForTogether(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isSpreadElement(parent) || ts.isArrayLiteralExpression(parent) || ts.isParenthesizedExpression(parent))
    return isWaitedForTogether(parent);
  const call = methodCall(parent);
  return call !== undefined && call.on.getText() === "Promise" && /^(all|allSettled|race|any)$/.test(call.name);
}

const isFunction = (node: ts.Node): boolean => ts.isFunctionLike(node);

/** The function that a node stands in, or its file. */
export const bodyOf = (node: ts.Node): ts.Node => ts.findAncestor(node.parent, isFunction) ?? node.getSourceFile();

/** May wait for something while a promise lies about: its own function is asynchronous, or a flow. */
export const waits = (body: ts.Node): boolean =>
  ts.isSourceFile(body) ||
  (ts.isFunctionLike(body) &&
    ((ts.getCombinedModifierFlags(body as ts.Declaration) & ts.ModifierFlags.Async) !== 0 ||
      ("asteriskToken" in body && body.asteriskToken !== undefined)));

/** `await`, `yield` and the turns of `for await`. */
export const isWait = (node: ts.Node): boolean =>
  ts.isAwaitExpression(node) ||
  ts.isYieldExpression(node) ||
  (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
