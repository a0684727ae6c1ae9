/** The answering side of a transport: what an agent hands it, and what it makes of requests. */
import type { AnyTool, JsonObject, SchemaDocuments, TaskStatus, TransportName } from "../contract/index.js";

/** Who calls. `principal` is the scope of idempotency keys, tasks and webhook activity. */
export interface Identity {
  readonly principal: string;
}

/** A call as a transport hands it on. */
export interface Call {
  /** Any name the tool is known by. */
  readonly tool: string;
  /** As received; never merged into anything. */
  readonly args: unknown;
  readonly transport: TransportName;
  readonly identity: Identity;
  /** A2A gives it beside the parameters; MCP among them. */
  readonly push?: unknown;
  /** A2A's own registration, whose events have A2A's shape. */
  readonly a2aPush?: unknown;
  readonly contextId?: string;
  /** The caller's own task, of the same tool, that the call goes on with. */
  readonly continues?: string;
}

/** What came of a call, as its transport sends it. */
export interface CallAnswer {
  readonly status: TaskStatus;
  /** The flat object of the answer, envelope members included. */
  readonly payload: JsonObject;
  /** No success: the transport says so in its own way. */
  readonly failed: boolean;
  /** The task that goes on. */
  readonly taskId: string;
  /** Why the task that the call was to go on with takes no message; nothing was done. */
  readonly unfit?: string;
}

/** A tool as it is offered: once, under the name it is listed by. */
export interface OfferedTool {
  readonly name: string;
  readonly tool: AnyTool;
}

/** A task of the caller's, as a transport shows it. */
export interface AgentTask {
  readonly id: string;
  readonly tool: string;
  readonly status: TaskStatus;
  readonly contextId: string;
  /** What its answer says now. */
  readonly data: JsonObject;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** A registration by a transport's own means. */
export interface NativePush {
  readonly url: string;
  readonly id?: string;
  readonly token?: string;
  readonly authentication?: { readonly schemes: readonly string[]; readonly credentials: string };
}

/** Tasks of an agent, as its callers see them: another's is no different from none. */
export interface AgentTasks {
  find(id: string, caller: Identity): Promise<AgentTask | undefined>;
  /** Newest change first. @returns undefined where the token is none that was given here */
  list(caller: Identity, query: TaskQuery): Promise<ListedTasks | undefined>;
  /** Gives a task up. @returns why it cannot be */
  cancel(task: AgentTask): Promise<string | undefined>;
  /** Absent where webhooks are not sent. */
  readonly push: NativePushes | undefined;
}

/** A page of a caller's tasks. */
export interface ListedTasks {
  readonly tasks: readonly AgentTask[];
  /** On all pages. */
  readonly total: number;
  /** Names the next page, where there is one. */
  readonly next: string | undefined;
}

export interface TaskQuery {
  /** Of the page before. */
  readonly token?: string;
  readonly limit: number;
  readonly contextId?: string;
  readonly status?: TaskStatus;
  /** Unix milliseconds; tasks changed then or later. */
  readonly since?: number;
}

export interface NativePushes {
  /** @returns why it is refused @param config null takes it back */
  attach(task: AgentTask, config: NativePush | null): Promise<string | undefined>;
  attached(taskId: string): Promise<NativePush | undefined>;
}

/** An extension of A2A that a protocol defines for itself: its calls end at once, and answers say what goes on. */
export interface A2aProfile {
  /** As its publisher writes it. */
  readonly uri: string;
  /** Refuse callers who do not activate it. Default false. */
  readonly required?: boolean;
}

/** How tools are listed by transports that give schemas with them. */
export interface ListingOptions {
  /**
   * `compact` for models; `full` for readers who resolve references: whole schemas, some 100 KB a tool; `published` for those that
   * the release itself publishes for MCP: the folder of one of its tool lists, `<release>/mcp/.../`. Default `compact`.
   */
  readonly schemas?: "compact" | "full" | { readonly published: string };
  /** Schemas of the answers too. Default false: they are larger than those of the requests. */
  readonly output?: boolean;
  /** Bytes of a page, after which the list goes on in another. Default 131,072. */
  readonly pageBytes?: number;
}

/** What an agent hands a transport to answer with. */
export interface AnswererDependencies {
  readonly name: string;
  readonly description: string;
  /** Version of the release listed. */
  readonly version: string;
  /** Where this transport is reached. */
  readonly url: string;
  /** A Bearer token is wanted. */
  readonly bearer: boolean;
  readonly tools: readonly OfferedTool[];
  /** The protocol's own profile of A2A. */
  readonly profile: A2aProfile | undefined;
  /** Aborted when the agent ends: streams end with it. */
  readonly closing: AbortSignal;
  /** How tools are listed, where the transport lists them with schemas. */
  readonly listing: ListingOptions | undefined;
  /** Schemas of the release listed. */
  readonly documents: SchemaDocuments;
  /** A tool of a served release, be it offered here or not: its calls are answered with a code of the protocol. */
  knows(tool: string): boolean;
  answer(call: Call): Promise<CallAnswer>;
  /** An error as the payload of an answer. */
  failure(code: string, message: string): JsonObject;
  readonly tasks: AgentTasks;
  readonly now: () => number;
  readonly uuid: () => string;
}

/** What a body asks for, as far as must be known to let it in. */
export interface Asks {
  /** Tools it calls. */
  readonly tools: readonly string[];
  /** What it asks beside them: nothing, who the agent is, so that a tool may be called, what it offers, or what belongs to the caller. */
  readonly beside: "nothing" | "handshake" | "discovery" | "own";
}

export interface AnswererRequest {
  header(name: string): string | undefined;
  /** As it was parsed. */
  readonly body: unknown;
  readonly identity: Identity;
}

export interface AnswererResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces where it is a stream. */
  readonly body: string | AsyncIterable<string>;
}

/** A transport at one endpoint of an agent. */
export interface Answerer {
  asks(body: unknown): Asks;
  /** Why a body cannot be looked at any further; undefined where it can. @param single it must come to one operation, or none */
  fault(body: unknown, single: boolean): string | undefined;
  handle(request: AnswererRequest): Promise<AnswererResponse>;
  /** What is published for those who look for the agent: by path, below the endpoint and at the host's root. */
  readonly published: Readonly<Record<string, JsonObject>>;
}
