/** What a caller gets of a call that failed. */
import { isJsonObject, type JsonObject, type ProtocolError, type Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { producerFault } from "../facts/index.js";
import type { Call, CallAnswer } from "../transport/answerer.js";
import { TaskNotWaiting } from "./continuation.js";
import { ownError } from "./own-error.js";
import { unheldReason, versionMember } from "./reply.js";
import type { ServedRelease } from "./served-releases.js";
import type { SellerSettings } from "./settings.js";
import { failurePayload, ToolError } from "./tool-error.js";
import type { SellerError } from "./types.js";

export const unknownTool = (name: string, { version }: Release): ToolError =>
  new ToolError(
    "UNSUPPORTED_FEATURE",
    `The tool ${JSON.stringify(name.slice(0, 64))} is not offered here in release ${version}.`,
  );

interface FailedCall {
  readonly error: unknown;
  readonly args: JsonObject;
  /** What was agreed on; undefined where nothing was. */
  readonly servedRelease: ServedRelease<never> | undefined;
  readonly newest: Release;
  readonly call: Call;
  readonly taskId: string;
}

/** Longest message of an error, in characters: readers do not believe a longer one. */
const MAX_REASON = 1_000;

/** Errors of a reply that refuses; of one that names none, its reason, or that it failed. */
export function refusalErrors(
  { errors, reason }: JsonObject,
  taskId: string,
  release: Release,
): readonly SellerError[] {
  if (Array.isArray(errors) && errors.length > 0) return errors as SellerError[];
  const own = ownError(undefined, `The call failed; its reference is ${taskId}.`, release);
  if (typeof reason !== "string" || reason === "") return [own];
  // Half of a character is none, and strict readers refuse the whole body for it.
  return [{ ...own, message: reason.slice(0, MAX_REASON).replace(/\p{Cs}$/u, "") }];
}

/** What is kept under names of its request, and cannot be: all others are the seller's, who bounds his own. */
const tooLong = (error: unknown): ToolError | undefined =>
  error instanceof AdbindError && error.code === "name_invalid"
    ? new ToolError("INVALID_REQUEST", "An id in the request is longer than can be kept.")
    : undefined;

/** An error that cannot be told is a fault of whoever threw it. */
function tellable(error: unknown): unknown {
  const reason = error instanceof ToolError ? unheldReason(error.error) : undefined;
  if (reason === undefined) return error;
  return new TypeError(`an error was thrown with what JSON cannot hold: ${reason}`, { cause: error });
}

/** The answer to a call that failed, in the shape both transports carry. */
export function failedCall<Tx>(
  settings: SellerSettings<Tx>,
  { error: thrown, args, servedRelease, newest, call, taskId }: FailedCall,
): CallAnswer {
  const error = tellable(thrown);
  const release = servedRelease?.release ?? newest;
  const known = error instanceof ToolError ? error : tooLong(error);
  if (known === undefined) settings.logger?.error({ err: error, tool: call.tool, taskId }, "a handler failed");
  const protocolError = known?.error ?? {
    ...ownError(error, `The call could not be answered; its reference is ${taskId}.`, release),
    ...(settings.mode === "development" && { details: { reason: error instanceof Error ? error.message : "unknown" } }),
  };
  const version = servedRelease === undefined ? {} : versionMember(servedRelease, args);
  const payload = {
    status: "failed",
    ...echo(args),
    ...version,
    ...toldFailure(settings, call, [protocolError], release),
  };
  const unfit = error instanceof TaskNotWaiting ? { unfit: error.message } : {};
  return { status: "failed", payload, failed: true, taskId, ...unfit };
}

/** Errors as they travel; those that are not as their release wants them are told to the log. */
export function toldFailure<Tx>(
  { logger }: SellerSettings<Tx>,
  { tool }: Pick<Call, "tool">,
  errors: readonly SellerError[],
  release: Release,
): JsonObject {
  const failure = failurePayload(errors, release);
  for (const error of failure.errors as readonly ProtocolError[]) {
    const wrong = producerFault(release, error);
    if (wrong !== undefined) logger?.warn({ tool, code: error.code, wrong }, "an error is not as its release wants it");
  }
  return failure;
}

/** The caller's `context`, unchanged. */
export const echo = (args: JsonObject): JsonObject => (isJsonObject(args.context) ? { context: args.context } : {});
