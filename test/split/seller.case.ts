/** A seller on three databases does what every seller does. */
import type { Database } from "better-sqlite3";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import type { PostgresTx } from "../../runtime/db/postgres/open.js";
import { type PrincipalStore, shardedByPrincipal } from "../../runtime/store/split/principals.js";
import type { SellerCase } from "../seller/store-suite.js";
import { type Ground, NAMES } from "./databases.js";

/** Whose transactions the cases begin: the caller of theirs. */
const PRINCIPAL = "buyer-1";

export function splitSeller(ground: Ground): SellerCase {
  let open: AnyDatabase[] = [];
  const on = {
    name: `seller on three databases, ${ground.name}`,
    async open() {
      open = await Promise.all((await ground.fresh(3)).map((url) => openDatabase(url)));
      for (const database of open) await database.execute("create table notes (text text not null)");
      return shardedByPrincipal(open.map((database, at) => ({ name: NAMES[at]!, database })));
    },
    note: (tx: Database | PostgresTx, text: string) =>
      "prepare" in tx
        ? void tx.prepare("insert into notes values (?)").run(text)
        : tx.query("insert into notes values ($1)", [text]),
    async within(store: PrincipalStore, work: (tx: object) => unknown) {
      const database = (await store.databaseOf(PRINCIPAL)) as AnyDatabase;
      if (database.engine === "postgres") return database.transaction(async (tx) => work(tx));
      return database.file.transaction(() => work(database.file))();
    },
    async notes() {
      const texts: string[] = [];
      for (const database of open)
        texts.push(
          ...(await database.query((q) => q.rows<{ text: string }>("select text from notes"))).map((row) => row.text),
        );
      return texts;
    },
  };
  // What the cases do to a store of one database they do by the handles above.
  return on as unknown as SellerCase;
}
