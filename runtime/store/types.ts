/** What a store keeps and answers, whatever is underneath. Times are unix milliseconds unless a name says otherwise. */
import type { MaybePromise, TransportName } from "../contract/index.js";
import type { ReplayStore } from "../contract/replay-store.js";
import type { Expiring } from "../db/expiring.js";
import type { Database } from "../db/types.js";
import type { EventKind, EventNote, InboxState } from "./event.js";
import type { SweepResult } from "./expiring.js";

export type { Expiring } from "../db/expiring.js";
export type * from "./event.js";
export type * from "./expiring.js";

/** An accepted webhook as the inbox keeps it until its handler is done. */
export interface InboxEvent {
  readonly id: number;
  readonly state: InboxState;
  /** Authenticated identity; the dedup scope. */
  readonly sender: string;
  /** `idempotency_key`. */
  readonly key: string;
  readonly route: string;
  readonly kind: EventKind;
  /** Version of the release whose bindings read it. */
  readonly release: string;
  readonly format: TransportName | null;
  readonly taskType: string | null;
  readonly taskId: string | null;
  readonly operationId: string | null;
  readonly status: string | null;
  /** The event's own time, UTC with nine fraction digits: two of them compare as text. */
  readonly instant: string | null;
  readonly notificationId: string | null;
  /** The same `notification_id` came before under another key. */
  readonly reemission: boolean;
  /** The body as received. */
  readonly body: Uint8Array;
  readonly receivedAt: number;
  /** Times its handler failed. */
  readonly attempts: number;
  /** Not to be taken before. */
  readonly due: number;
  /** Why the last attempt failed, or why it is dead. */
  readonly error: string | null;
  /** Findings that did not stop it. */
  readonly notes: readonly EventNote[];
  /** Where it stands in its trace (W3C Trace Context); null outside of any. */
  readonly traceparent: string | null;
}

/** The part of an event that its receiver fills in. */
export type NewEvent = Omit<InboxEvent, "id" | "state" | "reemission" | "attempts" | "due" | "error">;

/** A signature's nonce, to be used up. Times in unix seconds. */
export interface NonceUse {
  readonly keyid: string;
  readonly nonce: string;
  readonly expiresAt: number;
  readonly now: number;
}

/** Where an event stands among those of its task. `operation`: the buyer's, by which tasks are told apart that have one id. */
export interface TaskOrder {
  readonly instant: string;
  readonly status: string;
  readonly terminal: boolean;
  /**
   * Whose word `instant` is. `sender`: strictly newer applies (docs/protocol/webhooks.md#order). `arrival`: the
   * receiver's own, later than what came before. `poll`: the sender's answer to a question; an end is believed at any time.
   */
  readonly by: "sender" | "arrival" | "poll";
  readonly operation?: string | null;
}

/** An event as it arrives at an inbox, with all that must be committed with it. */
export interface Arrival {
  readonly event: NewEvent;
  /** Used up in the same transaction, before anything else of it; absent where the sender does not sign. */
  readonly nonce?: NonceUse;
  /** Digest of the body, to notice a key that is used again with another one. */
  readonly digest: Uint8Array;
  readonly now: number;
  /** How long the key stays claimed, in seconds (docs/protocol/webhooks.md#deduplication). */
  readonly windowSeconds: number;
  /** Most live claims of one sender; beyond it the answer is `full`. */
  readonly senderCap: number;
  /** Present where events of one `taskId` are ordered. */
  readonly order?: TaskOrder;
  /** A registration for the event was found; otherwise it is parked unless one has appeared meanwhile. */
  readonly registered: boolean;
  /** Digest of the token the body carried, compared when a parked event meets its registration. */
  readonly tokenDigest?: Uint8Array;
  /** A further key under which it comes once, whatever its own is: what it tells of may come by two ways. */
  readonly once?: string;
  /** Why it is kept for a human and not applied. */
  readonly unfit?: string;
  /** Take the event at once when nothing is before it: saves the handler a round trip. */
  readonly lease?: Lease;
}

/** Who has an event, and until when nobody else takes it, in unix milliseconds. */
export interface Lease {
  /** Who holds it; another owner's completion is refused. */
  readonly owner: string;
  readonly until: number;
}

/** What became of an event that was handed to an inbox. */
export type AcceptOutcome =
  | {
      readonly outcome: "accepted";
      readonly id: number;
      readonly parked: boolean;
      /** The caller holds the lease it asked for. */
      readonly leased: boolean;
      readonly reemission: boolean;
      /** It went to the dead letters: `Arrival.unfit`. */
      readonly unfit?: boolean;
    }
  /** A claim is there. `changed`: with another body; the first copy wins all the same. */
  | { readonly outcome: "duplicate"; readonly changed: boolean }
  /**
   * Claimed and not applied. `conflict`: a terminal state was reported after another terminal one. `missed`: one was not
   * applied to a task that goes on; the task is marked, and to be polled at once.
   */
  | {
      readonly outcome: "stale";
      readonly reason: "not_newer" | "terminal";
      readonly conflict: boolean;
      readonly missed: boolean;
    }
  /** The sender's bound is reached; nothing was kept. */
  | { readonly outcome: "full" }
  /** The nonce was used before, or its key has too many; nothing was kept. */
  | { readonly outcome: "replayed" | "rate_abuse" };

/** Runs inside the transaction that completes an event; what it writes there commits with it, exactly once. */
export type Effect<Tx> = (tx: Tx) => MaybePromise<void>;

/** A lease that somebody holds, as proof of it. */
export interface Held {
  readonly id: number;
  readonly owner: string;
  readonly now: number;
  /**
   * Failures the event had when it was taken: with the owner, which run holds it. A run that was given up and tried again
   * since is told apart by it from the one that followed.
   */
  readonly attempts?: number;
  /** Aborted when the run is given up: what it would still write is undone. */
  readonly signal?: AbortSignal;
}

/** Which events to list. `after` is the id of the last one seen. */
export interface InboxFilter {
  readonly state?: InboxState;
  readonly sender?: string;
  /** Events of one task. */
  readonly taskId?: string;
  /** Ids greater than this one. */
  readonly after?: number;
  readonly limit?: number;
}

/** How many events wait for their handler, for their registration, or for a person. */
export interface Backlog {
  readonly pending: number;
  readonly parked: number;
  readonly dead: number;
}

/** Events that were ingested: accepted, leased, ended, replayed. */
export interface Inbox<Tx> {
  /** Claim, order and inbox row in one transaction; durable when it answers. */
  accept(arrival: Arrival): Promise<AcceptOutcome>;
  /** Leases up to `limit` due events; events of one task come one at a time, in their order of arrival. */
  take(request: Lease & { readonly now: number; readonly limit: number }): Promise<InboxEvent[]>;
  /** Prolongs leases while handlers run. */
  renew(ids: readonly number[], lease: Lease): Promise<void>;
  /** Gives events back whose handler has not begun, as if they had not been taken. */
  releaseLease(ids: readonly number[], holder: { readonly owner: string; readonly now: number }): Promise<void>;
  /**
   * Removes the event, with `effect` in the same transaction. `lost`: the lease went to another owner, and nothing was
   * written. Rejects with what `effect` threw; nothing is written then either.
   */
  complete(held: Held, effect?: Effect<Tx>): Promise<"completed" | "lost">;
  /** Gives the event back after a failure, not to be taken before `due`. */
  retry(held: Held, due: number, error: string): Promise<void>;
  /** Gives up: the event goes to the dead letters. */
  deadLetter(held: Held, error: string): Promise<void>;
  list(filter?: InboxFilter): Promise<InboxEvent[]>;
  get(id: number): Promise<InboxEvent | undefined>;
  /** Makes a dead or parked event pending again with its attempts forgotten. False when there is none. */
  replay(id: number, now: number): Promise<boolean>;
  /** Removes an event unhandled; its key stays claimed. False when there is none. */
  drop(id: number, now: number): Promise<boolean>;
  backlog(): Promise<Backlog>;
  /** When the oldest event that waits for its handler was received, unix milliseconds; null where none waits. */
  oldest(): Promise<number | null>;
}

/** How a sender authenticates on a route; `standard-webhooks` where both sides agreed on it, by no field of a release. */
export type RegisteredMode = "signature" | "HMAC-SHA256" | "Bearer" | "standard-webhooks";

/** What is known of a webhook before it arrives. */
export interface Registration {
  readonly route: string;
  /** Null: for every operation of the route that has no registration of its own. */
  readonly operationId: string | null;
  readonly sender: string;
  readonly kind: EventKind;
  readonly mode: RegisteredMode;
  readonly format: TransportName | null;
  readonly taskType: string | null;
  readonly tokenDigest: Uint8Array | null;
  readonly release: string | null;
  /** Kinds of events it is told of, of an account or an agent; null for all of them. */
  readonly events: readonly string[] | null;
  /** When it may be forgotten; null is never. */
  readonly expires: number | null;
}

/** The members every registration of a route shares. */
export type RouteBinding = Pick<Registration, "route" | "sender" | "kind" | "mode" | "format" | "release">;

/** What is expected: operations by sender, routes by what they take. */
export interface Registrations {
  /**
   * Stores a registration and releases what was parked for it.
   * @returns how many parked events became pending; `conflict` when the route has another sender, kind or mode
   */
  add(registration: Registration, now: number): Promise<{ conflict: RouteBinding } | { released: number }>;
  binding(route: string): Promise<RouteBinding | undefined>;
  /**
   * The registration an event belongs to: that of its operation, else the route's own.
   */
  find(route: string, operationId: string | null): Promise<Registration | undefined>;
  /** The registration of just this operation, or of the route itself. */
  own(of: RouteOf, operationId: string | null): Promise<Registration | undefined>;
  /** Removes one; events that come for it afterwards are parked. */
  remove(route: string, operationId: string | null): Promise<boolean>;
}

/** Last applied state of a task. */
export interface TaskState {
  readonly instant: string;
  readonly status: string;
  readonly terminal: boolean;
  /** When a terminal status last came that was not applied, until one is; null where none was. */
  readonly missed: number | null;
}

/** How many live nonces are kept, for a key and in all. */
export interface ReplayOptions {
  /** Most live nonces of one key. Default 100,000 (docs/protocol/signing.md#replay). */
  readonly keyCap?: number;
  /** Most live nonces of all keys. Default 10,000,000. */
  readonly totalCap?: number;
}

/** A registration's place: a route speaks for one sender. */
export type RouteOf = Pick<RouteBinding, "route" | "sender">;

/** What effects on a store get: the SQLite connection, or a client of `pg`. */
export type TxOf<St> = St extends { readonly inbox: Inbox<infer Tx> }
  ? Tx
  : St extends { databaseOf(principal: string): Promise<Database<infer Tx>> }
    ? Tx
    : never;

/** What a receiver remembers, in one database or several. `Tx` is what an effect gets: the SQLite connection, or a client of `pg`. */
export interface ReceiverStore<Tx = unknown> {
  readonly inbox: Inbox<Tx>;
  readonly registrations: Registrations;
  /** @param operationId of its call: where the sender has used the task's id for several, the one that is meant */
  task(sender: string, taskId: string, operationId?: string): Promise<TaskState | undefined>;
  /** Live claims of a sender, for metrics and tests. */
  claims(sender: string): Promise<number>;
  /** Nonces of verified signatures, shared by every instance on this store. */
  replay(options?: ReplayOptions): ReplayStore;
  /** What expires, kind by kind. */
  readonly expiring: readonly Expiring[];
  /**
   * Removes what has expired, oldest first, without looking at what has not. Each kind of state has its turn, though
   * another fails; then it rejects.
   * @param limit most rows removed per kind of state
   */
  sweep(now: number, limit?: number): Promise<SweepResult>;
  /** What to give for `now` where machines share the store: the time of the database's server. Each goes by its own without. */
  readonly now?: () => number;
  /** Of a store in several databases: whether each answered when it was last asked. */
  readonly databases?: () => readonly { readonly name: string; readonly reachable: boolean }[];
  close(): Promise<void>;
}

/** A store in one database. */
export interface Store<Tx = unknown> extends ReceiverStore<Tx> {
  /** What it stands on; an application may keep its own tables there. */
  readonly database: Database<Tx>;
}
