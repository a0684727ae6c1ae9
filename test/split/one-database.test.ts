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

const sellerOn = (database: unknown, served: readonly string[]) => () =>
  openSeller({
    release,
    specialisms: [],
    with: served,
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

test("a seller of behaviours that change what several principals share is refused several databases, and is told which", async () => {
  const urls = await ground.fresh(2);
  const store = await shardedByPrincipal(named(urls));
  const several = await thrownBy(sellerOn(store, ["brands", "governance", "account-changes", "formats"]));
  assert.equal([several.code, several.where], ["split_invalid", "database"]);
  assert.match(several.message, /governance \(plans.*brands \(the calendar|brands \(the calendar.*governance \(plans/s);
  assert.match(several.message, "account-changes (feeds");
  assert.match(several.remedy ?? "", "one store");
  await store.close();
  for (const url of urls) assert.is(await documentsIn(url), 0, "nothing was written");
});

test("a seller of behaviours is refused one database of several, before it has written anything", async () => {
  const urls = await ground.fresh(2);
  await (await shardedByPrincipal(named(urls))).close();
  assert.is((await thrownBy(sellerOn(urls[0], ["formats"]))).code, "split_invalid");
  for (const url of urls) assert.is(await documentsIn(url), 0, "nothing was written");
});

test("a feed of account changes is refused several databases, and is told what to do", async () => {
  const store = await shardedByPrincipal(named(await ground.fresh(2)));
  const refused = await thrownBy(() => createAccountChanges({ store, accountOf: () => undefined } as never));
  assert.equal([refused.code, refused.where], ["split_invalid", "store"]);
  await store.close();
});

test.run();
