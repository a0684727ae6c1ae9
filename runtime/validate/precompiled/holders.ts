/** SchemaKeywords of objects and arrays. */

import type { SchemaKeywords, SchemaNode } from "../../contract/schema-node.js";
import { hasDuplicates } from "../json-text.js";
import { fail, inTurn, type NodeCheck, type Run, under } from "./run.js";

type Values = Readonly<Record<string, unknown>>;
type Of = (node: SchemaNode) => NodeCheck;

/** A size within its limits: `most` is told first. */
function sizeChecks<D>(
  { most, least }: { readonly most: number | undefined; readonly least: number | undefined },
  words: { readonly most: string; readonly least: string; readonly of: string },
  size: (data: D) => number,
): NodeCheck[] {
  const checks: NodeCheck[] = [];
  if (most !== undefined) {
    const message = `must NOT have more than ${most} ${words.of}`;
    checks.push((data, run) => size(data as D) <= most || fail(run, words.most, message));
  }
  if (least !== undefined) {
    const message = `must NOT have fewer than ${least} ${words.of}`;
    checks.push((data, run) => size(data as D) >= least || fail(run, words.least, message));
  }
  return checks;
}

const requiredCheck =
  (names: readonly string[]): NodeCheck =>
  (data, run) => {
    let ok = true;
    for (const name of names) {
      if ((data as Values)[name] !== undefined) continue;
      ok = fail(run, "required", `must have required property '${name}'`, name);
      if (!run.all) return false;
    }
    return ok;
  };

/** Checks every member that `which` picks. */
const eachMember =
  (which: (name: string) => boolean, check: (data: unknown, name: string, run: Run) => boolean): NodeCheck =>
  (data, run) => {
    let ok = true;
    for (const [name, value] of Object.entries(data as Values)) {
      if (!which(name) || check(value, name, run)) continue;
      if (!run.all) return false;
      ok = false;
    }
    return ok;
  };

const everyName = (): boolean => true;

function namesCheck(inner: NodeCheck): NodeCheck {
  return eachMember(everyName, (_value, name, run) => {
    if (inner(name, run)) return true;
    return fail(run, "propertyNames", "property name must be valid");
  });
}

function additionalCheck(node: SchemaKeywords, of: Of): NodeCheck[] {
  const { A: additional, p: properties = {}, P: patterns = {} } = node;
  if (additional === undefined || additional === true) return [];
  const known = new Set(Object.keys(properties));
  const matched = Object.keys(patterns).map((pattern) => new RegExp(pattern, "u"));
  const isAdditional = (name: string): boolean => !known.has(name) && !matched.some((one) => one.test(name));
  if (additional === false) {
    const refuse = (_: unknown, name: string, run: Run): boolean =>
      fail(run, "additionalProperties", "must NOT have additional properties", name);
    return [eachMember(isAdditional, refuse)];
  }
  const inner = of(additional);
  return [eachMember(isAdditional, (value, name, run) => under(inner, value, name, run))];
}

function dependencyChecks(dependencies: NonNullable<SchemaKeywords["d"]>, of: Of): NodeCheck[] {
  const names: NodeCheck[] = [];
  const schemas: NodeCheck[] = [];
  for (const [property, wanted] of Object.entries(dependencies)) {
    const isThere = (data: unknown): boolean => (data as Values)[property] !== undefined;
    if (Array.isArray(wanted)) {
      const properties = wanted.length === 1 ? "property" : "properties";
      const message = `must have ${properties} ${wanted.join(", ")} when property ${property} is present`;
      const each = wanted.map(
        (name: string): NodeCheck =>
          (data, run) =>
            (data as Values)[name] !== undefined || fail(run, "dependencies", message),
      );
      if (each.length > 0) names.push(whenThere(isThere, inTurn(each)));
    } else if (wanted !== true) schemas.push(whenThere(isThere, of(wanted as SchemaNode)));
  }
  return [...names, ...schemas];
}

const whenThere =
  (isThere: (data: unknown) => boolean, check: NodeCheck): NodeCheck =>
  (data, run) =>
    !isThere(data) || check(data, run);

function propertyChecks(properties: NonNullable<SchemaKeywords["p"]>, of: Of): NodeCheck[] {
  return Object.entries(properties)
    .filter(([, node]) => node !== true)
    .map(([name, node]): NodeCheck => {
      const inner = of(node);
      return (data, run) => {
        const value = (data as Values)[name];
        return value === undefined || under(inner, value, name, run);
      };
    });
}

function patternChecks(patterns: NonNullable<SchemaKeywords["P"]>, of: Of): NodeCheck[] {
  return Object.entries(patterns)
    .filter(([, node]) => node !== true)
    .map(([pattern, node]) => {
      const expression = new RegExp(pattern, "u");
      const inner = of(node);
      return eachMember(
        (name) => expression.test(name),
        (value, name, run) => under(inner, value, name, run),
      );
    });
}

const objectWords = { most: "maxProperties", least: "minProperties", of: "properties" };

export function objectChecks(node: SchemaKeywords, of: Of): NodeCheck[] {
  const { r: required = [], K: names, d: dependencies, p: properties = {}, P: patterns = {} } = node;
  const wanted = required.map((one) => (typeof one === "number" ? Object.keys(properties)[one]! : one));
  return [
    ...sizeChecks({ most: node.G, least: node.g }, objectWords, (data: object) => Object.keys(data).length),
    ...(wanted.length > 0 ? [requiredCheck(wanted)] : []),
    ...(names !== undefined && names !== true ? [namesCheck(of(names))] : []),
    ...additionalCheck(node, of),
    ...(dependencies === undefined ? [] : dependencyChecks(dependencies, of)),
    ...propertyChecks(properties, of),
    ...patternChecks(patterns, of),
  ];
}

/** Checks every item from a place on. */
const eachItem =
  (inner: NodeCheck, from = 0): NodeCheck =>
  (data, run) => {
    const items = data as readonly unknown[];
    let ok = true;
    for (let at = from; at < items.length; at++) {
      if (under(inner, items[at], at, run)) continue;
      if (!run.all) return false;
      ok = false;
    }
    return ok;
  };

function containsCheck(inner: NodeCheck, least: number, most: number | undefined): NodeCheck {
  const message = `must contain at least ${least}${most === undefined ? "" : ` and no more than ${most}`} valid item(s)`;
  // Counting ends where the verdict stands; no list has more than it may.
  const enough = most === undefined ? least : most < least ? 0 : most + 1;
  return (data, run) => {
    const mark = run.errors?.length ?? 0;
    const items = data as readonly unknown[];
    let count = 0;
    for (let at = 0; at < items.length && count < enough; at++) if (under(inner, items[at], at, run)) count++;
    if (count < least || (most !== undefined && count > most)) return fail(run, "contains", message);
    if (run.errors !== undefined) run.errors.length = mark;
    return true;
  };
}

/** Items in their places, and what comes after them. */
function tupleChecks(
  places: readonly SchemaNode[],
  rest: SchemaNode | undefined,
  of: Of,
): { rest: NodeCheck[]; places: NodeCheck[] } {
  const message = `must NOT have more than ${places.length} items`;
  const beyond = (data: unknown): boolean => (data as readonly unknown[]).length > places.length;
  const after: NodeCheck[] = [];
  if (rest === false) after.push((data, run) => !beyond(data) || fail(run, "additionalItems", message));
  else if (rest !== undefined && rest !== true) after.push(eachItem(of(rest), places.length));
  const each = places.map((node, at): NodeCheck => {
    const inner = of(node);
    return (data, run) => {
      const items = data as readonly unknown[];
      return items.length <= at || under(inner, items[at], at, run);
    };
  });
  return { rest: after, places: each };
}

const arrayWords = { most: "maxItems", least: "minItems", of: "items" };

export function arrayChecks(node: SchemaKeywords, of: Of): NodeCheck[] {
  const { i: items, D: rest, C: contained, u: unique } = node;
  const checks = sizeChecks({ most: node.J, least: node.j }, arrayWords, (data: readonly unknown[]) => data.length);
  if (Array.isArray(items)) {
    const tuple = tupleChecks(items, rest, of);
    checks.push(...tuple.rest, ...tuple.places);
  } else if (items !== undefined && items !== true) checks.push(eachItem(of(items as SchemaNode)));
  if (contained !== undefined) checks.push(containsCheck(of(contained), node.v ?? 1, node.V));
  if (unique === true) {
    checks.push(
      (data, run) =>
        !hasDuplicates(data as readonly unknown[]) || fail(run, "uniqueItems", "must NOT have duplicate items"),
    );
  }
  return checks;
}
