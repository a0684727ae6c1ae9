import type { PostgresStore } from "../store/postgres/open.js";
import type { Tx } from "../store/postgres/tables.js";
import type { Queue } from "./types.js";
export async function openBossQueue(
  _store: PostgresStore,
  _topic: string,
  _options: { now?: () => number } = {},
): Promise<Queue<Tx>> {
  throw new Error("under way");
}
