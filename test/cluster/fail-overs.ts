/**
 * Rounds in which the primary of a cluster goes away while the market works: killed, frozen, or switched over. A round is
 * passed when every part goes on by itself, and the node that went follows the new primary.
 */
import type { Market } from "../../cli/demo/market.js";
import { type Patience, until } from "../support/until.js";
import type { NodePlace } from "./ha-config.js";
import type { HaPostgres } from "./ha-postgres.js";
import { PartPauses } from "./part-pauses.js";
import { type Reckoning, RowWriter } from "./written-rows.js";

const kinds = ["killed", "frozen", "switched over"] as const;
export type FailOverKind = (typeof kinds)[number];

export interface FailOver {
  readonly kind: FailOverKind;
  /** Longest pause of each part, in milliseconds. */
  readonly pauses: ReadonlyMap<string, number>;
  /** Why it was not passed. */
  readonly fault?: string;
}

/** Longest time until every part goes on, in milliseconds; a sender's next attempt may be half a minute away. */
const PATIENCE: Patience = { limitMs: 120_000, stepMs: 50 };
/** Between two rounds, in milliseconds: the market works as it should. */
const CALM_MS = 3_000;
/** Longest answer of the registry, in milliseconds. */
const ANSWER_MS = 10_000;
/** Of the writer that names all hosts: without a proxy that ends sessions, its own deadlines find a frozen server. */
const DEADLINES = "&connect_timeout=10&options=-c%20statement_timeout%3D3000";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface FailOversPlan {
  readonly cluster: HaPostgres;
  /** A database of its own, by both ways. */
  readonly written: { readonly url: string; readonly directUrl: string };
  readonly market: Market;
  /** Orders that were settled. */
  readonly settled: () => number;
  readonly say: (line: string) => void;
}

export class FailOvers {
  readonly done: FailOver[] = [];
  readonly going = new PartPauses();
  /** How often receivers answered with each status to a webhook that came once more. */
  readonly answers = new Map<number, number>();
  readonly #writers: RowWriter[] = [];

  constructor(readonly plan: FailOversPlan) {}

  async open(): Promise<void> {
    const { written, market, settled } = this.plan;
    const urls = { HAProxy: written.url, "all hosts": `${written.directUrl}${DEADLINES}` };
    for (const [name, url] of Object.entries(urls)) {
      const writer = await RowWriter.open(name, url);
      this.#writers.push(writer);
      this.going.ask({ name: `writes through ${name}`, ask: () => writer.write() });
      this.going.count(`LISTEN through ${name}`, () => writer.heard);
    }
    const lookup = `${market.registry.url}/api/registry/lookup/domain/publisher-0.example`;
    this.going.ask({
      name: "registry answers",
      // Without its client, which would wait and ask again. That it is asked too often it knows by counters in the database.
      async ask() {
        const { ok, status } = await fetch(lookup, { signal: AbortSignal.timeout(ANSWER_MS) });
        if (!ok && status !== 429) throw new Error(`answered with ${status}`);
      },
    });
    this.going.ask({ name: "receivers judge", ask: () => this.#judgedAgain(market) });
    this.going.count("webhooks accepted", () => market.scene.delivered);
    this.going.count("orders settled", settled);
  }

  /** A webhook that came by comes once more, byte for byte: whether it is known a receiver can say only with its database. */
  async #judgedAgain({ scene }: Market): Promise<void> {
    const { passing } = scene;
    if (passing === undefined) throw new Error("nothing came by yet");
    const { status } = await scene.options.inject(passing);
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    if (status >= 500) throw new Error(`answered with ${status}`);
  }

  /** @param more asked before each round */
  async run(more: (done: number) => boolean): Promise<void> {
    for (let at = 0; more(at); at++) {
      await pause(CALM_MS);
      const kind = kinds[at % kinds.length]!;
      const one = await this.#round(kind);
      this.done.push(one);
      const pauses = [...one.pauses].map(([name, ms]) => `${name} ${(ms / 1_000).toFixed(1)} s`);
      this.plan.say(`   ${at + 1}. ${kind}: ${one.fault ?? pauses.join(", ")}`);
    }
  }

  async #round(kind: FailOverKind): Promise<FailOver> {
    const { cluster } = this.plan;
    const begun = performance.now();
    let former: NodePlace | undefined;
    try {
      await cluster.settled();
      former = await cluster.primary();
      if (former === undefined) throw new Error("no node is the primary");
      const from = performance.now();
      await this.#takeAway(kind, former);
      const { name } = former;
      await until(async () => ((await cluster.primary())?.name ?? name) !== name, "a new primary", PATIENCE);
      const taken = performance.now();
      await until(
        () => this.going.idleSince(taken).length === 0,
        () => `every part goes on; not yet: ${this.going.idleSince(taken).join(", ")}`,
        PATIENCE,
      );
      const pauses = this.going.pausesSince(from);
      this.#giveBack(kind, former);
      former = undefined;
      await cluster.settled();
      return { kind, pauses };
    } catch (error) {
      if (former !== undefined) this.#giveBack(kind, former);
      return { kind, pauses: this.going.pausesSince(begun), fault: (error as Error).message };
    }
  }

  async #takeAway(kind: FailOverKind, node: NodePlace): Promise<void> {
    const { cluster } = this.plan;
    switch (kind) {
      case "killed":
        return cluster.kill(node);
      case "frozen":
        return cluster.freeze(node);
      case "switched over":
        return cluster.switchOver(node);
    }
  }

  #giveBack(kind: FailOverKind, node: NodePlace): void {
    const { cluster } = this.plan;
    if (kind === "killed") cluster.revive(node);
    if (kind === "frozen") cluster.thaw(node);
  }

  /** Ends the questions. @returns what became of what was written, all writers together */
  async reckon(): Promise<Reckoning> {
    await this.going.stop();
    const all = await Promise.all(this.#writers.map((writer) => writer.reckon()));
    const sum = (of: (one: Reckoning) => number): number => all.reduce((total, one) => total + of(one), 0);
    await Promise.all(this.#writers.map((writer) => writer.close()));
    return {
      acknowledged: sum((one) => one.acknowledged),
      gone: sum((one) => one.gone),
      twice: sum((one) => one.twice),
      unsure: sum((one) => one.unsure),
    };
  }

  /** Median and longest pause of each part, by what was done to the primary. */
  rows(): readonly (readonly [string, string])[] {
    return kinds.flatMap((kind) => {
      const of = this.done.filter((one) => one.kind === kind && one.fault === undefined);
      if (of.length === 0) return [];
      return this.going.names.map((name): [string, string] => {
        const each = of.map(({ pauses }) => pauses.get(name) ?? Number.NaN).sort((a, b) => a - b);
        const [middle, longest] = [each[each.length >> 1]!, each.at(-1)!].map((ms) => (ms / 1_000).toFixed(1));
        return [`${kind}: ${name}`, `pause ${middle} s, at most ${longest} s, in ${each.length}`];
      });
    });
  }
}
