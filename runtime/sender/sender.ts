/** Puts the parts together: registrations in, signed deliveries out. */

import { randomUUID } from "node:crypto";
import { trace } from "@opentelemetry/api";
import type { Query } from "../db/index.js";
import { createGuardedFetch, type GuardedFetch } from "../net/index.js";
import { waitWithin } from "../queue/pauses.js";
import type { Periodic } from "../queue/periodic.js";
import type { Queue } from "../queue/types.js";
import { waitingCaps } from "../queue/waiting-caps.js";
import { createWorker, type Worker } from "../queue/worker.js";
import type { SenderTables } from "../store/sender-tables.js";
import { type ActivityRecord, pendingRecord, shownRecord } from "./activity.js";
import type { AttemptOptions } from "./attempt.js";
import type { ChannelDependencies } from "./channel.js";
import { type Channels, createChannels, dueSteps } from "./channels.js";
import { fetchInTime } from "./deadline.js";
import { type Deliverer, deliverer } from "./deliver.js";
import { ownerOf } from "./endpoint-names.js";
import { healthOf, type SenderHealth } from "./health.js";
import { checkSoughtNames } from "./ids.js";
import { knownTasks } from "./known-tasks.js";
import { type SenderMetrics, senderMetrics } from "./metrics.js";
import { provingStep } from "./moved-configs.js";
import type { NotificationDependencies } from "./notification-configs.js";
import { createNotifications, type NotificationConfigs } from "./notifications.js";
import { boundedRows, type Outbox, outboxOf } from "./operators.js";
import { isChange, metaOf, subjectOrderingKeys } from "./outbox.js";
import { eraseSecrets } from "./registered-secrets.js";
import type { RegistrationRules } from "./registration.js";
import { openSenderReleases, type SenderReleases } from "./releases.js";
import { resealSecrets } from "./reseal.js";
import type { Resealed } from "./reseal-bodies.js";
import { type Retention, retentionOf, retentionSteps } from "./retention.js";
import { HORIZON_MS, LONGEST_DELAY_MS } from "./schedule.js";
import { bodiesOf } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import { setBackStep } from "./set-back.js";
import {
  attemptOptionsOf,
  callbackTimeoutOf,
  keyringOf,
  maxWaitingOf,
  proofOf,
  rulesOf,
  type SenderPlace,
  sealsBodies,
  windowsOf,
} from "./settings.js";
import { createTargets } from "./targets.js";
import { createTasks, type Tasks } from "./tasks.js";
import { inTransaction } from "./transact.js";
import type { SenderOptions } from "./types.js";
import { keysStep, senderUpkeep } from "./upkeep.js";

/** Webhooks out: tasks, channels, notifications, and the outbox they go through. */
export interface Sender {
  readonly tasks: Tasks;
  readonly channels: Channels;
  readonly notifications: NotificationConfigs;
  readonly outbox: Outbox;
  /**
   * `webhook_activity[]` of a media buy or a task, newest first, for the principal it was fired for. Attempts under way are looked
   * for among the first 1,000 of its events that wait for their first attempt, and 10,000 of those that wait for another.
   * @param limit 1 to 200, default 50
   * @throws AdbindError `event_invalid` for names that nothing can have
   */
  activity(request: { principal: string; subject: string; limit?: number }): Promise<ActivityRecord[]>;
  /** How it is, for a health check; never rejects. */
  health(): Promise<SenderHealth>;
  /** Seals every secret anew under the current key: after it, older keys are needed for nothing. */
  resealSecrets(): Promise<Resealed>;
  /** Starts delivering. Events may be stored without it: another process can deliver them. */
  start(): void;
  /**
   * Takes nothing more and waits for the attempts under way, so long as `withinMs` says. The store stays open.
   * @returns how many attempts were not waited for; their events are left to their lease, for whoever takes them next
   */
  stop(options?: SenderStopOptions): Promise<number>;
}

/** How long a stop waits. */
export interface SenderStopOptions {
  /**
   * Longest wait for attempts, and whatever else is under way, in milliseconds; 30,000 by default. What connections need to be
   * closed comes to it, two seconds at most.
   */
  readonly withinMs?: number;
}

const ACTIVITY_LIMIT = { default: 50, max: 200 } as const;
/** The longest delay with its jitter, in milliseconds, and a margin. */
const LONGEST_WAIT_MS = 2 * LONGEST_DELAY_MS;
/** How long an event waits for its first attempt while its endpoint fails, in milliseconds. */
const LONGEST_LIFE_MS = 7 * 86_400_000;
const GIVEN_UP = "events were given up";
/** How long a stop waits: for what is under way, and for connections to be closed; in milliseconds. */
export const STOP_MS = { default: 30_000, closing: 2_000 } as const;
const LEFT = "stopped while attempts were under way; their events are left to their lease";

export interface SenderDependencies {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly options: SenderOptions;
  readonly place: SenderPlace;
  /** Of senders on several databases, which have it together. */
  readonly shared?: SharedParts;
  /** Where changes that applications stored by SQL are made; by default here. */
  readonly changes?: Pick<Tasks, "update">;
}

/** What a sender has beside its database. */
export interface SharedParts {
  readonly keyring: Keyring;
  readonly rules: RegistrationRules;
  readonly releases: SenderReleases;
  readonly metrics: SenderMetrics;
  readonly attemptOptions: AttemptOptions;
  close(): Promise<void>;
}

/** @throws AdbindError `sender_option_invalid`, `secret_keys_invalid`, `net_option_invalid` */
export async function sharedParts(options: SenderOptions, place: SenderPlace): Promise<SharedParts> {
  const ownFetch: GuardedFetch | undefined = options.fetch === undefined ? createGuardedFetch(options.net) : undefined;
  const keyring = await keyringOf(options, place);
  return {
    keyring,
    rules: rulesOf(options, keyring),
    releases: await openSenderReleases([options.release, ...(options.releases ?? [])], options.validator),
    metrics: senderMetrics(options.meter),
    attemptOptions: attemptOptionsOf(
      options,
      place,
      options.fetch === undefined ? ownFetch! : fetchInTime(options.fetch),
    ),
    close: async () => ownFetch?.close(),
  };
}

/**
 * Makes a sender on a queue; `createSender` opens the queue that fits a store.
 * @throws AdbindError `sender_option_invalid`, `secret_keys_invalid`
 */
export async function assembleSender({ queue, tables, options, place, ...given }: SenderDependencies): Promise<Sender> {
  const { uuid = randomUUID } = options;
  const now = options.now ?? place.now ?? Date.now;
  const retention = retentionOf(options.retention);
  const shared = given.shared ?? (await sharedParts(options, place));
  const { keyring, rules, releases, metrics } = shared;
  const attemptOptions = { ...shared.attemptOptions, now };
  const bodies = bodiesOf(keyring, sealsBodies(options, keyring));
  const { activityDays } = retention;
  const callbackMs = callbackTimeoutOf(options);
  const common = { queue, tables, releases, rules, now, uuid, keyring, bodies, callbackMs, activityDays };
  const tasks = createTasks({ ...common, known: knownTasks(tables) });
  const delivery = deliverer({
    tables,
    tasks: given.changes ?? tasks,
    targets: createTargets({ ...common, authorized: options.authorized }),
    keyring,
    bodies,
    limitsOf: options.limits ?? (() => undefined),
    attemptOptions,
    metrics,
    tracer: options.tracer ?? trace.getTracer("adbind"),
    activityDays,
    logger: options.logger,
    now,
  });
  const worker = workerOf(queue, delivery, { ...options, now }, metrics);
  const channelParts: ChannelDependencies = {
    ...common,
    log: options.logger,
    reports: options.reports,
    coalescence: windowsOf(options),
  };
  const notified = { ...channelParts, proof: proofOf(attemptOptions, options.agentUrl) };
  const upkeep = upkeepOf(notified, options, retention, metrics);
  let unobserve: (() => void) | undefined;
  return {
    tasks,
    channels: createChannels(channelParts),
    notifications: createNotifications(notified),
    outbox: outboxOf(common, worker),
    activity: (request) => listActivity(common, request),
    health: () => healthOf(common),
    resealSecrets: () => resealSecrets(common),
    start() {
      worker.start();
      upkeep.start();
      if (given.shared === undefined) unobserve ??= metrics.observe(() => healthOf(common));
    },
    async stop({ withinMs = STOP_MS.default } = {}) {
      unobserve?.();
      const [left] = await Promise.all([worker.stop(withinMs), waitWithin(upkeep.stop(), withinMs)]);
      if (left > 0) options.logger?.warn({ attempts: left }, LEFT);
      const closing = Promise.all([given.shared === undefined ? shared.close() : undefined, queue.close()]);
      await waitWithin(closing, STOP_MS.closing);
      return left;
    },
  };
}

const workerOf = (
  queue: Queue,
  delivery: Deliverer,
  { worker, now = Date.now, logger }: SenderOptions,
  metrics: SenderMetrics,
): Worker =>
  createWorker({
    ...worker,
    queue,
    ...delivery,
    ownerOf,
    longestDelayMs: LONGEST_WAIT_MS,
    giveUpMs: HORIZON_MS,
    now,
    expireMs: LONGEST_LIFE_MS,
    onGivenUp: (endpoint, count, state) => {
      metrics.ended(state, count);
      logger?.warn({ endpoint, count, state }, GIVEN_UP);
    },
    onFault: (error) => logger?.error({ err: error }, "the outbox could not be reached"),
  });

function upkeepOf(
  parts: NotificationDependencies,
  options: SenderOptions,
  retention: Retention,
  metrics: SenderMetrics,
): Periodic {
  const { queue, tables, now, keyring } = parts;
  const { logger } = options;
  const onExpired = (endpoint: string, count: number, state: "expired" | "dead"): void => {
    metrics.ended(state, count);
    logger?.warn({ endpoint, count, state }, GIVEN_UP);
  };
  const [coalesced, reports] = dueSteps(parts);
  const secrets = {
    name: "erase secrets of what is over",
    meanwhile: "they are kept, sealed",
    run: () => inTransaction(queue, undefined, (tx) => eraseSecrets(parts, tx, now())),
  };
  const more = [
    setBackStep(parts),
    waitingCaps({ queue, now, expireMs: LONGEST_LIFE_MS, keep: maxWaitingOf(options), onExpired }),
    keysStep(keyring),
    ...retentionSteps(parts, retention),
  ];
  const proofs = provingStep(parts);
  return senderUpkeep({
    queue,
    tables,
    coalesced,
    reports,
    proofs,
    secrets,
    more,
    now,
    logger,
    activityDays: retention.activityDays,
  });
}

async function listActivity(
  { queue, tables, now }: { readonly queue: Queue; readonly tables: SenderTables; readonly now: () => number },
  request: { principal: string; subject: string; limit?: number },
): Promise<ActivityRecord[]> {
  const limit = boundedRows(request.limit ?? ACTIVITY_LIMIT.default, 1, ACTIVITY_LIMIT.max);
  const { principal, subject } = request;
  checkSoughtNames({ principal, subject });
  // Outside any transaction: who asks inside one of its own waits for nobody.
  const [out, done] = await queue.read(function* (q: Query) {
    return [
      yield* queue.underWay(q, subjectOrderingKeys(subject)),
      yield* tables.activity(q, { principal, subject }, { limit, now: now() }),
    ] as const;
  });
  const pending = out.flatMap((job) => {
    const meta = metaOf(job);
    return isChange(meta) || meta.principal !== principal ? [] : [pendingRecord(job, meta)];
  });
  pending.sort((a, b) => (a.fired_at < b.fired_at ? 1 : -1));
  return [...pending, ...done.map(({ record }) => shownRecord(record))].slice(0, limit);
}
