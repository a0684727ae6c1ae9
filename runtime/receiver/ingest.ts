/** From a request that is authenticated and whose envelope holds to its place in the store, and its handler's start. */
import { hash, timingSafeEqual } from "node:crypto";
import canonicalize from "canonicalize";
import { member } from "../extract/json-object.js";
import { keysBindPayloads } from "../facts/index.js";
import { instantMs } from "../moment.js";
import type {
  AcceptOutcome,
  Arrival,
  EventNote,
  NewEvent,
  NonceUse,
  Registration,
  RouteBinding,
} from "../store/types.js";
import type { Envelope, EventContent } from "./envelope.js";
import { eventOf, kindNotes } from "./kinds.js";
import type { RememberedKeys } from "./remembered.js";
import { resultValidator } from "./result-validator.js";
import type { ReceiverConfig } from "./settings.js";
import type { RequestSpan } from "./tracing.js";
import type { BoundRelease } from "./types.js";
import type { InboxWorker } from "./worker.js";

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
  /** What tells this payload from others under its key, where it is known already. */
  readonly digest?: Uint8Array;
  /** The request that brought it; absent for what was polled. */
  readonly span?: RequestSpan;
}

/** Claims, orders and keeps an event; its handler then runs. Also the way in for what polling finds. */
export type Ingest = (incoming: Incoming, registration: Registration | undefined) => Promise<AcceptOutcome>;

/** Told of every event that ends its task, or would have if it had been applied. */
export type TerminalListener = (sender: string, taskId: string) => void;

/** Claim, order and inbox row, and the handler's start. */
export function createIngest<Tx>(
  config: ReceiverConfig<Tx>,
  worker: InboxWorker,
  onTerminal: TerminalListener,
): Ingest {
  const validate = resultValidator(config);
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
      notes: [
        ...kindNotes(eventOf(bound.release, binding.kind, body), binding.kind, registration),
        ...(await validate(binding.kind, { ...envelope, taskType }, body, bound.release)),
      ],
    };
    incoming.span?.brings(event);
    const lease = worker.reserve();
    let outcome: AcceptOutcome | undefined;
    try {
      const bind = keysBindPayloads(bound.release);
      const kept = config.rememberedOf(config.senderOf(binding.sender), bound.release);
      outcome = await config.store.inbox.accept(arrivalOf(incoming, event, { registration, lease, now, bind, kept }));
    } finally {
      const leased = outcome?.outcome === "accepted" && outcome.leased;
      if (lease !== undefined && !leased) worker.release();
    }
    begin(worker, event, { body, payload: envelope.payload }, outcome);
    if (envelope.time?.early) {
      config.metrics.anomaly("future_timestamp");
      config.log.warn(
        { sender: event.sender, kind: event.kind },
        "an event says that it is still to come; its arrival counts",
      );
    }
    report(config, event, outcome);
    // One whose result does not fit ends nothing, and what its task has come to is asked for now.
    const ends = outcome.outcome === "accepted" ? envelope.terminal : outcome.outcome === "stale" && outcome.missed;
    if (ends && event.taskId !== null) {
      onTerminal(event.sender, event.taskId);
    }
    return outcome;
  };
}

function arrivalOf(
  { envelope, body, raw, token, nonce, digest }: Incoming,
  event: NewEvent,
  { registration, lease, now, bind, kept }: IngestContext,
): Arrival {
  const { time, status, terminal } = envelope;
  const once = onceOf(event, body);
  const unfit = unfitFor(envelope, event);
  return {
    event,
    ...(nonce && { nonce }),
    digest: digest ?? payloadDigest(body, raw, { bind }),
    ...(once !== undefined && { once }),
    ...(unfit !== undefined && { unfit }),
    now,
    ...kept,
    registered: registration !== undefined,
    ...(envelope.ordered &&
      time !== null &&
      status !== null && {
        order: {
          ...{ instant: time.instant, by: time.by, status, terminal },
          operation: operationOf(envelope, registration),
        },
      }),
    ...(registration === undefined && token !== null && { tokenDigest: tokenDigest(token) }),
    ...(lease && { lease }),
  };
}

/**
 * By what operation a task's id is told from the same one in another. A route that was registered as a whole has nothing to
 * hold its sender's word for it against.
 */
const operationOf = ({ operationId, time }: Envelope, registration: Registration | undefined): string | null =>
  registration === undefined || registration.operationId !== null || time?.by === "poll" ? operationId : null;

interface IngestContext {
  readonly kept: RememberedKeys;
  readonly registration: Registration | undefined;
  readonly lease: Arrival["lease"] | undefined;
  readonly now: number;
  /** A key stands for one payload, however it is written. */
  readonly bind: boolean;
}

interface PayloadDigestOf {
  readonly bind: boolean;
  /** Of the bytes, where it is known; base64url. */
  readonly sha256?: string;
}

/** What tells two payloads apart: their bytes, or what they say (RFC 8785). */
export function payloadDigest(body: unknown, raw: Uint8Array, { bind, sha256 }: PayloadDigestOf): Uint8Array {
  const canonical = bind ? canonicalOf(body) : undefined;
  const whole =
    canonical === undefined && sha256 !== undefined
      ? Buffer.from(sha256, "base64url")
      : hash("sha256", canonical ?? raw, "buffer");
  return whole.subarray(0, DIGEST_BYTES);
}

/** There is no canonical form of half a character, nor of a number beyond doubles: such a payload is known by its bytes. */
function canonicalOf(body: unknown): string | undefined {
  try {
    return canonicalize(body);
  } catch {
    return undefined;
  }
}

/** What a change of an account is known by, pushed or read from its feed. */
function onceOf({ kind }: Pick<NewEvent, "kind">, body: unknown): string | undefined {
  if (kind !== "account" && kind !== "agent") return undefined;
  const change = member(body, "change_id");
  return member(body, "notification_type") === "account.change_recorded" && typeof change === "string"
    ? `change:${JSON.stringify([member(body, "account_id"), change])}`
    : undefined;
}

/** The end of a task with a result that is none: it ends nothing, its sender is told, and a human has it. */
const unfitFor = ({ ordered, terminal, time }: Envelope, { notes }: NewEvent): string | undefined => {
  // What was asked for is all there is to have: its handler is told what is wrong with it.
  const wrong =
    ordered && terminal && time?.by !== "poll" ? notes.find(({ code }) => code === "schema_mismatch") : undefined;
  return wrong && `the result is not what its release says: ${wrong.pointer} ${wrong.message}`;
};

function begin(worker: InboxWorker, event: NewEvent, content: EventContent, outcome: AcceptOutcome): void {
  if (outcome.outcome !== "accepted" || outcome.parked || outcome.unfit === true) return;
  const { id, leased, reemission } = outcome;
  if (leased) {
    worker.run(
      { ...event, id, state: "pending", reemission, attempts: 0, due: event.receivedAt, error: null },
      content,
    );
  } else worker.wake();
}

function report<Tx>({ metrics, log }: ReceiverConfig<Tx>, event: NewEvent, outcome: AcceptOutcome): void {
  if (event.instant !== null) metrics.lag(Math.max(0, (event.receivedAt - instantMs(event.instant)) / 1000));
  const { sender, kind } = event;
  switch (outcome.outcome) {
    case "accepted":
      metrics.accepted(kind, outcome.parked);
      for (const code of new Set(event.notes.map((one) => one.code))) {
        metrics.anomaly(code);
        log.warn({ id: outcome.id, sender, kind, notes: event.notes.length }, noteTexts[code]);
      }
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

const noteTexts: Record<EventNote["code"], string> = {
  schema_mismatch: "an event differs from what its release says",
  wrapper_detected: "an event's data is wrapped",
  kind_unknown: "an event is of a kind that its release does not have; it is kept",
  kind_unregistered: "an event is of a kind that was not registered; it is kept",
};

export const tokenDigest = (token: string): Uint8Array => hash("sha256", token, "buffer");

export const tokenHolds = (registration: Registration | undefined, token: string | null): boolean => {
  const expected = registration?.tokenDigest ?? null;
  return expected === null || (token !== null && timingSafeEqual(expected, tokenDigest(token)));
};

/** The release an event is in: its registration's, else its sender's. */
export function releaseFor<Tx>(
  config: ReceiverConfig<Tx>,
  binding: RouteBinding,
  registration: Registration | undefined,
): BoundRelease<Tx> {
  const wanted = registration?.release ?? binding.release ?? config.senderOf(binding.sender)?.release;
  return (wanted == null ? undefined : config.releases.get(wanted)) ?? config.defaultRelease;
}
