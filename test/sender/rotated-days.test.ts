/** Keys that are rotated while days are dropped: who is in the other's way gives way, and both are done. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { OUTBOX_TOPIC } from "../../runtime/sender/outbox.js";
import { assembleSender } from "../../runtime/sender/sender.js";
import { senderTables } from "../../runtime/store/sender-tables.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { closeBeside, openBeside } from "./beside-application.js";
import { NOW, optionsFor, secretKeys } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const DAY = 86_400_000;
const postgres = await sharedPostgres();
test.after(() => postgres.stop());

test("what is sealed anew while its day is dropped waits for nobody in a circle, and none stays under the old key", async () => {
  const clock = { at: NOW };
  const beside = await openBeside(postgres, clock, { sealBodies: true });
  const { database, application, network, sender } = beside;
  await database.partitions({ now: clock.at, days: 9, activityDays: 30 });
  for (const taskId of ["a", "b", "c"]) {
    await sender.tasks.register(start({ taskId }), { push });
    await sender.tasks.update(taskId, { status: "working" });
  }
  clock.at += 5 * DAY;
  const url = new URL(beside.url);
  // Of the two this one finds the circle first.
  url.searchParams.set("options", "-c deadlock_timeout=10ms");
  const sealing = await openPostgres({ url: url.href, connections: 3 });
  const known = senderTables(sealing);
  const tables: typeof known = {
    ...known,
    *bodiesAfter(tx, topic, page) {
      const rows = yield* known.bodiesAfter(tx, topic, page);
      yield* tx.rows("select pg_sleep(0.5)");
      return rows;
    },
  };
  const secrets = { current: "k2", keys: { ...secretKeys.keys, k2: new Uint8Array(32).fill(9) } };
  const options = { ...optionsFor(clock, network), secrets, sealBodies: true, store: { database: sealing } };
  const queue = openQueue(sealing, OUTBOX_TOPIC, { now: () => clock.at });
  const rotating = await assembleSender({ queue, tables, options, place: sealing });
  const rotated = rotating.resealSecrets();
  const asleep = "select from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()";
  await until(async () => (await application.query(asleep)).rowCount === 1);
  const dropping = database.partitions({ now: clock.at, days: 2, activityDays: 30 });
  const [{ resealed }, { dropped }] = await Promise.all([rotated, dropping]);
  assert.is(resealed, 3);
  assert.ok(dropped.includes("adbind_job_bodies_20260418"), dropped.join());
  assert.equal(await rotating.resealSecrets(), { resealed: 0, current: 3, lost: 0, foreign: 0 });
  await rotating.stop();
  await sealing.close();
  await closeBeside(beside);
});

test.run();
