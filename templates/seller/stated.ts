/** How an answer states what its resource is in: the name of that field changed between releases. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "./handler.js";

/**
 * The state of an answer's resource. Up to 3.0 it stood in `status`; since then `status` is the task's, and a state has a
 * field of its own.
 */
export const stated = (call: Call, field: string, state: string): JsonObject =>
  /^3\.0\./.test(call.ctx.release.version) ? { status: state } : { [field]: state };
