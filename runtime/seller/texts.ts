/** Texts that cannot be kept: neither RFC 8785 nor a database has a form for half of a character, and PostgreSQL none for NUL. */

/** What is wrong with such a text. */
export const UNKEPT = { keyword: "text", message: "has half of a character, or NUL, which nobody can keep" };

const isKept = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

const step = (name: string): string => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** @returns JSON pointer of the first text, or name, that cannot be kept; undefined where all can */
export function unkeptText(value: unknown, pointer = ""): string | undefined {
  if (typeof value === "string") return isKept(value) ? undefined : pointer;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    // The name itself would not survive the way to the caller.
    const found = isKept(name) ? unkeptText(inner, pointer + step(name)) : pointer;
    if (found !== undefined) return found;
  }
  return undefined;
}
