/**
 * Kills receivers on a split, and the command that adds and removes a database of it, under load; then the books: what was
 * lost or applied twice, what was forged and believed, and whose rows are in two databases.
 */
import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { type Ground, NAMES, named, postgresGround, sqliteGround } from "../split/databases.js";
import { rowsOf } from "../split/world.js";
import { attempt, eventOf, Victim } from "./receiver-fleet.js";
import { audit } from "./receiver-run.js";
import { Changer, type ChangerBooks } from "./split-changer.js";
import { routeOf, SPLIT_SENDERS } from "./split-senders.js";

const EVENTS_PER_TASK = 4;
/** A process is killed this long after it is ready, at most. */
const LIFE_MS = 2_000;
/** Every so many kills are the command's. */
const COMMAND_EVERY = 3;
const DRAIN_MS = 60_000;
/** Columns of the application's own table, beside ours in each database. */
const EFFECTS = "create table effects (id integer primary key, task text, key text, at bigint)";

export interface SplitLedger extends ChangerBooks {
  readonly store: "sqlite" | "postgres";
  readonly databases: number;
  kills: number;
  events: number;
  attempts: number;
  /** Answered 2xx and without an effect. */
  lost: number;
  doubled: number;
  disordered: number;
  /** Events with a false signature that had an effect, or were answered 2xx. */
  forged: number;
  /** Senders with rows in no database, or in several. */
  scattered: number;
  left: number;
  seconds: number;
}

/** Faults that the books show; a run without an event or a change shows nothing, which is one. */
export const splitFaults = (ledger: SplitLedger): number =>
  ledger.lost +
  ledger.doubled +
  ledger.disordered +
  ledger.forged +
  ledger.scattered +
  ledger.left +
  (ledger.events > 0 && ledger.changes > 0 ? 0 : 1);

interface Load {
  readonly ledger: SplitLedger;
  readonly victims: readonly Victim[];
  readonly key: KeyObject;
  readonly stranger: KeyObject;
  readonly agent: Agent;
  readonly sent: Map<string, string[]>;
  stopping: boolean;
}

async function deliver(load: Load, sender: string, body: Uint8Array): Promise<void> {
  const { ledger } = load;
  for (;;) {
    ledger.attempts += 1;
    const [status, text] = await attempt(load, routeOf(sender), body, load.key);
    if (status === 200) return;
    if (status !== 0) ledger.refused[`${status} ${text}`] = (ledger.refused[`${status} ${text}`] ?? 0) + 1;
    await Promise.any(load.victims.map((victim) => victim.ready));
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 20));
  }
}

async function seller(load: Load, sender: string): Promise<void> {
  const { ledger, sent } = load;
  while (!load.stopping) {
    const task = randomUUID();
    for (let n = 0; n < EVENTS_PER_TASK && !load.stopping; n += 1) {
      const key = randomUUID();
      sent.set(task, [...(sent.get(task) ?? []), key]);
      ledger.events += 1;
      const body = eventOf(task, key, n);
      await deliver(load, sender, body);
      if (Math.random() < 0.05) await deliver(load, sender, body);
      if (Math.random() > 0.05) continue;
      const [status] = await attempt(load, routeOf(sender), eventOf(task, `forged-${randomUUID()}`, n), load.stranger);
      if (status === 200) ledger.forged += 1;
    }
  }
}

async function kill(load: Load, kills: number, changer: Changer): Promise<void> {
  const { ledger, victims } = load;
  const commands = changer.killed(Math.floor(kills / COMMAND_EVERY));
  const receivers = kills - Math.floor(kills / COMMAND_EVERY);
  for (let done = 0; done < receivers; done += 1) {
    const victim = victims[done % victims.length]!;
    await victim.ready;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LIFE_MS));
    await victim.kill();
  }
  await commands;
  ledger.kills = receivers + ledger.commandKills;
}

/** Databases of the ground with the application's table, and the split on all but the last. */
async function prepare(ground: Ground, count: number): Promise<{ urls: string[]; open: AnyDatabase[] }> {
  const urls = await ground.fresh(count + 1);
  const open = await Promise.all(urls.map((url) => openDatabase(url)));
  const serial = ground.name === "postgres" ? EFFECTS.replace("integer primary key", "bigserial primary key") : EFFECTS;
  for (const database of open) await database.execute(serial);
  const first = splitChange({ kind: "sender", databases: named(urls.slice(0, count)) });
  await first.init();
  await first.close();
  const store = await shardedBySender(named(urls));
  for (const sender of SPLIT_SENDERS) {
    const common = { mode: "signature", format: null, taskType: null, tokenDigest: null, release: null } as const;
    const of = {
      route: routeOf(sender),
      operationId: null,
      sender,
      kind: "task",
      events: null,
      expires: null,
    } as const;
    await store.registrations.add({ ...common, ...of }, Date.now());
  }
  await store.close();
  return { urls, open };
}

/** Waits until nothing is left, then looks at everything. */
async function settle({ sent, ledger }: Load, urls: readonly string[], open: readonly AnyDatabase[]): Promise<void> {
  const store = await shardedBySender(named(urls));
  const end = performance.now() + DRAIN_MS;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { pending, parked, dead } = await store.inbox.backlog();
    ledger.left = pending + parked + dead;
  } while (ledger.left > 0 && performance.now() < end);
  await store.close();
  const effects: { task: string; key: string; at: number; id: number }[] = [];
  for (const database of open) {
    effects.push(
      ...(await database.query((q) => q.rows<(typeof effects)[number]>("select * from effects order by id"))),
    );
  }
  // Of one task in two databases, what was applied in the first is the earlier.
  effects.sort((a, b) => a.at - b.at || a.id - b.id);
  Object.assign(ledger, audit(sent, effects));
  ledger.forged += effects.filter(({ key }) => key.startsWith("forged")).length;
  for (const sender of SPLIT_SENDERS) {
    const places = await Promise.all(open.map((database) => rowsOf(database, sender)));
    if (places.filter((counts) => Object.keys(counts).length > 0).length !== 1) ledger.scattered += 1;
  }
}

/**
 * Kills receivers and the command under load.
 * @param split databases before one is added
 */
export async function runSplitFaults(
  store: SplitLedger["store"],
  { kills, processes, split }: { readonly kills: number; readonly processes: number; readonly split: number },
): Promise<SplitLedger> {
  const started = performance.now();
  const ground = store === "sqlite" ? sqliteGround() : await postgresGround();
  const { urls, open } = await prepare(ground, split);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const purpose = { kid: "key-1", use: "sig", key_ops: ["verify"], alg: "EdDSA", proto_use: "request-signing" };
  const jwk = JSON.stringify({ ...publicKey.export({ format: "jwk" }), ...purpose });
  const given = JSON.stringify(Object.fromEntries(urls.map((url, at) => [NAMES[at], url])));
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const victims = ports.map((port) => new Victim(given, port, jwk, "./split-child.ts"));
  const counts = { kills: 0, commandKills: 0, changes: 0, events: 0, attempts: 0 };
  const faults = { lost: 0, doubled: 0, disordered: 0, forged: 0, scattered: 0, left: 0 };
  const ledger: SplitLedger = { store, databases: split, ...counts, ...faults, refused: {}, seconds: 0 };
  const agent = new Agent({ keepAlive: true });
  const stranger = generateKeyPairSync("ed25519").privateKey;
  const load: Load = { ledger, victims, key: privateKey, stranger, agent, sent: new Map(), stopping: false };
  await Promise.all(victims.map((victim) => victim.ready));
  const sellers = SPLIT_SENDERS.map((sender) => seller(load, sender));
  await kill(load, kills, new Changer(urls, "sender", ledger));
  load.stopping = true;
  await Promise.all(sellers);
  await settle(load, urls, open);
  for (const victim of victims) await victim.end();
  agent.destroy();
  for (const database of open) await database.close();
  await ground.close();
  ledger.seconds = Math.round((performance.now() - started) / 1000);
  return ledger;
}
