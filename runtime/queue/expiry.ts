/** What has expired goes bit by bit: as steps of periodic work, one for each kind of rows. */
import type { Expiring } from "../db/expiring.js";
import type { PeriodicStep } from "./periodic.js";

/** Rows removed in one transaction: keeps the pause it makes to a few milliseconds. */
const ROWS = 500;

/** @param now Unix milliseconds */
export const expirySteps = (expiring: readonly Expiring[], now: () => number): PeriodicStep[] =>
  expiring.map(({ what, remove }) => ({
    name: `remove ${what}`,
    meanwhile: "they stay, and the database grows; see what it says in the error",
    async run(stopping) {
      while ((await remove(now(), ROWS)) >= ROWS && !stopping.aborted);
    },
  }));
