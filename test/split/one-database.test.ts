/** What keeps all it has in one database says so where it is given several, before it has written anything. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { openSeller } from "../../runtime/behaviours/index.js";
import type { AnyDatabase } from "../../runtime/db/open.js";
import { createAccountChanges } from "../../runtime/seller/index.js";
import { openStore } from "../../runtime/store/index.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { thrownBy } from "../support/thrown.js";
import { named, sqliteGround } from "./databases.js";

const ground = sqliteGround();
test.after(() => ground.close());

const sellerOn = (database: unknown) => () =>
  openSeller({
    release,
    specialisms: [],
    database,
    baseUrl: "https://seller.example",
    name: "Seller",
    mode: "development",
  } as never);

const documentsIn = async (url: string): Promise<number> => {
  const store = await openStore(url);
  const rows = await (store.database as AnyDatabase).query((q) => q.rows("select 1 as one from adbind_documents"));
  await store.close();
  return rows.length;
};

test("a seller of the library's behaviours is refused several databases, and one of several, and is told what to do", async () => {
  const urls = await ground.fresh(2);
  const store = await shardedByPrincipal(named(urls));
  const several = await thrownBy(sellerOn(store));
  assert.is(several.code, "split_invalid");
  assert.match(several.message, "behaviours");
  assert.is(several.where, "database");
  assert.match(several.remedy ?? "", "one store");
  await store.close();
  const one = await thrownBy(sellerOn(urls[0]));
  assert.is(one.code, "split_invalid");
  for (const url of urls) assert.is(await documentsIn(url), 0, "nothing was written");
});

test("a feed of account changes is refused several databases, and is told what to do", async () => {
  const store = await shardedByPrincipal(named(await ground.fresh(2)));
  const refused = await thrownBy(() => createAccountChanges({ store, accountOf: () => undefined } as never));
  assert.equal([refused.code, refused.where], ["split_invalid", "store"]);
  await store.close();
});

test.run();
