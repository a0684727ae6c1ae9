/** The payload of an MCP tool result (docs/protocol/transports.md#mcp-extraction). */
import { type JsonObject, wireNames } from "../contract/index.js";
import { isJsonObject, list, member } from "./json-object.js";

/** Longest text that is tried as JSON, in characters: the same bound as a webhook body's. */
export const MAX_TEXT_CHARS = 1_048_576;

/** Text items of a result's content, in order; those too long to be tried are left out. */
export const textItems = (response: unknown): string[] =>
  list(member(response, "content"))
    .filter((item) => member(item, "type") === "text")
    .map((item) => member(item, "text"))
    .filter((text): text is string => typeof text === "string" && text.length <= MAX_TEXT_CHARS);

/** Whether a result has a text that is too long to be tried. */
export const hasLongText = (response: unknown): boolean =>
  list(member(response, "content")).some((item) => {
    const text = member(item, "text");
    return typeof text === "string" && text.length > MAX_TEXT_CHARS;
  });

/** A text as a JSON object, or undefined. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An object that says nothing but that something failed is no data. */
const isErrorOnly = (value: JsonObject, word: string): boolean => {
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === wireNames(word).error;
};

/**
 * Data of a successful tool result: `structuredContent`, else the first text item that is a JSON object. The value is
 * returned as it came; copy it member by member rather than merging, it may hold a `__proto__` of its own.
 * @param word the protocol's word
 * @returns null for a failed result, and for one without data
 */
export function extractMcpResponse(response: unknown, word = "proto"): JsonObject | null {
  if (member(response, "isError")) return null;
  const structured = member(response, "structuredContent");
  if (isJsonObject(structured)) return isErrorOnly(structured, word) ? null : structured;
  for (const text of textItems(response)) {
    const value = parseObject(text);
    if (value !== undefined && !isErrorOnly(value, word)) return value;
  }
  return null;
}
