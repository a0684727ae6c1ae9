/**
 * How soon events reach fifty healthy endpoints beside neighbours that hang, fail or are dead, against the same alone; and what
 * nine hosts get while the tenth hangs. The network is a function: what is measured is how the sender shares itself out.
 */
import { randomUUID } from "node:crypto";
import type { AnyDatabase } from "../../runtime/db/index.js";
import type { Fetcher, FetchResult } from "../../runtime/net/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { createSender, type Sender, type SenderOptions } from "../../runtime/sender/index.js";
import { enqueue, OUTBOX_TOPIC, orderingKeyOf } from "../../runtime/sender/outbox.js";
import type { Bodies } from "../../runtime/sender/sealed-bodies.js";
import { median } from "./measure.js";
import type { Row } from "./row.js";

type AnyStore = { readonly database: AnyDatabase };

interface Engine {
  readonly name: string;
  store(): Promise<{ store: AnyStore; close(): Promise<void> }>;
}

type Options = Pick<SenderOptions, "release" | "signer">;

const HEALTHY = 50;
/** Events a second to all of them together, and for how long. */
const RATE = 100;
const SECONDS = 8;
/** What a healthy receiver takes to answer, in milliseconds. */
const ANSWER_MS = 2;
/** Events added in one transaction. */
/** Bodies as they are. */
const inClear: Bodies = { seal: (body) => body, open: (body) => ({ ok: true, body }) };
const CHUNK = 500;
const HOSTS = 10;
const EVENTS_OF_HOST = 300;
const ROUNDS = 3;
/** What events may be later beside neighbours, in milliseconds: half as much again, and this. */
const SLACK_MS = 50;

const body = JSON.stringify({ message: "x".repeat(300) });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ok = { ok: true, headers: {}, body: new Uint8Array(), truncated: false } as const;

/** By the host's name: `hang` never answers, `fail` in the path answers 500, all others are well. */
const network =
  (arrived: (url: string, at: number) => void, over: Promise<void>): Fetcher =>
  async (url, request) => {
    arrived(url, performance.now());
    if (url.startsWith("https://hang")) {
      const limit = AbortSignal.timeout(request?.timeouts?.totalMs ?? 0);
      await Promise.race([over, new Promise((resolve) => limit.addEventListener("abort", resolve))]);
      return { ok: false, code: "total_timeout", retryable: true, detail: "" } as unknown as FetchResult;
    }
    await sleep(ANSWER_MS);
    return { ...ok, status: url.includes("/fail") ? 500 : 200, url } as FetchResult;
  };

interface Opened {
  readonly sender: Sender;
  /** Registers a task of a principal whose events go to a URL. */
  register(taskId: string, principal: string, url: string): Promise<void>;
  /** Adds events of a task, each in an order of its own. */
  backlog(taskId: string, principal: string, url: string, count: number): Promise<void>;
  close(): Promise<void>;
}

async function open(engine: Engine, options: Options, over: Partial<Omit<SenderOptions, "store">>): Promise<Opened> {
  const { store, close } = await engine.store();
  const sender = await createSender({ ...options, ...over, store });
  const queue = openQueue(store.database, OUTBOX_TOPIC);
  return {
    sender,
    async register(taskId, principal, url) {
      await sender.tasks.register(
        { taskId, tool: "create_media_buy", status: "submitted", principal },
        { push: { url, operation_id: taskId } },
      );
    },
    async backlog(taskId, principal, url, count) {
      const target = { task: taskId, via: "push" } as const;
      for (let at = 0; at < count; at += CHUNK) {
        const deliveries = Array.from({ length: Math.min(CHUNK, count - at) }, () => {
          const key = randomUUID();
          return {
            key,
            orderingKey: orderingKeyOf("x", key),
            target,
            url,
            principal,
            subject: taskId,
            type: "x",
            body,
          };
        });
        await queue.transact((q) => enqueue({ queue, bodies: inClear }, q, deliveries));
      }
    },
    async close() {
      await queue.close();
      await sender.stop();
      await close();
    },
  };
}

/** @returns milliseconds from the asking for events to their arrival, in order */
async function delays(
  engine: Engine,
  options: Options,
  neighbours: (opened: Opened) => Promise<void>,
): Promise<number[]> {
  const made = new Map<string, number[]>();
  const found: number[] = [];
  const over = Promise.withResolvers<void>();
  const fetch = network((url, at) => {
    const committed = made.get(url)?.shift();
    if (committed !== undefined) found.push(at - committed);
  }, over.promise);
  const opened = await open(engine, options, { fetch });
  const urls = Array.from({ length: HEALTHY }, (_, at) => `https://shared.example/tenant-${at}`);
  for (const [at, url] of urls.entries()) await opened.register(`task-${at}`, `buyer-${at % 10}`, url);
  await neighbours(opened);
  opened.sender.start();
  await sleep(1_000);
  const started = performance.now();
  let sent = 0;
  while (performance.now() - started < SECONDS * 1_000) {
    const due = Math.floor(((performance.now() - started) / 1_000) * RATE);
    for (; sent < due; sent++) {
      const url = urls[sent % HEALTHY]!;
      const line = made.get(url) ?? [];
      made.set(url, line);
      line.push(performance.now());
      void opened.sender.tasks.update(`task-${sent % HEALTHY}`, { status: "working", message: "on its way" });
    }
    await sleep(5);
  }
  await sleep(2_000);
  const missing = sent - found.length;
  over.resolve();
  await opened.close();
  return [...found, ...Array<number>(missing).fill(Number.POSITIVE_INFINITY)].sort((a, b) => a - b);
}

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;

type Neighbours = readonly [name: string, make: (opened: Opened) => Promise<void>];

const neighbours = (dead: number): readonly Neighbours[] => [
  [
    "a failing path of the same host with 3,000 events",
    async ({ register, backlog }) => {
      await register("bad", "neighbour", "https://shared.example/fail");
      await backlog("bad", "neighbour", "https://shared.example/fail", 3_000);
    },
  ],
  [
    "1,500 hanging origins of one principal",
    async ({ register, backlog }) => {
      for (let at = 0; at < 1_500; at++) {
        const url = `https://hang-${at}.example/h`;
        await register(`hang-${at}`, "neighbour", url);
        await backlog(`hang-${at}`, "neighbour", url, 3);
      }
    },
  ],
  [
    `a dead endpoint with ${dead.toLocaleString("en")} events`,
    async ({ register, backlog }) => {
      await register("dead", "neighbour", "https://hang-dead.example/h");
      await backlog("dead", "neighbour", "https://hang-dead.example/h", dead);
    },
  ],
];

/** Events a second that the nine get, the tenth being well or hanging. */
async function nine(engine: Engine, options: Options, hanging: boolean): Promise<number> {
  const urls = Array.from({ length: HOSTS }, (_, at) =>
    at === 0 && hanging ? "https://hang.example/h" : `https://host-${at}.example/h`,
  );
  const all = (HOSTS - 1) * EVENTS_OF_HOST;
  const enough = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let arrived = 0;
  const fetch = network((url) => {
    if (url !== urls[0] && ++arrived === all) enough.resolve();
  }, over.promise);
  const opened = await open(engine, options, { fetch, worker: { concurrency: 64 } });
  for (const [at, url] of urls.entries()) {
    await opened.register(`task-${at}`, `buyer-${at}`, url);
    await opened.backlog(`task-${at}`, `buyer-${at}`, url, EVENTS_OF_HOST);
  }
  const started = performance.now();
  opened.sender.start();
  await enough.promise;
  const rate = all / ((performance.now() - started) / 1_000);
  over.resolve();
  await opened.close();
  return rate;
}

/** @param dead events of the dead endpoint */
export async function isolationRows(engine: Engine, options: Options, dead: number): Promise<Row[]> {
  const rows: Row[] = [];
  // The first run is the one that reads and compiles.
  await nine(engine, options, false);
  const alone = p99(await delays(engine, options, async () => undefined));
  for (const [name, make] of neighbours(dead)) {
    const beside = p99(await delays(engine, options, make));
    const bound = 1.5 * alone + SLACK_MS;
    rows.push({
      name: `first attempts beside ${name}, ${engine.name}, p99 of what is allowed`,
      value: beside / bound,
      unit: "x",
      target: { max: 1 },
      floor: { none: `allowed is 1.5 times alone and ${SLACK_MS} ms` },
      note: `${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms: ${beside <= bound ? "met" : "missed"}`,
    });
  }
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    rates[0].push(await nine(engine, options, false));
    rates[1].push(await nine(engine, options, true));
  }
  const [normal, besideHang] = rates.map(median) as [number, number];
  rows.push({
    name: `nine hosts while the tenth hangs, concurrency 64, ${engine.name}, of normal`,
    value: besideHang / normal,
    unit: "x",
    target: { min: 0.9 },
    floor: { of: "the same with ten that are well", times: normal / besideHang },
    note: `${Math.round(besideHang)}/s against ${Math.round(normal)}/s: ${besideHang >= 0.9 * normal ? "met" : "missed"}`,
  });
  return rows;
}
