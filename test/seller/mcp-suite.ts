/** What tests of a seller over MCP share: one of their own for each, on a SQLite file, and calls to it. */
import path from "node:path";
import { suite } from "uvu";
import type { Seller } from "../../runtime/seller/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { tempFolder } from "../support/release.js";
import { type Bench, mcp, newBench, openSeller } from "./fixture.js";

export interface Context {
  store: SqliteStore;
  bench: Bench;
  seller: Seller<never>;
}

export function sellerSuite(name: string) {
  const test = suite<Context>(name);
  const folder = tempFolder();
  let count = 0;
  test.before.each(async (context) => {
    count += 1;
    context.store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
    context.bench = newBench();
    context.seller = await openSeller(context.bench, { store: context.store });
  });
  test.after.each(async ({ seller, store }) => {
    await seller.close();
    await store.close();
  });
  return test;
}

export const tool = (seller: Seller<never>, name: string, args: unknown, headers: Record<string, string> = {}) =>
  mcp(seller, "tools/call", { name, arguments: args }, headers);

/** Opens another seller on the test's store, and closes it. */
export async function with_(
  context: Context,
  more: object,
  use: (seller: Seller<never>) => Promise<void>,
): Promise<void> {
  const seller = await openSeller<never>(context.bench, { store: context.store, ...more });
  try {
    await use(seller);
  } finally {
    await seller.close();
  }
}
