/** This package's own sender among those that the bench drives. */
import { generateKeyPairSync } from "node:crypto";
import { type Counter, createNoopMeter, type Meter } from "@opentelemetry/api";
import pino from "pino";
import { release } from "../../generated/3.1.0/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { type BenchEvent, type Contender, EVENT_TEXT, type Producer, type WorkerOptions } from "./queue-contender.js";

const signer = { key: generateKeyPairSync("ed25519").privateKey, keyid: "k" };
const net = { allowHttp: true, allowLoopback: true };
/** Registrations that are under way at a time, and events stored in one transaction. */
const TOGETHER = 100;
const change = { status: "working", message: EVENT_TEXT } as const;

/** @param url of PostgreSQL, or the path of a SQLite file */
export const storeAt = (url: string, listenUrl?: string) =>
  url.startsWith("postgres")
    ? openPostgresStore({
        ...{ url, connections: 12, connectTimeoutMs: 60_000 },
        ...(listenUrl !== undefined && { listenUrl }),
      })
    : openSqliteStore({ path: url });

/** Tells of each delivery as the sender tells its metrics: a fetch of the bench's own would be held to a deadline more than adbind's. */
function counting(sent: () => void): Meter {
  const meter = createNoopMeter();
  const attempts: Counter = {
    add: (_count, labels) => {
      if (labels?.status === "success") sent();
    },
  };
  return Object.assign(meter, {
    createCounter: (name: string) => (name === "adbind.sender.attempts" ? attempts : { add: () => undefined }),
  });
}

async function open({
  url,
  sent,
  listenUrl,
  queue,
}: Pick<WorkerOptions, "url" | "listenUrl" | "queue"> & Partial<Pick<WorkerOptions, "sent">>): Promise<{
  sender: Sender;
  close(): Promise<void>;
}> {
  const store = await storeAt(url, listenUrl);
  const logger = pino({ level: "error" }, pino.destination(2));
  const sender = await createSender({
    ...{ release, signer, net, store, logger },
    ...(sent !== undefined && { meter: counting(sent) }),
    ...(queue !== undefined && { queue: natsQueue({ servers: queue }) }),
  });
  return {
    sender,
    async close() {
      await sender.stop();
      await store.close();
    },
  };
}

async function registerAll(sender: Sender, tasks: readonly BenchEvent[]): Promise<void> {
  for (let at = 0; at < tasks.length; at += TOGETHER) {
    await Promise.all(
      tasks
        .slice(at, at + TOGETHER)
        .map(({ task, url }) =>
          sender.tasks.register(
            { taskId: task, tool: "create_media_buy", status: "submitted", principal: "p" },
            { push: { url, operation_id: task } },
          ),
        ),
    );
  }
}

const changesOf = (events: readonly BenchEvent[]) => events.map(({ task }) => ({ taskId: task, ...change }));

/** Stores an event of each task, in transactions of the sender's own. @param url of PostgreSQL, or the path of a SQLite file */
export async function fill({ url, tasks }: { url: string; tasks: readonly BenchEvent[] }): Promise<void> {
  const { sender, close } = await open({ url });
  await registerAll(sender, tasks);
  for (let at = 0; at < tasks.length; at += TOGETHER)
    await sender.tasks.updateAll(changesOf(tasks.slice(at, at + TOGETHER)));
  await close();
}

export const ours: Contender = {
  name: "adbind",
  async produce({ url, tasks }): Promise<Producer> {
    const { sender, close } = await open({ url });
    await registerAll(sender, tasks);
    return {
      async store(tx, events) {
        if (events.length === 1) await sender.tasks.update(events[0]!.task, change, { tx });
        else await sender.tasks.updateAll(changesOf(events), { tx });
      },
      close,
    };
  },
  async work({ url, listenUrl, queue, sent }) {
    const { sender, close } = await open({ url, sent, listenUrl, queue });
    return { begin: async () => sender.start(), stop: close };
  },
};
