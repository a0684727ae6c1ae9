/** Reads values out of files that anyone may write: what cannot be used is left out and noted. */
import { momentMs } from "../../moment.js";
import { registrableDomain } from "../../net/index.js";
import { publisherDomain, sameSite, siteOf } from "../model.js";

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
  const at = typeof value === "string" ? momentMs(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** A publisher's domain as files write it: some with a scheme, a port or a final dot. */
export const domainIn = (value: unknown): string | undefined =>
  typeof value === "string" ? publisherDomain(value) : undefined;

/**
 * A domain speaks for itself, its `www.` and `m.`, and whatever is under it, since it hands those names out; never for
 * another registrant's, as two tenants of one shared suffix are.
 * @param name as identifiers write it: `*.x.example` are the names under `x.example`
 */
export function coversDomain(domain: string, name: string): boolean {
  const text = name.trim();
  const wildcard = text.startsWith("*.");
  const named = domainIn(wildcard ? `any${text.slice(1)}` : text);
  if (named === undefined) return false;
  if (!wildcard && sameSite(named, domain)) return true;
  const owner = siteOf(domain);
  return named.endsWith(`.${owner}`) && registrableDomain(named) === registrableDomain(owner);
}
