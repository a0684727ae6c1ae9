/** Endpoints by the thousand, for tests of whose turn it is. */
import type { PostgresDatabase } from "../../runtime/db/index.js";
import type { EndpointOwner } from "../../runtime/queue/endpoint-options.js";

/** Endpoints are `host principal.number`. */
export const hostAndPrincipal = (endpoint: string): EndpointOwner => {
  const [host = "", rest = ""] = endpoint.split(" ");
  const principal = rest.split(".")[0]!;
  return { host, principal, end: `${host} ${principal}/` };
};

/** So many endpoints, each with a job that is not due for long. */
export const putFar = (database: PostgresDatabase, count: number) =>
  database.ask(
    `insert into adbind_jobs (topic, key, random, endpoint, state, due, created_at, body_at)
      select 'test', n::text, true, 'h' || n, 'ready', 8e15::bigint, 1, 1 from generate_series(1, $1::int) n`,
    [count],
  );
