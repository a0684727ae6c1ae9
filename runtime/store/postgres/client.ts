/** A connection whose answers can be forgotten as soon as they are read. */
import pg from "pg";

type Answered = (error: Error | null, result: pg.QueryResult) => void;
type AnyQuery = (this: pg.Client, config: unknown, values?: unknown, answered?: Answered) => unknown;

const asked = pg.Client.prototype.query as unknown as AnyQuery;

/**
 * Asks with callbacks only. Of a query asked for a promise, pg 8.23 keeps what the collector takes for a link to the next
 * one: an answer that has once outlived a small collection keeps the later ones until a full one. Answers of hundreds of
 * kilobytes made each small collection copy megabytes, and stop the process for 20 milliseconds.
 */
export class PostgresClient extends pg.Client {}

PostgresClient.prototype.query = function query(this: pg.Client, config: unknown, values?: unknown, given?: Answered) {
  const submits = typeof (config as { submit?: unknown } | null)?.submit === "function";
  if (submits || typeof values === "function" || given !== undefined) return asked.call(this, config, values, given);
  return new Promise((resolve, reject) => {
    asked.call(this, config, values, (error, result) => (error ? reject(error) : resolve(result)));
  });
} as unknown as typeof pg.Client.prototype.query;
