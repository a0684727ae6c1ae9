/** What the receivers have in common that are killed: a release without tools, handlers that take their time, short leases. */
import { createServer } from "node:http";
import { pino } from "pino";
import { facts } from "../../generated/3.1.0/facts.js";
import type { Release } from "../../runtime/contract/index.js";
import { nodeListener } from "../../runtime/receiver/node.js";
import type { Receiver } from "../../runtime/receiver/receiver.js";
import type { ReceivedEvent } from "../../runtime/receiver/types.js";
import { PUBLIC_URL } from "./receiver-fleet.js";

export const bareRelease = {
  ...{ word: "proto", version: "3.1.0", digest: "", generatedAt: "", tools: {}, errors: {}, specialisms: {} },
  defaultUnknownRecovery: "transient",
  facts,
  events: {},
  schemas: async () => ({}),
} as const satisfies Release;

/** A spare is loaded beforehand, and begins at the first byte on its standard input. */
export const called = (): Promise<unknown> => new Promise((resolve) => process.stdin.once("data", resolve));

/** Takes its time now and then, or fails, so that kills fall anywhere. */
export async function handled(delivery: ReceivedEvent): Promise<ReceivedEvent> {
  const chance = Math.random();
  if (chance < 0.2) await new Promise((resolve) => setTimeout(resolve, chance * 50));
  if (chance > 0.95 && delivery.attempt < 3) throw new Error("on purpose");
  return delivery;
}

export const victimOptions = {
  release: bareRelease,
  publicUrl: PUBLIC_URL,
  ignoreHost: true,
  // Short, so that a killed instance's events are soon another's.
  leaseSeconds: 1,
  pollMs: 50,
  backoffMs: 5,
  maxAttempts: 1000,
  logger: pino({ enabled: false }),
} as const;

/** Says when it listens. */
export const listening = <Tx>(receiver: Receiver<Tx>, port: string): void => {
  createServer(nodeListener(receiver)).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
};
