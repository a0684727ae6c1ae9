/** Two sellers on one store and what they send, for the cases every store has to pass. */
import { suite } from "uvu";
import type { Database } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import type { Seller } from "../../runtime/seller/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { type Bench, newBench, openSeller } from "./fixture.js";

export interface SellerCase {
  readonly name: string;
  open(): Promise<SqliteStore | PostgresStore>;
  /** Adds a row to a table of the application's own, in an effect. */
  note(tx: never, text: string): unknown;
  /** Does something in a transaction of the application's own. */
  within(store: never, work: (tx: never) => unknown): Promise<unknown>;
  notes(store: never): Promise<readonly string[]>;
}

export interface Context {
  clock: { at: number };
  network: FakeNetwork;
  bench: Bench;
  store: SqliteStore | PostgresStore;
  sender: Sender;
  seller: Seller<never>;
  /** Another instance on the same store. */
  other: Seller<never>;
}

export const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof AdbindError ? error.code : String(error)),
  );

export const HOUR = 3_600_000;

/** Has what is held for a time be held for so much less of it, as if that had gone by: the clock of a store cannot be set. */
export async function passLeases({ database }: Pick<Context["store"], "database">, ms: number): Promise<void> {
  for (const [table, column] of [
    ["adbind_calls", "lease"],
    ["adbind_seller_tasks", "held_until"],
  ])
    await (database as Database).query((q) => q.run(`update ${table} set ${column} = ${column} - ?`, [ms]));
}
export const push = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };

/** @param about what the tests are about; the store is named beside it */
export function storeSuite(of: SellerCase, about: string) {
  const test = suite<Context>(`${of.name}: ${about}`);
  test.before.each(async (context) => {
    context.clock = { at: NOW };
    context.network = new FakeNetwork(context.clock);
    context.bench = newBench();
    context.store = await of.open();
    context.sender = (await createSender({
      ...optionsFor(context.clock, context.network),
      store: context.store,
      reports: () => ({ currency: "EUR", media_buy_deliveries: [] }),
    } as never)) as never;
    context.sender.start();
    const more = { store: context.store, sender: context.sender, now: () => context.clock.at };
    context.seller = await openSeller(context.bench, more);
    context.other = await openSeller(context.bench, more);
  });
  test.after.each(async ({ seller, other, sender, store }) => {
    await seller.close();
    await other.close();
    await sender.stop();
    await store.close();
  });
  return test;
}
