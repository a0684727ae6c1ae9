/** What is over is kept for a while, and in bounds. */
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { removeInTurn, TURN_ROWS } from "../queue/expiry.js";
import { waitingUnder } from "../queue/ordering-keys.js";
import { MORE, type PeriodicStep } from "../queue/periodic.js";
import type { Queue } from "../queue/types.js";
import type { TasksNeeded } from "../store/sender-activity.js";
import type { SenderTables } from "../store/sender-tables.js";
import { channelOrderingKey } from "./channel.js";
import { ownerOf } from "./endpoint-names.js";
import { taskOrderingKey } from "./outbox.js";
import { inTransaction } from "./transact.js";
import type { RetentionOptions } from "./types.js";

const DAY_MS = 86_400_000;
/** How often it is looked while there is something to remove, in milliseconds: that is counted in days, or in many rows. */
const LOOK_MS = 10_000;
/** And after a look that found nothing. */
const IDLE_LOOK_MS = 60_000;
/** How long what is noted of an endpoint is kept where nothing is left for it, in milliseconds. */
const IDLE_MS = DAY_MS;
/** When a closed channel that something waits for is looked at again, in milliseconds. */
const KEPT_CHECK_MS = 600_000;
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

type Turn = (stopping: AbortSignal) => ReturnType<typeof removeInTurn>;

function turnStep(what: string, turn: Turn): PeriodicStep {
  let next = Number.NEGATIVE_INFINITY;
  return {
    name: `remove ${what}`,
    meanwhile: "they stay, and the database grows; see what it says in the error",
    async run(stopping) {
      if (performance.now() < next) return undefined;
      const { removed, more } = await turn(stopping);
      if (more) return MORE;
      next = performance.now() + (removed > 0 ? LOOK_MS : IDLE_LOOK_MS);
      return undefined;
    },
  };
}

/** In one transaction a turn: what there is has to be counted in each. */
async function evict({ queue }: RetentionParts, keep: number): ReturnType<Turn> {
  const owner = (endpoint: string): string => ownerOf(endpoint).principal;
  const removed = await queue.removeKept({ kind: "evict", keep, limit: TURN_ROWS, ownerOf: owner });
  return { removed, more: removed >= TURN_ROWS };
}

/** Those that something waits for still are kept: at an endpoint that an operator has paused it waits for however long. */
function* dropClosed({ queue, tables }: RetentionParts, tx: Query, before: number, limit: number): Coroutine<number> {
  const rows = yield* tables.closedChannels(tx, before, limit);
  // What is queued for one that was removed is not sent.
  const told = rows.filter(({ config }) => config !== "null");
  const waiting = yield* waitingUnder(tx, queue.topic, told.map(channelOrderingKey));
  const kept = new Set(told.filter((row) => waiting.has(channelOrderingKey(row))));
  yield* tables.dropChannels(
    tx,
    rows.filter((row) => !kept.has(row)),
  );
  // Looked at again later, or they would stand before all others each time.
  yield* tables.putOffChannels(tx, [...kept], before + KEPT_CHECK_MS);
  return rows.length;
}

/** Tasks of which an event waits still, whatever endpoint it waits at. */
export const tasksNeeded = (topic: string): TasksNeeded =>
  function* (tx, ids) {
    const keysOf = (id: string) => [taskOrderingKey("push", id), taskOrderingKey("a2a", id)];
    const waiting = yield* waitingUnder(tx, topic, ids.flatMap(keysOf));
    return new Set(ids.filter((id) => keysOf(id).some((key) => waiting.has(key))));
  };

/** Where nothing is left for an endpoint nobody learns that it is well: what is noted of it would stay for ever. */
function endpointsTurn({ queue, tables, now }: RetentionParts): Turn {
  let after = "";
  return async () => {
    const page = { before: now() - IDLE_MS, after, limit: TURN_ROWS };
    const { removed, last } = await inTransaction(queue, undefined, (tx) =>
      tables.dropIdleEndpoints(tx, queue.topic, page),
    );
    after = last ?? "";
    return { removed, more: last !== undefined };
  };
}

export function retentionSteps(parts: RetentionParts, retention: Retention): PeriodicStep[] {
  const { queue, tables, now } = parts;
  const step = (what: string, remove: (limit: number) => Promise<number>): PeriodicStep =>
    turnStep(what, (stopping) => removeInTurn(remove, stopping));
  const { activityRows, deadLetterDays, deadLetters: keep, closedChannelDays } = retention;
  const before = (days: number): number => now() - days * DAY_MS;
  return [
    step("old dead letters", (limit) => queue.removeKept({ kind: "prune", before: before(deadLetterDays), limit })),
    turnStep("dead letters beyond their number", () => evict(parts, keep)),
    step("closed channels", async (limit) =>
      inTransaction(queue, undefined, (tx) => dropClosed(parts, tx, before(closedChannelDays), limit)),
    ),
    turnStep("endpoints that nothing waits for", endpointsTurn(parts)),
    ...(activityRows === defaults.activityRows
      ? []
      : [
          step("activity beyond its rows", async (limit) =>
            inTransaction(queue, undefined, (tx) => tables.trimActivity(tx, activityRows, limit)),
          ),
        ]),
  ];
}
