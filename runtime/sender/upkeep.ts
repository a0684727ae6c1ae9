/** What a sender does in time, by itself: one look says what there is, so that an idle one asks for hardly anything. */
import type { Logger } from "../log.js";
import { expirySteps } from "../queue/expiry.js";
import { createPeriodic, type Periodic, type PeriodicStep, sideBySide, tellLog } from "../queue/periodic.js";
import type { Queue } from "../queue/types.js";
import type { DueWork, SenderTables } from "../store/sender-tables.js";
import type { Expiring } from "../store/types.js";
import { tasksNeeded } from "./retention.js";
import type { Keyring } from "./sealing.js";
import { inTransaction } from "./transact.js";

/** How often there is a look, in milliseconds. */
const LOOK_MS = 2_500;
/** How often the keys of secrets are fetched again, in milliseconds. */
const KEYS_MS = 60_000;
/** How long those under way are waited for at the end, in milliseconds. */
const STOP_MS = 5_000;
/** How often an operator is told of what stays as it is, in milliseconds. */
const ALARM_MS = 3_600_000;

export interface UpkeepParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly coalesced: PeriodicStep;
  readonly reports: PeriodicStep;
  /** Proves configs that were moved. */
  readonly proofs: PeriodicStep;
  /** Erases secrets that nothing needs any more. */
  readonly secrets: PeriodicStep;
  /** Done each time, whatever is due. */
  readonly more: readonly PeriodicStep[];
  readonly now: () => number;
  readonly logger: Logger | undefined;
  /** How long activity is kept. */
  readonly activityDays: number;
}

export function senderUpkeep(parts: UpkeepParts): Periodic {
  const { queue, tables, now, logger } = parts;
  let work: DueWork | undefined;
  const look: PeriodicStep = {
    name: "look for what is due",
    meanwhile: "each kind of it is looked for by itself",
    async run(stopping) {
      // Where that cannot be seen, each step finds out for itself.
      work = undefined;
      try {
        work = await queue.read((q) => tables.due(q, now()));
      } finally {
        // Some of them ask the application, or endpoints, and wait for an answer: the others do not wait for them.
        beside.begin(steps, stopping);
      }
    },
  };
  const onlyIf = (step: PeriodicStep, isDue: (due: DueWork) => boolean): PeriodicStep => ({
    ...step,
    run: (stopping) => (work === undefined || isDue(work) ? step.run(stopping) : undefined),
  });
  const expiring = expiringSteps(parts);
  const steps = [
    onlyIf(parts.coalesced, (due) => due.coalesced),
    onlyIf(parts.reports, (due) => due.reports),
    onlyIf(parts.proofs, (due) => due.proofs),
    onlyIf(parts.secrets, (due) => due.secrets),
    ...expiring.map((step, at) => onlyIf(step, (due) => due.expired[at]!)),
    ...parts.more,
    alarms(parts),
  ];
  const telling = tellLog(logger);
  const beside = sideBySide(telling);
  const turns = createPeriodic({ pauseMs: LOOK_MS, steps: [look], telling });
  return {
    start: () => turns.start(),
    async stop() {
      await turns.stop();
      await beside.ended(STOP_MS);
    },
  };
}

/** Where they cannot be had they are asked for at each look: who seals by them learns soon that a key was replaced. */
export function keysStep(keyring: Pick<Keyring, "refresh">, everyMs = KEYS_MS): PeriodicStep {
  let refreshed = performance.now();
  return {
    name: "fetch the keys of secrets again",
    meanwhile: "those that were fetched last are used",
    async run() {
      if (performance.now() - refreshed < everyMs) return;
      await keyring.refresh();
      refreshed = performance.now();
    },
  };
}

function alarms({ queue, now, activityDays, logger }: UpkeepParts): PeriodicStep {
  let next = Number.NEGATIVE_INFINITY;
  return {
    name: "look for what an operator should see to",
    meanwhile: "nothing is said of it",
    async run() {
      if (performance.now() < next) return;
      const found = await queue.alarms(now(), activityDays);
      next = performance.now() + ALARM_MS;
      for (const alarm of found) logger?.warn({ alarm }, alarm);
    },
  };
}

/** Steps that remove what has expired, in the order in which `SenderTables.due` says of what there is some. */
export const expiringSteps = ({ queue, tables, now }: Pick<UpkeepParts, "queue" | "tables" | "now">): PeriodicStep[] =>
  expirySteps(
    tables.expiring(tasksNeeded(queue.topic)).map(
      ({ what, remove }): Expiring => ({
        what,
        remove: async (at, limit) => inTransaction(queue, undefined, (tx) => remove(tx, at, limit)),
      }),
    ),
    now,
  );
