/** From a request that is authenticated and whose envelope holds to its place in the store, and its handler's start. */
import { hash, timingSafeEqual } from "node:crypto";
import type { AcceptOutcome, Arrival, NewEvent, NonceUse, Registration, RouteBinding } from "../store/types.js";
import type { Envelope } from "./envelope.js";
import { instantMs } from "./instant.js";
import { resultJudge } from "./judge.js";
import type { ReceiverConfig } from "./settings.js";
import type { RequestSpan } from "./tracing.js";
import type { Worker } from "./worker.js";

/** Bytes kept of a body's digest: enough to notice that a key came back with another one. */
const DIGEST_BYTES = 16;

/** What reaches the inbox. */
export interface Incoming {
  readonly binding: RouteBinding;
  readonly envelope: Envelope;
  readonly body: unknown;
  readonly raw: Uint8Array;
  readonly token: string | null;
  readonly nonce?: NonceUse;
  /** SHA-256 of the body in base64url, where it is known already. */
  readonly digest?: string;
  /** The request that brought it; absent for what was polled. */
  readonly span?: RequestSpan;
}

/** Claims, orders and keeps an event; its handler then runs. Also the way in for what polling finds. */
export type Keep = (incoming: Incoming, registration: Registration | undefined) => Promise<AcceptOutcome>;

/** Told of every event that ends its task, or would have if it had been applied. */
export type TerminalListener = (sender: string, taskId: string) => void;

/** Claim, order and inbox row, and the handler's start. */
export function keeper<Tx>(config: ReceiverConfig<Tx>, worker: Worker, onTerminal: TerminalListener): Keep {
  const judge = resultJudge(config);
  return async (incoming, registration) => {
    const { binding, envelope, body, raw } = incoming;
    const bound = releaseFor(config, binding, registration);
    const taskType = envelope.taskType ?? registration?.taskType ?? null;
    const now = config.now();
    const event: NewEvent = {
      sender: binding.sender,
      key: envelope.key,
      route: binding.route,
      kind: binding.kind,
      release: bound.release.version,
      format: envelope.format,
      taskType,
      taskId: envelope.taskId,
      operationId: envelope.operationId,
      status: envelope.status,
      instant: envelope.time?.instant ?? null,
      notificationId: envelope.notificationId,
      body: raw,
      receivedAt: now,
      traceparent: incoming.span?.traceparent ?? null,
      notes: await judge(binding.kind, { ...envelope, taskType }, body, bound.release),
    };
    incoming.span?.brings(event);
    const lease = worker.reserve();
    let outcome: AcceptOutcome | undefined;
    try {
      outcome = await config.store.inbox.accept(arrivalOf(config, incoming, event, { registration, lease, now }));
    } finally {
      const leased = outcome?.outcome === "accepted" && outcome.leased;
      if (lease !== undefined && !leased) worker.release();
    }
    begin(worker, event, body, outcome);
    if (envelope.time?.early) {
      config.metrics.anomaly("future_timestamp");
      config.log.warn(
        { sender: event.sender, kind: event.kind },
        "an event says that it is still to come; its arrival counts",
      );
    }
    report(config, event, outcome);
    const ends = outcome.outcome === "accepted" ? envelope.terminal : outcome.outcome === "stale" && outcome.missed;
    if (ends && event.taskId !== null) {
      onTerminal(event.sender, event.taskId);
    }
    return outcome;
  };
}

function arrivalOf<Tx>(
  config: ReceiverConfig<Tx>,
  { envelope, raw, token, nonce, digest }: Incoming,
  event: NewEvent,
  { registration, lease, now }: KeepContext,
): Arrival {
  const { time, status, terminal } = envelope;
  return {
    event,
    ...(nonce && { nonce }),
    digest: (digest === undefined ? hash("sha256", raw, "buffer") : Buffer.from(digest, "base64url")).subarray(
      0,
      DIGEST_BYTES,
    ),
    now,
    windowSeconds: config.dedupWindowSeconds,
    senderCap: config.senderCap,
    registered: registration !== undefined,
    ...(envelope.ordered &&
      time !== null &&
      status !== null && { order: { instant: time.instant, by: time.by, status, terminal } }),
    ...(registration === undefined && token !== null && { tokenDigest: tokenDigest(token) }),
    ...(lease && { lease }),
  };
}

interface KeepContext {
  readonly registration: Registration | undefined;
  readonly lease: Arrival["lease"] | undefined;
  readonly now: number;
}

function begin(worker: Worker, event: NewEvent, body: unknown, outcome: AcceptOutcome): void {
  if (outcome.outcome !== "accepted" || outcome.parked) return;
  const { id, leased, reemission } = outcome;
  if (leased) {
    worker.run({ ...event, id, state: "pending", reemission, attempts: 0, due: event.receivedAt, error: null }, body);
  } else worker.wake();
}

function report<Tx>({ metrics, log }: ReceiverConfig<Tx>, event: NewEvent, outcome: AcceptOutcome): void {
  if (event.instant !== null) metrics.lag(Math.max(0, (event.receivedAt - instantMs(event.instant)) / 1000));
  const { sender, kind } = event;
  switch (outcome.outcome) {
    case "accepted":
      metrics.accepted(kind, outcome.parked);
      if (event.notes.length > 0)
        log.warn({ id: outcome.id, sender, notes: event.notes.length }, "result differs from its release");
      if (outcome.reemission) log.info({ id: outcome.id, sender }, "notification came again");
      return;
    case "duplicate":
      metrics.duplicate();
      if (!outcome.changed) return;
      metrics.anomaly("changed_body");
      log.warn({ sender, kind, bytes: event.body.length }, "a key came again with another body; the first copy holds");
      return;
    case "stale":
      metrics.stale(outcome.reason);
      if (outcome.missed) {
        metrics.anomaly("terminal_not_applied");
        const { taskId, status } = event;
        log.warn(
          { sender, kind, taskId, status },
          "a status that ends its task was not applied, since its time is not newer than the last; the task is to be polled",
        );
      }
      if (!outcome.conflict) return;
      metrics.anomaly("terminal_conflict");
      log.warn({ sender, kind, status: event.status }, "a task that had ended was reported to have ended otherwise");
      return;
    case "full":
    case "replayed":
    case "rate_abuse":
      return;
  }
}

export const tokenDigest = (token: string): Uint8Array => hash("sha256", token, "buffer");

export const tokenHolds = (registration: Registration | undefined, token: string | null): boolean => {
  const expected = registration?.tokenDigest ?? null;
  return expected === null || (token !== null && timingSafeEqual(expected, tokenDigest(token)));
};

function releaseFor<Tx>(config: ReceiverConfig<Tx>, binding: RouteBinding, registration: Registration | undefined) {
  const wanted = registration?.release ?? binding.release ?? config.senderOf(binding.sender)?.release;
  return (wanted == null ? undefined : config.releases.get(wanted)) ?? config.defaultRelease;
}
