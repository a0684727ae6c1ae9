/** Kills receivers under load and keeps the books: what was sent, answered, applied, lost, applied twice. */
import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { openStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { sharedPostgres } from "../support/postgres.js";
import { attempt, eventOf, Victim } from "./receiver-fleet.js";

export const SENDER = "https://seller.example/agent";
export const ROUTE = "/hooks";
export const KINDS = ["task", "report"] as const;

/** Sellers sending at once, each one event after the other. */
const SELLERS = 12;
/** Events of one task, sent in their order. */
const EVENTS_PER_TASK = 4;
/** A process is killed this long after it is ready, at most: some die before their first event. */
const LIFE_MS = 800;
/** Longest wait for the last events to be applied. */
const DRAIN_MS = 60_000;

export interface Ledger {
  readonly store: "sqlite" | "postgres";
  readonly processes: number;
  kills: number;
  events: number;
  attempts: number;
  accepted: number;
  duplicates: number;
  /** Answered 2xx and without an effect. */
  lost: number;
  /** More than one effect. */
  doubled: number;
  /** Effects of one task out of its order. */
  disordered: number;
  /** Rows left in the inbox. */
  left: number;
  /** Answers that are neither 2xx nor a broken connection. */
  refused: Record<string, number>;
  seconds: number;
}

/** Faults that the books show; a run without an event shows nothing, which is one. */
export const faultsOf = ({ lost, doubled, disordered, left, events }: Ledger): number =>
  lost + doubled + disordered + left + (events > 0 ? 0 : 1);

interface Effects {
  readonly url: string;
  /** Rows in the order in which they were written. */
  read(): Promise<{ task: string; key: string }[]>;
  close(): Promise<void>;
}

async function sqliteEffects(): Promise<Effects> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-faults-"));
  const file = path.join(folder, "inbox.db");
  const db = new Database(file, { timeout: 10_000 });
  db.exec("create table effects (id integer primary key, task text, key text)");
  return {
    url: `sqlite:${file}`,
    read: async () => db.prepare<[], { task: string; key: string }>("select task, key from effects order by id").all(),
    async close() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function postgresEffects(): Promise<Effects> {
  const cluster = await sharedPostgres();
  const url = await cluster.database();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // The cluster goes before the last connection to it does.
  pool.on("error", () => undefined);
  await pool.query("create table effects (id bigserial primary key, task text, key text)");
  return {
    url,
    read: async () => (await pool.query("select task, key from effects order by id")).rows,
    async close() {
      await pool.end();
      await cluster.stop();
    },
  };
}

interface Load {
  readonly ledger: Ledger;
  readonly victims: readonly Victim[];
  readonly key: KeyObject;
  readonly agent: Agent;
  /** Events by task, in their order. */
  readonly sent: Map<string, string[]>;
  stopping: boolean;
}

/** Sends one event until it is answered 2xx, as a sender must: the same bytes, signed afresh. */
async function deliver(load: Load, kind: string, body: Uint8Array): Promise<void> {
  const { ledger } = load;
  for (;;) {
    ledger.attempts += 1;
    const [status, text] = await attempt(load, `${ROUTE}/${kind}`, body, load.key);
    if (status === 200) {
      if (text.includes("accepted")) ledger.accepted += 1;
      else ledger.duplicates += 1;
      return;
    }
    if (status !== 0) ledger.refused[`${status} ${text}`] = (ledger.refused[`${status} ${text}`] ?? 0) + 1;
    await Promise.any(load.victims.map((victim) => victim.ready));
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 20));
  }
}

async function seller(load: Load): Promise<void> {
  const { ledger, sent } = load;
  while (!load.stopping) {
    const task = randomUUID();
    const kind = Math.random() < 0.9 ? "task" : "report";
    for (let n = 0; n < EVENTS_PER_TASK && !load.stopping; n += 1) {
      const key = randomUUID();
      sent.set(task, [...(sent.get(task) ?? []), key]);
      const body = eventOf(task, key, n);
      ledger.events += 1;
      await deliver(load, kind, body);
      if (Math.random() < 0.05) await deliver(load, kind, body);
    }
    if (kind === "report") sent.set(`${task} unordered`, sent.get(task)!);
  }
}

/** What the effects say about what was sent. */
export function audit(sent: ReadonlyMap<string, readonly string[]>, effects: readonly { task: string; key: string }[]) {
  const applied = new Map<string, number>();
  const order = new Map<string, string[]>();
  for (const { task, key } of effects) {
    applied.set(key, (applied.get(key) ?? 0) + 1);
    order.set(task, [...(order.get(task) ?? []), key]);
  }
  const tasks = [...sent].filter(([task]) => !task.endsWith(" unordered"));
  const keys = tasks.flatMap(([, list]) => list);
  return {
    lost: keys.filter((key) => !applied.has(key)).length,
    doubled: [...applied.values()].filter((count) => count > 1).length,
    disordered: tasks.filter(
      ([task, list]) => !sent.has(`${task} unordered`) && list.join() !== [...new Set(order.get(task))].join(),
    ).length,
  };
}

/**
 * Kills receivers under load.
 * @param kills how many times
 * @param processes receivers sharing the store
 */
export async function runFaults(store: Ledger["store"], kills: number, processes: number): Promise<Ledger> {
  const started = performance.now();
  const effects = await (store === "sqlite" ? sqliteEffects() : postgresEffects());
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const purpose = { kid: "key-1", use: "sig", key_ops: ["verify"], alg: "EdDSA", proto_use: "request-signing" };
  const jwk = JSON.stringify({ ...publicKey.export({ format: "jwk" }), ...purpose });
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const victims = ports.map((port) => new Victim(effects.url, port, jwk));
  const counts = { kills: 0, events: 0, attempts: 0, accepted: 0, duplicates: 0, lost: 0, doubled: 0, disordered: 0 };
  const ledger: Ledger = { store, processes, ...counts, left: 0, refused: {}, seconds: 0 };
  const agent = new Agent({ keepAlive: true });
  const load: Load = { ledger, victims, key: privateKey, agent, sent: new Map(), stopping: false };
  await Promise.all(victims.map((victim) => victim.ready));
  const sellers = Array.from({ length: SELLERS }, () => seller(load));
  while (ledger.kills < kills) {
    const victim = victims[ledger.kills % victims.length]!;
    await victim.ready;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LIFE_MS));
    await victim.kill();
    ledger.kills += 1;
  }
  load.stopping = true;
  await Promise.all(sellers);
  Object.assign(ledger, await settle(load, effects));
  for (const victim of victims) await victim.end();
  agent.destroy();
  await effects.close();
  ledger.seconds = Math.round((performance.now() - started) / 1000);
  return ledger;
}

/** Waits until the inbox is empty, then audits. */
async function settle({ sent }: Load, effects: Effects) {
  const store = await openStore(effects.url);
  const end = performance.now() + DRAIN_MS;
  let left = Number.POSITIVE_INFINITY;
  while (left > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { pending, parked, dead } = await store.inbox.backlog();
    left = pending + parked + dead;
  }
  const found = audit(sent, await effects.read());
  await store.close();
  return { ...found, left };
}
