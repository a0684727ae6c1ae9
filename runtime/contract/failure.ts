/** What a call that did not do what it was asked for comes back with. */
import { isJsonObject, type JsonObject } from "./json-object.js";
import type { Recovery } from "./recovery.js";
import { wireNames } from "./wire-names.js";

/** One error as it travels (`core/error.json` of the published releases); platforms add fields of their own. */
export interface ProtocolError {
  /** An entry of the release's error table, or a platform's own code: the vocabulary is open. */
  code: string;
  message: string;
  /** Where in the request, as a path. */
  field?: string;
  suggestion?: string;
  /** Seconds to wait before trying again. */
  retry_after?: number;
  recovery?: Recovery;
  details?: JsonObject;
  [extra: string]: unknown;
}

/** What the arms `failed`, `rejected` and `canceled` carry. */
export interface Failure {
  errors: ProtocolError[];
  /** The payload as received; absent where the failure was made locally. */
  raw?: unknown;
}

const isProtocolError = (value: unknown): value is ProtocolError =>
  isJsonObject(value) && typeof value.code === "string";

const errorsOf = (payload: JsonObject, word: string): ProtocolError[] => {
  const listed = Array.isArray(payload.errors) ? payload.errors : [];
  const envelope = payload[wireNames(word).error];
  return [...listed, ...(listed.length === 0 && envelope !== undefined ? [envelope] : [])].filter(isProtocolError);
};

/** The failure a payload describes; `errors` is empty where it names none. */
export const failureOf = (payload: unknown, word: string): Failure => ({
  errors: isJsonObject(payload) ? errorsOf(payload, word) : [],
  raw: payload,
});
