/** Promises that are kept for later: side by side, or while something else is waited for. */
import ts from "typescript";
import {
  bodyOf,
  holdsPromises,
  isHandled,
  isPromise,
  isWait,
  isWaitedForTogether,
  type Judge,
  methodCall,
  waits,
} from "./promise-types.js";

/** A call that begins a promise, with nobody who hears of its errors yet. */
const begins = (node: ts.Expression, checker: ts.TypeChecker): boolean =>
  ts.isCallExpression(node) && !isHandled(node) && isPromise(checker.getTypeAtLocation(node));

/** Every mention of a variable in a function or file, but its declaration. */
function mentions(symbol: ts.Symbol | undefined, name: ts.Identifier, body: ts.Node, checker: ts.TypeChecker) {
  const found: ts.Identifier[] = [];
  const visit = (one: ts.Node): void => {
    if (ts.isIdentifier(one) && one !== name && one.text === name.text) {
      const at = ts.isShorthandPropertyAssignment(one.parent)
        ? checker.getShorthandAssignmentValueSymbol(one.parent)
        : checker.getSymbolAtLocation(one);
      if (at === symbol) found.push(one);
    }
    ts.forEachChild(one, visit);
  };
  ts.forEachChild(body, visit);
  return found;
}

/** What is waited for in a function itself, not in those inside it. */
function waitsIn(body: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (one: ts.Node): void => {
    if (isWait(one) && bodyOf(one) === body) found.push(one);
    ts.forEachChild(one, visit);
  };
  ts.forEachChild(body, visit);
  return found;
}

/** Several promises in an array: while one is waited for, the others reject unheard. */
export const inArray: Judge = (report, node, checker) => {
  // Arrays of promises begin as a literal, or by one of these.
  const made = /^(map|flatMap|from|fill)$/.test(methodCall(node)?.name ?? "");
  if (!ts.isArrayLiteralExpression(node) && !made) return;
  const inside = ts.isArrayLiteralExpression(node)
    ? node.elements.some((one) => !ts.isSpreadElement(one) && isPromise(checker.getTypeAtLocation(one)))
    : holdsPromises(checker.getTypeAtLocation(node), checker);
  if (inside && !isWaitedForTogether(node))
    report(node, "promises in an array that is not handed to Promise.all at once");
};

/** Several in an object: one member alone is judged where the object is looked at. */
export const inObject: Judge = (report, node, checker) => {
  if (!ts.isObjectLiteralExpression(node)) return;
  const begun = node.properties.filter((one) => ts.isPropertyAssignment(one) && begins(one.initializer, checker));
  if (begun.length > 1) report(node, "promises side by side in an object: make it of what Promise.all answers");
};

/** The variable that an expression is, and where it is declared. */
function variableOf(node: ts.Expression, checker: ts.TypeChecker) {
  if (!ts.isIdentifier(node)) return undefined;
  const symbol = checker.getSymbolAtLocation(node);
  const declared = symbol?.valueDeclaration;
  if (symbol === undefined || declared === undefined || !ts.isVariableDeclaration(declared)) return undefined;
  return ts.isIdentifier(declared.name) ? { symbol, declared, name: declared.name } : undefined;
}

/** Begun here, or in a variable that nothing else hears of, but what is in its own beginning. */
function isUnheard(node: ts.Expression, checker: ts.TypeChecker): boolean {
  if (!ts.isIdentifier(node)) return begins(node, checker);
  const variable = variableOf(node, checker);
  const begun = variable?.declared.initializer;
  if (variable === undefined || begun === undefined || !begins(begun, checker)) return false;
  const others = mentions(variable.symbol, variable.name, bodyOf(variable.declared), checker);
  return others.every((one) => one === node || (one.pos >= begun.pos && one.end <= begun.end));
}

/** Where the time begins at which a promise lies about: at a loop's start, it is there while the next one is begun. */
function since(kept: ts.Node, declared: ts.Node): number {
  let start = kept.getEnd();
  for (let at = kept.parent; at !== undefined && !ts.isFunctionLike(at); at = at.parent) {
    if (at.pos <= declared.pos && at.end >= declared.end) break;
    if (ts.isIterationStatement(at, false)) start = at.getStart();
  }
  return start;
}

/** A collection of the function's own is handed to Promise.all or its like before anything else is waited for. */
function isGathered(kept: ts.Node, collection: ts.Expression, checker: ts.TypeChecker): boolean {
  const variable = variableOf(collection, checker);
  const body = bodyOf(kept);
  if (variable === undefined || bodyOf(variable.declared) !== body) return false;
  const handed = mentions(variable.symbol, variable.name, body, checker).filter(isWaitedForTogether);
  const [gathered] = handed.filter((one) => one.getStart() > kept.getEnd() && bodyOf(one) === body);
  if (gathered === undefined) return false;
  const start = since(kept, variable.declared);
  return waitsIn(body).every(
    (wait) =>
      wait.getEnd() <= start ||
      wait.getEnd() > gathered.getStart() ||
      // Whoever waits for the first of them listens to all.
      handed.some((one) => one.pos >= wait.pos && one.end <= wait.end),
  );
}

/** Added one by one to an array or set. A map of promises is not judged: it remembers what is given to who asked. */
export const collected: Judge = (report, node, checker) => {
  const call = methodCall(node);
  if (call === undefined || !/^(push|unshift|add)$/.test(call.name)) return;
  if (!/^(Array|Set)$/.test(checker.getTypeAtLocation(call.on).symbol?.name ?? "")) return;
  if (!call.given.some((one) => isUnheard(one, checker)) || isGathered(node, call.on, checker)) return;
  report(node, "a promise in a collection that is not handed to Promise.all before something else is waited for");
};

/** The variable that is given a promise, or an object of one. */
function keptIn(node: ts.Node, checker: ts.TypeChecker): { name: ts.Identifier; from: ts.Expression } | undefined {
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
    return { name: node.name, from: node.initializer };
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return undefined;
  const variable = variableOf(node.left, checker);
  // One of an outer function is looked at in other calls.
  if (variable === undefined || bodyOf(variable.declared) !== bodyOf(node)) return undefined;
  return { name: node.left as ts.Identifier, from: node.right };
}

const holdsBegun = (node: ts.Expression, checker: ts.TypeChecker): boolean =>
  begins(node, checker) ||
  (ts.isObjectLiteralExpression(node) &&
    node.properties.some((one) => ts.isPropertyAssignment(one) && begins(one.initializer, checker)));

/** A promise in a variable that is first looked at after something else was waited for. */
export const late: Judge = (report, node, checker) => {
  const kept = keptIn(node, checker);
  if (kept === undefined || !holdsBegun(kept.from, checker)) return;
  const body = bodyOf(node);
  if (!waits(body)) return;
  const after = (one: ts.Node): boolean => one.getEnd() > node.getEnd();
  const symbol = checker.getSymbolAtLocation(kept.name);
  const uses = mentions(symbol, kept.name, body, checker).filter(after);
  const firstUse = Math.min(...uses.map((one) => one.getStart()));
  const firstWait = Math.min(
    ...waitsIn(body)
      .filter(after)
      .map((one) => one.getEnd()),
  );
  if (firstWait < firstUse) report(node, "a promise that is looked at only after something else was waited for");
};
