/** What has expired goes beside requests: a proof by what each transaction removes, and by what stands between two of them. */
import * as assert from "uvu/assert";
import { sweepSteps } from "../../runtime/receiver/sweep.js";
import type { Expiring } from "../../runtime/store/types.js";
import { envelope, receiverSuite, send, signed } from "../support/receiver.js";
import { until } from "../support/until.js";

const test = receiverSuite("sweep");

const ROWS = 20_000;
/** Most rows a transaction removes; with an index on what expires, each is found at once. */
const MOST_ROWS = 500;

test("twenty thousand expired keys go a few hundred at a time, and a request waits for one such transaction at most", async ({
  open,
}) => {
  const s = await open();
  await s.receiver.stop();
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS}) select i from n`;
  await send(s, envelope({ task_id: "before" }));
  await s.store.database.execute(
    `insert into adbind_claims select 1, randomblob(16), randomblob(16), i from (${numbers})`,
  );
  const removed: number[] = [];
  const claims = s.store.expiring.find(({ what }) => what === "expired claims") as {
    -readonly [K in keyof Expiring]: Expiring[K];
  };
  const { remove } = claims;
  claims.remove = async (now, limit) => {
    assert.ok(limit <= MOST_ROWS, `${limit} rows asked for at once`);
    const rows = await remove(now, limit);
    assert.ok(rows <= limit);
    removed.push(rows);
    return rows;
  };
  s.receiver.start();
  const sum = (): number => removed.reduce((total, rows) => total + rows, 0);
  const waited: number[] = [];
  for (let at = 0; sum() < ROWS; at += 1) {
    const request = await signed(s, envelope({ task_id: `beside-${at}` }));
    const before = removed.length;
    const { status } = await s.receiver.handle(request);
    assert.is(status, 200);
    waited.push(removed.length - before);
    await until(() => removed.length > before || sum() >= ROWS);
  }
  assert.ok(waited.length >= ROWS / MOST_ROWS / 2, `${waited.length} requests beside ${removed.length} transactions`);
  // One that ran when it came, and one that began in the turn it was answered in.
  assert.ok(Math.max(...waited) <= 2, `a request waited for ${Math.max(...waited)} of them`);
  const left = s.store.db.prepare("select count(*) from adbind_claims where expires <= ?").pluck().get(ROWS);
  assert.is(left, 0);
});

test("where every commit is slow, fewer rows would be no quicker: there is a least number", async () => {
  const limits: number[] = [];
  let left = 12;
  const slow: Expiring = {
    what: "expired claims",
    async remove(_now, limit) {
      limits.push(limit);
      const begun = performance.now();
      // A disk that takes its time, whatever it is given.
      while (performance.now() - begun < 12);
      left -= 1;
      return left > 0 ? limit : 0;
    },
  };
  const [step] = sweepSteps([slow], () => 0);
  // Its pauses keep no process alive.
  const alive = setInterval(() => undefined, 1_000);
  await step!.run(new AbortController().signal);
  clearInterval(alive);
  assert.is(limits.length, 12);
  assert.ok(Math.min(...limits) >= 50, limits.join());
});

test("who stops does not wait for the pause between two transactions, which keeps no process alive", async () => {
  const paused = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let begun = 0;
  const remove = async (_now: number, limit: number): Promise<number> => {
    begun += 1;
    setImmediate(paused.resolve);
    // Long enough for a pause that is still there.
    const end = performance.now() + 60;
    while (performance.now() < end);
    return limit;
  };
  const [step] = sweepSteps([{ what: "rows", remove }], () => 0);
  const ended = step!.run(stopping.signal) as Promise<void>;
  await paused.promise;
  stopping.abort();
  await ended;
  assert.is(begun, 1);
});

test.run();
