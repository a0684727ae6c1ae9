/** Whether what an answer refers to is there: `refs_resolve`. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { isSame } from "../equality.js";
import { type FoundValue, fieldAt, valuesAt } from "../paths.js";
import { type CheckRunner, type CheckView, failed, passed } from "./types.js";
import { agentRoot } from "./urls.js";

interface Side {
  readonly from?: string;
  readonly path?: string;
}

function side(value: unknown, view: CheckView): FoundValue[] {
  const { from, path = "" } = (isJsonObject(value) ? value : {}) as Side;
  if (from !== "context") return valuesAt(view.payload, path);
  const [name = ""] = path.split(/[.[]/);
  if (view.context.has(name)) return valuesAt(Object.fromEntries(view.context), path);
  // What no step has captured by name is read from the newest answer that has it.
  const holder = view.history.findLast(({ payload }) => fieldAt(payload, name) !== undefined);
  return holder === undefined ? [] : valuesAt(holder.payload, path);
}

const keyOf = (name: string, value: unknown): unknown =>
  /url$/i.test(name) && typeof value === "string" ? agentRoot(value) : value;

const matchesOn = (keys: readonly string[], left: unknown, right: unknown): boolean =>
  isJsonObject(left) &&
  isJsonObject(right) &&
  keys.every((key) => left[key] !== undefined && isSame(keyOf(key, left[key]), keyOf(key, right[key])));

interface Scope {
  readonly key?: string;
  readonly equals?: unknown;
}

function inScope(scope: unknown, reference: unknown, view: CheckView): boolean {
  if (!isJsonObject(scope)) return true;
  const { key = "", equals } = scope as Scope;
  const wanted = view.substitute(equals).value;
  return isJsonObject(reference) && isSame(keyOf(key, reference[key]), keyOf(key, wanted));
}

const hasMore = (view: CheckView): boolean =>
  fieldAt(view.payload, "pagination.has_more") === true || fieldAt(view.payload, "has_more") === true;

export const refsResolve: CheckRunner = (check, view) => {
  const {
    source,
    target,
    match_keys: keys = [],
    scope,
    on_out_of_scope: outside = "warn",
  } = check as unknown as {
    source: JsonObject;
    target: JsonObject;
    match_keys?: readonly string[];
    scope?: unknown;
    on_out_of_scope?: "warn" | "ignore" | "fail";
  };
  const targets = side(target, view).map(({ value }) => value);
  const notes: string[] = [];
  for (const { pointer, value } of side(source, view)) {
    if (!inScope(scope, value, view)) {
      if (outside === "fail") return failed(pointer, "a reference in scope", value);
      if (outside === "warn") notes.push(`${pointer} refers to another agent and was not followed`);
      continue;
    }
    if (targets.some((one) => matchesOn(keys, value, one))) continue;
    if (!hasMore(view)) return failed(pointer, `something listed with the same ${keys.join(", ")}`, value);
    notes.push(`${pointer} is not on this page of the list`);
  }
  return passed(notes.length > 0 ? { note: notes.join("; ") } : {});
};
