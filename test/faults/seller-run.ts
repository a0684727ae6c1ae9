/** Kills sellers while buyers buy, each buyer repeating a call under its key until it is answered; then counts what was bought. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { request } from "undici";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { buyRequest } from "../seller/fixture.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";

export interface Ledger {
  readonly engine: "sqlite" | "postgres";
  kills: number;
  /** Keys that were answered. */
  answered: number;
  /** Answers that were given again. */
  replayed: number;
  /** Times a handler began. */
  handlerRuns: number;
  readonly faults: string[];
}

export interface Plan {
  readonly engine: "sqlite" | "postgres";
  readonly kills: number;
}

const BUYERS = 6;
const child = path.join(import.meta.dirname, "seller-child.ts");

interface Bought {
  readonly id: string;
  readonly key: string;
}

interface Ground {
  readonly url: string;
  readonly sellers: number;
  bought(): Promise<Bought[]>;
  stop(): Promise<void>;
}

async function sqliteGround(): Promise<Ground> {
  const file = path.join(tempFolder(), "seller.db");
  await openSqliteStore({ path: file }).close();
  const db = new Database(file);
  db.exec("create table bought (id text primary key, key text not null)");
  return {
    url: `sqlite:${file}`,
    sellers: 1,
    bought: async () => db.prepare("select id, key from bought").all() as Bought[],
    stop: async () => void db.close(),
  };
}

async function postgresGround(): Promise<Ground> {
  const cluster = await sharedPostgres();
  const url = await cluster.database();
  const store = await openPostgresStore({ url });
  await store.pool.query("create table bought (id text primary key, key text not null)");
  return {
    url,
    sellers: 2,
    bought: async () => (await store.pool.query<Bought>("select id, key from bought")).rows,
    async stop() {
      await store.close();
      await cluster.stop();
    },
  };
}

/** Sellers by place; an address is undefined while its seller is down. */
class Sellers {
  readonly addresses: (string | undefined)[] = [];
  private readonly children: ChildProcess[] = [];
  private readonly began = Date.now();

  constructor(
    private readonly url: string,
    private readonly log: string,
  ) {}

  async start(place: number): Promise<void> {
    const flags = [...fromSource, child, this.url, this.log, String(this.began)];
    const one = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
    this.children[place] = one;
    for await (const chunk of one.stdout!) {
      const found = /http:\S+/.exec(String(chunk))?.[0];
      if (found === undefined) continue;
      this.addresses[place] = found;
      return;
    }
  }

  async kill(place: number): Promise<void> {
    this.addresses[place] = undefined;
    const one = this.children[place];
    if (one === undefined || one.exitCode !== null || one.signalCode !== null) return;
    const ended = new Promise((resolve) => one.once("exit", resolve));
    one.kill("SIGKILL");
    await ended;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every kind
async function ask(address: string, key: string, product: string): Promise<any> {
  const args = buyRequest(product, { idempotency_key: key });
  const answer = await request(`${address}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "create_media_buy", arguments: args },
    }),
    headersTimeout: 10_000,
  });
  return ((await answer.body.json()) as { result: { structuredContent: unknown } }).result.structuredContent;
}

/** Runs the plan and says what was wrong with what it left. */
export async function runSellerFaults({ engine, kills }: Plan): Promise<Ledger> {
  const ledger: Ledger = { engine, kills: 0, answered: 0, replayed: 0, handlerRuns: 0, faults: [] };
  const ground = engine === "sqlite" ? await sqliteGround() : await postgresGround();
  const log = path.join(tempFolder(), "handlers.log");
  writeFileSync(log, "");
  const sellers = new Sellers(ground.url, log);
  const answers = new Map<string, string>();
  const over = { yes: false };
  try {
    for (let place = 0; place < ground.sellers; place++) await sellers.start(place);
    const buyers = Array.from({ length: BUYERS }, (_, n) => buyer(n, { sellers, answers, ledger, over }));
    while (ledger.kills < kills) {
      await sleep(500 + Math.random() * 700);
      const place = ledger.kills % ground.sellers;
      await sellers.kill(place);
      ledger.kills += 1;
      await sellers.start(place);
    }
    over.yes = true;
    await Promise.all(buyers);
    const bought = await ground.bought();
    ledger.answered = answers.size;
    ledger.handlerRuns = readFileSync(log, "utf8").split("\n").length - 1;
    ledger.faults.push(...auditBuys(answers, bought));
  } finally {
    for (let place = 0; place < ground.sellers; place++) await sellers.kill(place);
    await ground.stop();
  }
  return ledger;
}

interface Market {
  readonly sellers: Sellers;
  readonly answers: Map<string, string>;
  readonly ledger: Ledger;
  readonly over: { yes: boolean };
}

/** Buys one thing after the other, each under a key of its own, until it is answered. */
async function buyer(n: number, { sellers, answers, ledger, over }: Market): Promise<void> {
  for (let turn = n; !over.yes; turn++) {
    const key = `buyer-${n}-${randomUUID()}`;
    const product = turn % 3 === 0 ? "prod_later" : "prod_ctv_evening";
    for (let tried = 0; ; tried++) {
      const up = sellers.addresses.filter((address) => address !== undefined);
      const address = up[(turn + tried) % Math.max(1, up.length)];
      const answer = address === undefined ? undefined : await ask(address, key, product).catch(() => undefined);
      const made = answer?.media_buy_id ?? answer?.task_id;
      if (typeof made !== "string") {
        await sleep(20);
        continue;
      }
      if (answer.replayed === true) ledger.replayed += 1;
      answers.set(key, made);
      break;
    }
  }
}

/** What must hold: each answered key bought once, what was bought is what was answered, and nothing beside it. */
export function auditBuys(answers: ReadonlyMap<string, string>, bought: readonly Bought[]): string[] {
  const faults: string[] = [];
  const byKey = Map.groupBy(bought, ({ key }) => key);
  for (const [key, made] of answers) {
    const rows = byKey.get(key) ?? [];
    if (rows.length !== 1) faults.push(`${key} was bought ${rows.length} times`);
    // A task's id names the buy it makes.
    else if (rows[0]!.id !== made && rows[0]!.id !== `mb_${made}`) faults.push(`${key} was answered with another buy`);
  }
  for (const [key] of byKey) if (!answers.has(key)) faults.push(`${key} was bought and never answered`);
  return faults;
}
