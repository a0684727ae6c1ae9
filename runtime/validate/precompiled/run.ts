/** What a check is, and how it tells of a fault. Order and words are ajv's, so that both ways of validating say the same. */
import { pointerStep } from "../judge.js";
import type { ValidationError } from "../types.js";

/** One validation under way. */
export interface Run {
  /** Goes on after a fault, for the others. */
  readonly all: boolean;
  /** Where faults are told; undefined where only the verdict counts. */
  readonly errors: ValidationError[] | undefined;
  /** From the root to the value that is looked at. */
  readonly path: (string | number)[];
}

export type NodeCheck = (data: unknown, run: Run) => boolean;

/** Tells of a fault. @param inner the property it is about, where that is not the value itself */
export function fail(run: Run, keyword: string, message: string, inner?: string): false {
  if (run.errors !== undefined) {
    const path = inner === undefined ? run.path : [...run.path, inner];
    run.errors.push({ pointer: path.map(pointerStep).join(""), keyword, message });
  }
  return false;
}

/** Checks a member of a value. */
export function under(check: NodeCheck, data: unknown, key: string | number, run: Run): boolean {
  run.path.push(key);
  const ok = check(data, run);
  run.path.pop();
  return ok;
}

/** Checks one after another: to the first that fails, or all of them. */
export const inTurn = (checks: readonly NodeCheck[]): NodeCheck => {
  const [only] = checks;
  if (checks.length === 1) return only!;
  return (data, run) => {
    let ok = true;
    for (const check of checks) {
      if (check(data, run)) continue;
      if (!run.all) return false;
      ok = false;
    }
    return ok;
  };
};

/** Whether a value passes, and nothing told of it. */
export const passes = (check: NodeCheck, data: unknown): boolean =>
  check(data, { all: false, errors: undefined, path: [] });
