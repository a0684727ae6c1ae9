/**
 * `./run soak [--minutes N] [--postgres]`: the demo's market under load, with processes killed, PostgreSQL restarted,
 * connections cut, clocks that jump and a network at its worst, then the books: every event's effect once, nothing lost,
 * memory flat.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { close, type Totals } from "./closing-line.js";
import { type Cluster, startCluster } from "./demo/cluster.js";
import { type Market, openMarket } from "./demo/market.js";
import { root } from "./demo/processes.js";
import { buyOnce } from "./demo/story.js";
import { count, positive, script } from "./script.js";

const values = script("soak", "the demo's market under load and faults, then the books")
  .option("--minutes <n>", "how long", positive, 10)
  .option("--postgres", "on one PostgreSQL, which is restarted too")
  .option("--port <n>", "first of the ports used; some ten others follow", count, 18_900)
  .parse()
  .opts<{ readonly minutes: number; readonly postgres?: true; readonly port: number }>();
const { minutes, port } = values;
const home = path.join(root, ".cache/soak", String(port));
const clockFile = path.join(home, "clock");
/** Buyers at a time. */
const BUYERS = 4;
/** Between two faults, in milliseconds. */
const FAULT_MS = 4_000;
/** Longest wait for what is on its way when the faults are over, in milliseconds: some retries are minutes apart. */
const DRAIN_MS = 5 * 60_000;
const MB = 1024 * 1024;

const say = (line = ""): void => console.log(line);
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

const WAITING = "select count(*) as n from adbind_jobs where state = 'ready'";
const BUYS = "select count(*) as n from adbind_documents where collection = 'media_buy'";

/** What a seller's database counts. @param database `sqlite:<file>` or `postgres://...` */
async function countAt(database: string, query: string): Promise<number> {
  if (database.startsWith("sqlite:")) {
    const db = new Database(database.slice("sqlite:".length), { readonly: true, timeout: 5_000 });
    const { n } = db.prepare(query).get() as { n: number };
    db.close();
    return n;
  }
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query<{ n: string }>(query);
  await client.end();
  return Number(rows[0]!.n);
}

class Soak {
  readonly faults: Record<string, number> = {};
  readonly memory: number[] = [];
  bought = 0;
  failed = 0;
  #over = false;

  constructor(
    readonly market: Market,
    readonly cluster: Cluster | undefined,
  ) {}

  async run(): Promise<void> {
    const end = performance.now() + minutes * 60_000;
    const agents = await this.market.registry.client.searchAgents({ channels: "olv" } as never);
    if (!agents.ok) throw new Error(agents.error);
    await Promise.all([
      ...Array.from({ length: BUYERS }, (_, at) => this.#buy(agents.data.results[at % agents.data.results.length]!)),
      this.#breakThings(),
      this.#watch(),
      this.#endAt(end),
    ]);
    writeFileSync(clockFile, "0");
  }

  async #endAt(end: number): Promise<void> {
    while (performance.now() < end) await pause(500);
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
      }
    }
    await buyer.close();
  }

  async #breakThings(): Promise<void> {
    const { receivers, sellers } = this.market;
    // The first receiver lives through it all, so that its memory can be followed.
    const mortal = receivers.plan.ports.slice(1);
    const faults: Record<string, () => Promise<void>> = {
      "receivers killed": () => receivers.replace(pick(mortal)),
      "sellers killed": () => this.market.replaceSeller(pick(sellers).name),
      "clock jumps": () => this.#jump(),
      ...(this.cluster !== undefined && {
        "connections cut": () => this.cluster!.cut(),
        "PostgreSQL restarted": () => this.cluster!.restart(),
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
        say(
          `   ${turn + 1} s: ${this.bought} bought, ${scene.sent} events, ${scene.delivered} delivered, ${Math.round(this.memory.at(-1) ?? 0)} MB`,
        );
    }
  }
}

const median = (of: readonly number[]): number => [...of].sort((a, b) => a - b)[of.length >> 1] ?? Number.NaN;

async function main(): Promise<Totals> {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(clockFile, "0");
  const [sellers, receivers] = [2, 3];
  const cluster = values.postgres ? await startCluster(sellers) : undefined;
  say(
    `A market of ${sellers} sellers and ${receivers} receivers${cluster ? ", on PostgreSQL" : ""}, for ${minutes} minutes`,
  );
  const market = await openMarket({
    ...{ home, sellers, receivers, clockFile, port, weather: Math.random, say: () => undefined },
    ...(cluster && { postgres: cluster }),
  });
  try {
    const soak = new Soak(market, cluster);
    await soak.run();
    say("   the faults are over; what is on its way arrives");
    market.scene.calm();
    const end = performance.now() + DRAIN_MS;
    const atSellers = async (query: string): Promise<number> => {
      const each = await Promise.all(market.sellers.map(({ database }) => countAt(database, query)));
      return each.reduce((a, b) => a + b);
    };
    const applied = async () => market.side.ledger.applied();
    while (performance.now() < end) {
      if ((await atSellers(WAITING)) === 0 && (await applied()).length >= market.scene.accepted.length) break;
      await pause(1_000);
    }
    return judge(soak, await applied(), { waiting: await atSellers(WAITING), buys: await atSellers(BUYS) });
  } finally {
    await market.close();
    await cluster?.stop();
  }
}

function judge(
  { market, bought, failed, faults, memory }: Soak,
  applied: readonly { key: string; times: number }[],
  { waiting, buys }: { readonly waiting: number; readonly buys: number },
): Totals {
  const { scene } = market;
  const once = new Set(applied.filter(({ times }) => times === 1).map(({ key }) => key));
  const twice = applied.filter(({ times }) => times > 1).length;
  const missing = scene.accepted.filter((key) => !once.has(key)).length;
  const known = new Set(scene.keys);
  const strangers = applied.filter(({ key }) => !known.has(key) && !key.startsWith("poll:")).length;
  const third = Math.floor(memory.length / 3);
  const growth = median(memory.slice(-third)) - median(memory.slice(third, 2 * third));
  market.timeline.print = say;
  market.timeline.table([
    ["orders", `${bought} settled, ${failed} cut short by a fault`],
    ["media buys at the sellers", buys],
    ...Object.entries(faults),
    ["events sent", scene.sent],
    ["delivered", scene.delivered],
    ["effects applied once", once.size],
    ["effects applied twice", twice],
    ["accepted without an effect", missing],
    ["effects of nothing that was sent", strangers],
    ["duplicates dropped", scene.duplicates],
    ["late ones passed over", scene.stale],
    ["forgeries refused", `${scene.refused} of ${scene.forgeries}`],
    ["still to be delivered", waiting],
    [
      "a receiver's memory",
      `${Math.round(memory.at(-1) ?? 0)} MB, ${growth.toFixed(1)} MB more in the last third than in the one before`,
    ],
  ]);
  for (const one of scene.letIn) say(`   NOT REFUSED: ${one}`);
  const lost = scene.sent - scene.delivered;
  // An order is one call under one key, repeated until it is answered: more buys than orders, and one was made twice.
  const ordered = bought <= buys && buys <= bought + failed;
  const accepted = Math.abs(scene.forgeries - scene.refused);
  const wrong = Math.max(lost, missing) + twice + strangers + waiting + accepted + (ordered ? 0 : 1);
  say(
    wrong === 0
      ? "The books agree."
      : `THE BOOKS DO NOT AGREE: ${lost} lost${ordered ? "" : ", and buys are not the orders"}`,
  );
  return { passed: once.size, failed: wrong };
}

close(await main(), "events");
