/** Puts the parts together: registrations in, signed deliveries out. */
import { randomUUID } from "node:crypto";
import { AdbindError } from "../errors.js";
import { createGuardedFetch, type GuardedFetch } from "../net/index.js";
import { checkedPolicy } from "../net/policy.js";
import { expirySteps } from "../queue/expiry.js";
import { createPeriodic, tellLog } from "../queue/periodic.js";
import type { Job, MaybePromise, Queue, Settlement } from "../queue/types.js";
import { createWorker, type Outcome } from "../queue/worker.js";
import type { ActivityRow, SenderTables } from "../store/sender-tables.js";
import type { Expiring } from "../store/types.js";
import { createValidator } from "../validate/index.js";
import { type ActivityRecord, activityRow, pendingRecord } from "./activity.js";
import { type AttemptOptions, attempt } from "./attempt.js";
import type { ChannelParts } from "./channel.js";
import { type Channels, createChannels, dueSteps } from "./channels.js";
import { type SenderMetrics, senderMetrics } from "./metrics.js";
import { type Outbox, outboxOf } from "./outbox.js";
import type { RegistrationRules } from "./registration.js";
import { HORIZON_MS, LONGEST_DELAY_MS } from "./schedule.js";
import { createTasks, type Tasks } from "./tasks.js";
import { inTransaction } from "./transact.js";
import type { SenderOptions } from "./types.js";

export interface Sender<Tx> {
  readonly tasks: Tasks<Tx>;
  readonly channels: Channels<Tx>;
  readonly outbox: Outbox;
  /**
   * `webhook_activity[]` of a media buy or a task, newest first, for the principal it was fired for.
   * @param limit 1 to 200, default 50
   */
  activity(request: { principal: string; subject: string; limit?: number }): Promise<ActivityRecord[]>;
  /** Starts delivering. Events may be stored without it: another process can deliver them. */
  start(): void;
  /** Takes nothing more and waits for the attempts under way. The store stays open. */
  stop(): Promise<void>;
}

/** Days of activity kept, at least (webhooks-facts.md 5). */
const ACTIVITY_DAYS = 30;
const ACTIVITY_LIMIT = { default: 50, max: 200 } as const;
/** The longest delay with its jitter, in milliseconds, and a margin. */
const LONGEST_WAIT_MS = 2 * LONGEST_DELAY_MS;
/** How often reports and coalesced events are looked for, in milliseconds. */
const TIMER_MS = 1_000;

const badOption = (where: string, remedy: string): AdbindError =>
  new AdbindError("sender_option_invalid", "an option of a sender cannot be used", { where, remedy });

export interface SenderParts<Tx> {
  readonly queue: Queue<Tx>;
  readonly tables: SenderTables<Tx>;
  readonly options: SenderOptions<Tx>;
}

/**
 * Makes a sender on a queue; `createSender` opens the queue that fits a store.
 * @throws AdbindError `sender_option_invalid`
 */
export async function assembleSender<Tx>({ queue, tables, options }: SenderParts<Tx>): Promise<Sender<Tx>> {
  const { release, now = Date.now, random = Math.random, uuid = randomUUID, activityDays = ACTIVITY_DAYS } = options;
  if (!(activityDays >= ACTIVITY_DAYS)) throw badOption("activityDays", `give at least ${ACTIVITY_DAYS}`);
  const signer = typeof options.signer === "function" ? options.signer : () => options.signer as never;
  const policy = checkedPolicy(options.net ?? {});
  const ownFetch: GuardedFetch | undefined = options.fetch === undefined ? createGuardedFetch(options.net) : undefined;
  const rules: RegistrationRules = {
    refuse: options.refuse ?? {},
    policy,
    version: release.version,
    warn: (message) => {
      options.logger?.warn(message);
      (options.onDeprecated ?? warnOnce)(message);
    },
  };
  const validator = await (options.createValidator ?? createValidator)(release);
  const metrics = senderMetrics(options.meter);
  const attemptOptions: AttemptOptions = {
    fetch: options.fetch ?? ownFetch!,
    signer,
    word: options.word ?? release.word,
    version: release.version,
    now,
    random,
  };
  const delivery = deliverer({ queue, tables, attemptOptions, metrics, activityDays, now });
  const worker = createWorker<Tx>({
    ...options.worker,
    queue,
    ...delivery,
    longestDelayMs: LONGEST_WAIT_MS,
    giveUpMs: HORIZON_MS,
    now,
    onBuried: (group, count) => options.logger?.warn({ destination: group, count }, "events were given up"),
    onFault: (error) => options.logger?.error({ err: error }, "the outbox could not be reached"),
  });
  const channelParts: ChannelParts<Tx> = {
    queue,
    tables,
    rules,
    reports: options.reports,
    now,
    uuid,
    ...coalescenceOf(options),
  };
  const upkeep = createPeriodic({
    pauseMs: TIMER_MS,
    steps: [...dueSteps(channelParts), ...expirySteps(expiringIn(queue, tables), now)],
    telling: tellLog(options.logger),
  });
  return {
    tasks: createTasks({ queue, tables, release, validator, rules, now, uuid }),
    channels: createChannels(channelParts),
    outbox: outboxOf(queue as Queue<never>, now),
    activity: (request) => listActivity(queue, tables, request),
    start() {
      worker.start();
      upkeep.start();
    },
    async stop() {
      await upkeep.stop();
      await worker.stop();
      await ownFetch?.close();
      await queue.close();
    },
  };
}

const expiringIn = <Tx>(queue: Queue<Tx>, tables: SenderTables<Tx>): Expiring[] =>
  tables.expiring.map(({ what, remove }) => ({
    what,
    remove: async (now, limit) => inTransaction(queue, undefined, (tx) => remove(tx, now, limit)),
  }));

const coalescenceOf = <Tx>({ coalescence }: SenderOptions<Tx>) => (coalescence === undefined ? {} : { coalescence });

const warned = new Set<string>();
const warnOnce = (message: string): void => {
  const scheme = message.split(" ")[0]!;
  if (warned.has(scheme)) return;
  warned.add(scheme);
  process.emitWarning(message, "DeprecationWarning");
};

interface DelivererParts<Tx> {
  readonly queue: Queue<Tx>;
  readonly tables: SenderTables<Tx>;
  readonly attemptOptions: AttemptOptions;
  readonly metrics: SenderMetrics;
  readonly activityDays: number;
  readonly now: () => number;
}

/** The attempt, and what of it is written down in the transaction that settles it. */
function deliverer<Tx>({ queue, tables, attemptOptions, metrics, activityDays, now }: DelivererParts<Tx>) {
  const rows = new WeakMap<object, ActivityRow>();
  const handle = async (job: Job): Promise<Outcome> => {
    const report = await attempt(job, attemptOptions);
    rows.set(report.outcome.verdict, activityRow(job, report, now(), activityDays));
    metrics.attempted(job, report, now());
    return report.outcome;
  };
  const effect = (tx: Tx, settled: readonly Settlement[]): MaybePromise<void> =>
    inTransaction(queue, tx, (open) =>
      tables.log(
        open,
        settled.map(({ verdict }) => rows.get(verdict)).filter((row) => row !== undefined),
      ),
    );
  return { handle, effect };
}

async function listActivity<Tx>(
  queue: Queue<Tx>,
  tables: SenderTables<Tx>,
  request: { principal: string; subject: string; limit?: number },
): Promise<ActivityRecord[]> {
  const limit = Math.min(Math.max(1, request.limit ?? ACTIVITY_LIMIT.default), ACTIVITY_LIMIT.max);
  const { principal, subject } = request;
  const done = await queue.transact((tx) => tables.activity(tx, principal, subject, limit));
  const lanes = [`task:${subject}`, `a2a:${subject}`, `buy:${subject}`];
  const pending: ActivityRecord[] = [];
  for (const lane of lanes) {
    const out = await queue.transact((tx) => tables.pendingJobs(tx, queue.topic, lane));
    const own = out.filter((row) => (JSON.parse(row.meta) as { principal: string }).principal === principal);
    pending.push(...own.map(pendingRecord));
  }
  pending.sort((a, b) => (a.fired_at < b.fired_at ? 1 : -1));
  return [...pending, ...done.map(({ record }) => JSON.parse(record) as ActivityRecord)].slice(0, limit);
}
