/** A set of databases of principals under test, and a look at every row of one in each. */
import * as assert from "uvu/assert";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { callScope, ownerDigest } from "../../runtime/store/keys.js";
import { type SplitChange, type SplitChangeOptions, splitChange } from "../../runtime/store/split/change.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { type PrincipalStore, shardedByPrincipal } from "../../runtime/store/split/principals.js";
import type { SplitOptions } from "../../runtime/store/split/router.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { Looks } from "../support/looks.js";
import { type Ground, NAMES, named } from "./databases.js";

export const THREE = ["a", "b", "c"];
export const FOUR = [...THREE, "d"];
export const buyers: readonly string[] = Array.from({ length: 60 }, (_, i) => `https://buyer-${i}.example/agent`);
/** Those that go to the fourth database, and those that stay. */
export const going = buyers.filter((one) => placeAmong(FOUR, one) === "d");
export const staying = buyers.filter((one) => placeAmong(FOUR, one) !== "d");

export const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "none";
  } catch (error) {
    return error instanceof AdbindError ? error.code : String(error);
  }
};

/** Tables with a condition on the rows of a principal, and its value. */
const tables: readonly (readonly [table: string, condition: string, value: (principal: string) => string])[] = [
  ...["adbind_sent_tasks", "adbind_channels", "adbind_sender_secrets", "adbind_activity", "adbind_seller_tasks"].map(
    (table) => [table, "principal = ?", (one: string) => one] as const,
  ),
  ["adbind_dedup", "task_id in (select task_id from adbind_sent_tasks where principal = ?)", (one) => one],
  ["adbind_coalescing", "resource in (select resource from adbind_channels where principal = ?)", (one) => one],
  ["adbind_jobs", "endpoint like ?", (one) => `% ${ownerDigest(one)}.%`],
  ["adbind_calls", "scope = ?", callScope],
  ["adbind_documents", "owner = ?", (one) => one],
];

/** Rows of a principal in a database, by table. */
async function principalRows(database: AnyDatabase, principal: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, condition, valueIn] of tables) {
    const text = `select count(*) as n from ${table} where ${condition}`;
    const [row] = await database.query((q) => q.rows<{ n: number }>(text, [valueIn(principal)]));
    if (row!.n > 0) counts[table] = row!.n;
  }
  return counts;
}

export interface Instance {
  readonly store: PrincipalStore;
  readonly sender: Sender;
  readonly network: FakeNetwork;
  readonly clock: { at: number };
  /** Of the workers of all its databases. */
  readonly looks: Looks;
}

export interface PrincipalWorld {
  readonly urls: readonly string[];
  /** An instance that was given the first so many databases. */
  instance(count: number, options?: SplitOptions): Promise<Instance>;
  change(options?: Partial<SplitChangeOptions>): SplitChange;
  database(name: string): Promise<AnyDatabase>;
  urlOf(name: string): string;
  /** Names of the databases in which a principal has rows, with their counts. */
  where(principal: string): Promise<Record<string, Record<string, number>>>;
  close(): Promise<void>;
}

/** Four databases, of which the set has three. */
export async function principalWorld(ground: Ground): Promise<PrincipalWorld> {
  const urls = await ground.fresh(FOUR.length);
  const open: (() => Promise<void>)[] = [];
  const first = splitChange({ kind: "principal", databases: named(urls.slice(0, -1)) });
  await first.init();
  await first.close();
  const urlOf = (name: string): string => urls[NAMES.indexOf(name as never)]!;
  const looking = new Map<string, AnyDatabase>();
  const database = async (name: string): Promise<AnyDatabase> => {
    const known = looking.get(name) ?? (await openDatabase(urlOf(name)));
    if (!looking.has(name)) open.push(() => known.close());
    looking.set(name, known);
    return known;
  };
  return {
    urls,
    async instance(given, options) {
      const store = await shardedByPrincipal(named(urls.slice(0, given)), options);
      const clock = { at: Date.now() };
      const network = new FakeNetwork(clock);
      const looks = new Looks();
      const own = {
        ...optionsFor(clock, network),
        now: Date.now,
        queue: looks.opening(ground.queue),
        reports: () => ({ currency: "EUR", media_buy_deliveries: [] }),
      };
      const sender = await createSender({ ...own, store } as never);
      open.push(async () => {
        await sender.stop();
        await store.close();
      });
      return { store, sender, network, clock, looks };
    },
    change(options = {}) {
      const change = splitChange({ kind: "principal", databases: named(urls), ...options });
      open.push(() => change.close());
      return change;
    },
    database,
    urlOf,
    async where(principal) {
      const found: Record<string, Record<string, number>> = {};
      for (const name of FOUR) {
        const counts = await principalRows(await database(name), principal);
        if (Object.keys(counts).length > 0) found[name] = counts;
      }
      return found;
    },
    async close() {
      for (const one of open.reverse()) await one();
    },
  };
}

export const hookOf = (principal: string): string => `${principal.replace("/agent", "")}/hooks/a`;

/** What a principal leaves in each table of a sender. @returns the keys of its events, in their order */
export async function fill(sender: Sender, principal: string, events = 2): Promise<string[]> {
  const id = principal.replace(/\W/g, "");
  const url = hookOf(principal);
  const taskId = `task-${id}`;
  const start = { taskId, tool: "create_media_buy", status: "submitted", principal } as const;
  const push = { url, operation_id: `op-${id}`, token: "0123456789abcdef0123456789ABCDEFghij" };
  assert.equal(await sender.tasks.register(start, { push }), { ok: true, registered: true });
  const keys: string[] = [];
  for (let n = 0; n < events; n += 1) {
    const change = { status: "working", message: String(n) } as const;
    keys.push(...(await sender.tasks.update(taskId, change, { dedupKey: `change-${n}` })).keys);
  }
  const reporting = { url, operation_id: `report-${id}`, reporting_frequency: "daily" };
  const opened = await sender.channels.open(
    { mediaBuyId: `mb-${id}`, principal },
    { reporting: reporting as never, events: { url, operation_id: `events-${id}` } as never },
  );
  assert.equal(opened, { ok: true });
  await sender.channels.impairment(`mb-${id}`, { notificationId: "imp", impairment: { impairment_id: "imp" } });
  await sender.channels.subscribe(
    "list_change",
    { resource: "list-1", principal },
    { url, operation_id: `list-${id}` },
  );
  return keys;
}

export const taskOf = (principal: string): string => `task-${principal.replace(/\W/g, "")}`;
export const buyOf = (principal: string): string => `mb-${principal.replace(/\W/g, "")}`;
