/** Who answers searches. */
import type { Database } from "../../db/types.js";
import type { RegistryDataOptions } from "../types.js";
import { databaseSearch } from "./database-search.js";
import { type AgentSearch, agentSearch } from "./search.js";

export const searchOf = (
  store: Database,
  { search, searchCopy, searchDiscovered: discovered = false }: RegistryDataOptions,
): AgentSearch =>
  search === "database"
    ? databaseSearch({ store, copy: searchCopy?.database, discovered })
    : agentSearch(store, discovered);
