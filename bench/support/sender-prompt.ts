/** How soon an event arrives after its commit, what an idle worker asks of the database, and how it takes a restart. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { startPgbouncer } from "../../test/support/pgbouncer.js";
import type { TestPostgres } from "../../test/support/postgres.js";
import { median } from "./measure.js";
import type { Contender } from "./queue-contender.js";
import { contenders } from "./queue-contenders.js";
import { startWorkers } from "./queue-workers.js";
import type { Row } from "./row.js";

const RATE = 50; // Events a second.
const IDLE_MS = 30_000;
/** Until what a start asked is counted: a session that has nothing to do tells the server what it did after ten seconds. */
const SETTLED_MS = 16_000;
const RESTARTS_EVENTS = 300;

export interface PromptAsked {
  readonly cluster: TestPostgres;
  readonly rounds: number;
  readonly seconds: number;
  readonly asked: (part: string) => boolean;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A receiver of this process, so that one clock tells when an event was committed and when it arrived. */
export async function listening(arrived: (task: string, at: number) => void) {
  const server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.end();
      arrived((JSON.parse(Buffer.concat(chunks).toString()) as { task_id: string }).task_id, at);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { live: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, stop: () => server.close() };
}

/** @returns milliseconds of each event, from its commit to its arrival, the shortest first */
export async function delays(
  contender: Contender,
  { url, workerUrl, seconds, queue }: { url: string; workerUrl: string; seconds: number; queue?: string | undefined },
): Promise<number[]> {
  const committed = new Map<string, number>();
  const arrived = new Map<string, number>();
  const { live, stop } = await listening((task, at) => arrived.set(task, at));
  const tasks = Array.from({ length: RATE * seconds }, (_, at) => ({ task: `task-${at}`, url: `${live}/${at % 10}` }));
  const producer = await contender.produce({ url, tasks });
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => undefined);
  const workers = await startWorkers({ name: contender.name, url: workerUrl, listenUrl: url, prompt: true, queue });
  workers.begin();
  await pause(1_500);
  const started = performance.now();
  const storing = tasks.map(async (event, at) => {
    await pause(Math.max(0, started + (at * 1_000) / RATE - performance.now()));
    const client = await pool.connect();
    await client.query("begin");
    await producer.store(client, [event]);
    await client.query("commit");
    committed.set(event.task, performance.now());
    client.release();
  });
  await Promise.all(storing);
  await workers.sent(tasks.length);
  await workers.stop();
  await producer.close();
  await pool.end();
  stop();
  return tasks.map(({ task }) => Math.max(0, arrived.get(task)! - committed.get(task)!)).sort((a, b) => a - b);
}

export const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)]!;

async function promptRows({ cluster, rounds, seconds }: PromptAsked): Promise<Row[]> {
  const halves = new Map<string, number[]>();
  const tails = new Map<string, number[]>();
  const keep = (name: string, sorted: readonly number[]): void => {
    halves.set(name, [...(halves.get(name) ?? []), at(sorted, 0.5)]);
    tails.set(name, [...(tails.get(name) ?? []), at(sorted, 0.99)]);
  };
  const pooler = await startPgbouncer(cluster.url, { default_pool_size: "20" });
  for (let round = 0; round < rounds; round++) {
    for (const one of await contenders()) {
      const url = await cluster.database();
      keep(one.name, await delays(one, { url, workerUrl: url, seconds }));
      if (one.name !== "adbind") continue;
      const pooled = await cluster.database();
      keep("pooled", await delays(one, { url: pooled, workerUrl: pooler.through(pooled), seconds }));
    }
  }
  await pooler.stop();
  const of = (figures: Map<string, number[]>, name: string): number => median(figures.get(name)!);
  const told = (figures: Map<string, number[]>): string =>
    [...figures.keys()].map((name) => `${name} ${of(figures, name).toFixed(1)} ms`).join(", ");
  const peer = "graphile-worker";
  const rows = ["adbind", "pooled"].flatMap((name): Row[] => {
    const where = name === "pooled" ? ", through pgbouncer" : "";
    const half = of(halves, name) / of(halves, peer);
    const limit = 1.5 * of(tails, peer) + 50;
    return [
      {
        name: `commit to arrival at ${RATE}/s${where}, p50, of ${peer}'s`,
        value: half,
        unit: "x",
        target: { max: 1.1 },
        floor: { of: peer, times: half },
        note: told(halves),
      },
      {
        name: `commit to arrival at ${RATE}/s${where}, p99, of 1.5 x ${peer}'s and 50 ms`,
        value: of(tails, name) / limit,
        unit: "x",
        target: { max: 1 },
        floor: { of: peer, times: of(tails, name) / of(tails, peer) },
        note: told(tails),
      },
    ];
  });
  return rows;
}

const transactions = async (client: pg.Client, database: string): Promise<number> =>
  Number(
    (
      await client.query<{ n: string }>(
        "select xact_commit + xact_rollback as n from pg_stat_database where datname = $1",
        [database],
      )
    ).rows[0]!.n,
  );

async function idleRow({ cluster }: PromptAsked): Promise<Row> {
  const client = new pg.Client(cluster.url);
  await client.connect();
  const figures: string[] = [];
  let value = Number.NaN;
  for (const one of await contenders()) {
    const url = await cluster.database();
    await (await one.produce({ url, tasks: [] })).close();
    const workers = await startWorkers({ name: one.name, url, prompt: true });
    workers.begin();
    // What a start asks is no part of it.
    await pause(SETTLED_MS);
    const name = new URL(url).pathname.slice(1);
    // What the server does in any database by itself is no worker's.
    const control = new URL(await cluster.database()).pathname.slice(1);
    const counts = async (): Promise<number> =>
      (await transactions(client, name)) - (await transactions(client, control));
    const before = await counts();
    await pause(IDLE_MS);
    const rate = ((await counts()) - before) / (IDLE_MS / 1_000);
    await workers.stop();
    if (one.name === "adbind") value = rate;
    figures.push(`${one.name} ${rate.toFixed(1)}/s`);
  }
  await client.end();
  return {
    name: "transactions of an idle sender on PostgreSQL",
    value,
    unit: "/s",
    target: { max: 1 },
    floor: { none: "nothing need be asked while nothing is due" },
    note: figures.join(", "),
  };
}

async function restartRow({ cluster }: PromptAsked): Promise<Row> {
  const [ours] = await contenders();
  const url = await cluster.database();
  let last = 0;
  let count = 0;
  const { live, stop } = await listening((_task, when) => {
    count += 1;
    if (last === 0) last = when;
  });
  const tasks = Array.from({ length: RESTARTS_EVENTS }, (_, n) => ({ task: `task-${n}`, url: live }));
  const producer = await ours!.produce({ url, tasks });
  const workers = await startWorkers({ name: ours!.name, url });
  workers.begin();
  await pause(2_000);
  await cluster.restart();
  const back = performance.now();
  const client = new pg.Pool({ connectionString: url, max: 1 });
  client.on("error", () => undefined);
  const one = await client.connect();
  await one.query("begin");
  await producer.store(one, tasks);
  await one.query("commit");
  await workers.sent(RESTARTS_EVENTS);
  const resumed = last - back;
  one.release();
  await client.end();
  await workers.stop();
  await producer.close();
  stop();
  return {
    name: "first delivery after PostgreSQL is back",
    value: resumed / 1_000,
    unit: "s",
    target: { max: 2 },
    floor: { none: "the time to connect again" },
    note: `${count} of ${RESTARTS_EVENTS} events, stored after it was back, arrived`,
  };
}

export async function promptnessRows(asked: PromptAsked): Promise<Row[]> {
  return [
    ...(asked.asked("prompt") ? await promptRows(asked) : []),
    ...(asked.asked("idle") ? [await idleRow(asked)] : []),
    ...(asked.asked("restart") ? [await restartRow(asked)] : []),
  ];
}
