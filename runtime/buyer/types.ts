/** What an application gives a buyer, and what its calls come back with. Names of wire fields are kept as they are on the wire. */
import type { Tracer } from "@opentelemetry/api";
import type {
  Answer,
  AnyArms,
  ArmsOf,
  Handlers,
  JsonObject,
  MaybePromise,
  ProtocolError,
  Recovery,
  Release,
  RequestOf,
  TaskStatus,
  TerminalStatus,
  TransportName,
} from "../contract/index.js";
import type { Logger } from "../log.js";
import type { Fetcher } from "../net/index.js";
import type { DocumentStore } from "../store/documents.js";
import type { ValidationResult, ValidatorSource } from "../validate/types.js";
import type { AcceptanceOptions, GovernanceOptions } from "./consent.js";
import type { Intent } from "./intent.js";
import type { OAuthOptions } from "./oauth/types.js";
import type { BuyerWebhooks } from "./webhooks.js";

/** Request members the buyer fills in; giving one overrides it. */
type Filled = "idempotency_key" | "push_notification_config";

/** Each member of a union keeps its own shape. */
type Open<D> = D extends object
  ? { [K in keyof D as K extends Filled ? K : never]?: D[K] } & {
      [K in keyof D as K extends Filled ? never : K]: D[K];
    }
  : D;

/** A tool's request as a caller writes it: without what the buyer adds. */
export type CallRequest<T> = Open<RequestOf<T>>;

/** What one call may have of its own. `deadlineMs` is milliseconds from now. */
export interface CallOptions {
  /** Ends the call, its retries and its waiting; the answer is then a failure made here. */
  readonly signal?: AbortSignal;
  /** How long the call may take, retries and all, in milliseconds; then it is a failure, `DEADLINE_EXCEEDED`. None by default. */
  readonly deadlineMs?: number;
  /** False: no webhook is registered for this call. Default true where the buyer has `webhooks`. */
  readonly webhook?: boolean;
  /** Conversation the call belongs to: `contextId` of an earlier answer. */
  readonly contextId?: string;
}

/** Options of `respond`. */
export type RespondOptions = Omit<CallOptions, "contextId">;

/** How the end of a task is waited for. */
export interface CompletionOptions {
  readonly signal?: AbortSignal;
}

/** How a task ended, or what it asks. */
export type TaskEnd<Arms> = Extract<Answer<Arms>, { status: TerminalStatus | "input-required" }>;

/** One call and its answer. */
export interface CallResult<Arms> {
  readonly tool: string;
  /** What the seller answered, or what kept it from answering: a failure without `raw` was made here. */
  readonly answer: Answer<Arms>;
  /** Version of the release the call was made in. */
  readonly release: string;
  /** Times the request was sent. */
  readonly attempts: number;
  /** The key all attempts had; give it as `idempotency_key` to repeat the call later. */
  readonly idempotencyKey: string | undefined;
  /** Registered with the receiver; undefined where no webhook was asked for. */
  readonly operationId: string | undefined;
  /** The seller answered from an earlier call with this key. */
  readonly replayed: boolean;
  /** Of a failed answer: what a caller can do. Transient ones have been retried. */
  readonly recovery: Recovery | undefined;
  /** Runs the one handler for the arm that came back. Leaving an arm out does not compile. */
  on<R>(handlers: Handlers<Arms, R>): R;
  /**
   * Waits until the task ends: by a webhook or by polling, whichever is first. A call that has ended resolves at once. A task
   * that waits for the caller (`input-required`) is given back as it is: `respond` goes on with it. Where the end cannot be
   * learned, what comes back is a failure made here, `TASK_END_UNKNOWN`, with the last known status in its details.
   * @throws the signal's reason when it is aborted
   */
  waitForCompletion(options?: CompletionOptions): Promise<TaskEnd<Arms>>;
  /**
   * Goes on with a task that waits for the caller: the same request with these members laid over it, in the same conversation and
   * under a key of its own, which the same answer has again after a crash or in another process. A task that asks nothing gives a
   * failed answer, `INPUT_NOT_ASKED`; where nothing says which task is meant (MCP, in releases without `context_id`), a call that
   * changes something is not made, `INPUT_NOT_CARRIED`: it would be a second one.
   */
  respond(input: JsonObject, options?: RespondOptions): Promise<CallResult<Arms>>;
}

/** Calls one tool of an agent. */
export type ToolCall<T> = (request: CallRequest<T>, options?: CallOptions) => Promise<CallResult<ArmsOf<T>>>;

/** One method per tool, under its name on the wire: `buyer.tools.create_media_buy({...})`. */
export type BuyerTools<R extends Release> = { readonly [K in keyof R["tools"]]: ToolCall<R["tools"][K]> };

/** The agent called: a URL, or a result of a registry's agent search as it came. */
export type AgentRef =
  | string
  | { readonly url: string; readonly transport?: TransportChoice }
  | { readonly agent_url: string; readonly transport?: TransportChoice };

/** `auto`: MCP for a URL that ends in /mcp, A2A where an agent card is served, else MCP. */
export type TransportChoice = TransportName | "auto";

/** What the agent is to know the caller by. A function is asked before each request, so that tokens may be renewed. */
export type BuyerAuth =
  | { readonly bearer: string | (() => MaybePromise<string>) }
  | { readonly headers: () => MaybePromise<Readonly<Record<string, string>>> }
  /** Tokens are got where the agent says that they are issued, kept, renewed, and got anew once when it refuses one. */
  | { readonly oauth: OAuthOptions };

/** The key that requests are signed with, and when. */
export interface BuyerSigning {
  /** Private key: JWK with `d`, or the platform's key object (`SignOptions` of adbind/signing). */
  readonly key: object;
  /** `kid` under which its public part is published. */
  readonly keyid: string;
  /** `asked`: once the agent's capabilities say it verifies. `always`: from the first request on. Default `asked`. */
  readonly when?: "asked" | "always";
}

/** Where intents are kept: `documentStore(store.database)` of adbind/store, or what else stores JSON by collection, owner and id. */
export type IntentStore = Pick<DocumentStore, "get" | "list" | "commit">;

/** What is written in the transaction in which a kept call is let go; on SQLite no promise. */
export type EndedEffect = (tx: never) => MaybePromise<void>;

/** How transient errors are retried (docs/protocol/errors.md#recovery). */
export interface RetryOptions {
  /** Times a request is sent at most. Default 4. */
  readonly attempts?: number;
  /** From the first attempt to the start of the last, in milliseconds. Default 300,000. */
  readonly totalMs?: number;
  /** First delay, in milliseconds; doubled each time up to 60,000. An error's `retry_after` comes before it. Default 2,000. */
  readonly baseMs?: number;
}

/**
 * What a call becomes where its agent lacks the tool, and its release says that something else stands in for it, though not one
 * for one: whoever writes it sees to it that nothing is done by halves, or twice.
 */
export type Adapter = (
  request: JsonObject,
  use: {
    /** Calls another tool of the same agent. */
    readonly call: (tool: string, request: JsonObject, options?: CallOptions) => Promise<CallResult<AnyArms>>;
    readonly options: CallOptions;
    readonly negotiated: NegotiatedRelease;
  },
) => Promise<CallResult<AnyArms>>;

/** A request or an answer that its release does not allow. */
export interface InvalidMessage {
  readonly tool: string;
  readonly direction: "request" | "answer";
  readonly release: string;
  readonly status: TaskStatus | undefined;
  readonly errors: Extract<ValidationResult, { ok: false }>["errors"];
}

/** What a buyer is made of: a release, an agent, and where its webhooks arrive. Times are milliseconds. */
export interface BuyerOptions<R extends Release = Release> {
  /** The release whose types the methods have. */
  readonly release: R;
  /** Further releases that the buyer has; the newest the agent speaks too is used. */
  readonly releases?: readonly Release[];
  readonly agent: AgentRef;
  readonly webhooks?: BuyerWebhooks;
  readonly signing?: BuyerSigning;
  readonly auth?: BuyerAuth;
  readonly retry?: RetryOptions;
  /**
   * Keeps key and payload of each call that changes something, as they are, before its request leaves and until it has ended;
   * `buyer.resume()` carries on what a crash left.
   */
  readonly intents?: IntentStore;
  /**
   * Is told how a call that `intents` keeps has ended, by its own answer or after a wait, and returns its effect, which commits
   * in the intents' store as the call is let go: exactly once, in whichever process and after whatever crash. An effect that fails
   * leaves the call kept. Where nothing but a handler of the receiver was told what the end brought, and that before a crash, the
   * answer is `TASK_END_UNKNOWN` with the status in its details.
   */
  readonly ended?: (call: Intent, end: Answer<AnyArms>) => MaybePromise<EndedEffect | undefined>;
  /** Whose calls `intents` keeps: buyers of one agent on one database that share a name, or have none, share them. */
  readonly owner?: string;
  /** Asks a governance agent before a call that changes something is sent. */
  readonly governance?: GovernanceOptions;
  /** What is taken without asking a person. */
  readonly acceptance?: AcceptanceOptions;
  /** By the name of a tool: what is done where an agent lacks it. */
  readonly adapters?: Readonly<Record<string, Adapter>>;
  /** Largest answer, in bytes; what is larger is a failure, `ANSWER_TOO_LARGE`. Default 4 MiB. */
  readonly maxAnswerBytes?: number;
  /** How long one request may take, in milliseconds. Default 300,000: sellers may hold a call while they work on it. */
  readonly timeoutMs?: number;
  /**
   * Longest pause between polls without webhooks, in milliseconds. The first poll is at once, the pauses after it grow, and an
   * agent's own estimate lengthens them. Default 30,000. With webhooks the receiver has its own.
   */
  readonly pollMs?: number;
  /** How long `waitForCompletion` waits at most, in milliseconds. Default 24 hours. */
  readonly giveUpMs?: number;
  /**
   * Is told of requests and answers that break the release's schemas; such a request is then not sent. Nothing is judged
   * without it: a valid request is what types give, and answers are read leniently.
   */
  readonly onInvalid?: (message: InvalidMessage) => void;
  /**
   * What `onInvalid` is told by: the release's validator as `generate --standalone` emits it, or what makes one for each
   * release; `createValidator` of adbind/validate by default, which compiles.
   */
  readonly validator?: ValidatorSource;
  /** Plain http and loopback addresses too. For development and tests. */
  readonly allowLocal?: boolean;
  /** Carries every request; guarded (adbind/net) by default. `allowLocal` and connection limits are then its own. */
  readonly fetch?: Fetcher;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
  /** Makes idempotency keys and operation ids: UUID v4 by default. */
  readonly uuid?: () => string;
  /** Waits between attempts and polls; a timer by default. Resolves early when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly logger?: Logger;
  /** Gets a span for each call; the global tracer by default. Requests carry it (`traceparent`), so a webhook stands in its call's trace. */
  readonly tracer?: Tracer;
}

/** What both sides agreed on. */
export interface NegotiatedRelease {
  /** Newest release both speak. */
  readonly release: Release;
  /** What the agent declares of itself; null for one that has no such tool. */
  readonly capabilities: JsonObject | null;
  /** The agent keeps idempotency keys: a lost answer may be asked for again. */
  readonly idempotent: boolean;
}

/** Errors of a failure that was made here, not by the agent. */
export type LocalError = ProtocolError & { readonly source: "buyer" };
