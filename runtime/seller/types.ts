/** What an application gives a seller, and what its handlers get. Names of wire fields are kept as they are on the wire. */
import type { IncomingHttpHeaders } from "node:http";
import type { Meter, Tracer } from "@opentelemetry/api";
import type {
  AnyTool,
  Inborn,
  JsonObject,
  MaybePromise,
  Release,
  Reply,
  RequestOf,
  TaskStatus,
  Tools,
  TransportName,
} from "../contract/index.js";
import type { Logger } from "../log.js";
import type { Sender } from "../sender/sender.js";
import type { KeySource, ReplayStore, RequestCapability, RevocationSource } from "../signing/index.js";
import type { AnyStore, PrincipalStore } from "../store/index.js";
import type { Effect, TxOf } from "../store/types.js";
import type { A2aProfile, Identity, ListingOptions } from "../transport/answerer.js";
import type { ValidatorSource } from "../validate/types.js";
import type { ArmData, ArmReply, Completed, IfArm } from "./arms.js";
import type { AuditEntry } from "./audit-entry.js";
import type { InvalidAnswer } from "./invalid-answer.js";
import type { NamesAccount } from "./named-account.js";
import type { Declined, SellerError } from "./refusal.js";

export type { Effect, TxOf } from "../store/types.js";
export type { A2aProfile, Identity, ListingOptions } from "../transport/answerer.js";
export type { ArmData, ArmReply, Completed } from "./arms.js";
export type { AuditEntry } from "./audit-entry.js";
export type { InvalidAnswer } from "./invalid-answer.js";
export type { NamesAccount } from "./named-account.js";
export type { Declined, SellerError } from "./refusal.js";

/** Where a seller keeps calls and tasks: in one database, or in several, each principal's in one of them. */
export type SellerStore = AnyStore | PrincipalStore<unknown>;

/** A task that outlives its call. Every change is durable, and its webhooks are stored in the same transaction. */
export interface TaskHandle<T = AnyTool, Tx = unknown> {
  readonly id: string;
  /** @throws AdbindError `transition_refused`, `event_invalid` (all of these) */
  working(...args: IfArm<T, "working", [progress?: ArmData<T, "working">, more?: ChangeOptions<Tx>]>): Promise<void>;
  inputRequired(
    ...args: IfArm<T, "input-required", [data?: ArmData<T, "input-required">, more?: ChangeOptions<Tx>]>
  ): Promise<void>;
  complete(data: Completed<T>, more?: ChangeOptions<Tx>): Promise<void>;
  fail(errors: SellerError | readonly SellerError[], more?: ChangeOptions<Tx>): Promise<void>;
  /**
   * @param refusal errors; or why the seller declines, where the release has that among the tool's answers, as of a search: elsewhere
   * it is told as an error
   */
  reject(refusal: SellerError | readonly SellerError[] | Declined, more?: ChangeOptions<Tx>): Promise<void>;
  cancel(more?: ChangeOptions<Tx>): Promise<void>;
}

/** What a task's change is told with, and what must commit with it. */
export interface ChangeOptions<Tx = unknown> {
  /** Text for people. */
  readonly message?: string;
  /** What the application writes with it: commits with the change, or not at all. Synchronous on SQLite. */
  readonly effect?: Effect<Tx>;
}

/** A task that is not over, for whoever carries it on: after a restart nothing of it runs. */
export interface UnfinishedTask {
  readonly id: string;
  readonly tool: string;
  readonly status: TaskStatus;
  readonly principal: string;
  /** The request as it was sent, without `push_notification_config` and `reporting_webhook`: their secrets are kept sealed. */
  readonly request: JsonObject;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Until when a process has its work, unix milliseconds by the database's clock, unless it renews that; absent where nobody is at work on it. */
  readonly heldUntil?: number;
}

/** What goes on after a `submitted` or `working` answer has been given, in this process. A reply ends the task. */
// biome-ignore lint/suspicious/noConfusingVoidType: work that ends its task elsewhere returns nothing
export type LaterWork<T, Tx> = (task: TaskHandle<T, Tx>) => MaybePromise<Reply<T> | void>;

/** One call of a tool, as its handler sees it. */
export interface SellerContext<T = AnyTool, Tx = unknown> {
  /** Name of the tool, as the release has it. */
  readonly tool: string;
  readonly transport: TransportName;
  /** The release that this caller is answered in. */
  readonly release: Release;
  readonly mode: "development" | "production";
  /** Who called; what it owns is nobody else's. */
  readonly principal: string;
  /** The request's `account`, as sent. */
  readonly account: JsonObject | undefined;
  /** The account by its one reference, as the seller's `accountNamed` has it. */
  accountNamed(): Promise<JsonObject | undefined>;
  readonly idempotencyKey: string | undefined;
  /** Id the call's task has, should it become one. Also good as the id of what the call makes. */
  readonly taskId: string;
  /**
   * The task that this call goes on with, which waited for its caller (`input-required`), with the request before this one;
   * undefined for a call of its own. `taskId` is then its id, and the reply is what becomes of it: a failure leaves it waiting.
   */
  readonly continues: UnfinishedTask | undefined;
  readonly store: SellerStore;
  readonly sender: Sender | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly uuid: () => string;
  readonly logger: Logger | undefined;
  /**
   * Runs in the transaction that records the answer: what it writes commits exactly once, with the idempotency key, the
   * task and its webhooks. It does not run when the answer is a failure. On SQLite it must not return a promise.
   */
  effect(work: Effect<Tx>): void;
  /** A task of the same caller, opened by an earlier call. */
  task<Other = AnyTool>(taskId: string): TaskHandle<Other, Tx>;
  /** `return ctx.complete(data)`: the same as `{status: "completed", data}`. */
  complete(data: Completed<T>): ArmReply<T, "completed">;
  /** `return ctx.submitted({message}, async (task) => ...)`: a task that answers in hours or days. */
  submitted(
    ...args: IfArm<T, "submitted", [data?: ArmData<T, "submitted">, later?: LaterWork<T, Tx>]>
  ): ArmReply<T, "submitted">;
  /** `return ctx.working({percentage: 10}, async (task) => ...)`: a task that answers in seconds or minutes. */
  working(
    ...args: IfArm<T, "working", [progress?: ArmData<T, "working">, later?: LaterWork<T, Tx>]>
  ): ArmReply<T, "working">;
  inputRequired(
    ...args: IfArm<T, "input-required", [data?: ArmData<T, "input-required">]>
  ): ArmReply<T, "input-required">;
  /** `return ctx.fail({code: "PRODUCT_NOT_FOUND", message, field})`. `throw new ToolError(...)` does the same. */
  fail(errors: SellerError | readonly SellerError[]): ArmReply<T, "failed">;
  reject(errors: SellerError | readonly SellerError[]): ArmReply<T, "rejected">;
}

/** Answers one tool. `SellerHandler<typeof release.tools.get_products>` types a handler in a file of its own. */
export type SellerHandler<T, Tx = unknown> = (
  request: RequestOf<T>,
  ctx: SellerContext<T, Tx>,
) => MaybePromise<Reply<T>>;

/** Tools the seller answers by itself, from what it knows. */
export type BuiltIn<R extends Release> =
  | "get_agent_capabilities"
  | `get_${R["word"]}_capabilities`
  | "get_task_status"
  | "list_tasks";

/** Tools a claimant of `S` must give handlers for. */
export type RequiredTools<R extends Release, S extends keyof R["specialisms"]> = Exclude<
  R["specialisms"][S]["entryPoints"][number] & keyof R["tools"],
  BuiltIn<R>
>;

/** A seller's handlers: the entry points of what it claims must be there, any other tool of the release may. */
export type SellerHandlers<T extends Tools, Required extends keyof T = never, Tx = unknown> = {
  [K in Required]: SellerHandler<T[K], Tx>;
} & { [K in Exclude<keyof T, Required>]?: SellerHandler<T[K], Tx> | Inborn<K> };

/** A call before it is answered, as `auth` judges it. */
export interface AuthRequest {
  readonly headers: IncomingHttpHeaders;
  /** Who signed the request: its agent URL. Absent where it was not signed, or signatures are not looked at. */
  readonly signer: { readonly agentUrl: string; readonly keyid: string } | undefined;
  /** Address of the peer. */
  readonly ip: string;
}

/** Says who calls, or that nobody known does. */
export interface AuthHook {
  /** @returns undefined where the credentials are missing or not good: the answer is 401 */
  authenticate(request: AuthRequest): MaybePromise<Identity | undefined>;
  /** For `WWW-Authenticate`; `Bearer` by default. */
  readonly challenge?: string;
  /** Issuers whose tokens are taken: then RFC 9728 metadata says so to callers. */
  readonly authorizationServers?: readonly string[];
  readonly scopes?: readonly string[];
}

/** Verifying signed requests; capabilities declare it. */
export interface RequestSigningOptions extends RequestCapability {
  readonly keys: KeySource;
  /** The store's own by default. */
  readonly replay?: ReplayStore;
  readonly revocation?: RevocationSource;
  /**
   * Under releases of the 3.2 profile an operation that must be signed passes unsigned on another credential that `auth` finds
   * good; true refuses it all the same, as older releases do.
   */
  readonly strict?: boolean;
}

/** The key that a seller signs its webhooks and requests with. */
export interface SellerSigning {
  /** Private JWK; its public part is served as JWKS. */
  readonly key: object;
  readonly keyid: string;
  /** Public keys published beside it, such as the one rotated out. */
  readonly alsoPublished?: readonly object[];
}

/** What one request may cost: bytes, depth, calls in ten seconds, milliseconds of waiting. */
export interface SellerLimits {
  /** Largest request, in bytes. Default 1 MiB. */
  readonly bodyBytes?: number;
  /** Deepest nesting of a request, in levels. Default 64. */
  readonly depth?: number;
  /** Calls of a principal in ten seconds; false for no limit. Default 1,500 reads and 300 mutating calls. */
  readonly calls?: { readonly reads: number; readonly writes: number } | false;
  /** How long a call waits for another one with its key before IDEMPOTENCY_IN_FLIGHT, in milliseconds. Default 2,000. */
  readonly inFlightWaitMs?: number;
}

/** What a seller is made of: releases, handlers, store, credentials, signing. */
export interface SellerOptions<
  R extends Release = Release,
  S extends keyof R["specialisms"] & string = keyof R["specialisms"] & string,
  St extends SellerStore = SellerStore,
> {
  /** The release whose types the handlers have: the newest one served. */
  readonly release: R;
  /** Further releases served to callers who ask for them, by the same handlers; `ctx.release` tells which. */
  readonly releases?: readonly Release[];
  /** What is claimed, ids as keys of `release.specialisms`; nothing by default. */
  readonly specialisms?: readonly S[];
  readonly tools: SellerHandlers<R["tools"], RequiredTools<R, S>, TxOf<St>>;
  /** In development, by default, one that is gone with the seller. */
  readonly store?: St;
  /** Delivers webhooks; without one, a request that registers a webhook for a later answer is refused. */
  readonly sender?: Sender;
  /** Signs webhooks (the same key is given to the sender); its public part is published. */
  readonly signing?: SellerSigning;
  /** Where callers reach it, without a path: `https://seller.example`. Without one it is for this machine, and in development. */
  readonly baseUrl?: string;
  /** For people. */
  readonly name?: string;
  readonly description?: string;
  /**
   * Who may call; everybody, as one principal, by default. In production that has to be meant where a tool changes something:
   * `openAuth`; with `requestSigning` alone who does not sign changes nothing there.
   */
  readonly auth?: AuthHook;
  readonly requestSigning?: RequestSigningOptions;
  /** Tools whose requests their handlers judge: one that breaks its schema reaches them as it came. */
  readonly unchecked?: readonly string[];
  /** Parts of requests that a tool's handler judges, as JSON pointers with `*` for any item: what is wrong below reaches it. */
  readonly judgedByHandler?: Readonly<Record<string, readonly string[]>>;
  /** One reference for each account, however it is named: its keys and tasks go by that; by what is written, without this. */
  readonly accountNamed?: NamesAccount;
  /** Laid over the derived capabilities, member by member; a function says it in the terms of each release. */
  readonly capabilities?: JsonObject | ((release: Release) => JsonObject);
  /** How long an answer is kept for replay, in seconds: 3,600 to 604,800. Default 86,400. */
  readonly replayTtlSeconds?: number;
  readonly limits?: SellerLimits;
  /**
   * Judges requests and answers: the release's validator as `generate --standalone` emits it, or what makes one for each
   * release; `createValidator` of adbind/validate by default, which compiles.
   */
  readonly validator?: ValidatorSource;
  /** What it is called over; all by default. One over MCP alone needs no SDK of A2A, and the other way round. */
  readonly transports?: readonly [TransportName, ...TransportName[]];
  /** How MCP lists the tools: small enough for a model by default. What is listed changes nothing of what is accepted. */
  readonly listing?: ListingOptions;
  /** The protocol's own profile of A2A, where its releases publish one: the card offers it, callers activate it. */
  readonly a2aProfile?: A2aProfile;
  /**
   * Whether a task can be given up: what it was to make must then not be made. Without it only a task that waits for its caller
   * (`input-required`) can be canceled over A2A.
   */
  readonly cancelTask?: (task: UnfinishedTask) => MaybePromise<boolean>;
  /**
   * Goes on with the work of a task (`submitted` or `working` with work after it) whose process is gone, as that work would: once, of all
   * processes on the store, about half a minute after it was heard of last. Without it such tasks are for whoever looks at `unfinished`.
   */
  readonly resume?: (
    task: UnfinishedTask,
    handle: TaskHandle<AnyTool, TxOf<St>>,
  ) => ReturnType<LaterWork<AnyTool, TxOf<St>>>;
  /** Origins of browser pages that may call; its own only by default (MCP, "Security": DNS rebinding). */
  readonly origins?: readonly string[];
  /** Proxies whose forwarding headers tell the caller's address, as fastify takes it; none by default. */
  readonly trustProxy?: boolean | string | string[];
  /** Development refuses its own answers that break the release's schemas; production reports them. Default production where `baseUrl` is given. */
  readonly mode?: "development" | "production";
  /** Told of each answer that breaks the release's schema, in either mode. */
  readonly onInvalidAnswer?: (report: InvalidAnswer) => void;
  /** Unix milliseconds; the store's clock by default, where machines share one, else the system's. Signatures go by the latter. */
  readonly now?: () => number;
  /** Makes task ids: UUID v4 by default. */
  readonly uuid?: () => string;
  readonly logger?: Logger;
  /** Gets calls, failures, replays and durations; the global meter by default. */
  readonly meter?: Meter;
  /** Gets a span for each call; the global tracer by default. */
  readonly tracer?: Tracer;
  /** Told of each call that was answered, before its caller is. What it throws is logged. */
  readonly audit?: (entry: AuditEntry) => MaybePromise<void>;
}
