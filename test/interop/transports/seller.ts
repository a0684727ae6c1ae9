/** The seller that official clients are let loose on, and what they ask it for. */
import path from "node:path";
import { createSeller, tokenAuth } from "../../../runtime/seller/index.js";
import { openSqliteStore } from "../../../runtime/store/index.js";
import { freePort } from "../../../runtime/testing/free-port.js";
import { buyRequest, newBench, sellerOptions } from "../../seller/fixture.js";
import { tempFolder } from "../../support/release.js";

export const TOKEN = "key-of-buyer-1";

export async function startSeller() {
  const port = await freePort();
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const auth = tokenAuth({ tokens: { [TOKEN]: "buyer-1" } });
  const url = `http://127.0.0.1:${port}`;
  const seller = await createSeller({ ...sellerOptions(newBench()), store, auth, baseUrl: url } as never);
  await seller.start({ port });
  return {
    url,
    async close() {
      await seller.close();
      await store.close();
    },
  };
}

let made = 0;

/** Requests with keys of their own. */
export const requests = () => {
  made += 1;
  const of = (product: string) => buyRequest(product, { idempotency_key: `interop-${made}-${product}-0123456789` });
  return { missing: of("prod_missing"), later: of("prod_later"), manual: of("prod_manual") };
};
