/** The calling side of a transport: what it is handed, and what it does for whoever calls agents. */
import type { JsonObject, TaskStatus, TransportName } from "../contract/index.js";
import type { TransportError } from "../extract/index.js";

/** One call of a tool. */
export interface WireCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Where the answers to come are to be sent. */
  readonly push: JsonObject | undefined;
  readonly contextId: string | undefined;
  /** The transport's own task that the call goes on with. */
  readonly taskId?: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** An answer as its transport carried it. */
export interface WireAnswer {
  /** Null where it had no data. */
  readonly payload: JsonObject | null;
  /** The transport's own word on it, which a payload may say more precisely. */
  readonly state: TaskStatus | undefined;
  readonly error: TransportError | null;
  /** Text for people, of an answer that failed without saying how. */
  readonly text: string | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/** An agent that is spoken to. */
export interface Connection {
  readonly transport: TransportName;
  /** @throws WireFault, or a JSON-RPC error: RpcError, or the SDK's own with `code` and `data` */
  call(call: WireCall): Promise<WireAnswer>;
  /** Names of the tools offered, as the agent lists them. */
  tools(signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Asks for a task by the transport's own means; absent where it has none. */
  task?(taskId: string, signal: AbortSignal | undefined): Promise<WireAnswer>;
  close(): Promise<void>;
}

/** What one use of a transport adds to its HTTP. */
export interface WireUse {
  readonly signal?: AbortSignal | undefined;
  /** Changes the JSON-RPC message before it is signed and sent: what an SDK's types have no room for. */
  readonly edit?: (message: JsonObject) => JsonObject;
  /** Told of every JSON answer as it came: SDKs hand on less than there was. */
  readonly seen?: (message: unknown) => void;
}

/** What a transport calls an agent with. */
export interface CallerDependencies {
  /** Where the agent is. */
  readonly url: string;
  readonly word: string;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly uuid: () => string;
  /** A `fetch` for an SDK: credentials and signatures are put on by it. @throws WireFault */
  fetchFor(use: WireUse): typeof globalThis.fetch;
}

/** A transport, to call by. */
export interface CallingTransport {
  /** Whether a path alone says that this transport is spoken there. */
  claims(pathname: string): boolean;
  /** Whether an agent says of itself that it speaks this: then it may be asked where its URL does not tell. */
  readonly announced: boolean;
  open(dependencies: CallerDependencies, signal: AbortSignal | undefined): Promise<Connection>;
}
