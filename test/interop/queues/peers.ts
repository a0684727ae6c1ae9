/** pg-boss and graphile-worker, tuned, with an application's own rows beside them. */
import { makeWorkerUtils, type Runner, run } from "graphile-worker";
import pg from "pg";
import { PgBoss } from "pg-boss";
import {
  type BenchEvent,
  type Contender,
  EVENT_TEXT,
  type Producer,
  type ProducerOptions,
} from "../../../bench/support/queue-contender.js";

const QUEUE = "webhooks";

const bodyOf = ({ task }: BenchEvent) => ({
  idempotency_key: crypto.randomUUID(),
  task_id: task,
  status: "working",
  message: EVENT_TEXT,
});

async function makeTasks({ url, tasks }: ProducerOptions): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create table tasks (task_id text primary key, status text not null, instant text not null)");
  await client.query("insert into tasks select unnest($1::text[]), 'submitted', ''", [tasks.map(({ task }) => task)]);
  await client.end();
}

const changeTasks = (tx: pg.ClientBase, events: readonly BenchEvent[]) =>
  tx.query("update tasks set status = 'working', instant = $2 where task_id = any($1)", [
    events.map(({ task }) => task),
    new Date().toISOString(),
  ]);

const bossOn = (url: string) => {
  const boss = new PgBoss({ connectionString: url, max: 12, useListenNotify: true, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(`pg-boss: ${error}`));
  return boss;
};

export const pgBoss: Contender = {
  name: "pg-boss",
  async produce(options): Promise<Producer> {
    await makeTasks(options);
    const boss = bossOn(options.url);
    await boss.start();
    await boss.createQueue(QUEUE, { notify: true, retryLimit: 10 });
    return {
      async store(tx, events) {
        await changeTasks(tx, events);
        const db = { executeSql: (text: string, values?: unknown[]) => tx.query(text, values) };
        const jobs = events.map((event) => ({ data: { url: event.url, body: bodyOf(event) } }));
        if (jobs.length === 1) await boss.send(QUEUE, jobs[0]!.data, { db });
        else await boss.insert(QUEUE, jobs, { db });
      },
      close: () => boss.stop({ graceful: false }),
    };
  },
  async work({ url, sent, prompt, post }) {
    const boss = bossOn(url);
    await boss.start();
    type Data = { url: string; body: object };
    const one = async ({ data }: { data: Data }): Promise<void> => {
      await post(data.url, Buffer.from(JSON.stringify(data.body)));
      sent();
    };
    // A batch ends as a whole; smaller ones are delivered sooner, larger ones cost less.
    const tuned = prompt ? { batchSize: 8, localConcurrency: 2 } : { batchSize: 32, localConcurrency: 4 };
    const begin = async (): Promise<void> => {
      await boss.work<Data>(
        QUEUE,
        { ...tuned, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
        async (jobs) => {
          await Promise.all(jobs.map(one));
        },
      );
    };
    return { begin, stop: () => boss.stop({ graceful: true, timeout: 10_000 }) };
  },
};

export const graphile: Contender = {
  name: "graphile-worker",
  async produce(options): Promise<Producer> {
    await makeTasks(options);
    const utils = await makeWorkerUtils({ connectionString: options.url });
    await utils.migrate();
    return {
      async store(tx, events) {
        await changeTasks(tx, events);
        const specs = events.map((event) => ({ identifier: QUEUE, payload: { url: event.url, body: bodyOf(event) } }));
        if (specs.length === 1) {
          await tx.query("select graphile_worker.add_job($1, $2::json)", [QUEUE, JSON.stringify(specs[0]!.payload)]);
        } else {
          const text =
            "select graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))";
          await tx.query(text, [JSON.stringify(specs)]);
        }
      },
      close: async () => void (await utils.release()),
    };
  },
  async work({ url, sent, prompt, post }) {
    const batching = prompt ? {} : { localQueue: { size: 256 }, completeJobBatchDelay: 10 };
    const pool = new pg.Pool({ connectionString: url, max: 12 });
    pool.on("connect", (client) => client.on("error", () => undefined));
    pool.on("error", () => undefined);
    let runner: Runner | undefined;
    const begin = async (): Promise<void> => {
      runner = await run({
        pgPool: pool,
        noHandleSignals: true,
        logger: silent as never,
        taskList: {
          [QUEUE]: async (payload) => {
            const { url: to, body } = payload as { url: string; body: object };
            await post(to, Buffer.from(JSON.stringify(body)));
            sent();
          },
        },
        preset: { worker: { concurrentJobs: 64, pollInterval: 2_000, ...batching } },
      } as never);
    };
    return {
      begin,
      async stop() {
        await runner?.stop();
        await pool.end();
      },
    };
  },
};

const silent = {
  scope: () => silent,
  error: console.error,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
