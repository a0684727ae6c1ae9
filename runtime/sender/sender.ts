/** Puts the parts together: registrations in, signed deliveries out. */

import { randomUUID } from "node:crypto";
import type { Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { createGuardedFetch, type GuardedFetch } from "../net/index.js";
import { checkedPolicy } from "../net/policy.js";
import type { Periodic } from "../queue/periodic.js";
import type { Queue } from "../queue/types.js";
import { waitingCaps } from "../queue/waiting-caps.js";
import { createWorker, type Worker } from "../queue/worker.js";
import type { SenderTables } from "../store/sender-tables.js";
import { type ActivityRecord, pendingRecord } from "./activity.js";
import type { AttemptOptions } from "./attempt.js";
import type { ChannelParts } from "./channel.js";
import { type Channels, createChannels, dueSteps } from "./channels.js";
import { type Deliverer, deliverer } from "./deliver.js";
import { type EndpointProof, endpointProof } from "./endpoint-proof.js";
import { knownTasks } from "./known-tasks.js";
import { type SenderMetrics, senderMetrics } from "./metrics.js";
import { createNotifications, type NotificationConfigs } from "./notifications.js";
import { isChange, metaOf, type Outbox, orderingKeyOf, outboxOf, ownerOf } from "./outbox.js";
import type { RegistrationRules } from "./registration.js";
import { HORIZON_MS, LONGEST_DELAY_MS } from "./schedule.js";
import { spokenReleases } from "./spoken.js";
import { createTargets } from "./targets.js";
import { createTasks, type Tasks } from "./tasks.js";
import type { SenderOptions } from "./types.js";
import { senderUpkeep } from "./upkeep.js";

export interface Sender {
  readonly tasks: Tasks;
  readonly channels: Channels;
  readonly notifications: NotificationConfigs;
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
/** How long an event waits for its first attempt while its endpoint fails, in milliseconds. */
const LONGEST_LIFE_MS = 7 * 86_400_000;
/** Events of an endpoint that wait, at most. */
const MAX_WAITING = 1_000_000;
const GIVEN_UP = "events were given up";

const badOption = (where: string, remedy: string): AdbindError =>
  new AdbindError("sender_option_invalid", "an option of a sender cannot be used", { where, remedy });

export interface SenderParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly options: SenderOptions;
}

/**
 * Makes a sender on a queue; `createSender` opens the queue that fits a store.
 * @throws AdbindError `sender_option_invalid`
 */
export async function assembleSender({ queue, tables, options }: SenderParts): Promise<Sender> {
  const { release, now = Date.now, random = Math.random, uuid = randomUUID, activityDays = ACTIVITY_DAYS } = options;
  if (!(activityDays >= ACTIVITY_DAYS)) throw badOption("activityDays", `give at least ${ACTIVITY_DAYS}`);
  const { signer: given } = options;
  const signer = typeof given === "function" ? given : () => given;
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
  const spoken = await spokenReleases([release, ...(options.releases ?? [])], options.validator);
  const metrics = senderMetrics(options.meter);
  const attemptOptions: AttemptOptions = {
    fetch: options.fetch ?? ownFetch!,
    signer,
    word: options.word ?? release.word,
    version: release.version,
    now,
    random,
    onFault: (error) => options.logger?.error({ err: error }, "an attempt could not be made"),
  };
  const tasks = createTasks({ queue, tables, spoken, rules, now, uuid, known: knownTasks(tables) });
  const delivery = deliverer({
    tables,
    tasks,
    targets: createTargets(queue, tables, options.authorized),
    limitsOf: options.limits ?? (() => undefined),
    attemptOptions,
    metrics,
    activityDays,
    now,
  });
  const worker = workerOf(queue, delivery, options);
  const channelParts: ChannelParts = {
    queue,
    tables,
    rules,
    spoken,
    log: options.logger,
    reports: options.reports,
    now,
    uuid,
    ...coalescenceOf(options),
  };
  const upkeep = upkeepOf(channelParts, options, metrics);
  return {
    tasks,
    channels: createChannels(channelParts),
    notifications: createNotifications({ ...channelParts, proof: proofOf(attemptOptions, options.agentUrl) }),
    outbox: outboxOf(queue, now),
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

/** @returns what proves endpoints; without a name of one's own it proves none */
const proofOf = (attempts: AttemptOptions, agentUrl: string | undefined): EndpointProof =>
  agentUrl === undefined
    ? async () => "the sender has no agentUrl to name in a challenge"
    : endpointProof(attempts, agentUrl);

const workerOf = (queue: Queue, delivery: Deliverer, { worker, now = Date.now, logger }: SenderOptions): Worker =>
  createWorker({
    ...worker,
    queue,
    ...delivery,
    ownerOf,
    longestDelayMs: LONGEST_WAIT_MS,
    giveUpMs: HORIZON_MS,
    now,
    expireMs: LONGEST_LIFE_MS,
    onGivenUp: (endpoint, count, state) => logger?.warn({ endpoint, count, state }, GIVEN_UP),
    onFault: (error) => logger?.error({ err: error }, "the outbox could not be reached"),
  });

function upkeepOf(
  parts: ChannelParts,
  { maxWaiting = MAX_WAITING, logger }: SenderOptions,
  metrics: SenderMetrics,
): Periodic {
  const { queue, tables, now } = parts;
  const onExpired = (endpoint: string, count: number): void =>
    logger?.warn({ endpoint, count, state: "expired" }, GIVEN_UP);
  const [coalesced, reports] = dueSteps(parts);
  const more = [waitingCaps({ queue, now, expireMs: LONGEST_LIFE_MS, keep: maxWaiting, onExpired })];
  return senderUpkeep({ queue, tables, coalesced, reports, more, now, logger, alarmed: metrics.alarmed });
}

const coalescenceOf = ({ coalescence }: SenderOptions) => (coalescence === undefined ? {} : { coalescence });

const warned = new Set<string>();
const warnOnce = (message: string): void => {
  const scheme = message.split(" ")[0]!;
  if (warned.has(scheme)) return;
  warned.add(scheme);
  process.emitWarning(message, "DeprecationWarning");
};

async function listActivity(
  queue: Queue,
  tables: SenderTables,
  request: { principal: string; subject: string; limit?: number },
): Promise<ActivityRecord[]> {
  const limit = Math.min(Math.max(1, request.limit ?? ACTIVITY_LIMIT.default), ACTIVITY_LIMIT.max);
  const { principal, subject } = request;
  const keys = ["task", "a2a", "buy"].map((kind) => orderingKeyOf(kind, subject));
  // Outside any transaction: who asks inside one of its own waits for nobody.
  const [out, done] = await queue.read(function* (q: Query) {
    return [
      yield* tables.pendingJobs(q, queue.topic, keys),
      yield* tables.activity(q, principal, subject, limit),
    ] as const;
  });
  const pending = out.flatMap((row) => {
    const meta = metaOf({ id: 0, meta: row.meta });
    return isChange(meta) || meta.principal !== principal ? [] : [pendingRecord(row)];
  });
  pending.sort((a, b) => (a.fired_at < b.fired_at ? 1 : -1));
  return [...pending, ...done.map(({ record }) => JSON.parse(record) as ActivityRecord)].slice(0, limit);
}
