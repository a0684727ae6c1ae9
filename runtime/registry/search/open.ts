/** Who answers searches. */
import type { Database } from "../../db/types.js";
import type { RegistryData, RegistryDataOptions } from "../types.js";
import { databaseSearch } from "./database-search.js";
import { type AgentSearch, agentSearch } from "./search.js";
import { splitSearch } from "./split-search.js";

/** The search that options ask for. */
export function searchOf(
  store: Database,
  { search, searchCopy, searchParts, searchDiscovered: discovered = false }: RegistryDataOptions,
): AgentSearch {
  if (searchParts !== undefined) return splitSearch({ store, discovered, ...searchParts });
  return search === "database"
    ? databaseSearch({ store, copy: searchCopy?.database, discovered })
    : agentSearch(store, discovered);
}

/** What a registry's data say of its search, but for what its pages show. */
export const searchData = (search: AgentSearch) =>
  ({
    search: search.search,
    searchParts: async () => search.parts?.(),
    tellMark: async () => search.tellMark?.(),
  }) satisfies Partial<RegistryData>;
