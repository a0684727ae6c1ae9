/** The demo's market under load: buyers that buy without end, faults in turn, and a receiver whose memory is followed. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Cluster } from "./cluster.js";
import type { Market } from "./market.js";
import { buyOnce } from "./story.js";

/** Buyers at a time. */
const BUYERS = 4;
/** Between two faults, in milliseconds. */
const FAULT_MS = 4_000;
/** After an order that came to nothing, in milliseconds: who cannot be served is not asked without end. */
const AGAIN_MS = 250;
const MB = 1024 * 1024;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!;

/** Resident memory of a process, in bytes; undefined where the system does not say. */
function rssOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

export interface SoakPlan {
  readonly market: Market;
  /** The one PostgreSQL that is restarted, where there is one. */
  readonly cluster?: Cluster;
  readonly minutes: number;
  readonly clockFile: string;
  readonly say: (line: string) => void;
  /** In place of faults in turn and an end after the minutes: ends when it does. */
  readonly instead?: () => Promise<void>;
}

export class Soak {
  readonly faults: Record<string, number> = {};
  readonly memory: number[] = [];
  bought = 0;
  failed = 0;
  #over = false;

  readonly market: Market;

  constructor(readonly plan: SoakPlan) {
    this.market = plan.market;
  }

  async run(): Promise<void> {
    const { minutes, clockFile, instead } = this.plan;
    const end = performance.now() + minutes * 60_000;
    const agents = await this.market.registry.client.searchAgents({ channels: "olv" } as never);
    if (!agents.ok) throw new Error(agents.error);
    const faults = instead === undefined ? Promise.all([this.#breakThings(), this.#endAt(end)]) : instead();
    await Promise.all([
      ...Array.from({ length: BUYERS }, (_, at) => this.#buy(agents.data.results[at % agents.data.results.length]!)),
      this.#watch(),
      faults.finally(() => this.#end()),
    ]);
    writeFileSync(clockFile, "0");
  }

  async #endAt(end: number): Promise<void> {
    while (performance.now() < end) await pause(500);
    this.#end();
  }

  #end(): void {
    this.#over = true;
  }

  async #buy(agent: { agent_url: string }): Promise<void> {
    const buyer = this.market.buyerOf(agent);
    while (!this.#over) {
      try {
        await buyOnce(buyer, 20_000);
        this.bought += 1;
      } catch {
        // Its seller was killed in the middle, or the webhook is on a long way: the books are about events, not about this.
        this.failed += 1;
        await pause(AGAIN_MS);
      }
    }
    await buyer.close();
  }

  async #breakThings(): Promise<void> {
    const { receivers, sellers } = this.market;
    const { cluster } = this.plan;
    // The first receiver lives through it all, so that its memory can be followed.
    const mortal = receivers.plan.ports.slice(1);
    const faults: Record<string, () => Promise<void>> = {
      "receivers killed": () => receivers.replace(pick(mortal)),
      "sellers killed": () => this.market.replaceSeller(pick(sellers).name),
      "clock jumps": () => this.#jump(),
      ...(cluster !== undefined && {
        "connections cut": () => cluster.cut(),
        "PostgreSQL restarted": () => cluster.restart(),
      }),
    };
    // Each kind in turn, in an order that is drawn anew: a short run meets with all of them.
    for (let round: string[] = []; !this.#over; ) {
      await pause(FAULT_MS);
      if (round.length === 0) round = Object.keys(faults).sort(() => Math.random() - 0.5);
      const name = round.pop()!;
      await faults[name]!();
      this.faults[name] = (this.faults[name] ?? 0) + 1;
    }
  }

  /** Up to ten minutes off, either way, for a moment: signatures are then too old or too new, and are sent again. */
  async #jump(): Promise<void> {
    const { clockFile } = this.plan;
    writeFileSync(clockFile, String(Math.round((Math.random() - 0.5) * 1_200_000)));
    await pause(1_500);
    writeFileSync(clockFile, "0");
  }

  async #watch(): Promise<void> {
    const [first] = this.market.receivers.plan.ports;
    for (let turn = 0; !this.#over; turn++) {
      await pause(1_000);
      const rss = rssOf(this.market.receivers.pidOf(first!));
      if (rss !== undefined) this.memory.push(rss / MB);
      const { scene } = this.market;
      if (turn % 30 === 29)
        this.plan.say(
          `   ${turn + 1} s: ${this.bought} bought, ${scene.sent} events, ${scene.delivered} delivered, ${Math.round(this.memory.at(-1) ?? 0)} MB`,
        );
    }
  }
}
