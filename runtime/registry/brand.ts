/** Properties that a brand file names, as properties of its domain (registry-facts.md 2). */
import type { SetProperty } from "./project.js";
import type { BrandProperty } from "./types.js";

/** Most properties taken from one brand file. */
const BRAND_LIMIT_PROPERTIES = 5000;

export function brandProperties(given: readonly BrandProperty[]): SetProperty[] {
  const found = new Map<string, SetProperty>();
  for (const { type: kind, identifier, relationship } of given) {
    const type = kind ?? "website";
    const value = identifier.trim().toLowerCase();
    const namespace = type === "website" ? "domain" : type;
    const key = `${namespace}:${value}`;
    if (value === "" || found.has(key)) continue;
    if (found.size === BRAND_LIMIT_PROPERTIES) break;
    found.set(key, {
      id: null,
      type,
      name: value,
      identifiers: [{ type: namespace, value }],
      tags: relationship === null ? [] : [`relationship:${relationship}`],
      ...(relationship !== null && relationship !== "owned" && { delegation: relationship }),
    });
  }
  return [...found.values()];
}
