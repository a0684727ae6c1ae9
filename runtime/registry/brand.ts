/**
 * What a brand file says of its domain: a name, agents, and properties as properties of the domain
 * (docs/protocol/files.md#brandjson).
 */
import type { PublisherRow } from "../store/registry-publishers.js";
import type { SetProperty } from "./matching.js";
import type { PublisherFacts } from "./prepared.js";
import type { BrandAgent, BrandProperty } from "./types.js";

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

export interface Brand {
  readonly name: string | null;
  readonly agents: readonly BrandAgent[];
}

/** A brand file that was found, as facts of its publisher. */
export const presentBrand = ({ name, agents }: Brand): PublisherFacts => ({
  brand_outcome: "present",
  brand_name: name,
  brand_key: name?.toLowerCase() ?? null,
  brand_agents: agents.length === 0 ? null : JSON.stringify(agents),
});

/** The same as it is told: what the file does not say is left out. */
export const brandTold = ({
  brand_name: name,
  brand_agents: agents,
}: PublisherRow): { name?: string; agents?: BrandAgent[] } => ({
  ...(name !== null && { name }),
  ...(agents !== null && { agents: JSON.parse(agents) as BrandAgent[] }),
});
