/** A set of databases under test, and a look at every row of a sender in each. */
import * as assert from "uvu/assert";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { type SplitChange, type SplitChangeOptions, splitChange } from "../../runtime/store/split/change.js";
import { type ReceiverSplitOptions, type SplitStore, shardedBySender } from "../../runtime/store/split/receivers.js";
import { arrival, NOW, newEvent, registration } from "../store/cases/events.js";
import { type Ground, NAMES, named } from "./databases.js";

export const senderOf = (i: number): string => `https://seller-${i}.example/agent`;

/** Tables that hold rows of a sender, each with a condition on its URL. */
const tables: Readonly<Record<string, string>> = {
  adbind_claims: "sender in (select id from adbind_senders where url = ?)",
  adbind_tasks: "sender in (select id from adbind_senders where url = ?)",
  adbind_task_operations: "sender in (select id from adbind_senders where url = ?)",
  adbind_notifications: "sender in (select id from adbind_senders where url = ?)",
  adbind_inbox: "sender in (select id from adbind_senders where url = ?)",
  adbind_registrations: "sender = ?",
  adbind_nonces: "key in (select id from adbind_nonce_keys where substr(keyid, 1, length(?)) = ? || ' ')",
};

/** Rows of a sender in a database, by table. */
export async function rowsOf(database: AnyDatabase, sender: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, condition] of Object.entries(tables)) {
    const values = condition.includes("||") ? [`${sender} `, sender] : [sender];
    const [row] = await database.query((q) =>
      q.rows<{ n: number }>(`select count(*) as n from ${table} where ${condition}`, values),
    );
    if (row!.n > 0) counts[table] = row!.n;
  }
  return counts;
}

export interface World {
  readonly urls: readonly string[];
  /** An instance that was given the first so many databases. */
  instance(count: number, options?: ReceiverSplitOptions): Promise<SplitStore>;
  change(options?: Partial<SplitChangeOptions>): SplitChange;
  /** Names of the databases in which a sender has rows, with their counts. */
  where(sender: string): Promise<Record<string, Record<string, number>>>;
  close(): Promise<void>;
}

/** @param count databases there are; the set begins with one less */
export async function world(ground: Ground, count = 4): Promise<World> {
  const urls = await ground.fresh(count);
  const open: { close(): Promise<void> }[] = [];
  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    open.push(one);
    return one;
  };
  const first = splitChange({ kind: "sender", databases: named(urls.slice(0, -1)) });
  await first.init();
  await first.close();
  const looking = new Map<string, AnyDatabase>();
  return {
    urls,
    instance: async (given, options) => kept(await shardedBySender(named(urls.slice(0, given)), options)),
    change: (options = {}) => kept(splitChange({ kind: "sender", databases: named(urls), ...options })),
    async where(sender) {
      const found: Record<string, Record<string, number>> = {};
      for (const [at, url] of urls.entries()) {
        const name = NAMES[at]!;
        const database = looking.get(name) ?? kept(await openDatabase(url));
        looking.set(name, database);
        const counts = await rowsOf(database, sender);
        if (Object.keys(counts).length > 0) found[name] = counts;
      }
      return found;
    },
    async close() {
      for (const one of open.reverse()) await one.close();
    },
  };
}

/** What a sender leaves in each table. @returns the keys of its events */
export async function fill(store: SplitStore, sender: string, events: number): Promise<string[]> {
  const route = `/hooks/${sender.replace(/\W/g, "")}`;
  const added = await store.registrations.add(registration({ route, sender, operationId: null }), NOW);
  assert.ok("released" in added);
  const keys: string[] = [];
  for (let i = 0; i < events; i += 1) {
    const event = newEvent({ sender, route, taskId: `t-${i % 3}`, notificationId: `n-${i}`, operationId: null });
    const nonce = { keyid: `${sender} key-1`, nonce: `nonce-${i}`, expiresAt: later() / 1000, now: NOW / 1000 };
    const instant = `2026-04-18T14:00:00.${String(i).padStart(9, "0")}`;
    const operation = i % 2 === 0 ? "op-even" : "op-odd";
    const order = { instant, status: "working", terminal: false, by: "sender", operation } as const;
    const outcome = await store.inbox.accept(arrival({ ...event, instant }, { nonce, order, now: Date.now() }));
    assert.is(outcome.outcome, "accepted");
    keys.push(event.key);
  }
  return keys;
}

const later = (): number => Math.floor(Date.now() / 1000 + 3600) * 1000;
