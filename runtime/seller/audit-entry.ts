import type { TaskStatus, TransportName } from "../contract/index.js";

/** One call, as an audit keeps it: who asked for what, and what came of it. Nothing of what was sent or answered. */
export interface AuditEntry {
  /** Unix milliseconds. */
  readonly at: number;
  readonly principal: string;
  /** `unknown` for a tool that is not served. */
  readonly tool: string;
  readonly transport: TransportName;
  readonly mutating: boolean;
  readonly status: TaskStatus;
  /** Of the error, where it failed. */
  readonly code?: string;
  /** The reference that errors name. */
  readonly taskId: string;
  readonly idempotencyKey?: string;
  /** An earlier answer was given again. */
  readonly replayed: boolean;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}
