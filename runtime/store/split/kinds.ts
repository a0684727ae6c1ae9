/** The tables of each kind of keyspaces. */
import type { SplitKind } from "./placement.js";
import { principalTables } from "./principal-tables.js";
import { receiverTables } from "./receiver-tables.js";
import type { KeyspaceTables } from "./tables.js";

export const tablesOf: Readonly<Record<SplitKind, KeyspaceTables>> = {
  sender: receiverTables,
  principal: principalTables,
};
