/** An agent as the runner talks to it: one call, and all that can be told of it as evidence. */
import type { JsonObject, TransportName } from "../../contract/index.js";

/** Where the payload was found. */
export type PayloadOrigin = "structured_content" | "text_fallback" | "data_part" | "body" | "error" | "none";

export interface SentRequest {
  readonly transport: TransportName | "http";
  readonly operation: string;
  readonly url: string;
  readonly payload: unknown;
}

export interface AgentAnswer {
  readonly request: SentRequest;
  /** The payload of the protocol; null where there was none. */
  readonly payload: JsonObject | null;
  readonly origin: PayloadOrigin;
  /** What the transport said of it: MCP's isError, a failed or rejected task of A2A. */
  readonly failed: boolean;
  /** The transport's own status of the task (A2A). */
  readonly state?: string;
  /** An error of JSON-RPC, or that no answer came. */
  readonly error?: { readonly code?: number; readonly message: string; readonly data?: unknown };
  /** HTTP status; undefined where no answer came. */
  readonly status?: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer as it came. */
  readonly body: unknown;
  /** Texts beside the payload. */
  readonly text?: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly tookMs: number;
}

export interface AdvertisedTool {
  readonly name: string;
}

export interface AgentSession {
  readonly transport: TransportName;
  readonly url: string;
  /** Names of the tools that the agent lists. */
  tools(): Promise<readonly string[]>;
  call(task: string, args: JsonObject): Promise<AgentAnswer>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
  /** Milliseconds that one answer may take. */
  readonly timeoutMs: number;
  readonly uuid: () => string;
  readonly now: () => number;
}
