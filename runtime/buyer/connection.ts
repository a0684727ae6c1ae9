/** What a transport does for a buyer; the SDKs behind it are loaded when the first call is made. */
import type { JsonObject, TaskStatus } from "../contract/index.js";
import type { TransportError } from "../extract/index.js";
import { WireFault } from "./fault.js";
import type { Settings } from "./settings.js";
import type { Wire } from "./wire.js";

export interface WireCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Where the answers to come are to be sent. */
  readonly push: JsonObject | undefined;
  readonly contextId: string | undefined;
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

export interface Connection {
  readonly transport: "mcp" | "a2a";
  /**
   * @throws WireFault, or a JSON-RPC error as the SDK has it
   */
  call(call: WireCall): Promise<WireAnswer>;
  /** Names of the tools offered, as the agent lists them. */
  tools(signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Asks for a task by the transport's own means; absent where it has none. */
  task?(taskId: string, signal: AbortSignal | undefined): Promise<WireAnswer>;
  close(): Promise<void>;
}

export interface ConnectionParts {
  readonly settings: Settings;
  readonly wire: Wire;
}

/** Opens the transport a URL speaks. */
export async function openConnection(parts: ConnectionParts, signal: AbortSignal | undefined): Promise<Connection> {
  const { url, transport } = parts.settings;
  const { pathname } = new URL(url);
  if (transport === "mcp" || (transport === "auto" && /\/mcp\/?$/.test(pathname))) return mcp(parts, signal);
  if (transport === "a2a") return a2a(parts, signal);
  try {
    return await a2a(parts, signal);
  } catch (error) {
    // No card there: the agent may be reachable and speak MCP only.
    if (error instanceof WireFault && (error.status === undefined || error.status >= 500)) throw error;
    return mcp(parts, signal);
  }
}

const mcp = async (parts: ConnectionParts, signal: AbortSignal | undefined): Promise<Connection> =>
  (await import("./mcp.js")).openMcp(parts, signal);

const a2a = async (parts: ConnectionParts, signal: AbortSignal | undefined): Promise<Connection> =>
  (await import("./a2a.js")).openA2a(parts, signal);
