/** What a seller's store forgets in time. */
import { expirySteps } from "../queue/expiry.js";
import { createPeriodic, type Periodic, tellLog } from "../queue/periodic.js";
import type { SellerDatabase } from "../store/seller-tables.js";
import type { SellerSettings } from "./settings.js";

/** How often what has expired is removed, in milliseconds. */
const SWEEP_MS = 60_000;

/** Removes answers and tasks that have expired, from `start` to `stop`. */
export const sellerUpkeep = <Tx>(
  { tables, everywhere }: SellerDatabase<Tx>,
  { now, logger }: Pick<SellerSettings<Tx>, "now" | "logger">,
): Periodic => {
  // In a transaction of its own: receivers wait for that row, and what is removed may wait for somebody.
  const believed = async (at: number): Promise<number> =>
    Math.min(...(await everywhere((tx) => tables.expiryTime(tx, at))));
  return createPeriodic({
    pauseMs: SWEEP_MS,
    steps: expirySteps(
      tables.expiring.map(({ what, remove }) => ({
        what,
        async remove(now, limit) {
          const at = await believed(now);
          return Math.max(...(await everywhere((tx) => remove(tx, at, limit))));
        },
      })),
      now,
    ),
    telling: tellLog(logger),
  });
};
