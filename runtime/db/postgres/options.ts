/** How a PostgreSQL is opened. */
import type { Schema } from "../schema.js";
import type { OpenOptions } from "../types.js";

export interface PostgresOptions extends OpenOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Most connections of this instance. Default 10. */
  readonly connections?: number;
  /** Longest wait for a connection, in milliseconds; then the receiver answers 503. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Longest statement, in milliseconds. Default 30,000: an import's batch takes a tenth of it. */
  readonly statementTimeoutMs?: number;
  /** Longest wait for a row that another transaction holds, in milliseconds. Default 10,000. */
  readonly lockTimeoutMs?: number;
  /** Longest pause between two statements of a transaction, in milliseconds. Default 60,000: an effect may take its time. */
  readonly idleTimeoutMs?: number;
  /** How much later than the server's own limit an answer may come before its connection is given up. Default 10,000. */
  readonly deadlineSlackMs?: number;
  /** Another schema than adbind's own, for tests. */
  readonly schema?: Schema;
}
