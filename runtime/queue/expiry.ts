/** What has expired goes bit by bit: as steps of periodic work, one for each kind of rows. */
import type { Expiring } from "../db/expiring.js";
import { MORE, type PeriodicStep } from "./periodic.js";

/** Rows removed in one transaction: keeps the pause it makes to a few milliseconds. */
const ROWS = 500;
/** Transactions of one turn: all other steps wait for as long, and what is over comes by the million at midnight. */
const TURN_TRANSACTIONS = 4;
/** Most rows of one kind removed in a turn. */
export const TURN_ROWS = ROWS * TURN_TRANSACTIONS;

/**
 * Removes what is over, as much as one turn may.
 * @param remove one transaction. @returns rows it removed, as many as it may where there may be more
 * @returns rows removed, and whether there may be more
 */
export async function removeInTurn(
  remove: (limit: number) => Promise<number>,
  stopping: AbortSignal,
): Promise<{ readonly removed: number; readonly more: boolean }> {
  let removed = 0;
  for (let turn = 0; turn < TURN_TRANSACTIONS && !stopping.aborted; turn++) {
    const rows = await remove(ROWS);
    removed += rows;
    if (rows < ROWS) return { removed, more: false };
  }
  return { removed, more: true };
}

/** @param now Unix milliseconds */
export const expirySteps = (expiring: readonly Expiring[], now: () => number): PeriodicStep[] =>
  expiring.map(({ what, remove }) => ({
    name: `remove ${what}`,
    meanwhile: "they stay, and the database grows; see what it says in the error",
    run: async (stopping) => ((await removeInTurn((limit) => remove(now(), limit), stopping)).more ? MORE : undefined),
  }));
