/**
 * What generated code and the runtime agree on: one protocol release as plain data, and the few functions every binding
 * needs. The only module generated code imports, so it imports nothing.
 */

/** How a caller recovers from an error (service.md, "Error-code entry"). */
export type Recovery = "correctable" | "transient" | "terminal";

/** Statuses a task has in webhooks and answers (service.md, "States and transitions"). */
export type TaskStatus = "submitted" | "working" | "input-required" | "completed" | "failed" | "canceled" | "rejected";

/** Every task status; the order is the life of a task. */
export const taskStatuses = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
] as const satisfies readonly TaskStatus[];

/** Statuses a task never leaves. Every tool has an arm for each. */
export const terminalStatuses = [
  "completed",
  "failed",
  "canceled",
  "rejected",
] as const satisfies readonly TaskStatus[];

export type TerminalStatus = (typeof terminalStatuses)[number];

export const isTaskStatus = (value: unknown): value is TaskStatus =>
  (taskStatuses as readonly unknown[]).includes(value);

export const isTerminal = (status: TaskStatus): status is TerminalStatus =>
  (terminalStatuses as readonly TaskStatus[]).includes(status);

/** Path of a schema in its release, `/` separated, with an optional `#/json/pointer`. */
export type SchemaRef = string;

/**
 * A schema's place as a URI reference, which is how a validator knows it: a path may hold what a URI may not.
 * @param ref `<path>` or `<path>#<pointer>`, as everywhere else in a release
 */
export function schemaUri(ref: SchemaRef): string {
  const encode = (text: string): string => encodeURI(text).replace(/[?#]/g, encodeURIComponent);
  const hash = ref.indexOf("#");
  return hash < 0 ? `/${encode(ref)}` : `/${encode(ref.slice(0, hash))}#${encode(ref.slice(hash + 1))}`;
}

/** Schema documents of a release as JSON text, keyed by path. `$ref`s between them are what `schemaUri` gives. */
export type SchemaDocuments = Readonly<Record<string, string>>;

/** Loads the schema documents; called on the first validation, never before. */
export type SchemaSource = () => Promise<SchemaDocuments>;

export type JsonObject = { [key: string]: unknown };

/** One error as it travels (`core/error.json` of the published releases); platforms add fields of their own. */
export interface ProtocolError {
  /** An entry of the release's error table, or a platform's own code: the vocabulary is open. */
  code: string;
  message: string;
  /** Where in the request, as a path. */
  field?: string;
  suggestion?: string;
  /** Seconds to wait before trying again. */
  retry_after?: number;
  recovery?: Recovery;
  details?: JsonObject;
  [extra: string]: unknown;
}

/** What the arms `failed`, `rejected` and `canceled` carry. */
export interface Failure {
  errors: ProtocolError[];
  /** The payload as received; absent where the failure was made locally. */
  raw?: unknown;
}

/** The answers of a tool keyed by status, as the generator writes them. */
export type AnyArms = { [S in TaskStatus]?: unknown };

export type Idempotency = "required" | "optional" | "exempt" | "none";

declare const types: unique symbol;

/** One tool of a release. `Request` and `Arms` exist for the compiler only. */
export interface Tool<Name extends string = string, Request = unknown, Arms = AnyArms> {
  readonly name: Name;
  /** Protocol surface, e.g. `media-buy`. */
  readonly protocol: string;
  /** Calling it twice with the same input is unsafe (service.md, "Tool entry"). */
  readonly mutating: boolean;
  /**
   * What the request schema says of `idempotency_key`: a required or an optional field, none because the tool is
   * `exempt` (naturally idempotent), or none because it only reads.
   */
  readonly idempotency: Idempotency;
  readonly request: SchemaRef;
  /** Schema of each arm's data; null where the release gives none. */
  readonly arms: { readonly [S in keyof Arms]: SchemaRef | null };
  /** Task statuses that a synchronous payload's own `status` may speak of; other values there are the domain's. */
  readonly statuses: readonly TaskStatus[];
  /** Fields the schema allows beside `errors` on a failed answer; they do not make it a successful one. */
  readonly failureFields?: readonly string[];
  readonly addedIn?: string;
  readonly deprecatedIn?: string;
  readonly [types]?: { request: Request; arms: Arms };
}

// biome-ignore lint/suspicious/noExplicitAny: any tool at all; unknown would make Request contravariant
export type AnyTool = Tool<string, any, any>;
export type Tools = { readonly [name: string]: AnyTool };

export type RequestOf<T> = T extends Tool<string, infer Request, infer _Arms> ? Request : never;
export type ArmsOf<T> = T extends Tool<string, infer _Request, infer Arms> ? Arms : never;

export interface ErrorEntry {
  readonly recovery: Recovery;
  readonly suggestion: string;
  readonly addedIn?: string;
}
export type ErrorTable = { readonly [code: string]: ErrorEntry };

export interface Specialism {
  /** Home protocol; exercised tools may belong to others. */
  readonly protocol: string;
  readonly title?: string;
  /** Tools an implementer must ship to claim the specialism. */
  readonly entryPoints: readonly string[];
  /** Every tool a claimant must be ready to answer; entry points included. */
  readonly exercised: readonly string[];
  /** Names the release lists as exercised that are no tools: steps of its conformance harness. */
  readonly harness: readonly string[];
}
export type SpecialismTable = { readonly [id: string]: Specialism };

/** One protocol release as a value. Two releases may be used side by side: nothing here is global. */
export interface Release<T extends Tools = Tools> {
  /** The protocol's word, from the manifest's `<word>_version`. Wire names derive from it: `wireNames(word)`. */
  readonly word: string;
  readonly version: string;
  /** SHA-256 of the release's content, hex. A version alone does not identify a release: some were republished. */
  readonly digest: string;
  /** When the release was made, ISO 8601; for cache invalidation. */
  readonly generatedAt: string;
  readonly tools: T;
  readonly errors: ErrorTable;
  readonly defaultUnknownRecovery: Recovery;
  readonly specialisms: SpecialismTable;
  readonly schemas: SchemaSource;
}

/** Wire names that carry the protocol's word (decisions.md, "The protocol word"). */
export const wireNames = (word: string) => ({
  version: `${word}_version`,
  keyUse: `${word}_use`,
  error: `${word}_error`,
  hmacSignatureHeader: `x-${word}-signature`,
  hmacTimestampHeader: `x-${word}-timestamp`,
  webhookTag: `${word}/webhook-signing/v1`,
  requestTag: `${word}/request-signing/v1`,
  capabilitiesTool: `get_${word}_capabilities`,
});

export type WireNames = ReturnType<typeof wireNames>;

/** An answer of a tool: exactly one arm. */
export type Answer<Arms> = {
  [S in keyof Arms]-?: {
    readonly status: S;
    readonly data: Arms[S];
    readonly taskId?: string;
    readonly contextId?: string;
    /** The request's `context`, echoed. */
    readonly context?: JsonObject;
    readonly message?: string;
  };
}[keyof Arms];

/** One handler per arm: a missing, an extra or a mistyped one does not compile. */
export type Handlers<Arms, R> = {
  [S in keyof Arms]-?: (data: Arms[S], answer: Extract<Answer<Arms>, { status: S }>) => R;
};

/** A status came back that the tool's release gives no arm for. */
export class UnexpectedStatusError extends Error {
  override readonly name = "UnexpectedStatusError";
  readonly code = "unexpected_status";
  constructor(
    readonly status: unknown,
    readonly expected: readonly string[],
  ) {
    super(
      `Unexpected task status ${JSON.stringify(status)}: the release gives handlers for ${expected.join(", ")}. ` +
        "Poll the task for its state, or generate bindings from the release the other side speaks.",
    );
  }
}

/**
 * Runs the one handler for the arm that came back.
 * @throws UnexpectedStatusError when the status has no handler, which types exclude and the wire does not
 */
export function dispatch<Arms, R>(answer: Answer<Arms>, on: Handlers<Arms, R>): R {
  const { status, data } = answer;
  if (!Object.hasOwn(on, status)) throw new UnexpectedStatusError(status, Object.keys(on));
  return on[status](data, answer as Extract<Answer<Arms>, { status: typeof status }>);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Fields any answer may have that say nothing about success: the envelope's, and the usual companions of `errors`. */
export const answerFields: ReadonlySet<string> = new Set([
  "errors",
  "success",
  "status",
  "message",
  "task_id",
  "context_id",
  "context",
  "timestamp",
  "replayed",
  "governance_context",
  "push_notification_config",
  "sandbox",
  "ext",
]);

const hasData = (tool: AnyTool, payload: JsonObject, word: string): boolean =>
  Object.keys(payload).some(
    (key) => !answerFields.has(key) && !key.startsWith(`${word}_`) && !(tool.failureFields ?? []).includes(key),
  );

const errorsOf = (payload: JsonObject, word: string): ProtocolError[] => {
  const listed = Array.isArray(payload.errors) ? payload.errors : [];
  const envelope = payload[wireNames(word).error];
  return [...listed, ...(listed.length === 0 && envelope !== undefined ? [envelope] : [])].filter(isProtocolError);
};

const isProtocolError = (value: unknown): value is ProtocolError => isObject(value) && typeof value.code === "string";

/** The failure a payload describes; `errors` is empty where it names none. */
export const failureOf = (payload: unknown, word: string): Failure => ({
  errors: isObject(payload) ? errorsOf(payload, word) : [],
  raw: payload,
});

/**
 * Status of a synchronous answer (decisions.md, "Manifest and releases"): the payload's own `status` where the schema
 * types it as a task status; else failed for errors without data, else completed.
 */
function statusOf(tool: AnyTool, payload: JsonObject, word: string): TaskStatus {
  const own = payload.status;
  if (isTaskStatus(own) && tool.statuses.includes(own)) return own;
  if (isObject(payload[wireNames(word).error])) return "failed";
  const failed = Array.isArray(payload.errors) && payload.errors.length > 0 && !hasData(tool, payload, word);
  return failed ? "failed" : "completed";
}

const carriesFailure = (status: TaskStatus): boolean =>
  status === "failed" || status === "rejected" || status === "canceled";

/** The members of a payload that belong to the answer as a whole, not to its data. */
const companions = (source: JsonObject) => {
  const taskId = text(source.task_id);
  const contextId = text(source.context_id);
  const message = text(source.message);
  return {
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(isObject(source.context) && { context: source.context }),
    ...(message !== undefined && { message }),
  };
};

const makeAnswer = <Arms>(status: TaskStatus, data: unknown, source: JsonObject, word: string): Answer<Arms> =>
  ({ status, data: carriesFailure(status) ? failureOf(data, word) : data, ...companions(source) }) as Answer<Arms>;

/**
 * Reads the payload of a synchronous response (MCP `structuredContent`, A2A data part) as one of the tool's answers.
 * Nothing is validated: `adbind/validate` does that.
 * @param word the release's protocol word
 */
export function readAnswer<T extends AnyTool>(tool: T, payload: JsonObject, word: string): Answer<ArmsOf<T>> {
  return makeAnswer(statusOf(tool, payload, word), payload, payload, word);
}

/** A task webhook's envelope, as far as an answer needs it (service.md, "Task webhook envelope"). */
export interface TaskEnvelope {
  status: string;
  task_id?: string;
  context_id?: string;
  message?: string;
  context?: unknown;
  result?: unknown;
  [extra: string]: unknown;
}

/** Reads a task webhook as an answer of the same tool, so that one handler serves both. */
export function readWebhookAnswer<T extends AnyTool>(
  _tool: T,
  envelope: TaskEnvelope,
  word: string,
): Answer<ArmsOf<T>> {
  return makeAnswer(envelope.status as TaskStatus, envelope.result ?? {}, envelope, word);
}

const isRecovery = (value: unknown): value is Recovery =>
  value === "correctable" || value === "transient" || value === "terminal";

/** What `recoveryOf` reads: a code alone, or an error as it came. */
export type RecoverySubject<Code extends string> = Code | (string & {}) | { code?: unknown; recovery?: unknown };

/**
 * Makes a release's `recoveryOf`: the wire's `recovery` when valid, terminal when present and invalid, else the table's,
 * else the release's default for unknown codes (decisions.md, "Errors"). It never throws.
 */
export const recoveries =
  <T extends ErrorTable>(table: T, defaultUnknown: Recovery) =>
  (subject: RecoverySubject<keyof T & string>): Recovery => {
    const error = isObject(subject) ? subject : { code: subject };
    if (error.recovery !== undefined && error.recovery !== null) {
      return isRecovery(error.recovery) ? error.recovery : "terminal";
    }
    const entry = typeof error.code === "string" && Object.hasOwn(table, error.code) ? table[error.code] : undefined;
    return entry?.recovery ?? defaultUnknown;
  };

/** What may answer at once, and need not: nothing is waited for where there is nothing to wait for. */
export type MaybePromise<T> = T | Promise<T>;

/** A precompiled validator (`--standalone`): a type guard that leaves its reasons on itself, as ajv's functions do. */
export interface StandaloneCheck<T> {
  (data: unknown): data is T;
  errors?: readonly { instancePath: string; keyword: string; message?: string; params: object }[] | null;
}

/** What a seller's handler returns: one of the tool's arms. */
export type Reply<T> = { [S in keyof ArmsOf<T>]-?: { status: S; data: ArmsOf<T>[S] } }[keyof ArmsOf<T>];

export type ToolHandler<T, Context = unknown> = (request: RequestOf<T>, context: Context) => MaybePromise<Reply<T>>;

/** A seller's tools: those of `Required` must be there, any other of the release may. */
export type SellerTools<T extends Tools, Required extends keyof T, Context = unknown> = {
  [K in Required]: ToolHandler<T[K], Context>;
} & { [K in Exclude<keyof T, Required>]?: ToolHandler<T[K], Context> };

export interface SpecialismCheck {
  /** Every entry point is there: the specialism may be claimed. */
  readonly ok: boolean;
  /** Every exercised tool is there too: each call of the conformance kit has an answer. */
  readonly complete: boolean;
  /** The id as the release spells it; null when the release has no such specialism. */
  readonly specialism: string | null;
  readonly missingEntryPoints: readonly string[];
  readonly missingExercised: readonly string[];
}

/**
 * Makes a release's `checkSpecialism(id, tools)`.
 * Ids may be kebab-case, as agents declare them; `tools` are names, or an object keyed by them.
 */
export const specialismChecks =
  <T extends SpecialismTable>(table: T) =>
  (id: (keyof T & string) | (string & {}), tools: Iterable<string> | object): SpecialismCheck => {
    const known = id.replaceAll("-", "_");
    const entry = Object.hasOwn(table, id) ? table[id] : Object.hasOwn(table, known) ? table[known] : undefined;
    if (entry === undefined) {
      return { ok: false, complete: false, specialism: null, missingEntryPoints: [], missingExercised: [] };
    }
    const have = new Set<string>(Symbol.iterator in tools ? (tools as Iterable<string>) : Object.keys(tools));
    const missingEntryPoints = entry.entryPoints.filter((name) => !have.has(name));
    const missingExercised = entry.exercised.filter((name) => !have.has(name));
    return {
      ok: missingEntryPoints.length === 0,
      complete: missingExercised.length === 0 && missingEntryPoints.length === 0,
      specialism: Object.hasOwn(table, id) ? id : known,
      missingEntryPoints,
      missingExercised,
    };
  };
