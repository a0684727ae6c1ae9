/** How a sender is, for a health check and for metrics. */
import type { Queue } from "../queue/types.js";
import type { SenderTables } from "../store/sender-tables.js";
import type { OutboxCounts } from "./operators.js";
import type { Keyring } from "./sealing.js";

/** How a sender is, for a health check. */
export interface SenderHealth {
  /** Nothing an operator must see to at once. */
  readonly ok: boolean;
  /** Whether the database answered; the numbers are 0 where it did not. */
  readonly reachable: boolean;
  /** What there is to see to, in words. */
  readonly problems: readonly string[];
  readonly counts: OutboxCounts;
  /** Age of the oldest event that waits, in milliseconds; null where none does. */
  readonly oldestMs: number | null;
  /** `paused`: by an operator. `resting`: left alone until a time. `failing`: all that fail, those that rest among them. */
  readonly endpoints: { readonly paused: number; readonly resting: number; readonly failing: number };
  /** Whether registrations that carry a secret are taken. */
  readonly keepsSecrets: boolean;
}

export interface HealthParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
  readonly now: () => number;
  /** How long activity is kept. */
  readonly activityDays: number;
}

const sum = <Name extends string>(all: readonly Readonly<Record<Name, number>>[], name: Name): number =>
  all.reduce((total, one) => total + one[name], 0);

export const addedCounts = (all: readonly OutboxCounts[]): OutboxCounts => ({
  waiting: sum(all, "waiting"),
  dead: sum(all, "dead"),
  expired: sum(all, "expired"),
  refused: sum(all, "refused"),
});

/** Of several databases. */
export function addedHealth(
  all: readonly SenderHealth[],
): Pick<SenderHealth, "problems" | "counts" | "oldestMs" | "endpoints"> {
  const oldest = all.map(({ oldestMs }) => oldestMs).filter((ms) => ms !== null);
  const endpoints = all.map((one) => one.endpoints);
  return {
    problems: all.flatMap(({ problems }) => problems),
    counts: addedCounts(all.map(({ counts }) => counts)),
    oldestMs: oldest.length === 0 ? null : Math.max(...oldest),
    endpoints: {
      paused: sum(endpoints, "paused"),
      resting: sum(endpoints, "resting"),
      failing: sum(endpoints, "failing"),
    },
  };
}

const nothing = {
  counts: { waiting: 0, dead: 0, expired: 0, refused: 0 },
  oldestMs: null,
  endpoints: { paused: 0, resting: 0, failing: 0 },
} as const;

/** Never rejects: a database that is away is what it tells. */
export async function healthOf({ queue, tables, keyring, now, activityDays }: HealthParts): Promise<SenderHealth> {
  const keepsSecrets = keyring.seals;
  try {
    const at = now();
    const [{ ready: waiting, ...ended }, { oldest, ...endpoints }, problems] = await Promise.all([
      queue.counts(),
      queue.read((q) => tables.overview(q, queue.topic, at)),
      queue.alarms(at, activityDays),
    ]);
    const oldestMs = oldest === null ? null : Math.max(0, at - oldest);
    const counts = { waiting, ...ended };
    return { ok: problems.length === 0, reachable: true, problems, counts, oldestMs, endpoints, keepsSecrets };
  } catch {
    return { ok: false, reachable: false, problems: ["the database cannot be reached"], ...nothing, keepsSecrets };
  }
}
