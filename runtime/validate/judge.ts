/** How much is told of a value that is refused, whoever judges it. */
import type { ValidationError, ValidationResult } from "./types.js";

/** Errors reported for one value: a hostile one could otherwise name a million. */
const MAX_ERRORS = 64;
/** Values in what all errors are looked for; of anything larger the first one is told, since lists of errors grow as the square. */
const SMALL_VALUES = 2_000;

/** Does a value hold no more than `SMALL_VALUES` of them? */
function isSmall(data: unknown): boolean {
  const pending: unknown[] = [data];
  let seen = 0;
  for (let next = pending.pop(); next !== undefined || pending.length > 0; next = pending.pop()) {
    seen += 1;
    if (seen + pending.length > SMALL_VALUES) return false;
    if (typeof next !== "object" || next === null) continue;
    const held = Array.isArray(next) ? next : Object.values(next);
    if (held.length > SMALL_VALUES) return false;
    pending.push(...held);
  }
  return true;
}

/** The errors of a value; undefined where there are none. */
export type FindErrors = (data: unknown) => readonly ValidationError[] | undefined;

/**
 * Judges by the first error, and looks for the others only where that is cheap.
 * @param first stops at the first error
 * @param all finds every one
 */
export function judgeBy<T>(data: unknown, first: FindErrors, all: FindErrors): ValidationResult<T> {
  const found = first(data);
  if (found === undefined) return { ok: true, data: data as T };
  const told = isSmall(data) ? (all(data) ?? found) : found;
  return { ok: false, errors: told.slice(0, MAX_ERRORS) };
}

/** One token of a JSON pointer. */
export const pointerStep = (name: unknown): string => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
