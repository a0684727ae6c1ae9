/** SchemaKeywords that put schemas together. */
import type { SchemaKeywords, SchemaNode } from "../../contract/schema-node.js";
import { fail, type NodeCheck, passes, type Run } from "./run.js";

/** What was told within a combination that holds after all is taken back. */
const forget = (run: Run, mark: number): void => {
  if (run.errors !== undefined) run.errors.length = mark;
};

const told = (run: Run): number => run.errors?.length ?? 0;

function notCheck(inner: NodeCheck): NodeCheck {
  return (data, run) => !passes(inner, data) || fail(run, "not", "must NOT be valid");
}

function anyOfCheck(branches: readonly NodeCheck[]): NodeCheck {
  return (data, run) => {
    const mark = told(run);
    for (const branch of branches) {
      if (!branch(data, run)) continue;
      forget(run, mark);
      return true;
    }
    return fail(run, "anyOf", "must match a schema in anyOf");
  };
}

function oneOfCheck(branches: readonly NodeCheck[]): NodeCheck {
  return (data, run) => {
    const mark = told(run);
    let matched = false;
    for (const branch of branches) {
      if (!branch(data, run)) continue;
      if (matched) return fail(run, "oneOf", "must match exactly one schema in oneOf");
      matched = true;
    }
    if (!matched) return fail(run, "oneOf", "must match exactly one schema in oneOf");
    forget(run, mark);
    return true;
  };
}

function ifCheck(condition: NodeCheck, then: NodeCheck | undefined, otherwise: NodeCheck | undefined): NodeCheck {
  return (data, run) => {
    const holds = passes(condition, data);
    const clause = holds ? then : otherwise;
    return (
      clause === undefined || clause(data, run) || fail(run, "if", `must match "${holds ? "then" : "else"}" schema`)
    );
  };
}

/** @param of makes the check of a schema */
export function combinedChecks(node: SchemaKeywords, of: (node: SchemaNode) => NodeCheck): NodeCheck[] {
  const checks: NodeCheck[] = [];
  const { N: not, a: anyOf, o: oneOf, l: allOf, I: condition, T: then, E: otherwise } = node;
  if (not !== undefined) checks.push(notCheck(of(not)));
  if (anyOf !== undefined && !anyOf.includes(true)) checks.push(anyOfCheck(anyOf.map(of)));
  if (oneOf !== undefined) checks.push(oneOfCheck(oneOf.map(of)));
  if (allOf !== undefined) checks.push(...allOf.filter((one) => one !== true).map(of));
  const clause = (one: SchemaNode | undefined): NodeCheck | undefined =>
    one === undefined || one === true ? undefined : of(one);
  if (condition !== undefined) {
    const [whenTrue, whenFalse] = [clause(then), clause(otherwise)];
    if (whenTrue !== undefined || whenFalse !== undefined) checks.push(ifCheck(of(condition), whenTrue, whenFalse));
  }
  return checks;
}
