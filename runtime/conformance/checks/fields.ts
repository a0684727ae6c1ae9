/** Checks of one field of an answer. */

import type { StoryboardCheck } from "../document.js";
import { includes, isSame } from "../equality.js";
import { fieldAt, hasWildcard, pointerOfPath, valuesAt } from "../paths.js";
import { type CheckFinding, type CheckRunner, type CheckView, failed, passed } from "./types.js";

const pathOf = (check: StoryboardCheck): string => check.path ?? "";

/** Every value a path stands for, undefined where there is none. */
const located = (view: CheckView, path: string) => {
  if (hasWildcard(path)) return valuesAt(view.payload, path);
  return [{ pointer: pointerOfPath(path), value: fieldAt(view.payload, path) }];
};

const present = (value: unknown): boolean => value !== undefined && value !== null;

/** The values that would do, placeholders replaced; undefined where one stands for nothing. */
function wanted(
  check: StoryboardCheck,
  view: CheckView,
): { values: readonly unknown[]; unresolved: readonly string[] } {
  const listed = check.allowed_values ?? ("value" in check ? [check.value] : []);
  const { value, unresolved } = view.substitute(listed);
  return { values: value as unknown[], unresolved };
}

const shown = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : { one_of: values });

export const fieldPresent: CheckRunner = (check, view) => {
  const path = pathOf(check);
  const found = located(view, path).find(({ value }) => present(value));
  return found === undefined ? failed(pointerOfPath(path), "a value", fieldAt(view.payload, path)) : passed();
};

export const fieldAbsent: CheckRunner = (check, view) => {
  const found = located(view, pathOf(check)).find(({ value }) => present(value));
  return found === undefined ? passed() : failed(found.pointer, "no value", found.value);
};

function matches(check: StoryboardCheck, view: CheckView): CheckFinding {
  const path = pathOf(check);
  const { values, unresolved } = wanted(check, view);
  const candidates = located(view, path);
  const [first] = candidates;
  const pointer = first?.pointer ?? pointerOfPath(path);
  if (unresolved.length > 0)
    return failed(pointer, shown(values), first?.value, `no step has captured ${unresolved.join(", ")}`);
  if (candidates.some(({ value }) => values.some((one) => isSame(value, one)))) return passed();
  return failed(pointer, shown(values), hasWildcard(path) ? candidates.map(({ value }) => value) : first?.value);
}

export const fieldHasValue: CheckRunner = matches;

export const fieldValueOrAbsent: CheckRunner = (check, view) =>
  fieldAt(view.payload, pathOf(check)) === undefined ? passed() : matches(check, view);

export const fieldContains: CheckRunner = (check, view) => {
  const path = pathOf(check);
  const { values, unresolved } = wanted(check, view);
  const candidates = located(view, path);
  if (unresolved.length > 0)
    return failed(pointerOfPath(path), shown(values), undefined, `no step has captured ${unresolved.join(", ")}`);
  // A path that names the list itself asks whether the list has such an item.
  const items = candidates.flatMap(({ value }) =>
    Array.isArray(value) && !Array.isArray(check.value) ? [value, ...value] : [value],
  );
  if (items.some((item) => item !== undefined && values.some((one) => includes(item, one)))) return passed();
  return failed(
    pointerOfPath(path),
    { contains: shown(values) },
    candidates.map(({ value }) => value),
  );
};

export const fieldPattern: CheckRunner = (check, view) => {
  const path = pathOf(check);
  const value = fieldAt(view.payload, path);
  const pattern = String(check.pattern ?? check.value ?? "");
  if (typeof value === "string" && new RegExp(pattern, "u").test(value)) return passed();
  return failed(pointerOfPath(path), { pattern }, value);
};

const unseen = (key: unknown): CheckFinding =>
  passed({ note: `nothing to compare with: no step has captured ${String(key)}` });

const compared =
  (holds: (left: number, right: number) => boolean, sign: string): CheckRunner =>
  (check, view) => {
    const path = pathOf(check);
    const key = check.context_key;
    if (key !== undefined && !view.context.has(key)) return unseen(key);
    const bound = key === undefined ? wanted(check, view).values[0] : view.context.get(key);
    const value = fieldAt(view.payload, path);
    const isNumber = (one: unknown): one is number => typeof one === "number" && Number.isFinite(one);
    if (isNumber(value) && isNumber(bound) && holds(value, bound)) return passed();
    return failed(pointerOfPath(path), `${sign} ${String(bound)}`, value);
  };

export const fieldLessThan = compared((left, right) => left < right, "less than");
export const fieldGreaterThan = compared((left, right) => left > right, "greater than");

export const fieldEqualsContext: CheckRunner = (check, view) => {
  const path = pathOf(check);
  const key = check.context_key ?? "";
  if (!view.context.has(key)) return unseen(key);
  const value = fieldAt(view.payload, path);
  const expected = view.context.get(key);
  return isSame(value, expected) ? passed() : failed(pointerOfPath(path), expected, value, `captured as ${key}`);
};

const members =
  (every: boolean): CheckRunner =>
  (check, view) => {
    const key = check.context_key ?? "";
    if (!view.context.has(key)) return unseen(key);
    const list = view.context.get(key);
    const allowed = Array.isArray(list) ? list : [];
    const found = located(view, pathOf(check));
    if (!every && found.every(({ value }) => value === undefined))
      return failed(pointerOfPath(pathOf(check)), { one_of: allowed }, undefined);
    const stray = found.find(({ value }) => value !== undefined && !allowed.some((one) => isSame(one, value)));
    return stray === undefined ? passed() : failed(stray.pointer, { one_of: allowed }, stray.value);
  };

export const fieldInContextArray = members(false);
export const allFieldsInContextArray = members(true);

export const arrayLength: CheckRunner = (check, view) => {
  const path = pathOf(check);
  const value = fieldAt(view.payload, path);
  const { value: exact, min, max } = check as { value?: number; min?: number; max?: number };
  const expected = {
    ...(exact !== undefined && { length: exact }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
  };
  if (!Array.isArray(value)) return failed(pointerOfPath(path), expected, value, "it is no list");
  const { length } = value;
  const holds = (exact === undefined || length === exact) && length >= (min ?? 0) && length <= (max ?? length);
  return holds ? passed() : failed(pointerOfPath(path), expected, length);
};
