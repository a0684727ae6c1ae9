/**
 * A buyer's webhook receiver in a process of its own, so that it can be killed: `receiver-process.ts <plan as JSON>`. Keys
 * come from each seller's brand file. What it handles is told on stdout, a JSON line each.
 */
import { readFileSync } from "node:fs";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver, type ReceiverHandlers, webhookReceiver } from "../../runtime/receiver/index.js";
import { openStore } from "../../runtime/store/index.js";
import { openEffectLedger } from "./ledger.js";
import { type AgentPlace, sendersOf } from "./senders.js";

export type { AgentPlace } from "./senders.js";

export interface ReceiverPlan {
  readonly name: string;
  /** `sqlite:<file>` or `postgres://...` */
  readonly store: string;
  readonly port: number;
  /** What sellers were told; a proxy may stand there. */
  readonly publicUrl: string;
  readonly agents: readonly AgentPlace[];
  readonly word: string;
  /** A file that says by how many milliseconds this machine's clock is wrong. */
  readonly clockFile?: string;
}

const plan = JSON.parse(process.argv[2]!) as ReceiverPlan;
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const { clockFile } = plan;
const now = clockFile === undefined ? Date.now : () => Date.now() + Number(readFileSync(clockFile, "utf8"));
const store = await openStore(plan.store);
const ledger = await openEffectLedger(store);
const handlers: ReceiverHandlers<Release["tools"], never> = {
  fallback: (event) => {
    const { idempotencyKey: key, kind, taskType, status, attempt, timestamp } = event;
    tell({ is: "handled", key, kind, taskType, status, attempt, timestamp });
    return ledger.effectOf(event);
  },
};
const receiver = createReceiver({
  store: store as never,
  release: { ...release, word: plan.word } as Release,
  senders: sendersOf(plan.agents, now),
  publicUrl: plan.publicUrl,
  handlers,
  now,
  leaseSeconds: 2,
  pollMs: 200,
  logger: pino({ level: "silent" }),
});
receiver.start();
const app = fastify();
await app.register(webhookReceiver, { receiver });
await app.listen({ port: plan.port, host: "127.0.0.1" });
tell({ is: "ready", name: plan.name });

const end = async (): Promise<void> => {
  await app.close();
  await receiver.stop();
  await store.close();
};
process.once("SIGTERM", () =>
  end().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  }),
);
