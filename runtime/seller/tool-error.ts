/** Errors of a call: how handlers throw them, and how they travel. */
import {
  type ErrorTable,
  type JsonObject,
  type ProtocolError,
  type Recovery,
  type Release,
  wireNames,
} from "../contract/index.js";
import type { ValidationError } from "../validate/index.js";
import type { SellerError } from "./types.js";

export interface FaultDetails extends JsonObject {
  /** Where in the request, as a path. */
  field?: string;
  suggestion?: string;
  /** Seconds. */
  retry_after?: number;
  recovery?: Recovery;
  details?: JsonObject;
}

/** What a handler throws to fail its call; `return ctx.fail(...)` says the same without an exception. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly error: SellerError;

  /**
   * @param code an entry of the release's error table, or a platform's own code
   * @param message for people
   * @param more `field`, `suggestion`, `retry_after`, `recovery`, `details`
   */
  constructor(
    readonly code: string,
    message: string,
    more: FaultDetails = {},
  ) {
    super(message);
    this.error = { code, message, ...more } as SellerError;
  }
}

/** A refusal of the sender, as the caller is told of it. */
export const refusedBy = ({ code, message, ...more }: ProtocolError): ToolError => new ToolError(code, message, more);

/** Errors stated in one answer; the rest would only be read by nobody. */
const MAX_ERRORS = 20;
/** Issues named in one error: an error of more than 4,096 characters is not believed by readers. */
const MAX_ISSUES = 8;
const MAX_MESSAGE = 200;

const entryOf = (table: ErrorTable, code: string) => (Object.hasOwn(table, code) ? table[code] : undefined);

/** A fault as it travels: what the release's table knows of its code is filled in. */
function completeError(error: SellerError, release: Release): ProtocolError {
  const entry = entryOf(release.errors, error.code);
  const recovery: Recovery = error.recovery ?? entry?.recovery ?? release.defaultUnknownRecovery;
  const suggestion = error.suggestion ?? entry?.suggestion;
  const { retry_after: asked, ...rest } = error;
  const wait = waitOf(asked, release);
  return {
    ...rest,
    recovery,
    ...(suggestion !== undefined && { suggestion }),
    ...(wait !== undefined && { retry_after: wait }),
  } as ProtocolError;
}

/** Longest wait that releases with a bound let an error ask for, in seconds. */
const MAX_WAIT_S = 3_600;

/** A wait in whole seconds, never shorter than what was meant; undefined where none was. */
function waitOf(asked: unknown, { facts }: Release): number | undefined {
  if (typeof asked !== "number" || !Number.isFinite(asked) || asked < 0) return undefined;
  const whole = Math.max(1, Math.ceil(asked));
  return facts.envelope.retryAfter.value === "integer" ? Math.min(whole, MAX_WAIT_S) : whole;
}

/** The payload of a failed answer: the error in the envelope, all of them in `errors` (docs/protocol/errors.md#error-object). */
export function failurePayload(given: readonly SellerError[], release: Release, more: JsonObject = {}): JsonObject {
  const errors = given.slice(0, MAX_ERRORS).map((error) => completeError(error, release));
  return { ...more, errors, [wireNames(release.word).error]: errors[0] };
}

/** `/packages/0/budget` as `packages[0].budget`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "");

/** Told where a schema says only what must not be: the validator's own words name nothing that could be mended. */
const RULED_OUT =
  "has a member that the tool's request schema rules out, by itself or beside another: compare it with the schema, and leave that out";

const short = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}...` : text);

/** A request its schema refuses. */
export function invalidRequest(errors: readonly ValidationError[]): ToolError {
  const issues = errors.slice(0, MAX_ISSUES).map(({ pointer, keyword, message }) => ({
    pointer: short(pointer),
    message: short(message),
    keyword,
  }));
  // A union's own verdict says least: name what one of its members lacks.
  const first = issues.find(({ keyword }) => !/^(anyOf|oneOf|allOf|if|not)$/.test(keyword)) ?? issues[0];
  const field = first === undefined ? "" : fieldOf(first.pointer);
  return new ToolError(
    "INVALID_REQUEST",
    `The request is not valid: ${field === "" ? "it" : field} ${first?.keyword === "not" ? RULED_OUT : first?.message}`,
    {
      ...(field !== "" && { field }),
      issues,
    },
  );
}
