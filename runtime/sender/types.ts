/** What an application gives a sender. Names of wire fields are kept as they are on the wire. */
import type { Meter, Tracer } from "@opentelemetry/api";
import type { JsonObject, MaybePromise, ProtocolError, Release, TaskStatus } from "../contract/index.js";
import type { AnyDatabase } from "../db/index.js";
import type { Logger } from "../log.js";
import type { Fetcher, NetPolicyOptions } from "../net/index.js";
import type { OpenQueue } from "../queue/types.js";
import type { WorkerOptions } from "../queue/worker-options.js";
import type { RemoteKey } from "../signing/index.js";
import type { PrincipalStore } from "../store/split/principals.js";
import type { ValidatorSource } from "../validate/types.js";
import type { ReportSource } from "./report-types.js";
import type { SecretKeySource } from "./secret-keys.js";

export type * from "./report-types.js";

/** `authentication` of a registration: deprecated, and then instead of a signature (docs/protocol/signing.md#legacy-schemes). */
export interface LegacyAuthentication {
  readonly schemes: readonly string[];
  readonly credentials: string;
}

/** docs/protocol/webhooks.md#registration. */
export interface PushNotificationConfig {
  readonly url: string;
  readonly operation_id?: string;
  /** Echoed in every payload; 16 to 4,096 characters. */
  readonly token?: string;
  readonly authentication?: LegacyAuthentication;
}

/** One entry of `notification_configs`, as it comes on the wire. */
export interface NotificationConfig {
  readonly subscriber_id: string;
  readonly url: string;
  readonly event_types: readonly string[];
  readonly authentication?: LegacyAuthentication;
  /** False keeps it and sends nothing. Default true. */
  readonly active?: boolean;
  /** Of an agent's: kinds of accounts too, for all that the caller is authorized for. */
  readonly all_authorized_accounts?: boolean;
  /** Of an agent's: kinds too that a later release adds, where all they say is what to read again. */
  readonly include_future_event_types?: boolean;
}

/** Whose configs they are: those of one account, or those of the caller itself (`agent`). */
export interface NotificationScope {
  readonly principal: string;
  readonly account?: string;
  /** Version of the release the caller is served; the sender's first by default. */
  readonly release?: string;
}

/** A2A's own push-notification config. Its token goes into A2A's header, not into the body. */
export interface A2aPushConfig {
  readonly url: string;
  readonly id?: string;
  readonly token?: string;
  readonly authentication?: LegacyAuthentication;
}

/** A task as its initial response left it. */
export interface TaskStart {
  readonly taskId: string;
  /** Name of the tool. */
  readonly tool: string;
  /** Status of the initial response. */
  readonly status: TaskStatus;
  /** Who called: `webhook_activity` is shown to the same one only. */
  readonly principal: string;
  /** The request's top-level `context`, echoed verbatim. */
  readonly context?: JsonObject;
  /** A2A's context, which its events name; the task's id by default. */
  readonly contextId?: string;
  /** Version of the release the caller is served; the sender's first by default. */
  readonly release?: string;
  /** When its status began, unix milliseconds: its events are later. Now by default. */
  readonly at?: number;
}

/** Where events of a task go; both may be given, and both then fire. */
export interface TaskChannels {
  readonly push?: PushNotificationConfig;
  readonly a2a?: A2aPushConfig;
}

/** What a task is changed to. */
export interface StatusChange {
  readonly status: TaskStatus;
  /** Data of the tool's arm; checked against the release. */
  readonly result?: unknown;
  readonly message?: string;
}

/** A registration that is not taken, as the error to answer the caller with. */
export interface Refused {
  readonly ok: false;
  readonly error: ProtocolError;
}

/** `registered: false`: the initial response was terminal, so nothing will ever be sent. */
export type Registered = { readonly ok: true; readonly registered: boolean } | Refused;

/** Events made by one change: one per channel. */
export interface Emitted {
  readonly keys: readonly string[];
}

/** Which registrations are refused; what the protocol leaves to a seller (docs/protocol/webhooks.md#registration). */
export interface RefusalOptions {
  /** Registrations without `operation_id`. Default false. */
  readonly withoutOperationId?: boolean;
  /** `push_notification_config` on a tool that always answers at once. Default false. */
  readonly syncOnlyTools?: boolean;
  /** HMAC-SHA256 registrations. Default false. */
  readonly hmac?: boolean;
  /** Bearer registrations: all, none, or those of mutating tools. Default `mutating`. */
  readonly bearer?: boolean | "mutating";
  /**
   * Registrations with the scheme `standard-webhooks` and a `whsec_...` secret. No release has it: false where both sides
   * have agreed on it elsewhere. Default true; those of notification configs always, since no challenge can name it.
   */
  readonly standardWebhooks?: boolean;
}

/** Where a change is written. */
export interface WithinOptions {
  /**
   * An open transaction of the application's, in which everything is written and which stays open: a client of `pg`, what
   * postgres.js, kysely, drizzle, prisma, knex, TypeORM or PGlite hand to the work of a transaction, anything with
   * `query(text, values)`; on SQLite a handle of better-sqlite3 (docs/outbox.md). Without it, a transaction of its own.
   */
  readonly tx?: Transaction | undefined;
}

/** Whose the rows are that a change is of. */
export interface OwnedOptions extends WithinOptions {
  /**
   * The principal of the task, the media buy or the subscribers. Where the store is several databases it saves a look for it in
   * all of them, and with `tx` it is needed for what that database may not have.
   */
  readonly principal?: string | undefined;
}

/** What a transaction looks like in the libraries that are known; that it is open is found out. */
export type Transaction = object | ((...args: never[]) => unknown);

/** The transaction that a change belongs to, and what makes it unique. */
export interface UpdateOptions extends OwnedOptions {
  /**
   * Names the change within its task, 1 to 255 characters: the same key with the same content again is the same event, for
   * as long as the task is remembered. Other content under it is an error. An application that does not know whether its
   * commit went through repeats the change with its key.
   */
  readonly dedupKey?: string | undefined;
  /**
   * When it changed, unix milliseconds; now by default. Who also answers polls gives the time that those answers say: a receiver
   * that is told of one change twice knows it by that. What is not after the event before is told as a millisecond after it.
   */
  readonly at?: number | undefined;
}

/** One of many changes. */
export interface TaskUpdate extends StatusChange, Pick<UpdateOptions, "dedupKey" | "at"> {
  readonly taskId: string;
}

/** One URL of one principal: where it carries the operation's id, that operation's. */
export interface EndpointIdentity {
  readonly principal: string;
  readonly url: string;
}

/** What one endpoint is given. */
export interface EndpointLimits {
  /** Milliseconds a receiver has to answer: at most 30,000, 10,000 by default. */
  readonly timeoutMs?: number;
  /** Most requests a second that one process sends it; no limit by default. */
  readonly perSecond?: number;
}

/** How long what is over is kept. What is beyond goes a few rows at a time. */
export interface RetentionOptions {
  /** Days activity is kept; at least 30, which is the default. */
  readonly activityDays?: number;
  /** Rows of activity kept at most, the newest, whatever their age; no limit by default. A row is some 500 bytes. */
  readonly activityRows?: number;
  /** Days an event that ended undelivered is kept. Default 90. */
  readonly deadLetterDays?: number;
  /** Events kept that ended undelivered, of all principals; beyond it the oldest go of whoever has most. Default 1,000,000. */
  readonly deadLetters?: number;
  /** Days a channel is remembered after it has closed, and while an event of it waits; after that its media buy is unknown. Default 90. */
  readonly closedChannelDays?: number;
}

/** What a sender is made of. `signer` or `signerFor` signs; `secrets` seals what registrations carry. */
export interface SenderOptions {
  /** One database, or several (`shardedByPrincipal`). */
  readonly store: { readonly database: AnyDatabase } | PrincipalStore<unknown>;
  /** What hands events out to deliverers: `natsQueue` of adbind/queue for a fleet; by default the database itself. */
  readonly queue?: OpenQueue;
  /** The release that is served. */
  readonly release: Release;
  /** Further ones: what was registered under one of them is told in it. */
  readonly releases?: readonly Release[];
  /** What signs. A function is asked at every attempt: keys rotate without a restart. This or `signerFor`. */
  readonly signer?: Signer | (() => Signer);
  /** What signs for a principal, asked at every attempt. This or `signer`. */
  readonly signerFor?: (principal: string) => MaybePromise<Signer>;
  /** Milliseconds a signer has to answer: 1 to 30,000, 5,000 by default. Later is a failed attempt. */
  readonly signerTimeoutMs?: number;
  /**
   * Milliseconds that `reports`, `authorized` and `secrets` have to answer each time: 1 to 600,000, 30,000 by default. What is
   * late counts as failed: it is logged and asked again later, and what needs its answer waits, without an attempt.
   */
  readonly callbackTimeoutMs?: number;
  /**
   * Keys under which secrets of registrations (tokens, credentials, what may be one in a URL) are kept. By default what
   * the environment names in `ADBIND_SECRET_KEYS` or `ADBIND_SECRET_KEYS_FILE`. Without any, a registration that carries
   * a secret is refused in production.
   */
  readonly secrets?: SecretKeySource;
  /** Seals bodies of events, too, while they are kept: as secrets are, and under the same keys. Default false. */
  readonly sealBodies?: boolean;
  /** In development, without `secrets`, a key is made beside the store. Default `production`. */
  readonly mode?: "development" | "production";
  /** The agent URL of who sends, which challenges of notification configs name. Without it none is taken. */
  readonly agentUrl?: string;
  /** May a principal be told of an account now? Asked at each attempt of what goes to an agent's config. Default: yes. */
  readonly authorized?: (principal: string, account: string) => MaybePromise<boolean>;
  /** The protocol's word; the release's by default. */
  readonly word?: string;
  readonly refuse?: RefusalOptions;
  /** Address rules of outbound requests; production's by default. */
  readonly net?: NetPolicyOptions;
  /** Carries the requests; guarded HTTP under `net` by default. Silence five seconds beyond its `totalMs` is a timeout. */
  readonly fetch?: Fetcher;
  /** How deliveries share out; see `WorkerOptions`. */
  readonly worker?: Partial<
    Pick<
      WorkerOptions,
      | "concurrency"
      | "perEndpoint"
      | "perHost"
      | "perPrincipal"
      | "perUnproven"
      | "pollMs"
      | "renewMs"
      | "failuresToPause"
      | "pauseMs"
      | "maxPauseMs"
    >
  >;
  /** Events of an endpoint that wait at most; the oldest that were never attempted expire beyond it. Default 1,000,000. */
  readonly maxWaiting?: number;
  /** Timeout and rate of an endpoint; asked at each attempt. */
  readonly limits?: (endpoint: EndpointIdentity) => EndpointLimits | undefined;
  /** Makes delivery reports when they are due; without it `reporting_webhook` is refused. */
  readonly reports?: ReportSource;
  /** Coalescence per event type, in milliseconds: shorter windows are declared with it, longer ones need an opt-in. */
  readonly coalescence?: Readonly<Record<string, number>>;
  /** How long what is over is kept. */
  readonly retention?: RetentionOptions;
  /** Judges results: a release's validator, or what makes it; `createValidator` of adbind/validate by default. */
  readonly validator?: ValidatorSource;
  /** Told of each deprecated registration. */
  readonly onDeprecated?: (message: string) => void;
  /**
   * Unix milliseconds. By default the clock of the database's server, where several machines share it, and else the system's; signatures
   * are dated by the system's then.
   */
  readonly now?: () => number;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
  /** Makes idempotency keys: UUID v4 by default, and random in any case. */
  readonly uuid?: () => string;
  readonly logger?: Logger;
  readonly meter?: Meter;
  /** Makes a span of each attempt, under the one that was active when its event was made. */
  readonly tracer?: Tracer;
}

/** A private key and its name. */
export interface LocalSigner {
  /** Private key, as `signWebhook` takes it. */
  readonly key: object;
  readonly keyid: string;
}

/** A key that is elsewhere, and its name. What it throws, or that it hangs, is a failed attempt. */
export interface RemoteSigner extends RemoteKey {
  readonly keyid: string;
}

/** Signs deliveries: with a key of this process, or elsewhere. */
export type Signer = LocalSigner | RemoteSigner;
