/** Every error adbind throws on purpose: one table, one class. Traffic that is merely bad is a value, never one of these. */

/** Code -> what went wrong, in general terms. The message of an instance says what, where and what to do. */
export const errorTable = {
  // generator
  release_unreadable: "a release could not be read",
  release_invalid: "a release breaks a rule it must keep",
  output_conflict: "the output folder holds something adbind did not write",
  output_differs: "generated files differ from what the releases give",
  // schemas
  schema_missing: "a schema is not in the release",
  // net
  net_option_invalid: "an option for outbound requests cannot be used",
  // command
  usage: "the command line is off",
} as const satisfies Record<string, string>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorDetail {
  /** File, URL or option the error is about. */
  where?: string;
  /** What the reader can do. */
  remedy?: string;
  cause?: unknown;
}

/** An error with a stable code; `message` reads `what (where): remedy`. */
export class AdbindError extends Error {
  override readonly name = "AdbindError";
  readonly where: string | undefined;
  readonly remedy: string | undefined;

  constructor(
    readonly code: ErrorCode,
    what: string,
    detail: ErrorDetail = {},
  ) {
    const where = detail.where === undefined ? "" : ` (${detail.where})`;
    const remedy = detail.remedy === undefined ? "" : `: ${detail.remedy}`;
    super(`${what}${where}${remedy}`, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.where = detail.where;
    this.remedy = detail.remedy;
  }
}
