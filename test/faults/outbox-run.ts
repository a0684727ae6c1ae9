/** Kills applications between their own write and the webhook's, then compares the two. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { openPostgres, openSqlite } from "../../runtime/db/index.js";
import { fromSource } from "../runner/from-source.js";
import { startPgbouncer } from "../support/pgbouncer.js";
import { startPostgres } from "../support/postgres.js";

/** Applications of docs/examples/outbox, and what each needs beside adbind's own packages. */
export const examples = {
  pg: false,
  kysely: false,
  drizzle: true,
  prisma: true,
  "better-sqlite3": false,
} as const satisfies Record<string, boolean>;
export type Example = keyof typeof examples;

const peers = path.join(import.meta.dirname, "../interop/outbox/node_modules/.adbind-ready");
export const isInstalled = (example: Example): boolean => !examples[example] || existsSync(peers);

export interface OutboxLedger {
  readonly example: string;
  readonly kills: number;
  /** Kills that came between the two writes. */
  readonly between: number;
  readonly both: number;
  readonly neither: number;
  readonly seconds: number;
  /** Empty when everything held. */
  readonly faults: readonly string[];
}

interface World {
  readonly url: string;
  query<Row>(text: string): Promise<Row[]>;
  /** Whether some application stands between its own write and the webhook's. */
  isBetween(): Promise<boolean>;
  /** Ends what slows the webhook's write down, and waits until nothing of a killed application goes on. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ORDERS = "create table if not exists orders (id text primary key, status text not null)";
/** The webhook's write takes this long, so that there is a between, in milliseconds. */
const BETWEEN_MS = 250;

async function postgresWorld(pooler: boolean): Promise<World> {
  const cluster = await startPostgres();
  const direct = await cluster.database();
  await (await openPostgres({ url: direct })).close();
  const bouncer = pooler ? await startPgbouncer(direct, { default_pool_size: "10" }) : undefined;
  const client = new pg.Client(direct);
  await client.connect();
  await client.query(`${ORDERS};
    create function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${BETWEEN_MS / 1_000}); return new; end $$;
    create trigger slow before insert on adbind_jobs for each row execute function slow()`);
  const sleeping = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
  const isBetween = async (): Promise<boolean> => (await client.query(sleeping)).rows.length > 0;
  return {
    url: bouncer?.through(direct) ?? direct,
    query: async <Row>(text: string) => (await client.query(text)).rows as Row[],
    isBetween,
    async settle() {
      while (await isBetween()) await pause(20);
      await client.query("drop trigger slow on adbind_jobs");
    },
    async close() {
      await client.end();
      await bouncer?.stop();
      await cluster.stop();
    },
  };
}

async function sqliteWorld(): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-outbox-"));
  const url = path.join(folder, "shop.db");
  await openSqlite({ path: url }).close();
  const db = new Sqlite(url, { timeout: 20_000 });
  db.exec(`${ORDERS};
    create trigger slow before insert on adbind_jobs begin
      select count(*) from (with recursive c (n) as (select 1 union all select n + 1 from c where n < 800000) select n from c);
    end`);
  return {
    url,
    query: async <Row>(text: string) => db.prepare(text).all() as Row[],
    // Its transaction is one turn of the event loop, the webhook's write nearly all of it.
    isBetween: async () => true,
    settle: async () => void db.exec("drop trigger slow"),
    async close() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

class Application {
  readonly #child: ChildProcess;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  onApproving: () => void = () => undefined;

  constructor(plan: object) {
    const file = path.join(import.meta.dirname, "outbox-child.ts");
    const flags = [...fromSource, file, JSON.stringify(plan)];
    this.#child = spawn(process.execPath, flags, { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin!.on("error", () => undefined);
    this.ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
    const lines = createInterface({ input: this.#child.stdout! });
    this.ready = new Promise((resolve, reject) => {
      lines.on("line", (line) => (line === "ready" ? resolve() : this.onApproving()));
      void this.ended.then(() => reject(new Error("an application ended by itself")));
    });
    this.ready.catch(() => undefined);
  }

  say(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

/** Kills one application. @returns whether it stood between its own write and the webhook's */
async function killOne(world: World, application: Application, at: number): Promise<boolean> {
  await application.ready;
  const approving = new Promise<void>((resolve) => {
    application.onApproving = resolve;
  });
  application.say("go");
  await approving;
  // Now and then at another moment: before, or after the commit.
  const elsewhere = at % 5 === 4;
  const end = performance.now() + (elsewhere ? Math.random() * 3 * BETWEEN_MS : 10_000);
  if (elsewhere) await pause(end - performance.now());
  else while (performance.now() < end && !(await world.isBetween())) await pause(2);
  if (!elsewhere) await pause(Math.random() * (BETWEEN_MS / 3));
  const between = await world.isBetween();
  await application.kill();
  return between;
}

/** One run of one application. */
export async function runOutbox(example: Example, kills: number, pooler = false): Promise<OutboxLedger> {
  const started = performance.now();
  const world = example === "better-sqlite3" ? await sqliteWorld() : await postgresWorld(pooler);
  const open = (name: string): Application => new Application({ example, url: world.url, name });
  let next = open("k0");
  let between = 0;
  try {
    for (let at = 0; at < kills; at++) {
      const application = next;
      next = open(`k${at + 1}`);
      if (await killOne(world, application, at)) between += 1;
    }
    await world.settle();
    const orders = await ordersOf(world);
    const faults = orders.flatMap(faultOf);
    const both = orders.filter(({ status }) => status === "approved").length;
    await next.ready;
    next.say(`again ${orders.map(({ id }) => id).join(" ")}`);
    await next.ended;
    faults.push(
      ...(await ordersOf(world)).flatMap(({ id, events }) => (events === 1 ? [] : [`${id} has ${events} events`])),
    );
    const seconds = Math.round((performance.now() - started) / 1_000);
    return { example, kills, between, both, neither: orders.length - both, seconds, faults };
  } finally {
    await next.kill();
    await world.close();
  }
}

interface Order {
  readonly id: string;
  readonly status: string;
  readonly task: string | null;
  readonly events: number;
}

async function ordersOf(world: World): Promise<Order[]> {
  const rows = await world.query<Order>(
    "select coalesce(o.id, t.task_id) as id, o.status, t.status as task, " +
      "(select count(*) from adbind_jobs j where j.ordering_key = 'task:' || coalesce(o.id, t.task_id)) as events " +
      "from orders o full join adbind_sent_tasks t on t.task_id = o.id",
  );
  return rows.map((row) => ({ ...row, events: Number(row.events) }));
}

/** An order that was approved has one event and a task that works; one that was not has neither. */
function faultOf({ id, status, task, events }: Order): string[] {
  if (status === "approved" && task === "working" && events === 1) return [];
  if (status === "new" && task === "submitted" && events === 0) return [];
  return [`${id}: the order is ${status}, its task ${task}, with ${events} events`];
}
