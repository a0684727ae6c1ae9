import type { TaskStatus } from "../contract/index.js";

/** An answer of the seller's own that its release does not allow. */
export interface InvalidAnswer {
  readonly tool: string;
  readonly status: TaskStatus;
  readonly release: string;
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}
