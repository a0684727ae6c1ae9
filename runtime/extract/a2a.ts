/** The payload of an A2A task, 0.3 and 1.0 (docs/protocol/transports.md#a2a-extraction). */
import { interimStatuses, type JsonObject, taskStatuses } from "../contract/index.js";
import { isJsonObject, list, member } from "./json-object.js";

/** States of A2A that say where a task is: the protocol's own seven and `auth-required`, which asks for input too. */
const interimStates = [...interimStatuses, "auth-required"] as const;
const states = [...taskStatuses, "auth-required"] as const;

/** A state of an A2A task, as both versions of A2A mean it. */
export type A2aState = (typeof states)[number];

const wrappers = ["task", "message", "statusUpdate", "artifactUpdate"] as const;

/** What A2A 1.0 wraps a pushed or streamed event in. */
export type A2aWrapper = (typeof wrappers)[number];

export interface Unwrapped {
  /** The event inside; null where wrappers nest, which no version of A2A does. */
  readonly event: unknown;
  readonly wrapper: A2aWrapper | null;
}

/** Takes an event out of its wrapper, once; one without a wrapper is returned as it is. */
export function unwrapA2a(payload: unknown): Unwrapped {
  const keys = isJsonObject(payload) ? Object.keys(payload) : [];
  const wrapper = wrappers.find((name) => name === keys[0]);
  const inner = wrapper === undefined ? undefined : member(payload, wrapper);
  if (keys.length !== 1 || wrapper === undefined || !isJsonObject(inner)) return { event: payload, wrapper: null };
  const nested = wrappers.some((name) => Object.hasOwn(inner, name));
  return { event: nested ? null : inner, wrapper };
}

/** A state as 0.3 (`input-required`) or 1.0 (`TASK_STATE_INPUT_REQUIRED`) writes it; null for any other text. */
export function a2aState(event: unknown): A2aState | null {
  const state = member(member(event, "status"), "state");
  if (typeof state !== "string") return null;
  const plain = state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  return states.find((known) => known === plain) ?? null;
}

/** Data of the parts that have some. `kind` is not looked at: 1.0 has none. */
export const dataParts = (parts: unknown): JsonObject[] =>
  list(parts)
    .map((part) => member(part, "data"))
    .filter(isJsonObject);

export const statusMessageData = (event: unknown): JsonObject[] =>
  dataParts(member(member(member(event, "status"), "message"), "parts"));

/** What an A2A task carries: its state, its data, and what is wrong with it. */
export interface A2aExtraction {
  readonly state: A2aState | null;
  /** As it came; null where the task has no data. */
  readonly data: JsonObject | null;
  /** `wrapper_detected`: the data stands inside `{response: ...}`, which only a faulty agent sends. */
  readonly problem?: "wrapper_detected";
}

const isResponseWrapper = (data: JsonObject): boolean =>
  Object.keys(data).length === 1 && isJsonObject(member(data, "response"));

/**
 * Data of a task or task event: a final state's is the last data part of the first artifact, else the first of the
 * status message; an interim state's is the first data part of its message.
 */
export function extractA2aResponse(payload: unknown): A2aExtraction {
  const { event } = unwrapA2a(payload);
  const state = a2aState(event);
  if (state === null) return { state, data: null };
  const message = statusMessageData(event)[0] ?? null;
  if ((interimStates as readonly string[]).includes(state)) return { state, data: message };
  const artifact = dataParts(member(list(member(event, "artifacts"))[0], "parts")).at(-1);
  if (artifact === undefined) return { state, data: message };
  if (isResponseWrapper(artifact)) return { state, data: null, problem: "wrapper_detected" };
  return { state, data: artifact };
}
