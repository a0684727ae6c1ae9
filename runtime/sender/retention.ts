/** What is over is kept for a while, and in bounds. */
import { AdbindError } from "../errors.js";
import { removeInTurn } from "../queue/expiry.js";
import { MORE, type PeriodicStep } from "../queue/periodic.js";
import type { Queue } from "../queue/types.js";
import type { SenderTables } from "../store/sender-tables.js";
import { inTransaction } from "./transact.js";
import type { RetentionOptions } from "./types.js";

const DAY_MS = 86_400_000;
/** How often it is looked while there is something to remove, in milliseconds: that is counted in days, or in many rows. */
const LOOK_MS = 10_000;
/** And after a look that found nothing. */
const IDLE_LOOK_MS = 60_000;
/** Days activity is kept, at least (docs/protocol/webhooks.md#activity). */
const ACTIVITY_DAYS = 30;

const defaults = {
  activityDays: ACTIVITY_DAYS,
  activityRows: Number.MAX_SAFE_INTEGER,
  deadLetterDays: 90,
  deadLetters: 1_000_000,
  closedChannelDays: 90,
};

export type Retention = Required<RetentionOptions>;

/** @throws AdbindError `sender_option_invalid` */
export function retentionOf(given: RetentionOptions = {}): Retention {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  const retention: Retention = { ...defaults, ...Object.fromEntries(known) };
  for (const [name, value] of Object.entries(retention)) {
    const least = name === "activityDays" ? ACTIVITY_DAYS : 1;
    if (value >= least) continue;
    const remedy = `give at least ${least}`;
    throw new AdbindError("sender_option_invalid", "an option of a sender cannot be used", {
      where: `retention.${name}`,
      remedy,
    });
  }
  return retention;
}

interface RetentionParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly now: () => number;
}

export function retentionSteps({ queue, tables, now }: RetentionParts, retention: Retention): PeriodicStep[] {
  const step = (what: string, remove: (limit: number) => Promise<number>): PeriodicStep => {
    let next = Number.NEGATIVE_INFINITY;
    return {
      name: `remove ${what}`,
      meanwhile: "they stay, and the database grows; see what it says in the error",
      async run(stopping) {
        if (performance.now() < next) return undefined;
        const { removed, more } = await removeInTurn(remove, stopping);
        if (more) return MORE;
        next = performance.now() + (removed > 0 ? LOOK_MS : IDLE_LOOK_MS);
        return undefined;
      },
    };
  };
  const { activityRows, deadLetterDays, deadLetters: keep, closedChannelDays } = retention;
  const before = (days: number): number => now() - days * DAY_MS;
  return [
    step("old dead letters", (limit) =>
      queue.adjust({ kind: "prune", before: before(deadLetterDays), keep, limit }, now()),
    ),
    step("closed channels", async (limit) =>
      inTransaction(queue, undefined, (tx) => tables.dropClosedChannels(tx, before(closedChannelDays), limit)),
    ),
    ...(activityRows === defaults.activityRows
      ? []
      : [
          step("activity beyond its rows", async (limit) =>
            inTransaction(queue, undefined, (tx) => tables.trimActivity(tx, activityRows, limit)),
          ),
        ]),
  ];
}
