/**
 * Values that cannot be kept: neither RFC 8785 nor a database has a form for half of a character, nor RFC 8785 or an answer in
 * JSON one for a number beyond doubles, and PostgreSQL has none for NUL.
 */
import type { ValidationError } from "../validate/index.js";
import { pointerStep } from "../validate/judge.js";

const TEXT = { keyword: "text", message: "has half of a character, or NUL, which nobody can keep" };
const NUMBER = { keyword: "number", message: "is a number larger than a double holds, which nobody can keep" };

const isKept = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** @returns what is wrong, at the JSON pointer of the first value or name that cannot be kept; undefined where all can */
export function unkeptValue(value: unknown, pointer = ""): ValidationError | undefined {
  if (typeof value === "string") return isKept(value) ? undefined : { pointer, ...TEXT };
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { pointer, ...NUMBER };
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    // The name itself would not survive the way to the caller.
    const found = isKept(name) ? unkeptValue(inner, pointer + pointerStep(name)) : { pointer, ...TEXT };
    if (found !== undefined) return found;
  }
  return undefined;
}
