/** Databases that were away when a sender began are opened as soon as they can be. */
import { createPeriodic, type Periodic, tellLog } from "../queue/periodic.js";
import type { SenderOptions } from "./types.js";

/** Pause between two tries to open a database that was away, in milliseconds. */
const OPEN_MS = 1_000;

/** @param run opens those that are not open yet, and throws where one still cannot be */
export const openingRest = (run: () => Promise<void>, logger: SenderOptions["logger"]): Periodic =>
  createPeriodic({
    pauseMs: OPEN_MS,
    firstPause: true,
    steps: [
      {
        name: "open the databases that could not be used",
        meanwhile: "events in them wait, and those of the others are delivered",
        run,
      },
    ],
    telling: tellLog(logger),
  });
