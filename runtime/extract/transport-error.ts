/** The error an MCP or A2A response carries, and what to do about it (docs/protocol/transports.md#error-extraction). */
import { type ProtocolError, type Recovery, wireNames } from "../contract/index.js";
import { a2aState, dataParts, statusMessageData, unwrapA2a } from "./a2a.js";
import { list, member } from "./json-object.js";
import { parseObject, textItems } from "./mcp.js";

const MAX_CODE_CHARS = 64;
/** Longest error that is believed, serialised: one that is larger is data in the wrong place. */
const MAX_ERROR_CHARS = 4096;

/** An error as it travels; `message` may be missing on the wire. */
export type TransportError = Omit<ProtocolError, "message"> & { readonly message?: string };

const asError = (value: unknown): TransportError | undefined => {
  const code = member(value, "code");
  if (typeof code !== "string" || code === "" || code.length > MAX_CODE_CHARS) return undefined;
  return JSON.stringify(value).length <= MAX_ERROR_CHARS ? (value as TransportError) : undefined;
};

/**
 * The protocol's error in a response, wherever its transport puts one. A result that does not say it failed has none,
 * whatever it looks like: it may be data.
 * @param response an MCP tool result, a JSON-RPC error response, an A2A task or task event
 * @param word the protocol's word
 * @returns the error as it came, or null when there is none to be trusted
 */
export function extractTransportError(response: unknown, word = "proto"): TransportError | null {
  const name = wireNames(word).error;
  for (const candidate of candidates(response, name)) {
    const error = asError(candidate);
    if (error !== undefined) return error;
  }
  return null;
}

/** Places an error may stand in, the most trustworthy first. */
function* candidates(response: unknown, name: string): Iterable<unknown> {
  const failed = member(response, "isError") === true;
  const structured = member(response, "structuredContent");
  if (failed) yield member(structured, name);
  yield* inTask(response, name);
  yield member(member(member(response, "error"), "data"), name);
  if (!failed) return;
  for (const text of textItems(response)) yield member(parseObject(text), name);
  yield list(member(structured, "errors"))[0];
}

function* inTask(response: unknown, name: string): Iterable<unknown> {
  const { event } = unwrapA2a(response);
  const state = a2aState(event);
  // A completed task's data is the caller's, even where it speaks of an error.
  if (state === null || state === "completed") return;
  const data = [
    ...list(member(event, "artifacts")).flatMap((artifact) => dataParts(member(artifact, "parts"))),
    ...statusMessageData(event),
  ];
  for (const one of data) yield member(one, name);
  if (state === "failed" || state === "rejected") for (const one of data) yield list(member(one, "errors"))[0];
}

/** What a caller does with a failed response. */
export type ErrorAction = "retry" | "surface_to_caller" | "escalate_to_human" | "generic_error";

const actions = {
  transient: "retry",
  correctable: "surface_to_caller",
  terminal: "escalate_to_human",
} as const satisfies Record<Recovery, ErrorAction>;

/**
 * What to do about an extracted error.
 * @param recoveryOf the release's own (docs/protocol/errors.md#recovery)
 */
export const errorAction = (
  error: TransportError | null,
  recoveryOf: (error: TransportError) => Recovery,
): ErrorAction => (error === null ? "generic_error" : actions[recoveryOf(error)]);

const MIN_RETRY_AFTER_SECONDS = 1;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Whole seconds a transient error asks to wait, rounded up and brought into 1 to 3600; undefined when it gives no number. */
export function retryAfterSeconds(error: {
  readonly retry_after?: unknown;
  readonly [extra: string]: unknown;
}): number | undefined {
  const { retry_after: asked } = error;
  if (typeof asked !== "number" || !Number.isFinite(asked)) return undefined;
  return Math.min(Math.max(Math.ceil(asked), MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS);
}
