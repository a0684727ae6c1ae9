/** What an application gives a receiver, and what it gets. */
import type { Meter, Tracer } from "@opentelemetry/api";
import type {
  Answer,
  ArmsOf,
  EventBodyOf,
  Events,
  Inborn,
  JsonObject,
  MaybePromise,
  Release,
  Tools,
  TransportName,
} from "../contract/index.js";
import type { Logger } from "../log.js";
import type { HeaderFields, HmacSecrets, KeySource, RevocationSource } from "../signing/types.js";
import type { Effect, EventKind, EventNote, ReceiverStore, RegisteredMode, RouteBinding } from "../store/types.js";
import type { ValidatorSource } from "../validate/types.js";

/** Whose keys are wanted. */
export interface WantedKeys {
  /** The sender's name among the receiver's senders, which is its agent URL. */
  readonly agentUrl: string;
  /** The release it speaks: its facts say how keys are found. */
  readonly release: Release;
  /** Clock, unix seconds. */
  readonly now: () => number;
}

/** Finds keys as a sender's release says; `agentKeys` of adbind/signing/discovery is one. */
export type KeysFor = (wanted: WantedKeys) => KeySource;

/** How one seller authenticates itself. Its key in `senders`, its agent URL, is its identity and the dedup scope. */
export interface SenderConfig {
  /**
   * Where its signing keys come from: `staticKeys` of adbind/signing, or what finds them as the sender's release says, which
   * `agentKeys` of adbind/signing/discovery does. Needed for mode `signature`. What keys may be for follows from the release
   * either way.
   */
  readonly keys?: KeySource | KeysFor;
  readonly revocation?: RevocationSource;
  /** Secrets of mode `HMAC-SHA256`; deprecated. */
  readonly hmac?: HmacSecrets;
  /** Secrets of mode `standard-webhooks`, `whsec_...`: what Standard Webhooks calls symmetric signatures. */
  readonly standardWebhooks?: HmacSecrets;
  /** Tokens of mode `Bearer`; deprecated. */
  readonly bearer?: HmacSecrets;
  /** Version of the release it speaks; the receiver's first by default. */
  readonly release?: string;
  /** Other identities its keys may resolve to: all of them share this sender's keyspace. */
  readonly aliases?: readonly string[];
  /**
   * How long it may send one event again, in seconds, 86,400 to 604,800, as its capabilities declare
   * (`webhook_signing.delivery_retry_horizon_seconds`): its keys are remembered as long at least. Default the longest, of a sender
   * whose release has one declared, unless `dedupWindowSeconds` is given.
   */
  readonly retryHorizonSeconds?: number;
}

/** Senders by agent URL. A `Map` will do where they come and go. */
export type Senders = Readonly<Record<string, SenderConfig>> | { get(sender: string): SenderConfig | undefined };

/** What is registered with a seller, told to the receiver before anything arrives. */
export interface Expectation {
  /** Path (and query, where one is used) of the URL given to the seller, from the first slash. */
  readonly route: string;
  /** The seller's agent URL. */
  readonly sender: string;
  readonly kind: EventKind;
  /** Of an `account` or `agent` config: its `event_types`; all there are by default. */
  readonly events?: readonly string[];
  /**
   * `signature` unless the registration carried an `authentication` block, or both sides agreed on `standard-webhooks`
   * elsewhere: no release has a field for it.
   */
  readonly mode?: RegisteredMode;
  /** `push_notification_config.operation_id`. Left out: any operation of this route. */
  readonly operationId?: string;
  /** The tool that was called. */
  readonly taskType?: string;
  /** `push_notification_config.token`, of 16 characters or more; of A2A's own config any. Only its digest is kept. */
  readonly token?: string;
  /** Known shape; detected when left out. `a2a` for configs registered through A2A's own mechanism. */
  readonly format?: TransportName;
  /** Version of the release the sender speaks here; its configured one by default. */
  readonly release?: string;
  /** After this many seconds the registration is forgotten. Default: 90 days for tasks, never for others. */
  readonly expiresInSeconds?: number;
}

/** An accepted event as its handler sees it. */
export interface ReceivedEvent {
  /** Number in the inbox. */
  readonly id: number;
  readonly sender: string;
  readonly kind: EventKind;
  /** What the release calls it: `task`, `scheduled`, `account.status_changed`; null where nothing says so. */
  readonly event: string | null;
  readonly route: string;
  readonly idempotencyKey: string;
  /** Version of the release its bindings are of. */
  readonly release: string;
  readonly format: TransportName | null;
  readonly taskType: string | null;
  readonly taskId: string | null;
  readonly operationId: string | null;
  readonly status: string | null;
  /** The event's own time, UTC; null where it has none. */
  readonly timestamp: string | null;
  readonly notificationId: string | null;
  /** Its `notification_id` came before under another key: re-emitted, not retried. */
  readonly reemission: boolean;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** 1 at the first try. */
  readonly attempt: number;
  /** What is wrong with it; it was accepted all the same, since refusing would lose it. */
  readonly notes: readonly EventNote[];
  /** Where it stands in its sender's trace (W3C Trace Context), for what the handler calls; null outside of any. */
  readonly traceparent: string | null;
  /** The whole body, parsed. */
  readonly body: unknown;
  /** Aborted when the handler has had its time (`handlerTimeoutSeconds`) or the receiver stops: nothing it still does counts. */
  readonly signal: AbortSignal;
}

/**
 * What a handler answers: nothing, or an effect that commits with the event's completion, exactly once. Prepare in the
 * handler, write in the effect. A handler itself may run again after a crash.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is the usual one
export type EventOutcome<Tx> = MaybePromise<void | Effect<Tx>>;

/** One handler per arm of a tool; a `Handlers<Arms, R>` of adbind/contract fits. */
export type ArmHandlers<Arms, Tx> = {
  [S in keyof Arms]-?: (
    data: Arms[S],
    answer: Extract<Answer<Arms>, { status: S }>,
    delivery: ReceivedEvent,
  ) => EventOutcome<Tx>;
};

/** A delivery report (docs/protocol/webhooks.md#delivery-reports). */
export interface DeliveryReport extends JsonObject {
  notification_type: "scheduled" | "final" | "delayed" | "adjusted" | (string & {});
  sequence_number?: number;
  reporting_period: { start: string; end: string; timezone?: string };
  currency: string;
  media_buy_deliveries: JsonObject[];
}

/** One handler per kind of event; each is given the body, or the result in it. */
export type EventHandlers<E extends Events, Tx> = {
  readonly [K in keyof E]-?: (event: EventBodyOf<E[K]>, delivery: ReceivedEvent) => EventOutcome<Tx>;
};

/** The application's functions for what arrives: by tool, by kind of event, and for what has none. */
export interface ReceiverHandlers<T extends Tools, Tx, E extends Events = Events> {
  /** Tasks, per tool: every arm of a tool that is there must be there. */
  readonly tools?: { readonly [K in keyof T]?: ArmHandlers<ArmsOf<T[K]>, Tx> | Inborn<K> };
  /**
   * What is told unasked, per kind of the release: every kind must be there, and those below are then not asked. A kind that
   * the release does not have goes to `fallback`.
   */
  readonly events?: EventHandlers<E, Tx>;
  readonly report?: (report: DeliveryReport, delivery: ReceivedEvent) => EventOutcome<Tx>;
  readonly impairment?: (impairment: JsonObject, delivery: ReceivedEvent) => EventOutcome<Tx>;
  readonly listChange?: (change: JsonObject, delivery: ReceivedEvent) => EventOutcome<Tx>;
  readonly artifact?: (artifact: JsonObject, delivery: ReceivedEvent) => EventOutcome<Tx>;
  readonly rights?: (notice: JsonObject, delivery: ReceivedEvent) => EventOutcome<Tx>;
  /** Everything that has no handler above. */
  readonly fallback: (delivery: ReceivedEvent) => EventOutcome<Tx>;
}

/** A release with the handlers written against it. */
export interface BoundRelease<Tx> {
  readonly release: Release;
  // biome-ignore lint/suspicious/noExplicitAny: of the release's own tools, checked where it was bound
  readonly handlers: ReceiverHandlers<any, Tx>;
}

/** What a receiver is made of, beside releases and handlers. Times are in the unit of their name. */
export interface ReceiverSettings<Tx> {
  /** One database's, or that of several: `shardedBySender`. */
  readonly store: ReceiverStore<Tx>;
  readonly senders: Senders;
  /** Scheme, host and path prefix under which senders reach this receiver, e.g. `https://hooks.buyer.example`. */
  readonly publicUrl: string;
  /** True behind a proxy that rewrites `Host`: it is then not compared with `publicUrl`. Default false. */
  readonly ignoreHost?: boolean;
  /**
   * How long keys are remembered, in seconds, and longer where a sender's `retryHorizonSeconds` is. Default and minimum 86,400, see
   * `announcedWindow`.
   */
  readonly dedupWindowSeconds?: number;
  /** True when every sender is told of a window under 24 hours; it is in the receiver's descriptor. */
  readonly announcedWindow?: boolean;
  /** Keys remembered of one sender before it gets 429. Default 1,000,000 for each day that they are remembered. */
  readonly senderCap?: number;
  /** Largest body, in bytes. Default 1,048,576. */
  readonly maxBodyBytes?: number;
  /** Another largest body for some routes, in bytes; undefined for `maxBodyBytes`. */
  readonly maxBodyBytesOf?: (route: RouteBinding) => number | undefined;
  /** How long a body may take to come, in seconds; then it is answered 408 and cut. Default 10. */
  readonly bodyTimeoutSeconds?: number;
  /** Handlers running at once. Default 32. */
  readonly concurrency?: number;
  /** How long an event stays with this instance before another may take it, in seconds; renewed while it runs. Default 30. */
  readonly leaseSeconds?: number;
  /**
   * How long a handler and its effect may take, in seconds. Then the run has failed: its effect is undone or never runs, and
   * the event is tried again. Default 60.
   */
  readonly handlerTimeoutSeconds?: number;
  /** Failures after which an event goes to the dead letters; what the store fails with is none. Default 10. */
  readonly maxAttempts?: number;
  /** First delay after a failure, in milliseconds; doubled each time up to an hour. Default 1,000. */
  readonly backoffMs?: number;
  /**
   * How often the store is asked for due events, in milliseconds; after so long an event that waits in memory for a handler is
   * given back to the store. Default 1,000.
   */
  readonly pollMs?: number;
  /**
   * Unix milliseconds; by default the clock of the store, where machines share one, and the system's for signatures and all other
   * stores.
   */
  readonly now?: () => number;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
  readonly logger?: Logger;
  readonly meter?: Meter;
  /** Spans of requests and of handlers' runs; OpenTelemetry's global tracer by default. */
  readonly tracer?: Tracer;
  /**
   * Judges results: the release's validator as `generate --standalone` emits it, or what makes one for each release;
   * `createValidator` of adbind/validate by default, which compiles.
   */
  readonly validator?: ValidatorSource;
}

/** A request as any server has it. */
export interface ReceiverRequest {
  readonly method: string;
  /** The request target as on the request line, undecoded. */
  readonly target: string;
  /** Every field as received; doubled ones kept apart. */
  readonly headers: HeaderFields;
  /** The body's bytes, or a stream of them: nothing beyond the cap is kept. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** An answer to be sent as it is. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
