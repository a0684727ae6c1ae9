/** This package's own sender among those that the bench drives. */
import { generateKeyPairSync } from "node:crypto";
import pino from "pino";
import { release } from "../../generated/3.1.0/index.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { type Contender, EVENT_TEXT, type Producer, type WorkerOptions } from "./queue-contender.js";

const signer = { key: generateKeyPairSync("ed25519").privateKey, keyid: "k" };
const net = { allowHttp: true, allowLoopback: true };
/** Registrations that are under way at a time. */
const REGISTERING = 100;

async function open({
  url,
  sent,
  listenUrl,
  queue,
}: Pick<WorkerOptions, "url" | "listenUrl" | "queue"> & Partial<Pick<WorkerOptions, "sent">>): Promise<{
  sender: Sender;
  close(): Promise<void>;
}> {
  const listen = listenUrl === undefined ? {} : { listenUrl };
  const store = await openPostgresStore({ url, ...listen, connections: 12, connectTimeoutMs: 60_000 });
  const guarded = createGuardedFetch(net);
  const counted: typeof guarded = Object.assign(
    async (...given: Parameters<typeof guarded>) => {
      const answer = await guarded(...given);
      if (answer.ok && answer.status === 200) sent?.();
      return answer;
    },
    { close: () => guarded.close() },
  );
  const logger = pino({ level: "error" }, pino.destination(2));
  const sender = await createSender({
    ...{ release, signer, net, store, logger, fetch: counted },
    ...(queue !== undefined && { queue: natsQueue({ servers: queue }) }),
  });
  return {
    sender,
    async close() {
      await sender.stop();
      await guarded.close();
      await store.close();
    },
  };
}

export const ours: Contender = {
  name: "adbind",
  async produce({ url, tasks }): Promise<Producer> {
    const { sender, close } = await open({ url });
    for (let at = 0; at < tasks.length; at += REGISTERING) {
      await Promise.all(
        tasks
          .slice(at, at + REGISTERING)
          .map(({ task, url: hook }) =>
            sender.tasks.register(
              { taskId: task, tool: "create_media_buy", status: "submitted", principal: "p" },
              { push: { url: hook, operation_id: task } },
            ),
          ),
      );
    }
    const change = { status: "working", message: EVENT_TEXT } as const;
    return {
      async store(tx, events) {
        if (events.length === 1) await sender.tasks.update(events[0]!.task, change, { tx });
        else
          await sender.tasks.updateAll(
            events.map(({ task }) => ({ taskId: task, ...change })),
            { tx },
          );
      },
      close,
    };
  },
  async work({ url, listenUrl, queue, sent }) {
    const { sender, close } = await open({ url, sent, listenUrl, queue });
    return { begin: async () => sender.start(), stop: close };
  },
};
