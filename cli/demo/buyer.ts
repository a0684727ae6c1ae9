/** A buyer with its webhook receivers: the receivers are processes of their own, on one store with this one. */
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { openStore } from "../../runtime/store/index.js";
import { openEffectLedger } from "./ledger.js";
import { type Started, start } from "./processes.js";
import type { AgentPlace, ReceiverPlan } from "./receiver-process.js";
import { sendersOf } from "./senders.js";

export interface ReceiversPlan {
  readonly store: string;
  readonly ports: readonly number[];
  readonly publicUrl: string;
  readonly agents: readonly AgentPlace[];
  readonly clockFile?: string;
  /** Told of each line a receiver says. */
  readonly onLine?: (line: string) => void;
}

/** Receivers that can be killed and started again, each on its port. */
export class Receivers {
  readonly #up = new Map<number, Started>();

  constructor(readonly plan: ReceiversPlan) {}

  get ports(): readonly number[] {
    return [...this.#up.keys()];
  }

  async start(port: number): Promise<void> {
    const { store, publicUrl, agents, clockFile, onLine } = this.plan;
    const plan: ReceiverPlan = {
      name: `receiver-${port}`,
      store,
      port,
      publicUrl,
      agents,
      word: release.word,
      ...(clockFile !== undefined && { clockFile }),
    };
    const options = { ready: /"is":"ready"/, ...(onLine && { onLine }) };
    this.#up.set(port, await start("cli/demo/receiver-process.ts", [JSON.stringify(plan)], options));
  }

  pidOf(port: number): number | undefined {
    return this.#up.get(port)?.pid;
  }

  async startAll(): Promise<void> {
    await Promise.all(this.plan.ports.map((port) => this.start(port)));
  }

  /** Kills the one on `port` and starts it again. */
  async replace(port: number): Promise<void> {
    const started = this.#up.get(port);
    this.#up.delete(port);
    await started?.kill();
    await this.start(port);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#up.values()].map((one) => one.stop()));
    this.#up.clear();
  }
}

/** What the buying process itself uses of the receivers' store: it registers what will come and waits for tasks. */
export async function openBuyerSide({ store: storeUrl, publicUrl, agents }: ReceiversPlan) {
  const store = await openStore(storeUrl);
  const ledger = await openEffectLedger(store);
  const receiver = createReceiver({
    store: store as never,
    release: release as Release,
    senders: sendersOf(agents),
    publicUrl,
    handlers: { fallback: () => undefined },
    logger: pino({ level: "silent" }),
  });
  return { receiver, ledger, close: () => store.close() };
}
