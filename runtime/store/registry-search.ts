/** The search's index as a table, on the engines that keep one. To add one: a file in its folder, and a row. */
import type { EngineName } from "../db/open.js";
import type { Dialect } from "../db/types.js";

export {
  type FoundRow,
  putSearchRows,
  type SearchCondition,
  type SearchPlace,
  type SearchState,
  searchCount,
  searchPairs,
  searchRows,
  searchState,
  searchValues,
  setSearchState,
  tellMark,
  tokenOf,
  toldMark,
} from "./postgres/registry-search.js";

const kept: Readonly<Record<EngineName, boolean>> = { sqlite: false, postgres: true };

/** Whether databases of an engine can keep the index: the rest of this file is for those alone. */
export const keepsSearch = ({ engine }: Dialect): boolean => kept[engine as EngineName];
