/** What a caller gets of a call that failed. */
import type { JsonObject, ProtocolError, Release } from "../contract/index.js";
import { producerFault } from "../facts/index.js";
import type { Call, Called } from "../transport/answerer.js";
import { TaskNotWaiting } from "./continuation.js";
import { isObject } from "./json-object.js";
import { ownFault } from "./own-fault.js";
import type { Settings } from "./settings.js";
import { failurePayload, ToolError } from "./tool-error.js";

export const unknownTool = (name: string, { version }: Release): ToolError =>
  new ToolError(
    "UNSUPPORTED_FEATURE",
    `The tool ${JSON.stringify(name.slice(0, 64))} is not offered here in release ${version}.`,
  );

/** The answer to a call that failed, in the shape both transports carry. */
export function failedCall<Tx>(
  settings: Settings<Tx>,
  {
    error,
    args,
    release,
    call,
    taskId,
  }: { error: unknown; args: JsonObject; release: Release; call: Call; taskId: string },
): Called {
  const known = error instanceof ToolError ? error : undefined;
  if (known === undefined) settings.logger?.error({ err: error, tool: call.tool, taskId }, "a handler failed");
  const fault = known?.fault ?? {
    ...ownFault(error, `The call could not be answered; its reference is ${taskId}.`, release),
    ...(settings.mode === "development" && { details: { reason: error instanceof Error ? error.message : "unknown" } }),
  };
  const failure = failurePayload([fault], release);
  const payload = { status: "failed", ...echo(args), ...failure };
  const [told] = failure.errors as readonly ProtocolError[];
  const wrong = producerFault(release, told);
  if (wrong !== undefined)
    settings.logger?.warn({ tool: call.tool, code: fault.code, wrong }, "an error is not as its release wants it");
  const unfit = error instanceof TaskNotWaiting ? { unfit: error.message } : {};
  return { status: "failed", payload, failed: true, taskId, ...unfit };
}

/** The caller's `context`, unchanged. */
export const echo = (args: JsonObject): JsonObject => (isObject(args.context) ? { context: args.context } : {});
