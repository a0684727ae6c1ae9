/** How workers hear of jobs on PostgreSQL: as the transaction commits that added them, where little is added, or after it. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { Waker } from "../../runtime/queue/postgres/waker.js";
import type { Queue } from "../../runtime/queue/types.js";
import { sharedPostgres, startPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

/** An application, and somebody who hears what is notified, with the process of the server that said it. */
interface Heard {
  readonly queue: Queue;
  readonly database: PostgresDatabase;
  readonly application: pg.Client & { processID?: number };
  readonly heard: (number | undefined)[];
  /** Payloads of those. */
  readonly said: string[];
}

async function hearing(
  work: (of: Heard) => Promise<void>,
  databases: Pick<TestDatabases, "database"> = postgres,
): Promise<void> {
  const url = await databases.database();
  const database = await openPostgres({ url, connections: 4 });
  const queue = openQueue(database, "test");
  const application = new pg.Client(url);
  const listener = new pg.Client(url);
  const heard: (number | undefined)[] = [];
  const said: string[] = [];
  listener.on("notification", ({ processId, payload = "" }) => {
    heard.push(processId);
    said.push(payload);
  });
  try {
    await Promise.all([application.connect(), listener.connect()]);
    await listener.query("listen adbind_jobs");
    await work({ queue, database, application, heard, said });
  } finally {
    await Promise.all([application.end(), listener.end(), queue.close()]);
    await database.close();
  }
}

const addIn = async ({ queue, application }: Heard, end = "commit"): Promise<void> => {
  await application.query("begin");
  await queue.within(application, (q) => queue.add(q, [job()]));
  await application.query(end);
};

test("where little is added its transaction notifies as it commits, and what others add meanwhile is said after it", () =>
  hearing(async (of) => {
    const { application, heard, queue } = of;
    await addIn(of, "select 1");
    await put(queue, job());
    await until(() => heard.length > 0);
    assert.not.ok(heard.includes(application.processID), "it has not committed yet");
    await application.query("commit");
    await until(() => heard.includes(application.processID));
  }));

test("the longer a transaction took that notifies, the later is the next one, but not for ever", () => {
  const { now } = performance;
  let at = 0;
  performance.now = () => at;
  try {
    for (const [tookMs, pauseMs] of [
      [1, 10],
      [20, 800],
      [3_600_000, 10_000],
    ] as const) {
      const waker = new Waker(async () => undefined);
      assert.ok(waker.mayNotify());
      assert.not.ok(waker.mayNotify(), "one at a time");
      at += tookMs;
      waker.notified([]);
      at += pauseMs - 1;
      assert.not.ok(waker.mayNotify());
      at += 1;
      assert.ok(waker.mayNotify());
    }
  } finally {
    performance.now = now;
  }
});

test("however long a transaction was open that notifies, it is what its end took that keeps the next one from it", () =>
  hearing(async (of) => {
    const { application, heard } = of;
    await addIn(of, "select 1");
    await application.query("select pg_sleep(0.3)");
    const committing = performance.now();
    await application.query("commit");
    // A slow end keeps the next one for longer, by its square, on a machine that is busy too.
    const mayWait = 5_000 + 2 * (performance.now() - committing) ** 2;
    const said = (): number => heard.filter((by) => by === application.processID).length;
    await until(() => said() === 1);
    const began = performance.now();
    while (said() < 2 && performance.now() - began < mayWait) await addIn(of);
    // What was said last may be heard after the next one has been.
    assert.ok(said() >= 2);
  }));

test("who is notified is told of which endpoints, as far as there is room", () =>
  hearing(async ({ queue, application, said }) => {
    const named = (count: number): boolean => said.some((payload) => payload.split("\n").length === count + 1);
    for (const [count, told] of [
      [2, 2],
      [100, 0],
    ] as const) {
      await application.query("begin");
      const jobs = Array.from({ length: 2 * count }, (_, n) =>
        job({ endpoint: `https://${"x".repeat(60)} ${n % count}` }),
      );
      await queue.within(application, (q) => queue.add(q, jobs));
      await application.query("commit");
      await until(() => named(told));
    }
    await put(queue, job());
    await until(() => named(1));
    assert.ok(said.every((payload) => payload.split("\n")[0] === "test"));
  }));

test("a clock that is ahead keeps no other instance from what was stored by it to go at once", () =>
  hearing(async ({ database }) => {
    const ahead = openQueue(database, "test", { now: () => Date.now() + 3_600_000 });
    await put(ahead, job({ endpoint: "now" }), job({ endpoint: "later", due: Date.now() + 7_200_000 }));
    const other = openQueue(database, "test");
    const jobs = await other.take({ now: Date.now() + 50, limit: 8, room: () => 8 });
    assert.equal(
      jobs.map(({ endpoint }) => endpoint),
      ["now"],
    );
    await Promise.all([ahead.close(), other.close()]);
  }));

test("nobody is notified by what is undone", () =>
  hearing(async (of) => {
    await addIn(of, "rollback");
    await of.database.execute("select pg_notify('adbind_jobs', 'test')");
    await until(() => of.heard.length > 0);
    assert.not.ok(of.heard.includes(of.application.processID));
  }));

test("where transactions may be prepared none of them notifies, and it is said after the commit", async () => {
  const own = await startPostgres({ fsync: "off", max_prepared_transactions: "2" });
  try {
    await hearing(async (of) => {
      await addIn(of, "prepare transaction 'both'");
      await of.application.query("commit prepared 'both'");
      await addIn(of);
      await until(() => of.heard.length > 0);
      assert.not.ok(of.heard.includes(of.application.processID));
    }, own);
  } finally {
    await own.stop();
  }
});

test("a connection listens only while somebody waits for jobs, and is asked first when it has heard of some", () =>
  hearing(async ({ queue, database }) => {
    await put(queue, job({ endpoint: "known" }));
    assert.is(database.listening, false);
    let woken = 0;
    const forget = queue.onWake(() => {
      woken += 1;
    });
    await until(() => database.listening && woken > 0);
    const [listens] = await database.queryWoken((q) =>
      q.rows<{ name: string }>("select pg_listening_channels() as name"),
    );
    assert.equal(listens, { name: "adbind_jobs" });
    forget();
    const before = woken;
    await put(queue, job({ key: "unheard" }));
    assert.is(woken, before);
  }));

test.run();
