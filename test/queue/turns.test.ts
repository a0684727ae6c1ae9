/** Whose turn it is among the endpoints of many on PostgreSQL. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { Leasing } from "../../runtime/queue/postgres/leasing.js";
import { sharedPostgres } from "../support/postgres.js";
import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();

/** Endpoints are `host principal.number`. */
const ownerOf = (endpoint: string) => {
  const [host = "", rest = ""] = endpoint.split(" ");
  const principal = rest.split(".")[0]!;
  return { host, principal, end: `${host} ${principal}/` };
};

for (const [hosts, bigs, takes] of [
  [1, ["many"], 2],
  [3_000, ["many"], 7],
  [1, ["many", "more"], 2],
  [100, ["lots", "many", "more"], 7],
] as const)
  test(`${bigs.length} with thousands of endpoints at ${hosts} hosts keep nobody from his turn`, async () => {
    const database = await openPostgres({ url: await postgres.database(), connections: 4 });
    const queue = openQueue(database, "test");
    const few = ["h0 few.1", "z few.2"];
    const their = Array.from({ length: 3_000 }, (_, n) => `h${n % hosts} ${bigs[n % bigs.length]}.${n}`);
    await put(queue, ...[...their, ...few].map((endpoint) => job({ endpoint })));
    const leasing = new Leasing({ query: database.query, queryWoken: database.query }, "test", 60_000, () => 0);
    const taken: string[] = [];
    for (let n = 0; n < takes; n++) {
      const jobs = await leasing.take({ now: Date.now(), limit: 256, room: () => 1, ownerOf });
      taken.push(...jobs.map(({ endpoint }) => endpoint).filter((endpoint) => few.includes(endpoint)));
      assert.ok(jobs.length > 128, `${jobs.length} at a time`);
    }
    assert.equal(taken.sort(), few);
    await queue.close();
    await database.close();
  });

test.after(() => postgres.stop());
test.run();
