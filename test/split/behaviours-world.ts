/** A seller of the library's behaviours on several databases, for tests. */

import type { BehavingSellerOptions } from "../../runtime/behaviours/index.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { type PrincipalStore, shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { account, behavingSeller, brand, key, type TestSeller, versions } from "../behaviours/behaving-seller.js";
import { named } from "./databases.js";

/** One release of those there are; undefined where there is none. */
export const version = versions.at(-1);

export const LINES = 3;
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
export const order = () => ({
  ...key(),
  account,
  brand,
  start_time: "2099-01-01T00:00:00Z",
  end_time: "2099-02-01T00:00:00Z",
  packages: Array.from({ length: LINES }, () => line),
});

export interface Line {
  readonly package_id: string;
  readonly budget: number;
}

export async function linesOf({ ask }: TestSeller, id: string, principal: string): Promise<Line[]> {
  const { media_buys: buys } = await ask("get_media_buys", { account, media_buy_ids: [id] }, principal);
  return buys[0].packages;
}

export interface SplitSellers {
  open(urls: readonly string[], more?: Partial<BehavingSellerOptions>): Promise<TestSeller>;
  store(urls: readonly string[]): Promise<PrincipalStore>;
  close(): Promise<void>;
}

export function splitSellers(): SplitSellers {
  const opened: (() => Promise<void>)[] = [];
  const store = async (urls: readonly string[]): Promise<PrincipalStore> => {
    const made = await shardedByPrincipal(named(urls), { waitMs: 60_000 });
    opened.push(() => made.close());
    return made;
  };
  return {
    store,
    async open(urls, more = {}) {
      const limits = { calls: false, inFlightWaitMs: 60_000 } as const;
      const options = { database: await store(urls), limits, ...more };
      const seller = await behavingSeller(version ?? "", ["sales_non_guaranteed"], options);
      opened.push(() => seller.close());
      return seller;
    },
    async close() {
      for (const close of opened.splice(0).reverse()) await close();
    },
  };
}

export async function initSplit(urls: readonly string[]): Promise<void> {
  const change = splitChange({ kind: "principal", databases: named(urls) });
  await change.init();
  await change.close();
}
