/** Who makes room among very many: one body, run against each engine. */
import * as assert from "uvu/assert";
import { type QueueCase, queueSuite } from "./queue-suite.js";

export function roomCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("who has most makes room though it is at more endpoints than anybody counts at once", async ({
    queue,
    database,
  }) => {
    const kept = (count: number, endpoint: string): Promise<number> =>
      database.query((q) =>
        q.run(
          `insert into adbind_jobs (topic, key, random, endpoint, state, due, created_at, body_at)
            select 'test', 'k' || i, true, ${endpoint}, 'dead', 1, 1, 1 from (
              with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n) as numbers`,
        ),
      );
    // Two at each of the endpoints of others, and one at each of his.
    await kept(21_000, "'x other' || (i % 10500 % 1000) || '.' || (i % 10500)");
    await kept(22_000, "'x flood.' || i");
    const ownerOf = (endpoint: string) => endpoint.split(/[ .]/)[1]!;
    assert.is(await queue.removeKept({ kind: "evict", keep: 42_500, limit: 2_000, ownerOf }), 500);
    const [left] = await database.query((q) =>
      q.rows<{ n: number }>("select count(*) as n from adbind_jobs where endpoint like 'x flood.%'"),
    );
    assert.is(left!.n, 21_500);
  });

  test.run();
}
