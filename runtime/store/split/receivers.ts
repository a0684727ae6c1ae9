/** A receiver's store in several databases: each sender's keyspace is in one of them. */

import type { ReplayStore } from "../../contract/replay-store.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database } from "../../db/types.js";
import { throwFaults } from "../expiry.js";
import { senderOfKeyid } from "../keys.js";
import { SWEEP_LIMIT_ROWS } from "../rows.js";
import { storeOn } from "../stores.js";
import type { Expiring, ReceiverStore, ReplayOptions, SweepResult } from "../types.js";
import type { Asking } from "./elsewhere.js";
import { splitInbox } from "./inbox.js";
import { type DatabaseHealth, isAway, type SplitDatabase, sharedClock } from "./member.js";
import type { SplitSet } from "./placement.js";
import { receiverGuard } from "./receiver-guard.js";
import type { ReceiverPart, ReceiverRouter } from "./receiver-part.js";
import { splitRegistrations } from "./registrations.js";
import { openRouter, type SplitOptions } from "./router.js";

/** What an effect gets of a database. */
export type TxOfDatabase<D> = D extends Database<infer Tx> ? Tx : never;

/** A receiver's store in several databases. */
export interface SplitStore<Tx = unknown> extends ReceiverStore<Tx> {
  /** The database that has a sender's keyspace; its effects run there. */
  databaseOf(sender: string): Promise<Database<Tx>>;
  /** Whether each database answered when it was last asked. */
  readonly databases: () => readonly DatabaseHealth[];
  /** The set as this instance knows it. */
  set(): SplitSet;
}

/** How a receiver uses a split. */
export interface ReceiverSplitOptions extends SplitOptions {
  /**
   * How long one database is waited for where due events of all are asked for, in milliseconds. What it brings later is handed
   * out with the next. Default 500.
   */
  readonly takeMs?: number;
}

/**
 * A receiver's store in several databases of one engine: each sender's nonces, claims, order, inbox and registrations are in
 * one of them, by rendezvous hashing over the databases' names. See docs/split.md.
 * @param databases all of the set; one that is still to be added may be among them
 * @throws AdbindError `split_invalid`, `split_outdated` where the set has a database that was not given, `store_option_invalid`
 * for a name, and what a database says that cannot be opened, where none can
 */
export async function shardedBySender<D extends AnyDatabase>(
  databases: readonly SplitDatabase<D>[],
  options: ReceiverSplitOptions = {},
): Promise<SplitStore<TxOfDatabase<D>>> {
  type Tx = TxOfDatabase<D>;
  const make = (database: D, asking: Asking, name: string): ReceiverPart<Tx> => ({
    name,
    store: storeOn(database, receiverGuard(asking)) as unknown as ReceiverStore<Tx>,
  });
  const router = await openRouter({ kind: "sender", databases, make, options });
  const now = options.now === undefined ? await sharedClock(router.members) : undefined;
  const expiring = [...router.members.keys()].flatMap((name) => expiringOf(router, name));
  return {
    inbox: splitInbox(router, options.takeMs),
    registrations: splitRegistrations(router),
    task: (sender, taskId, operationId) => router.look(sender, ({ store }) => store.task(sender, taskId, operationId)),
    async claims(sender) {
      const live = await router.look(sender, async ({ store }) => (await store.claims(sender)) || undefined);
      return live ?? 0;
    },
    replay: (given) => replay(router, given),
    expiring,
    sweep: (at, limit) => sweep(router, at, limit),
    ...(now && { now }),
    databases: () => [...router.members.values()].map(({ health }) => health),
    databaseOf: (sender) => router.at(sender, async (_, database) => database as Database<Tx>),
    set: router.set,
    close: router.close,
  };
}

/** One for each database, for what each remembers of its counts. */
function replay<Tx>(router: ReceiverRouter<Tx>, options: ReplayOptions | undefined): ReplayStore {
  const made = new Map<string, ReplayStore>();
  const of = ({ name, store }: ReceiverPart<Tx>): ReplayStore => {
    const known = made.get(name) ?? store.replay(options);
    made.set(name, known);
    return known;
  };
  return {
    atCap: (keyid, now) => router.at(senderOfKeyid(keyid), async (part) => of(part).atCap(keyid, now)),
    insert: (keyid, nonce, expiresAt, now) =>
      router.at(senderOfKeyid(keyid), async (part) => of(part).insert(keyid, nonce, expiresAt, now)),
  };
}

/**
 * Removes some rows of each kind, though others fail: unless the database is away, which is so for all of them.
 * @returns how many of the kind that had most
 */
async function removeEach(expiring: readonly Expiring[], now: number, limit: number): Promise<number> {
  const faults: unknown[] = [];
  let most = 0;
  for (const { remove } of expiring) {
    try {
      most = Math.max(most, await remove(now, limit));
    } catch (error) {
      if (isAway(error)) throw error;
      faults.push(error);
    }
  }
  throwFaults(faults);
  return most;
}

/** What expires in one database: what is lost by it, which is told of, and the rest. */
function expiringOf<Tx>({ members }: ReceiverRouter<Tx>, name: string): Expiring[] {
  const member = members.get(name)!;
  const part = (lost: boolean) => async (now: number, limit: number) => {
    // It is told of already; what has expired waits for it.
    if (member.away) return 0;
    return member.use(({ store }) => {
      const kinds = store.expiring.filter((one) => (one.lost ?? false) === lost);
      return removeEach(kinds, now, limit);
    });
  };
  return [
    { what: `parked events whose registration never came, in ${name}`, lost: true, remove: part(true) },
    { what: `expired rows of ${name}`, remove: part(false) },
  ];
}

async function sweep<Tx>({ members }: ReceiverRouter<Tx>, now: number, limit = SWEEP_LIMIT_ROWS): Promise<SweepResult> {
  const all = await Promise.allSettled(
    [...members.values()].map((one) => one.use(({ store }) => store.sweep(now, limit))),
  );
  const failed = all.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const done = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return {
    removed: done.reduce((sum, one) => sum + one.removed, 0),
    deadLettered: done.reduce((sum, one) => sum + one.deadLettered, 0),
    more: done.some(({ more }) => more),
  };
}
