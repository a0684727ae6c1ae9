/** An account's feed of changes by the schemas of each published release that has one: the requests asked, the pages answered. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { publishedReleases } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { judgeOf } from "../support/schema-judge.js";
import { world } from "./account-changes.case.js";
import type { SellerCase } from "./store-suite.js";

const of = {
  name: "published",
  open: async () => openSqliteStore({ path: path.join(tempFolder(), "changes.db") }),
  within: async (store: SqliteStore, work: (tx: unknown) => unknown) => store.db.transaction(() => work(store.db))(),
} as unknown as SellerCase;

const REQUEST = "account/list-account-changes-request.json";
const RESPONSE = "account/list-account-changes-response.json";

for (const folder of publishedReleases().filter((one) => existsSync(path.join(one, REQUEST)))) {
  test(`${path.basename(folder)}: requests and pages are valid`, async () => {
    const judge = await judgeOf(folder);
    const { list, record, close } = await world(of);
    for (const type of ["creative", "media_buy", "creative"]) await record(type);
    const account = { account_id: "acct-1" };
    const first = { account, max_results: 2 };
    const page = await list(first);
    const asked = [first, { account, cursor: page.cursor }, { account, starting_position: "latest" }];
    for (const request of asked) {
      assert.is(judge.accepts(REQUEST, request), true, JSON.stringify(request));
      const answer = await list(request);
      assert.is(judge.accepts(RESPONSE, answer), true, JSON.stringify(answer));
    }
    const { cursor: _, ...without } = page;
    assert.is(judge.accepts(RESPONSE, without), false, "a page without its cursor is none");
    await close();
  });
}

test.run();
