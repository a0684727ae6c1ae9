/** How a caller recovers from an error (docs/protocol/errors.md#recovery). */
import { isJsonObject } from "./json-object.js";

/** Who can do something about an error: the caller with another request, time, or a person. */
export type Recovery = "correctable" | "transient" | "terminal";

/** What a release says of one error code. */
export interface ErrorEntry {
  readonly recovery: Recovery;
  readonly suggestion: string;
  readonly addedIn?: string;
}
/** Error code -> what the release says of it. Look up own properties only: a code may be any text. */
export type ErrorTable = { readonly [code: string]: ErrorEntry };

export const isRecovery = (value: unknown): value is Recovery =>
  value === "correctable" || value === "transient" || value === "terminal";

/** What `recoveryOf` reads: a code alone, or an error as it came. */
export type RecoverySubject<Code extends string> = Code | (string & {}) | { code?: unknown; recovery?: unknown };

/**
 * Makes a release's `recoveryOf`: the wire's `recovery` when valid, terminal when present and invalid, else the table's,
 * else the release's default for unknown codes (docs/protocol/errors.md#recovery). It never throws.
 */
export const recoveries =
  <T extends ErrorTable>(table: T, defaultUnknown: Recovery) =>
  (subject: RecoverySubject<keyof T & string>): Recovery => {
    const error = isJsonObject(subject) ? subject : { code: subject };
    if (error.recovery !== undefined && error.recovery !== null) {
      return isRecovery(error.recovery) ? error.recovery : "terminal";
    }
    const entry = typeof error.code === "string" && Object.hasOwn(table, error.code) ? table[error.code] : undefined;
    return entry?.recovery ?? defaultUnknown;
  };
