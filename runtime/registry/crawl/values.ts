/** Reads values out of files that anyone may write: what cannot be used is left out and noted. */
import { publisherDomain } from "../model.js";
import type { Problem } from "../types.js";

/** Problems kept of one file; the rest is counted. */
const MAX_PROBLEMS = 100;

export class Problems {
  readonly #kept: Problem[] = [];
  #more = 0;

  add(pointer: string, message: string): void {
    if (this.#kept.length < MAX_PROBLEMS) this.#kept.push({ pointer: pointer.slice(0, 300), message });
    else this.#more += 1;
  }

  get list(): Problem[] {
    return this.#more === 0 ? this.#kept : [...this.#kept, { pointer: "", message: `and ${this.#more} more` }];
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u001f\u007f]+/g;

/**
 * A text that every store can keep: control characters become spaces, half characters are replaced.
 * @param max longest, in UTF-16 units
 * @returns undefined for what is no text, empty or too long
 */
export function textOf(value: unknown, max: number): string | undefined {
  if (typeof value !== "string" || value.length > max) return undefined;
  const text = value.replace(controls, " ").trim().toWellFormed();
  return text === "" ? undefined : text;
}

/** The texts of a list, without doubles; undefined for what is no list. */
export function textsOf(value: unknown, max: number, limit: number): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = new Set<string>();
  for (const one of value) {
    const text = textOf(one, max);
    if (text !== undefined) texts.add(text);
    if (texts.size === limit) break;
  }
  return [...texts];
}

/** An ISO 8601 date or time as unix milliseconds; undefined where it cannot be read. */
export function instantOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d(?:T|$)/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

/** A publisher's domain as files write it: some with a scheme or a final dot. */
export const domainIn = (value: unknown): string | undefined =>
  typeof value === "string" ? publisherDomain(value.trim().replace(/[/.]+$/, "")) : undefined;

const site = (domain: string): string => domain.replace(/^(?:www|m)\./, "");

/** A domain stands for its `www.` and `m.` too, and for no other host (registry-facts.md 8). */
export const sameSite = (a: string, b: string): boolean =>
  a === b || (site(a) === site(b) && (a === site(a) || b === site(b)));
