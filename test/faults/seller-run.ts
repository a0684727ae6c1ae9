/** Kills sellers while buyers buy, each buyer repeating a call under its key until it is answered; then counts what was bought. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import type { Database } from "../../runtime/db/types.js";
import { buyRequest } from "../seller/fixture.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { ANSWERED_MS, openGround, Sellers } from "./seller-ground.js";

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

interface Bought {
  readonly id: string;
  readonly key: string;
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
  const ground = await openGround(engine);
  const bought = ground.store.database as Database;
  await bought.write((q) => q.run("create table bought (id text primary key, key text not null)"));
  const log = path.join(tempFolder(), "handlers.log");
  writeFileSync(log, "");
  const sellers = new Sellers("seller-child.ts", [ground.url, log, String(Date.now())]);
  const answers = new Map<string, string>();
  const over = { yes: false };
  try {
    for (let place = 0; place < ground.sellers; place++) await sellers.start(place);
    const buyers = Array.from({ length: BUYERS }, (_, n) => buyer(n, { sellers, answers, ledger, over }));
    while (ledger.kills < kills) {
      const enough = answers.size + BUYERS;
      await sleep(500 + Math.random() * 700);
      // On a loaded machine a seller that was just started may not have answered anybody yet: nothing would be learnt.
      await until(() => answers.size >= enough, "answers between two kills", { limitMs: ANSWERED_MS });
      const place = ledger.kills % ground.sellers;
      await sellers.kill(place);
      ledger.kills += 1;
      await sellers.start(place);
    }
    over.yes = true;
    await Promise.all(buyers);
    const rows = await bought.query((q) => q.rows<Bought>("select id, key from bought"));
    ledger.answered = answers.size;
    ledger.handlerRuns = readFileSync(log, "utf8").split("\n").length - 1;
    ledger.faults.push(...auditBuys(answers, rows));
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
    const deadline = performance.now() + ANSWERED_MS;
    for (let tried = 0; ; tried++) {
      if (performance.now() > deadline) return void ledger.faults.push(`${key} was not answered in ${ANSWERED_MS} ms`);
      const address = sellers.any(turn + tried);
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
