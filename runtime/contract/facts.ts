/**
 * What a release says about itself, as data. The generator reads it off the manifest and the schemas; rooms of the runtime
 * ask it instead of comparing versions.
 */
import type { Recovery } from "./recovery.js";
import type { SchemaRef } from "./schema.js";

/** One thing that a release says, and where it says it. */
export interface Fact<T> {
  readonly value: T;
  /** `<path>` or `<path>#<JSON pointer>` of what shows it; `version` where only the release's number tells. */
  readonly from: string;
}

/** Facts by a name of the release's own, such as a tool's or a specialism's. */
export type FactTable<T> = { readonly [name: string]: Fact<T> };

/** How requests are signed at an endpoint: the release line that wrote the rules. */
export type RequestProfileName = "3.1" | "3.2";

/** How requests and webhooks are signed under a release. */
export interface SigningFacts {
  /** 3.1: unpadded base64url out, either alphabet in. 3.2: padded standard base64 both ways. */
  readonly profile: Fact<RequestProfileName>;
  /** `declared`: as the verifier's capability says. `required`: a body is always covered. */
  readonly digest: Fact<"declared" | "required">;
  /** Pattern of the versions that put an endpoint declaring one of them on the 3.2 profile. */
  readonly newer: Fact<string>;
  /** What a verifier calls a host sent in other letters than ASCII. */
  readonly nonAsciiHost: Fact<"header_malformed" | "target_uri_malformed">;
  /** `named`: the operation is what the body names. `one`: a body without exactly one resolvable operation is refused. */
  readonly operations: Fact<"named" | "one">;
  /** Names of transport methods may be listed beside those of tools. */
  readonly methods: Fact<boolean>;
  /** Purposes that a key may have to sign webhooks. */
  readonly webhookKeyUses: Fact<readonly string[]>;
  /** Sellers say how long they retry a webhook. */
  readonly retryHorizon: Fact<boolean>;
}

/** How keys are found under a release (docs/protocol/eras.md#key-discovery). */
export interface DiscoveryFacts {
  /** Where the keys of who calls are looked for first. */
  readonly requests: Fact<"onboarding" | "capabilities">;
  /** Where the keys of who sends webhooks are: the host's own brand file, or the one that capabilities name and no other. */
  readonly webhooks: Fact<"host" | "capabilities">;
  readonly urlMatch: Fact<"bytes" | "canonical">;
  /** Whose keys must come from the origin that the agent declares: `advised` says that it is declared, and binds nobody. */
  readonly keyOrigins: Fact<"nobody" | "advised" | "requests" | "everybody">;
  /** What a publisher's pin holds a key by. */
  readonly pin: Fact<"kid" | "thumbprint">;
  /** What becomes of an agent that one list of a brand file has twice: it is refused, or is one where the entries agree. */
  readonly twice: Fact<"refused" | "agreeing">;
  /** Largest brand file, in bytes. */
  readonly brandBytes: Fact<number>;
}

/** What answers of a tool demand and refuse, of the fields that every answer may have. */
export interface AnswerFields {
  readonly required: readonly string[];
  readonly refused: readonly string[];
}

/** What requests of a tool refuse, of the fields that every request may have. */
export interface RequestFields {
  readonly refused: readonly string[];
}

/** What a release has around requests and answers, beside the tool's own fields. */
export interface EnvelopeFacts {
  /** The root `status` of answers: the task's, and demanded; or free to be something else. */
  readonly status: Fact<"free" | "task">;
  /** Answers say which release they are in. */
  readonly versionEcho: Fact<boolean>;
  /** Where the state of a media buy stands in the answers that make or change one. */
  readonly mediaBuyState: Fact<"status" | "either" | "media_buy_status">;
  /**
   * Tools whose completed answers demand or refuse other envelope fields than is usual; the others take them all, and
   * demand `status` where it is the task's.
   */
  readonly answers: FactTable<AnswerFields>;
  /**
   * Tools whose requests are closed to members by which a request says what release it is in, such as the version; the others
   * take them all.
   */
  readonly requests: FactTable<RequestFields>;
  readonly recovery: Fact<"optional" | "advised" | "required">;
  readonly retryAfter: Fact<"number" | "integer">;
  /** Whether errors may carry a text for buyers. */
  readonly buyerReason: Fact<boolean>;
  /** Over MCP, callers thread `context_id`, or servers ignore it. */
  readonly contextId: Fact<"threaded" | "ignored">;
}

/** How the result of a task that has ended finds its schema, by the task's type. */
export interface ResultResolution {
  readonly discriminator: string;
  /** Pointer into the manifest, `{task_type}` in it. */
  readonly template: string;
  /** Schemas of task types that are no tools. */
  readonly overrides: { readonly [taskType: string]: SchemaRef };
}

/** What the result of a finished task is judged by. */
export interface ResultFacts {
  readonly terminal: Fact<ResultResolution>;
}

/**
 * What is registered to be told of an event: a task; a media buy, by `reporting_webhook` or `push_notification_config`; an
 * account's or an agent's notification configs; a resource such as a list; or nothing yet (`challenge`: before a config is active).
 */
export type EventChannel = "task" | "reporting" | "media-buy" | "account" | "agent" | "resource" | "challenge";

/** One kind of event: schema, fields that must be there, channels it goes by. */
export interface EventShape {
  readonly schema: SchemaRef;
  /** Names that the body must have. */
  readonly required: readonly string[];
  /** The member that says which event it is; absent where only the schema does. */
  readonly discriminator?: string;
  readonly channels: readonly EventChannel[];
  /** The schema is of the `result` in a task's envelope; of the whole body where this is absent. */
  readonly within?: "result";
  /** The release declares it to be an invalidation: it says what to read again, and no more. */
  readonly invalidation?: true;
}

/** What a release says of its events: the task's, the others by kind, and what binds a key. */
export interface EventFacts {
  /** The envelope of a task's webhook. */
  readonly task?: Fact<EventShape>;
  /** The member of it that names the protocol surface; absent where the release has no such envelope. */
  readonly surface?: Fact<"domain" | "protocol">;
  /** Types of tasks that the envelope takes; absent where it takes any. */
  readonly taskTypes?: Fact<readonly string[]>;
  /**
   * What becomes of a registration that names no operation: it is refused, or may be taken, and is told of nothing it cannot be told
   * of. Absent where registrations have no place for it.
   */
  readonly unnamed?: Fact<"refused" | "taken">;
  /** A webhook key is bound to its payload: another payload under it is refused. */
  readonly keyBinding: Fact<"first-copy" | "payload">;
  /** Events by their kind, those of which the release has a schema. */
  readonly kinds: FactTable<EventShape>;
  /** Kinds that may be subscribed to. */
  readonly subscribable?: Fact<readonly string[]>;
}

/** What stands in for a tool, or takes its place. */
export interface ToolRoute {
  readonly family?: string;
  readonly supersededBy?: readonly string[];
  readonly fallback?: { readonly tool?: string; readonly mode: string };
}

/** Which of a release's tools have a part of their own: capabilities, polling, routes between old and new. */
export interface ToolFacts {
  readonly capabilities?: Fact<string>;
  /** The tools that ask for a task and for a list of tasks; absent where the release has none. */
  readonly task?: Fact<string>;
  readonly tasks?: Fact<string>;
  /** Any call opens the account that it names, or only those that commit to something: never one that looks for offers. */
  readonly provisioning: Fact<"naming" | "committing">;
  /** Successors of tools, and what stands in for those that a peer lacks. */
  readonly routes: FactTable<ToolRoute>;
}

/** Who is meant by a specialism: buyers and orchestrators call its tools, the others answer them. */
export type SpecialismRole = "buyer" | "orchestrator" | "seller" | "governance";

/** A place for an asset in a canonical format. */
export interface CanonicalSlot {
  readonly asset_group_id: string;
  readonly asset_type: string;
  readonly required: boolean;
  /** How many assets go into it, where that is bounded. */
  readonly min?: number;
  readonly max?: number;
}

/** What a release says of how to recover from its errors. */
export interface RecoveryFacts {
  /** How many of the standard codes have each class; the table itself is `Release.errors`. */
  readonly errors: Fact<{ readonly [R in Recovery]: number }>;
  /** Classes of other lists of codes, by the list's file. */
  readonly codes: FactTable<{ readonly [code: string]: Recovery }>;
}

/** What a release says of itself, each value with the pointer that shows it. */
export interface ReleaseFacts {
  readonly signing: SigningFacts;
  readonly discovery: DiscoveryFacts;
  readonly envelope: EnvelopeFacts;
  readonly results: ResultFacts;
  readonly events: EventFacts;
  readonly tools: ToolFacts;
  readonly roles: FactTable<SpecialismRole>;
  readonly recovery: RecoveryFacts;
  /** The canonical formats, by kind: what each is made of where a declaration does not say. */
  readonly formats: FactTable<readonly CanonicalSlot[]>;
  /** Facts assumed of a release newer than any that is known, as sentences; empty for a known one. */
  readonly assumed: readonly string[];
}
