/**
 * Events handed out by three servers of NATS, beside the same handed out by PostgreSQL and beside a loop that signs and posts:
 * how fast a backlog is drained by several deliverers, and how soon an event arrives.
 */
import pg from "pg";
import { hasNats, startNats, type TestNats } from "../../test/support/nats.js";
import { startPostgres, type TestPostgres } from "../../test/support/postgres.js";
import { median } from "./measure.js";
import { startWorkers } from "./queue-workers.js";
import type { Row } from "./row.js";
import { ours } from "./sender-contender.js";
import { at, delays } from "./sender-prompt.js";

export interface NatsAsked {
  /** A receiver that answers at once. */
  readonly live: string;
  /** The floor: events a second of a loop that signs and posts so many. */
  readonly bare: (events: number) => Promise<number>;
  readonly short: boolean;
}

const DELIVERERS = [1, 2, 4] as const;
/** URLs that events go to: an endpoint has 64 requests at most. */
const DESTINATIONS = 20;
/** Events stored in one transaction. */
const BATCH = 100;

interface Ground {
  readonly cluster: TestPostgres;
  readonly nats: TestNats;
}

/** @returns events a second, from the first look of the first deliverer on */
async function draining(
  { cluster }: Ground,
  of: { live: string; events: number; count: number; queue?: string | undefined },
) {
  const { live, events, count, queue } = of;
  const url = await cluster.database();
  const tasks = Array.from({ length: events }, (_, n) => ({ task: `task-${n}`, url: `${live}/${n % DESTINATIONS}` }));
  const producer = await ours.produce({ url, tasks });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const client = await pool.connect();
  for (let from = 0; from < events; from += BATCH) {
    await client.query("begin");
    await producer.store(client, tasks.slice(from, from + BATCH));
    await client.query("commit");
  }
  client.release();
  await pool.end();
  await producer.close();
  const workers = await startWorkers({ name: ours.name, url, count, queue });
  workers.begin();
  const rate = (events * 1_000) / (await workers.sent(events));
  await workers.stop();
  return rate;
}

async function drainRows(ground: Ground, { live, bare, short }: NatsAsked): Promise<Row[]> {
  const [rounds, events] = short ? [1, 2_000] : [3, 6_000];
  const loop: number[] = [];
  const rates = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    loop.push(await bare(events));
    for (const count of DELIVERERS)
      for (const queue of [undefined, ground.nats.url]) {
        const name = `${queue === undefined ? "postgres" : "nats"} ${count}`;
        rates.set(name, [...(rates.get(name) ?? []), await draining(ground, { live, events, count, queue })]);
      }
  }
  const of = (name: string): number => median(rates.get(name)!);
  return DELIVERERS.flatMap((count): Row[] => {
    const [nats, postgres, least] = [of(`nats ${count}`), of(`postgres ${count}`), median(loop)];
    const note = [
      `nats ${Math.round(nats)}/s, postgres ${Math.round(postgres)}/s`,
      `a loop that signs and posts ${Math.round(least)}/s`,
    ].join(", ");
    const by = `${count} ${count === 1 ? "deliverer" : "deliverers"}`;
    return [
      {
        name: `drain on NATS by ${by}, of a loop that signs and posts`,
        value: nats / least,
        unit: "x",
        floor: { of: "a loop that signs and posts", times: least / nats },
        note,
      },
      {
        name: `drain on NATS by ${by}, of the same on PostgreSQL`,
        value: nats / postgres,
        unit: "x",
        floor: { of: "the same deliverers on PostgreSQL", times: postgres / nats },
        note,
      },
    ];
  });
}

async function promptRows({ cluster, nats }: Ground, short: boolean): Promise<Row[]> {
  const seconds = short ? 4 : 10;
  const all = { nats: [] as number[], postgres: [] as number[] };
  for (const [name, queue] of [["postgres"], ["nats", nats.url]] as const) {
    const url = await cluster.database();
    all[name].push(...(await delays(ours, { url, workerUrl: url, seconds, queue })));
  }
  return [0.5, 0.99].map((share): Row => {
    const [here, there] = [at(all.nats, share), at(all.postgres, share)];
    return {
      name: `commit to arrival on NATS, p${share * 100}`,
      value: here,
      unit: "ms",
      floor: { of: "the same on PostgreSQL", times: here / there },
      note: `nats ${here.toFixed(1)} ms, postgres ${there.toFixed(1)} ms`,
    };
  });
}

/** @throws Error where there is no server to start */
export async function natsRows(asked: NatsAsked): Promise<Row[]> {
  if (!hasNats()) throw new Error("nats-server is not in .cache/nats: ./run installs it, with Go on PATH");
  const [cluster, nats] = await Promise.all([startPostgres({ max_connections: "200" }), startNats()]);
  try {
    const ground = { cluster, nats };
    return [...(await drainRows(ground, asked)), ...(await promptRows(ground, asked.short))];
  } finally {
    await nats.stop();
    await cluster.stop();
  }
}
