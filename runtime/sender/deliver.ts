/** What is done with a job of the outbox, and what of it is written down in the transaction that acknowledges it. */
import type { Tracer } from "@opentelemetry/api";
import type { MaybePromise } from "../contract/index.js";
import { type Coroutine, isPromise, type Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Ack, AckEffect, Job } from "../queue/types.js";
import type { Handled, JobLease } from "../queue/worker-options.js";
import type { ActivityRow } from "../store/sender-activity.js";
import type { SenderTables } from "../store/sender-tables.js";
import { activityRow } from "./activity.js";
import { type AttemptOptions, attempt, type DeliveryMeta } from "./attempt.js";
import { endpointOf, hostOf } from "./endpoint-names.js";
import type { SenderMetrics } from "./metrics.js";
import { isChange, metaOf, readableMeta } from "./outbox.js";
import type { Bodies, OpenedBody } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import { applyChange } from "./stored-changes.js";
import type { Expected, LookedUp, Targets } from "./targets.js";
import type { Tasks } from "./tasks.js";
import { tracedAttempt } from "./tracing.js";
import type { EndpointIdentity, EndpointLimits } from "./types.js";

export interface DelivererDependencies {
  readonly tables: SenderTables;
  readonly tasks: Pick<Tasks, "update">;
  readonly targets: Targets;
  readonly keyring: Pick<Keyring, "refresh" | "seals">;
  readonly bodies: Bodies;
  readonly limitsOf: (endpoint: EndpointIdentity) => EndpointLimits | undefined;
  readonly attemptOptions: AttemptOptions;
  readonly metrics: SenderMetrics;
  readonly tracer: Tracer;
  readonly activityDays: number;
  readonly logger: Logger | undefined;
  readonly now: () => number;
}

export interface Deliverer {
  readonly onLeased: (jobs: readonly Job[]) => void;
  readonly handle: (job: Job, lease: JobLease) => Promise<Handled>;
  readonly effect: AckEffect;
}

/** How long an event waits when where it goes, or what it needs of the application, cannot be had now, in milliseconds. */
const AWAY_DELAY_MS = 5_000;
/** How long it waits where its endpoint is to answer a challenge first, in milliseconds. */
const UNPROVED_DELAY_MS = 30_000;
/** How often an operator is told of secrets that do not open, for each reason, in milliseconds. */
const TELL_MS = 600_000;
/** Milliseconds a receiver has, and the most it may be given (docs/protocol/webhooks.md#retries). */
const TIMEOUT_MS = { default: 10_000, max: 30_000 } as const;

const inBounds = ({ timeoutMs = TIMEOUT_MS.default, perSecond }: EndpointLimits) => ({
  timeoutMs: timeoutMs > 0 ? Math.min(timeoutMs, TIMEOUT_MS.max) : TIMEOUT_MS.default,
  perSecond: perSecond !== undefined && perSecond > 0 ? perSecond : null,
});

/** Undefined where the application cannot say now. */
function boundsOf({ limitsOf, attemptOptions }: DelivererDependencies, of: EndpointIdentity) {
  try {
    return inBounds(limitsOf(of) ?? {});
  } catch (fault) {
    attemptOptions.onFault(fault);
    return undefined;
  }
}

/** How an event ends, or waits, that is not attempted. */
function endsOf({ keyring, metrics, logger, now }: DelivererDependencies) {
  const told = new Map<string, number>();
  const later = (ms = AWAY_DELAY_MS): Handled => ({ outcome: { kind: "released", due: now() + ms }, healthy: null });
  const aside = (error: string): Handled => {
    metrics.ended("refused", 1);
    return { outcome: { kind: "refused", error }, healthy: null };
  };
  const tell = (reason: string, about: object, message: string): void => {
    if (performance.now() - (told.get(reason) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    told.set(reason, performance.now());
    logger?.warn(about, message);
  };
  const unreadable = (fault: unknown, { id: event }: Job): Handled => {
    if (!(fault instanceof AdbindError) || fault.code !== "job_unreadable") throw fault;
    tell(fault.code, { why: fault.message, event }, UNREADABLE);
    return aside(fault.message);
  };
  const shut = (why: string, { type, subject }: DeliveryMeta): Handled => {
    // Without any key the fault is this instance's, and not its events'.
    const keyless = !keyring.seals;
    tell(why, { why, type, subject }, keyless ? KEYLESS : SHUT);
    return keyless ? later() : aside(why);
  };
  return { later, aside, unreadable, shut };
}

const KEYLESS =
  "events wait: there are no keys of secrets here; give the sender secrets, or set ADBIND_SECRET_KEYS_FILE";
const SHUT = "events are set aside: their secrets do not open; bring the key back and replay them, or drop them";

const UNREADABLE =
  "events are set aside: what is stored of them cannot be read; bring it back (a day's partition that was detached or dropped, a row that was changed) and replay them, or drop them";

export function deliverer(parts: DelivererDependencies): Deliverer {
  const ends = endsOf(parts);
  const deliver = delivering(parts, ends);
  return {
    onLeased: (jobs) => parts.targets.expect(jobs.flatMap(expectedOf)),
    handle: (job, lease) => deliver(job, lease).catch((fault: unknown) => ends.unreadable(fault, job)),
    effect: effectOf(parts),
  };
}

/** @returns makes one attempt; throws AdbindError `job_unreadable`, and what is a fault of ours */
function delivering(
  parts: DelivererDependencies,
  { later, aside, shut }: ReturnType<typeof endsOf>,
): Deliverer["handle"] {
  const { attemptOptions, metrics, tracer, activityDays, now } = parts;
  return async (job, lease) => {
    const meta = metaOf(job);
    if (isChange(meta)) return applyChange(parts, job);
    if (meta.undeliverable !== undefined) return aside(meta.undeliverable);
    let found: Ready;
    try {
      const ready = readied(parts, job, meta);
      // Almost always at once; a promise of each would cost more than what it says.
      found = isPromise(ready) ? await ready : ready;
    } catch (fault) {
      if (fault instanceof AdbindError && fault.code === "job_unreadable") throw fault;
      attemptOptions.onFault(fault);
      return later();
    }
    if (found.kind === "unproved") return later(UNPROVED_DELAY_MS);
    if (found.kind !== "found") return found.kind === "shut" ? shut(found.why, meta) : aside(found.why);
    const { target, erasable, body } = found;
    const { principal, tokened = false } = meta;
    // It has moved: what is known of the place it was at says nothing of this one.
    const endpoint = target.endpoint ?? endpointFor(principal, target.url);
    if (endpoint !== undefined && endpoint !== job.endpoint)
      return { outcome: { kind: "released", due: now(), endpoint }, healthy: null };
    const limits = boundsOf(parts, { principal, url: target.url });
    if (limits === undefined) return later();
    const { timeoutMs, perSecond } = limits;
    const traced = tracedAttempt(tracer, meta.trace, {
      ...{ type: meta.type, attempt: job.attempts + 1, host: hostOf(job.endpoint) },
    });
    const { traceparent } = traced;
    const whole = body === job.body ? job : { ...job, body };
    const report = await attempt(
      { job: whole, principal, target, tokened, lease, timeoutMs, traceparent },
      attemptOptions,
    );
    traced.end(report);
    if (report === undefined) return { outcome: { kind: "released", due: now() }, healthy: null, perSecond };
    const note: Note = {
      activity: activityRow(job, { report, url: target.url, meta }, now(), activityDays),
      erases: report.status === "success" ? erasable : undefined,
    };
    metrics.attempted(job, report);
    tellDead(parts, job, meta, report.handled);
    return { ...report.handled, perSecond, note };
  };
}

/** What is written of an attempt when it is acknowledged. */
interface Note {
  readonly activity: ActivityRow;
  /** The registration whose secrets may be erased then. */
  readonly erases: string | undefined;
}

const noteOf = ({ note }: Ack): Note | undefined => note as Note | undefined;

function effectOf({ tables, now }: DelivererDependencies): AckEffect {
  return Object.assign(
    function* (query: Query, acked: readonly Ack[]): Coroutine<void> {
      const notes = acked.map(noteOf).filter((note) => note !== undefined);
      yield* tables.log(
        query,
        notes.map(({ activity }) => activity),
      );
      const over = notes.flatMap(({ erases }) => erases ?? []);
      yield* tables.checkSecrets(query, [...new Set(over)], now());
    },
    {
      activity: (acks: readonly Ack[]) => {
        const notes = acks.map(noteOf);
        return notes.some((note) => note?.erases !== undefined) ? undefined : notes.map((note) => note?.activity);
      },
    },
  );
}

/** An event that ends here is told at once: nobody looks for what did not arrive. */
function tellDead(
  { logger }: DelivererDependencies,
  job: Job,
  { type, subject }: DeliveryMeta,
  { outcome }: Handled,
): void {
  if (outcome.kind !== "dead") return;
  const { id: event, endpoint } = job;
  logger?.warn({ event, endpoint, type, subject, error: outcome.error }, "an event was given up");
}

/** Where a delivery goes, and its body as it was made. */
type Ready =
  | Exclude<LookedUp, { readonly kind: "found" }>
  | (Extract<LookedUp, { readonly kind: "found" }> & { readonly body: Uint8Array });

/** @throws what cannot be had now, of the database or the application; AdbindError `job_unreadable` */
function readied(parts: DelivererDependencies, job: Job, meta: DeliveryMeta): MaybePromise<Ready> {
  const { target, principal, account, type } = meta;
  const found = parts.targets.find({ target, principal, account, type, task: job.task });
  return isPromise(found)
    ? found.then((late) => withBody(parts, job, principal, late))
    : withBody(parts, job, principal, found);
}

/** Keys that came since are fetched before a body is set aside. @throws what their source throws; LateAnswer */
function withBody(
  { bodies, keyring }: DelivererDependencies,
  job: Job,
  principal: string,
  found: LookedUp,
): MaybePromise<Ready> {
  if (found.kind !== "found") return found;
  const owner = { principal, key: job.key };
  const ready = (opened: OpenedBody): Ready =>
    opened.ok ? { ...found, body: opened.body } : { kind: "shut", why: opened.why };
  const opened = bodies.open(job.body, owner);
  if (opened.ok || !opened.lost) return ready(opened);
  return keyring.refresh().then(() => ready(bodies.open(job.body, owner)));
}

/** None for a URL that cannot be read: its attempt says so. */
function endpointFor(principal: string, url: string): string | undefined {
  try {
    return endpointOf({ principal, url });
  } catch {
    return undefined;
  }
}

/** What says where a job goes; none for what goes nowhere, or cannot be read: that is told when it is handled. */
function expectedOf(job: Job): Expected[] {
  const meta = readableMeta(job);
  return meta === undefined ? [] : [{ target: meta.target, task: job.task }];
}
