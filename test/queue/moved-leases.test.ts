/** Leases of what a transaction of the application's moves, which holds their rows until it ends. */
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { sharedPostgres } from "../support/postgres.js";

import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

test("an attempt under way is nobody else's, though its lease ends while its registration is changed", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 4 });
  const [queue, other] = [1, 2].map(() => openQueue(database, "test", { leaseMs: 2_000 }));
  const take = (of: typeof queue) => of!.take({ now: Date.now(), limit: 10, room: () => 10 });
  await put(queue!, job({ orderingKey: "o" }));
  const leased = await take(queue);
  await pause(1_200);
  const changed = queue!.transact(function* (q) {
    yield* queue!.redirect(q, "o", "b");
    yield* q.rows("select pg_sleep(1.2)", []);
  });
  await pause(600);
  await queue!.renew(leased, Date.now());
  await changed;
  assert.equal(await take(other), []);
  assert.is((await queue!.renew(leased, Date.now())).size, 1);
  assert.equal(
    await queue!.ack([{ job: leased[0]!, outcome: { kind: "later", due: 0, error: "HTTP 500" } }], Date.now()),
    [true],
  );
  assert.equal(
    (await take(other)).map(({ endpoint }) => endpoint),
    ["b"],
  );
  await queue!.close();
  await other!.close();
  await database.close();
});

test.run();
