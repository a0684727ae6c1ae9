import path from "node:path";
import type { Database } from "better-sqlite3";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { tempFolder } from "../support/release.js";
import { accountChangesCase } from "./account-changes.case.js";
import { heldCase } from "./held.case.js";
import { idempotencyCase } from "./idempotency.case.js";
import { namesOfSellersCase } from "./names.case.js";
import { principalsCase } from "./principals.case.js";
import { resumedCase } from "./resumed.case.js";
import type { SellerCase } from "./store-suite.js";
import { taskRacesCase } from "./task-races.case.js";
import { tasksCase } from "./tasks.case.js";

const folder = tempFolder();
let count = 0;

const of = {
  name: "seller on sqlite",
  async open() {
    count += 1;
    const store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
    store.db.exec("create table notes (text text not null)");
    return store;
  },
  note: (tx: Database, text: string) => void tx.prepare("insert into notes values (?)").run(text),
  within: async (store: SqliteStore, work: (tx: Database) => unknown) => store.db.transaction(() => work(store.db))(),
  notes: async (store: SqliteStore) => store.db.prepare("select text from notes").pluck().all() as string[],
} as unknown as SellerCase;

accountChangesCase(of);
idempotencyCase(of);
namesOfSellersCase(of);
principalsCase(of);
resumedCase(of);
taskRacesCase(of);
heldCase(of);
tasksCase(of);
