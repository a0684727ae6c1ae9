/** How a PostgreSQL is opened. */
import type { DatabaseSchema } from "../schema.js";
import type { DatabaseOptions } from "../types.js";

/** How to reach PostgreSQL, and how long to wait for what, in milliseconds. */
export interface PostgresOptions extends DatabaseOptions {
  /**
   * `postgres://user:password@host:port/database`. Several servers of one database are named with commas between them
   * (`host1:5432,host2:5432`), and the one that takes writes is found before each connection; `?target_session_attrs=read-write`
   * asks that of one host, too. `connect_timeout` (in seconds) and `options` (`-c statement_timeout=3000`) say what the options
   * here do, for who has a URL alone.
   */
  readonly url: string;
  /** Most connections of this instance. Default 10. */
  readonly connections?: number;
  /** Longest wait for a connection, in milliseconds; then the receiver answers 503. Default what the URL says, or 5,000. */
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
  readonly schema?: DatabaseSchema;
}
