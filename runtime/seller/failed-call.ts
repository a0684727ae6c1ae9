/** What a caller gets of a call that failed. */
import type { JsonObject, ProtocolError, Release } from "../contract/index.js";
import { producerFault } from "../facts/index.js";
import type { Call, Called } from "../transport/answerer.js";
import { TaskNotWaiting } from "./continuation.js";
import { isObject } from "./json-object.js";
import { ownFault } from "./own-fault.js";
import { versionMember } from "./reply.js";
import type { Settings } from "./settings.js";
import type { Spoken } from "./spoken.js";
import { failurePayload, ToolError } from "./tool-error.js";
import type { Fault } from "./types.js";

export const unknownTool = (name: string, { version }: Release): ToolError =>
  new ToolError(
    "UNSUPPORTED_FEATURE",
    `The tool ${JSON.stringify(name.slice(0, 64))} is not offered here in release ${version}.`,
  );

interface FailedCall {
  readonly error: unknown;
  readonly args: JsonObject;
  /** What was agreed on; undefined where nothing was. */
  readonly spoken: Spoken<never> | undefined;
  readonly newest: Release;
  readonly call: Call;
  readonly taskId: string;
}

/** The answer to a call that failed, in the shape both transports carry. */
export function failedCall<Tx>(
  settings: Settings<Tx>,
  { error, args, spoken, newest, call, taskId }: FailedCall,
): Called {
  const release = spoken?.release ?? newest;
  const known = error instanceof ToolError ? error : undefined;
  if (known === undefined) settings.logger?.error({ err: error, tool: call.tool, taskId }, "a handler failed");
  const fault = known?.fault ?? {
    ...ownFault(error, `The call could not be answered; its reference is ${taskId}.`, release),
    ...(settings.mode === "development" && { details: { reason: error instanceof Error ? error.message : "unknown" } }),
  };
  const version = spoken === undefined ? {} : versionMember(spoken, args);
  const payload = { status: "failed", ...echo(args), ...version, ...toldFailure(settings, call, [fault], release) };
  const unfit = error instanceof TaskNotWaiting ? { unfit: error.message } : {};
  return { status: "failed", payload, failed: true, taskId, ...unfit };
}

/** Errors as they travel; those that are not as their release wants them are told to the log. */
export function toldFailure<Tx>(
  { logger }: Settings<Tx>,
  { tool }: Pick<Call, "tool">,
  faults: readonly Fault[],
  release: Release,
): JsonObject {
  const failure = failurePayload(faults, release);
  for (const error of failure.errors as readonly ProtocolError[]) {
    const wrong = producerFault(release, error);
    if (wrong !== undefined) logger?.warn({ tool, code: error.code, wrong }, "an error is not as its release wants it");
  }
  return failure;
}

/** The caller's `context`, unchanged. */
export const echo = (args: JsonObject): JsonObject => (isObject(args.context) ? { context: args.context } : {});
