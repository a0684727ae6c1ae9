/** The protocol's payload in what a transport carried. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { PayloadOrigin } from "./types.js";

export interface FoundPayload {
  readonly payload: JsonObject | null;
  readonly origin: PayloadOrigin;
  readonly text?: string;
}

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Of a result of MCP's tools/call: the structured content, else the first text that is an object of JSON. */
export function payloadOfMcp(result: unknown): FoundPayload {
  if (!isJsonObject(result)) return { payload: null, origin: "none" };
  const content = Array.isArray(result.content) ? result.content : [];
  const texts = content.flatMap((item: unknown) =>
    isJsonObject(item) && item.type === "text" && typeof item.text === "string" ? [item.text] : [],
  );
  const text = texts[0] === undefined ? {} : { text: texts[0] };
  if (isJsonObject(result.structuredContent))
    return { payload: result.structuredContent, origin: "structured_content", ...text };
  for (const one of texts) {
    const payload = parsed(one);
    if (payload !== undefined) return { payload, origin: "text_fallback", ...text };
  }
  return { payload: null, origin: "none", ...text };
}

const partsOf = (holder: unknown): unknown[] =>
  isJsonObject(holder) && Array.isArray(holder.parts) ? holder.parts : [];

/** A2A 1.0 wraps a task or message in its name; 0.3 does not. */
const unwrapped = (result: unknown): unknown => {
  if (!isJsonObject(result)) return result;
  const inner = result.task ?? result.message;
  return isJsonObject(inner) && Object.keys(result).length === 1 ? inner : result;
};

export interface FoundTask extends FoundPayload {
  /** As 0.3 writes it, e.g. `input-required`; absent for a message. */
  readonly state?: string;
}

/** Of an A2A task or message: its last part of data. */
export function payloadOfA2a(result: unknown): FoundTask {
  const task = unwrapped(result);
  if (!isJsonObject(task)) return { payload: null, origin: "none" };
  const status = isJsonObject(task.status) ? task.status : {};
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts : [];
  const parts = [...partsOf(task), ...partsOf(status.message), ...artifacts.flatMap(partsOf)].filter(isJsonObject);
  const data = parts.map((part) => part.data).filter(isJsonObject);
  const text = parts.map((part) => part.text).find((one) => typeof one === "string");
  const state =
    typeof status.state === "string"
      ? {
          state: status.state
            .replace(/^TASK_STATE_/, "")
            .toLowerCase()
            .replaceAll("_", "-"),
        }
      : {};
  const payload = data.at(-1) ?? null;
  const origin = payload === null ? "none" : "data_part";
  return { payload, origin, ...state, ...(typeof text === "string" && { text }) };
}
