/** How far the times that a sender has left in a PostgreSQL are from its server's clock. */
import * as assert from "uvu/assert";

type Rows = (text: string) => Promise<readonly { readonly ms: number }[]>;

/** Beyond it nothing is a time: what waits for another has no time of its own. Unix milliseconds. */
const NO_TIME = 8_000_000_000_000;

/** Of the values that a query gives, how far each is from the server's clock, in milliseconds. */
export const fromServer = async (rows: Rows, text: string): Promise<number[]> => {
  const clock = "(extract(epoch from clock_timestamp()) * 1000)::float8";
  const found = await rows(`select v - ${clock} as ms from (${text}) as t (v) where v is not null and v < ${NO_TIME}`);
  return found.map(({ ms }) => ms);
};

/** Every time of jobs and endpoints is the server's, within a quarter of the hour that machines are off by. */
export async function timesAreServers(rows: Rows, hourMs: number): Promise<void> {
  const times = [
    ...(await fromServer(rows, "select unnest(array[due, created_at, first_at, body_at]) from adbind_jobs")),
    ...(await fromServer(rows, "select unnest(array[nullif(paused_until, 0), failing_since]) from adbind_endpoints")),
  ];
  assert.ok(times.length > 4);
  for (const one of times) assert.ok(Math.abs(one) < hourMs / 4, String(times));
}
