/** Kills buyers while they order, then compares what sellers, their webhooks and the buyers' applications know. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../runtime/testing/free-port.js";
import { auditOrdered, type HandledEvent, sellerKinds, type ToldEnd } from "./buyer-books.js";
import { SellerDouble } from "./buyer-seller.js";
import { BuyerWebhookWire } from "./buyer-wire.js";
import { Victim } from "./receiver-fleet.js";
import { type Books, openBooks } from "./sender-ground.js";

export interface BuyerPlan {
  readonly engine: "sqlite" | "postgres";
  readonly kills: number;
  /** Through a PgBouncer that pools by transaction. */
  readonly pooler?: boolean;
  /** Times that PostgreSQL is restarted meanwhile. */
  readonly restarts?: number;
}

export interface BuyerLedger {
  readonly engine: string;
  readonly processes: number;
  kills: number;
  restarts: number;
  orders: number;
  /** That did not end with their call. */
  tasks: number;
  questions: number;
  /** Requests at sellers, and webhooks to the buyers. */
  calls: number;
  webhooks: number;
  /** Webhooks of a stranger's, none of which is to be believed. */
  forged: number;
  /** The longest that the orders under way at a kill took to be told of, in milliseconds, counted while there is no other kill. */
  backMs: number;
  seconds: number;
  readonly faults: string[];
}

const SETUP = [
  "create table told (po text, status text, buy text)",
  "create table handled (task text, key text, status text, buy text)",
] as const;
/** A process is killed this long after it is ready, at most. */
const LIFE_MS = 1_500;
/** Kills in a row; after them there are none until all that was under way has been told of. */
const VOLLEY = 20;
/** By when that is. */
const BACK_MS = 30_000;
/** So many orders there are between two kills at least: nothing would be learnt of a process that has done nothing. */
const ORDERS_A_KILL = 1;
const HEARD_MS = 60_000;

/** What a run is made of, and how far it is. */
class Market {
  readonly sellers: readonly SellerDouble[];
  readonly wire: BuyerWebhookWire;
  victims: readonly Victim[] = [];

  constructor(
    readonly books: Books,
    readonly ledger: BuyerLedger,
    readonly agent: Agent,
  ) {
    this.wire = new BuyerWebhookWire({ agent, victims: () => this.victims });
    this.sellers = sellerKinds.map((kind) => {
      const double: SellerDouble = new SellerDouble(kind, (order, event) => this.wire.send(order, event, double.key));
      return double;
    });
  }

  get orders() {
    return this.sellers.flatMap(({ orders }) => [...orders.values()]);
  }

  async open(overFile: string, processes: number): Promise<void> {
    for (const one of this.sellers) await one.start();
    const sellers = this.sellers.map(({ kind: name, url, key: { jwk } }) => ({ name, url, jwk }));
    const plan = JSON.stringify({ sellers, overFile });
    const ports = await Promise.all(Array.from({ length: processes }, freePort));
    const url = this.ledger.engine === "sqlite" ? `sqlite:${this.books.url}` : this.books.url;
    this.victims = ports.map((port) => new Victim(url, port, plan, "./buyer-child.ts"));
    await Promise.all(this.victims.map(({ ready }) => ready));
  }

  /** Orders that have not been told of to the end. */
  async untold(): Promise<Set<string>> {
    const told = new Set((await this.books.query<ToldEnd>("select po, status, buy from told")).map(({ po }) => po));
    return new Set(this.orders.flatMap(({ po }) => (told.has(po) ? [] : [po])));
  }

  async close(): Promise<void> {
    for (const victim of this.victims) await victim.end();
    for (const one of this.sellers) await one.stop();
    this.agent.destroy();
  }
}

/** Waits until what is under way now has been told of. */
async function settled(market: Market): Promise<void> {
  const began = performance.now();
  let left = await market.untold();
  while (left.size > 0 && performance.now() - began < BACK_MS) {
    await sleep(50);
    const untold = await market.untold();
    left = new Set([...left].filter((po) => untold.has(po)));
  }
  market.ledger.backMs = Math.max(market.ledger.backMs, Math.round(performance.now() - began));
  for (const po of left) market.ledger.faults.push(`${po} was not told of ${BACK_MS} ms after the last kill`);
}

async function killing(market: Market, { kills, restarts = 0 }: BuyerPlan): Promise<void> {
  const { ledger, victims, books } = market;
  while (ledger.kills < kills) {
    const victim = victims[ledger.kills % victims.length]!;
    await victim.ready;
    const enough = market.orders.length + ORDERS_A_KILL;
    await sleep(Math.random() * LIFE_MS);
    const heard = performance.now() + HEARD_MS;
    while (market.orders.length < enough && performance.now() < heard) await sleep(20);
    await victim.kill();
    ledger.kills += 1;
    // Spread over the kills; what is under way goes on meanwhile as it can.
    if (ledger.restarts < restarts && ledger.kills >= ((ledger.restarts + 1) * kills) / (restarts + 1)) {
      await books.restart();
      ledger.restarts += 1;
    }
    if (ledger.kills % VOLLEY === 0 && ledger.kills < kills) await settled(market);
  }
}

/** What the application's tables and the buyers' own say at the end. */
async function judged(market: Market): Promise<void> {
  const { books, ledger, sellers, wire } = market;
  const until = performance.now() + BACK_MS;
  const kept = () => books.query<{ id: string }>("select id from adbind_documents where collection = 'buyer_intent'");
  while ((wire.open > 0 || (await kept()).length > 0) && performance.now() < until) await sleep(50);
  for (const { id } of await kept()) ledger.faults.push(`call ${id} is kept, and nothing carries it on`);
  if (wire.open > 0) ledger.faults.push(`${wire.open} webhooks were not taken`);
  // What was taken last is still being handled.
  const left = "select count(*) as n from adbind_inbox";
  while (Number((await books.query<{ n: number }>(left))[0]?.n) > 0 && performance.now() < until) await sleep(50);
  const told = await books.query<ToldEnd>("select po, status, buy from told");
  const handled = await books.query<HandledEvent>("select task, key, status, buy from handled");
  const { orders } = market;
  ledger.faults.push(...sellers.flatMap(({ faults }) => faults), ...wire.faults);
  ledger.faults.push(...auditOrdered({ orders, told, handled, taken: wire.taken }));
  if (orders.length === 0) ledger.faults.push("nothing was ordered");
  ledger.orders = orders.length;
  ledger.tasks = orders.filter(({ isTask }) => isTask).length;
  ledger.questions = orders.filter(({ asks }) => asks).length;
  ledger.calls = sellers.reduce((sum, { calls }) => sum + calls, 0);
  ledger.webhooks = wire.sent;
  ledger.forged = wire.forged;
}

/** Runs the plan and says what was wrong with what it left. */
export async function runBuyerFaults(plan: BuyerPlan): Promise<BuyerLedger> {
  const started = performance.now();
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-faults-"));
  const overFile = path.join(folder, "over");
  const processes = plan.engine === "sqlite" ? 1 : 2;
  const counts = { kills: 0, restarts: 0, orders: 0, tasks: 0, questions: 0, calls: 0, webhooks: 0, forged: 0 };
  const ledger: BuyerLedger = { engine: plan.engine, processes, ...counts, backMs: 0, seconds: 0, faults: [] };
  const books = await openBooks(plan, folder, SETUP);
  const market = new Market(books, ledger, new Agent({ keepAlive: true }));
  try {
    await market.open(overFile, processes);
    await killing(market, plan);
    writeFileSync(overFile, "");
    for (const seller of market.sellers) seller.calm = true;
    await Promise.all(market.victims.map(({ ready }) => ready));
    await settled(market);
    await judged(market);
  } finally {
    await market.close();
    await books.close();
    rmSync(folder, { recursive: true, force: true });
  }
  ledger.seconds = Math.round((performance.now() - started) / 1000);
  return ledger;
}
