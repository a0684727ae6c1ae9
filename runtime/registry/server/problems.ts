/** Answers that are no success. Every body is an object with a string `error` (docs/protocol/errors.md#statuses-of-http). */

export type ProblemStatus = 400 | 401 | 403 | 404 | 410 | 413 | 415 | 429 | 501 | 503;

export interface ProblemDetail {
  readonly message?: string;
  /** For programs. */
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown by handlers, and turned into an answer in one place. */
export class Problem extends Error {
  constructor(
    readonly statusCode: ProblemStatus,
    readonly error: string,
    readonly detail: ProblemDetail = {},
  ) {
    super(error);
  }

  get body(): Record<string, unknown> {
    const { message, code, retryAfterSeconds, more } = this.detail;
    return {
      error: this.error,
      ...(message !== undefined && { message }),
      ...(code !== undefined && { code }),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
      ...more,
    };
  }

  get headers(): Record<string, string> {
    const { retryAfterSeconds, headers } = this.detail;
    return { ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }), ...headers };
  }
}

export const badRequest = (error: string, detail?: ProblemDetail): Problem => new Problem(400, error, detail);
export const notFound = (error = "Not found", detail?: ProblemDetail): Problem => new Problem(404, error, detail);

/** docs/protocol/registry.md#common-rules: what a lookup that takes too long tells its caller to wait. */
export const RETRY_AFTER_SECONDS = 5;

export const unavailable = (error: string, code: string): Problem =>
  new Problem(503, error, { code, retryAfterSeconds: RETRY_AFTER_SECONDS });
