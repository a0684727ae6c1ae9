/** One answer of a tool, and the handler for each it may give. */
import type { JsonObject } from "./json-object.js";

/** `submitted` always names its task: nothing else would tell the caller what to wait for. */
type TaskOf<S> = S extends "submitted" ? { readonly taskId: string } : { readonly taskId?: string };

/** An answer of a tool: exactly one arm. */
export type Answer<Arms> = {
  [S in keyof Arms]-?: {
    readonly status: S;
    readonly data: Arms[S];
    readonly contextId?: string;
    /** The request's `context`, echoed. */
    readonly context?: JsonObject;
    readonly message?: string;
  } & TaskOf<S>;
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
