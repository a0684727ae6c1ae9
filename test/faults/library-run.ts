/** Kills sellers of the library's behaviours while buyers order and change; then compares what buyers, sellers and the ad server know. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import type { Database } from "../../runtime/db/types.js";
import { documentStore } from "../../runtime/store/index.js";
import { type AdServerDouble, adServerDouble, SOLD_OUT } from "./ad-server-double.js";
import { ANSWERED_MS, type Ground, openGround, Sellers } from "./seller-ground.js";
import type { Plan } from "./seller-run.js";

export interface LibraryLedger {
  readonly engine: string;
  kills: number;
  /** Orders that buyers were told are booked. */
  booked: number;
  refused: number;
  /** Changes that buyers were told are made. */
  changed: number;
  /** Requests at the ad server, and those whose answers it lost. */
  told: number;
  lost: number;
  readonly faults: string[];
}

/** What a buyer was told of a buy. */
export interface KnownBuy {
  readonly id: string;
  readonly buyer: string;
  budget: number;
  paused: boolean;
  canceled: boolean;
  /** Its only change since it was booked are those counted here. */
  changes: number;
}

const BUYERS = ["ada", "ben", "cyd", "dov"];
const EVERY = { status_filter: ["pending_creatives", "pending_start", "active", "paused", "completed", "canceled"] };
/** How long what is left may take once everything answers, in milliseconds. */
const SETTLE_MS = 60_000;
/** How long a process may take to its first answer, in milliseconds. */
const HEARD_MS = 20_000;
const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle.example" };
/** Errors after which the same call may be repeated. */
const passing = new Set(["IDEMPOTENCY_IN_FLIGHT", "CONFLICT", "RATE_LIMITED"]);

// biome-ignore lint/suspicious/noExplicitAny: answers of every kind
type Answer = any;

async function ask(address: string, buyer: string, name: string, args: object): Promise<Answer> {
  const answer = await request(`${address}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer token-of-${buyer}`,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
    headersTimeout: 10_000,
  });
  return ((await answer.body.json()) as Answer).result.structuredContent;
}

class Market {
  readonly buys: KnownBuy[] = [];
  over = false;
  private answers = 0;

  constructor(
    readonly sellers: Sellers,
    readonly ledger: LibraryLedger,
  ) {}

  /** Until somebody was answered: a process that has just started on a busy machine is given time to begin. */
  async heard(): Promise<void> {
    const [before, until] = [this.answers, Date.now() + HEARD_MS];
    while (this.answers === before && Date.now() < until) await sleep(50);
  }

  /** Repeats a call, under its key where it has one, until it is answered. */
  async answered(buyer: string, tool: string, args: object): Promise<Answer> {
    const until = Date.now() + ANSWERED_MS;
    for (let tried = 0; Date.now() < until; tried++) {
      const address = this.sellers.any(tried);
      const answer = address === undefined ? undefined : await ask(address, buyer, tool, args).catch(() => undefined);
      const [error] = answer?.errors ?? [];
      if (answer !== undefined) this.answers += 1;
      if (answer !== undefined && !passing.has(error?.code)) return answer;
      await sleep(20);
    }
    throw new Error(`${tool} of ${buyer} was not answered in ${ANSWERED_MS} ms`);
  }

  /** The outcome of a call that may become a task. */
  async outcome(buyer: string, tool: string, args: object): Promise<Answer> {
    const first = await this.answered(buyer, tool, { ...args, idempotency_key: randomUUID() });
    if (first.status !== "submitted") return first;
    const until = Date.now() + ANSWERED_MS;
    while (Date.now() < until) {
      const task = await this.answered(buyer, "get_task_status", { task_id: first.task_id, include_result: true });
      if (task.status === "completed") return task.result;
      if (task.status !== "submitted") return { errors: [task.error ?? task.errors?.[0] ?? { code: task.status }] };
      await sleep(50);
    }
    throw new Error(`task ${first.task_id} of ${buyer} did not end in ${ANSWERED_MS} ms`);
  }

  fault(what: string, answer: Answer): void {
    this.ledger.faults.push(`${what}: ${JSON.stringify(answer.errors ?? answer).slice(0, 400)}`);
  }
}

/** Orders, changes at once what it ordered, twice at a time, and cancels some. */
async function buyer(market: Market, name: string): Promise<void> {
  for (let turn = 0; !market.over; turn++) {
    const budget = turn % 5 === 3 ? SOLD_OUT : turn % 5 === 1 ? 80_000 : 5_000;
    const packages = [{ product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget }];
    const made = await market.outcome(name, "create_media_buy", { account, brand: account.brand, ...flight, packages });
    if (typeof made.media_buy_id !== "string") {
      if (budget === SOLD_OUT) market.ledger.refused += 1;
      else market.fault(`an order of ${budget}`, made);
      continue;
    }
    if (budget === SOLD_OUT) market.fault("what is sold out was booked", made);
    market.ledger.booked += 1;
    const buy: KnownBuy = { id: made.media_buy_id, buyer: name, budget, paused: false, canceled: false, changes: 0 };
    market.buys.push(buy);
    await changes(market, buy, made.packages[0].package_id, turn);
  }
}

async function changes(market: Market, buy: KnownBuy, packageId: string, turn: number): Promise<void> {
  const change = async (what: object, then: () => void): Promise<void> => {
    const args = { account, media_buy_id: buy.id, ...what };
    const answer = await market.outcome(buy.buyer, "update_media_buy", args);
    if (answer.media_buy_id !== buy.id) return market.fault("a change", answer);
    buy.changes += 1;
    market.ledger.changed += 1;
    then();
  };
  const budget = 6_000 + turn;
  await Promise.all([
    change({ packages: [{ package_id: packageId, budget }] }, () => Object.assign(buy, { budget })),
    change({ paused: true }, () => Object.assign(buy, { paused: true })),
  ]);
  if (turn % 4 === 0) await change({ canceled: true }, () => Object.assign(buy, { canceled: true }));
}

/** Runs the plan and says what was wrong with what it left. */
export async function runLibraryFaults({ engine, kills }: Plan): Promise<LibraryLedger> {
  const ledger = { engine, kills: 0, booked: 0, refused: 0, changed: 0, told: 0, lost: 0, faults: [] as string[] };
  const ground = await openGround(engine);
  const double = await adServerDouble();
  const args = [ground.url, double.url, String(Date.now()), JSON.stringify(BUYERS)];
  const sellers = new Sellers("library-child.ts", args);
  const market = new Market(sellers, ledger);
  try {
    for (let place = 0; place < ground.sellers; place++) await sellers.start(place);
    const all = BUYERS.map((name) => buyer(market, name).catch((error: Error) => ledger.faults.push(error.message)));
    while (ledger.kills < kills) {
      await market.heard();
      await sleep(200 + Math.random() * 700);
      const place = ledger.kills % ground.sellers;
      await sellers.kill(place);
      ledger.kills += 1;
      await sellers.start(place);
    }
    market.over = true;
    await Promise.all(all);
    double.calm();
    await settled(ground, ledger);
    await audit(market, double, ledger);
    ledger.told = double.calls();
    ledger.lost = double.lost();
  } finally {
    for (let place = 0; place < ground.sellers; place++) await sellers.kill(place);
    await double.stop();
    await ground.stop();
  }
  return ledger;
}

/** Nothing waits for the ad server any more: the sellers have carried all of it on. */
async function settled({ store }: Ground, { faults }: LibraryLedger): Promise<void> {
  const documents = documentStore(store.database as Database);
  const waiting = async (): Promise<number> => {
    const lists = await Promise.all(BUYERS.map((name) => documents.list("ad_server_instruction", name)));
    return lists.flat().length;
  };
  const until = Date.now() + SETTLE_MS;
  while (Date.now() < until) {
    if ((await waiting()) === 0) return;
    await sleep(100);
  }
  faults.push(`${await waiting()} instructions still wait for the ad server`);
}

async function audit(market: Market, double: AdServerDouble, { faults }: LibraryLedger): Promise<void> {
  const listed = new Map<string, Answer>();
  for (const name of BUYERS) {
    for (let cursor: string | undefined; ; ) {
      const page = { pagination: { max_results: 50, ...(cursor !== undefined && { cursor }) } };
      const { media_buys, pagination } = await market.answered(name, "get_media_buys", { account, ...EVERY, ...page });
      for (const buy of media_buys) listed.set(buy.media_buy_id, buy);
      cursor = pagination?.cursor;
      if (cursor === undefined) break;
    }
  }
  faults.push(...auditOrders(market.buys, listed, [...double.orders.values()]));
}

/** What buyers were told, what the seller lists, and what runs at the ad server are the same. */
export function auditOrders(
  known: readonly KnownBuy[],
  listed: ReadonlyMap<string, Answer>,
  orders: readonly { readonly order: { mediaBuyId: string; lines: readonly { budget: number }[] }; state: string }[],
): string[] {
  const faults: string[] = [];
  const running = Map.groupBy(orders, ({ order }) => order.mediaBuyId);
  const told = new Set(known.map(({ id }) => id));
  for (const { id, budget, paused, canceled, changes } of known) {
    const buy = listed.get(id);
    if (buy === undefined) faults.push(`${id} was told of and is not listed`);
    else {
      const state = buy.media_buy_status ?? buy.status;
      if (buy.revision !== changes + 1) faults.push(`${id} has revision ${buy.revision} after ${changes} changes`);
      if (!canceled && buy.total_budget !== budget) faults.push(`${id} has ${buy.total_budget} instead of ${budget}`);
      if (canceled !== (state === "canceled")) faults.push(`${id} is ${state}`);
    }
    const own = running.get(id) ?? [];
    if (own.length !== 1) faults.push(`${id} was booked ${own.length} times at the ad server`);
    else if (own[0]!.order.lines[0]?.budget !== budget) faults.push(`${id} runs at another budget than ${budget}`);
    else if (own[0]!.state !== (canceled ? "canceled" : paused ? "paused" : "running"))
      faults.push(`${id} is ${own[0]!.state} at the ad server`);
  }
  for (const id of listed.keys()) if (!told.has(id)) faults.push(`${id} is listed, and nobody was told of it`);
  for (const id of running.keys()) if (!told.has(id)) faults.push(`${id} runs, and nobody was told of it`);
  return faults;
}
