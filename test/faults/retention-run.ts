/** A database that attempts, dead letters and closed channels come to at a rate, while a sender keeps it in bounds. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue } from "../../runtime/queue/index.js";
import { activityRow } from "../../runtime/sender/activity.js";
import { createSender } from "../../runtime/sender/index.js";
import { OUTBOX_TOPIC } from "../../runtime/sender/outbox.js";
import { openStore } from "../../runtime/store/index.js";
import { senderTables } from "../../runtime/store/sender-tables.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { startPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";

export interface RetentionRun {
  readonly seconds: number;
  /** Attempts a second; a twentieth of them end as dead letters, and as many channels have closed. */
  readonly rate: number;
}

export interface RetentionSample {
  readonly second: number;
  readonly attempts: number;
  readonly activity: number;
  readonly dead: number;
  readonly closed: number;
  readonly bytes: number;
}

export interface RetentionResult {
  readonly samples: readonly RetentionSample[];
  readonly faults: readonly string[];
}

/** Times a second that something is written. */
const TICKS = 10;
/** Seconds between two looks of a sender at what is beyond its bounds, with what a busy machine adds. */
const LOOK_SECONDS = 15;
const DEAD_KEPT = 1_000;
const DAY_MS = 86_400_000;
/** Seconds between two samples. */
const SAMPLE_SECONDS = 5;
/** What a file may grow from the middle of a run to its end: autovacuum and checkpoints have their own turns. */
const GROWTH = 1.25;

type Engine = "sqlite" | "postgres";

async function place(engine: Engine): Promise<{ url: string; bytes?: () => number; remove: () => Promise<void> }> {
  if (engine === "postgres") {
    const server = await startPostgres();
    return { url: await server.database(), remove: () => server.stop() };
  }
  const file = path.join(tempFolder(), "retention.db");
  const sizeOf = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return { url: `sqlite:${file}`, bytes: () => sizeOf(file) + sizeOf(`${file}-wal`), remove: async () => undefined };
}

/** An attempt as its acknowledgement writes it down. */
function attempts(count: number, now: number) {
  return Array.from({ length: count }, () => {
    const job = { key: randomUUID(), attempts: 0, startedAt: now } as never;
    const report = { status: "failed", httpStatus: 503, responseMs: 41, error: "HTTP 503", bytes: 812 } as never;
    const url = "https://buyer.example/hooks/delivery";
    const meta = { principal: "buyer-1", subject: `task-${count}`, type: "create_media_buy" } as never;
    return activityRow(job, { report, url, meta }, now, 30);
  });
}

async function opened(engine: Engine, { rate }: RetentionRun) {
  const { url, bytes, remove } = await place(engine);
  const store = await openStore(url);
  const keep = rate * 10;
  const retention = { activityRows: keep, deadLetters: DEAD_KEPT, closedChannelDays: 1 };
  const clock = { at: Date.now() };
  const { now: _now, ...options } = optionsFor(clock, new FakeNetwork(clock));
  const sender = await createSender({ ...options, store, retention } as never);
  sender.start();
  const tables = senderTables(store.database);
  const queue = openQueue(store.database, OUTBOX_TOPIC);
  const one = async (text: string): Promise<number> => {
    const [row] = await queue.read((q) => q.rows<{ n: number }>(text, []));
    return Number(row!.n);
  };
  const tick = (): Promise<void> =>
    queue.transact(function* (tx) {
      const now = Date.now();
      yield* tables.log(tx, attempts(rate / TICKS, now));
      const over = Math.ceil(rate / TICKS / 20);
      const jobs = Array.from({ length: over }, () => ({
        ...{ key: randomUUID(), random: true, endpoint: "https://buyer.example a.b", meta: "{}" },
        body: new Uint8Array(800),
      }));
      yield* queue.add(tx, jobs as never);
      yield* tx.run("update adbind_jobs set state = 'dead', error = 'HTTP 503' where state = 'ready'", []);
      for (let at = 0; at < over; at++)
        yield* tables.putChannel(tx, {
          ...{ resource: randomUUID(), kind: "events", subscriber: "", principal: "buyer-1", config: "null" },
          ...{ sequence: 1, period_start: null, next_fire: null, closed: 2, closed_at: now - 2 * DAY_MS },
          ...{ release: null, endpoint: null },
        });
    });
  const sample = async (second: number, made: number): Promise<RetentionSample> => ({
    ...{ second, attempts: made },
    activity: await one("select count(*) as n from adbind_activity"),
    dead: await one("select count(*) as n from adbind_jobs where state = 'dead'"),
    closed: await one("select count(*) as n from adbind_channels where closed_at is not null"),
    bytes: bytes?.() ?? (await one("select pg_database_size(current_database()) as n")),
  });
  const close = async (): Promise<void> => {
    await sender.stop();
    await queue.close();
    await store.close();
    await remove();
  };
  return { keep, tick, sample, close };
}

/** What is beyond its bounds, in each sample that is not of the beginning; and a file that still grows at the end. */
function faultsOf(samples: readonly RetentionSample[], keep: number, { seconds, rate }: RetentionRun): string[] {
  const faults: string[] = [];
  for (const { second, activity, dead, closed } of samples) {
    const beyond = (what: string, count: number, bound: number): void => {
      if (count > bound) faults.push(`${second} s: ${count} ${what}, ${bound} are the bound`);
    };
    beyond("attempts", activity, keep + rate * LOOK_SECONDS);
    beyond("dead letters", dead, DEAD_KEPT + (rate / 20) * LOOK_SECONDS);
    beyond("closed channels", closed, (rate / 20) * LOOK_SECONDS);
  }
  const half = samples.filter(({ second }) => second <= seconds / 2);
  const most = Math.max(...half.map(({ bytes }) => bytes));
  const last = samples.at(-1)!.bytes;
  if (last > most * GROWTH) faults.push(`${last} bytes at the end, ${most} in the first half: it still grows`);
  return faults;
}

export async function runRetention(engine: Engine, run: RetentionRun): Promise<RetentionResult> {
  const { keep, tick, sample, close } = await opened(engine, run);
  const samples: RetentionSample[] = [];
  const started = performance.now();
  const ticks = run.seconds * TICKS;
  try {
    for (let at = 1; at <= ticks; at++) {
      await tick();
      if (at % (SAMPLE_SECONDS * TICKS) === 0) samples.push(await sample(at / TICKS, at * (run.rate / TICKS)));
      await sleep(Math.max(0, started + (at * 1_000) / TICKS - performance.now()));
    }
  } finally {
    await close();
  }
  const took = (performance.now() - started) / 1_000;
  const faults = faultsOf(samples, keep, run);
  // What came slower than it was to proves nothing of the rate.
  if (took > run.seconds * 1.2)
    faults.push(`${Math.round((ticks * run.rate) / TICKS / took)} attempts a second were reached`);
  return { samples, faults };
}
