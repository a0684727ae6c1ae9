/** Whose turn it is among the endpoints of many on SQLite. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openSqlite, type SqliteDatabase } from "../../runtime/db/index.js";
import { createWorker, openQueue, type Queue } from "../../runtime/queue/index.js";
import { queueWith } from "../support/queue-with.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

/** Endpoints that one look may read. */
const MOST = 1_100;

interface Ground {
  database: SqliteDatabase;
  queue: Queue;
  folder: string;
}

const test = suite<Ground>("turns on SQLite");

test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-turns-"));
  context.database = openSqlite({ path: path.join(context.folder, "q.db") });
  context.queue = openQueue(context.database, "test");
});
test.after.each(async ({ database, queue, folder }) => {
  await queue.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Endpoints that have had something due for long. */
const fill = ({ database }: Ground, count: number): void => {
  const insert = database.file.prepare(
    "insert into adbind_endpoints (topic, endpoint, ready_at) values ('test', ?, ?)",
  );
  database.file.transaction(() => {
    for (let n = 0; n < count; n++) insert.run(`full${n}`, n);
  })();
};

/** A look for endpoints whose names begin with `well`. */
async function look(queue: Queue): Promise<{ readonly asked: number; readonly found: readonly string[] }> {
  const asked = new Set<string>();
  const room = (endpoint: string): number => {
    asked.add(endpoint);
    return endpoint.startsWith("well") ? 10 : 0;
  };
  const jobs = await queue.take({ now: Date.now(), limit: 256, room });
  return { asked: asked.size, found: jobs.map(({ endpoint }) => endpoint) };
}

test("a look reads a part of ten thousand endpoints that have no room, and the next ones the others", async (context) => {
  const { queue } = context;
  fill(context, 10_000);
  // In the middle of them, and behind them all.
  await put(queue, job({ endpoint: "well1", due: 5_000 }), job({ endpoint: "well2" }));
  const found: string[] = [];
  let [looks, read] = [0, 0];
  do {
    const seen = await look(queue);
    assert.ok(seen.asked <= MOST, `${seen.asked} are read at once`);
    found.push(...seen.found);
    read += seen.asked;
    looks += 1;
  } while (queue.goesOn?.() && looks < 1_000);
  assert.equal(found.sort(), ["well1", "well2"]);
  assert.ok(read >= 20_000, "somebody was found in the first round, and nobody in the second one");
  assert.ok(looks < 100, `${looks} looks`);
  // What comes then is found whoever stands before it.
  await put(queue, job({ endpoint: "well3" }));
  assert.equal((await look(queue)).found, ["well3"]);
});

test("few endpoints are all read in one look", async (context) => {
  fill(context, 500);
  await put(context.queue, job({ endpoint: "well" }));
  for (const found of [["well"], []]) {
    const seen = await look(context.queue);
    assert.equal([seen.found, seen.asked, context.queue.goesOn?.()], [found, 500 + found.length, false]);
  }
});

test("of thousands of endpoints that hang each is tried equally often, whatever looks find nobody with room", async ({
  queue,
}) => {
  const names = Array.from({ length: 1_500 }, (_, n) => `h${n}`);
  for (let n = 0; n < 3; n++) await put(queue, ...names.map((endpoint) => job({ endpoint })));
  const tried = new Map(names.map((name) => [name, 0]));
  let now = Date.now();
  const take = async (slots: number): Promise<void> => {
    const given = new Set<string>();
    const room = (endpoint: string): number =>
      Number(given.has(endpoint) || (given.size < slots && !!given.add(endpoint)));
    now += 1;
    for (const { endpoint } of await queue.take({ now, limit: 256, room }))
      tried.set(endpoint, tried.get(endpoint)! + 1);
  };
  for (let n = 0; n < 3_000 / 25; n++) {
    await take(0);
    await take(25);
  }
  assert.equal(new Set(tried.values()), new Set([2]));
});

test("what is added where a round has been already is not slept over", async ({ queue }) => {
  const gate = Promise.withResolvers<void>();
  let [parts, done] = [0, false];
  await put(queue, ...Array.from({ length: 2_500 }, (_, n) => job({ endpoint: `dead${n}`, due: n })));
  const worker = createWorker({
    queue: queueWith(queue, {
      async take(request) {
        const jobs = await queue.take(request);
        parts = jobs.length === 0 && queue.goesOn?.() ? parts + 1 : 0;
        // The first round has found somebody; this is in the middle of the second.
        if (parts === 8) await put(queue, job({ endpoint: "well", due: 300 }));
        return jobs;
      },
    }),
    // Longer than a test may take.
    ...{ concurrency: 64, pollMs: 600_000, renewMs: 600_000, longestDelayMs: 1 },
    ownerOf: (endpoint) => ({ host: endpoint, principal: endpoint.replace(/\d+$/, "") }),
    handle: async ({ endpoint }) => {
      if (endpoint === "well") done = true;
      else await gate.promise;
      return { outcome: { kind: "done" }, healthy: null };
    },
  });
  worker.start();
  await until(() => done, "it is sent");
  const stopped = worker.stop();
  gate.resolve();
  await stopped;
});

test.run();
