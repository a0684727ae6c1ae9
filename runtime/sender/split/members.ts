/** The senders of several databases: one for each, and which of them has a principal. */
import type { MaybePromise } from "../../contract/index.js";
import { begin, type Coroutine, runAsync, runSync, wait } from "../../db/coroutine.js";
import { clockOf } from "../../db/database-time.js";
import { AdbindError } from "../../errors.js";
import { openQueue } from "../../queue/open.js";
import { eachAlone } from "../../queue/periodic.js";
import type { Queue } from "../../queue/types.js";
import { type SenderTables, senderTables } from "../../store/sender-tables.js";
import { KeyspaceElsewhere } from "../../store/split/elsewhere.js";
import type { PrincipalPart, PrincipalRouter } from "../../store/split/principal-part.js";
import type { PrincipalStore } from "../../store/split/principals.js";
import { readSplitSet } from "../../store/split/rows.js";
import { guardedSenderTables } from "../../store/split/sender-tables.js";
import { OUTBOX_TOPIC } from "../outbox.js";
import { assembleSender, type Sender, type SharedParts, sharedParts } from "../sender.js";
import type { Tasks } from "../tasks.js";
import type { SenderOptions } from "../types.js";
import { leasingHere } from "./leasing.js";

/** The sender of one database. */
export interface OneSender {
  readonly name: string;
  readonly sender: Sender;
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly hold: PrincipalPart["hold"];
  readonly database: PrincipalPart["database"];
}

export interface SplitSenders {
  readonly router: PrincipalRouter;
  readonly shared: SharedParts;
  /** Does work where a principal is. */
  at<T>(principal: string, work: (one: OneSender) => MaybePromise<T>): Promise<T>;
  /** Reads of a principal; nothing found is believed of the database that has it only. */
  look<T>(principal: string, read: (one: OneSender) => Promise<T | undefined>): Promise<T | undefined>;
  /**
   * Does work in a transaction of the application's.
   * @returns on SQLite no promise
   * @throws AdbindError `split_wrong_database`, `split_moving`
   */
  within<T>(tx: object, work: (one: OneSender) => MaybePromise<T>): MaybePromise<T>;
  /** Does work in a named database, and again while the principal it is about stands still. @throws AdbindError `split_moving` */
  inside<T>(name: string, work: (one: OneSender) => Promise<T>): Promise<T | "gone">;
  /** Asks every database. */
  everywhere<T>(ask: (one: OneSender) => Promise<T>): Promise<readonly PromiseSettledResult<T>[]>;
  /** One of those that are open, for what is the same with all. */
  any(): OneSender;
  /** Told of each that is open, and of each that is opened later. */
  onOpen(told: (one: OneSender) => void): void;
  readonly opened: ReadonlyMap<string, OneSender>;
  /** Opens those that were away. @throws what those said that still cannot be used, when each had its try */
  openRest(): Promise<void>;
}

const wrongDatabase = (where: string, own: string): AdbindError =>
  new AdbindError("split_wrong_database", `the transaction is of the database ${own}, which does not have the rows`, {
    where,
    remedy: "nothing was written: roll it back, and begin it in `await store.databaseOf(principal)`",
  });

const standing = (where: string): AdbindError =>
  new AdbindError("split_moving", "the principal is being moved to another database", {
    where,
    remedy: "nothing was written: roll the transaction back, and begin it again in `await store.databaseOf(principal)`",
  });

/** What is told where a task, or a buy, is not in the transaction's database, and nobody said whose it is. */
export const unknownOwner = (where: string, own: string): AdbindError =>
  new AdbindError("split_wrong_database", `the transaction's database ${own} knows nothing of it`, {
    where,
    remedy:
      "begin the transaction in `await store.databaseOf(principal)`; where no webhook was registered for it, give `principal`, and nothing is sent",
  });

/** Does now what does not wait: on SQLite the caller's transaction ends with its turn. */
export function atOnce<T>(coroutine: Coroutine<T>): MaybePromise<T> {
  const { waits, rest } = begin(coroutine);
  return waits ? runAsync(rest) : runSync(rest);
}

/** @param changes where changes that were stored by SQL are made: the principal may be in another database than they are */
export async function openSenders(
  options: SenderOptions & { readonly store: PrincipalStore },
  changes: (senders: SplitSenders) => Pick<Tasks, "update">,
): Promise<SplitSenders> {
  const router = options.store.principals;
  // Keys are the same for all databases: none is made beside one of them.
  const shared = await sharedParts({ ...options, mode: "production" }, { where: "a split", shared: true });
  const { queue: open = openQueue } = options;
  const opening = new Map<string, Promise<OneSender>>();
  const opened = new Map<string, OneSender>();
  const listeners: ((one: OneSender) => void)[] = [];
  const make = async ({ name, database, hold, holdAll }: PrincipalPart): Promise<OneSender> => {
    const now = await clockOf(database, options.now);
    const given = await open(database, OUTBOX_TOPIC, { now });
    const queue = leasingHere(given, now);
    const tables = guardedSenderTables(senderTables(database), { hold, holdAll }, now);
    const place = { where: database.where, shared: database.shared, now };
    const of = { queue, tables, options, place, shared, changes: changes(senders) };
    const one: OneSender = { name, queue, tables, hold, database, sender: await assembleSender(of) };
    opened.set(name, one);
    for (const told of listeners) told(one);
    return one;
  };
  const senderOf = (part: PrincipalPart): Promise<OneSender> => {
    const known = opening.get(part.name) ?? make(part);
    opening.set(part.name, known);
    known.catch(() => opening.delete(part.name));
    return known;
  };
  const senders: SplitSenders = {
    router,
    shared,
    at: (principal, work) => router.at(principal, async (part) => work(await senderOf(part))),
    look: (principal, read) => router.look(principal, async (part) => read(await senderOf(part))),
    inside: (name, work) => router.inside(name, async (part) => work(await senderOf(part))),
    within: (tx, work) => atOnce(withinFlow(opened, tx, work)),
    everywhere: (ask) =>
      Promise.allSettled(
        [...router.members.values()].map((member) => member.use(async (part) => ask(await senderOf(part)))),
      ),
    any: () => anyOf(opened),
    onOpen(told) {
      listeners.push(told);
      for (const one of opened.values()) told(one);
    },
    opened,
    async openRest() {
      const rest = [...router.members.values()].filter(({ name }) => !opened.has(name));
      const tries = await Promise.allSettled(rest.map((member) => member.use(senderOf)));
      await eachAlone(tries, async (tried) => {
        if (tried.status === "rejected") throw tried.reason;
      });
    },
  };
  const first = await Promise.allSettled([...router.members.values()].map((member) => member.use(senderOf)));
  const wrong = first.find((one) => one.status === "rejected");
  if (opened.size === 0 && wrong !== undefined) throw wrong.reason;
  return senders;
}

function anyOf(opened: ReadonlyMap<string, OneSender>): OneSender {
  const [first] = opened.values();
  return first!;
}

/** Which database an application's connection is of: it never is of another. */
const connections = new WeakMap<object, string>();

function* ownName(opened: ReadonlyMap<string, OneSender>, tx: object): Coroutine<string | undefined> {
  const known = connections.get(tx);
  if (known !== undefined) return known;
  const set = yield* readSplitSet(yield* anyOf(opened).database.join(tx, true), "principal");
  if (set !== undefined) connections.set(tx, set.own);
  return set?.own;
}

function* withinFlow<T>(
  opened: ReadonlyMap<string, OneSender>,
  tx: object,
  work: (one: OneSender) => MaybePromise<T>,
): Coroutine<T> {
  const own = yield* ownName(opened, tx);
  const one = opened.get(own ?? "");
  if (one === undefined) throw wrongDatabase("tx", own ?? "outside of the split");
  try {
    return yield* wait(work(one));
  } catch (error) {
    if (!(error instanceof KeyspaceElsewhere)) throw error;
    const { found } = error;
    if (found.why === "outdated") throw standing(one.name);
    if (found.why !== "row") throw wrongDatabase("tx", one.name);
    throw found.row.state === "moving" ? standing(found.row.name) : wrongDatabase(found.row.name, one.name);
  }
}
