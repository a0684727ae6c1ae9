import { sql } from "kysely";
import { test } from "uvu";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import type { Tx } from "../../runtime/store/postgres/tables.js";
import { startPostgres } from "../support/postgres.js";
import { sellerCase } from "./seller.case.js";

const postgres = await startPostgres({ fsync: "off" });

sellerCase({
  name: "seller on postgres",
  async open() {
    const store = await openPostgresStore({ url: await postgres.database(), connections: 8 });
    await sql`create table notes (text text not null)`.execute(store.db);
    return store;
  },
  note: async (tx: Tx, text: string) => {
    await sql`insert into notes values (${text})`.execute(tx);
  },
  notes: async (store: PostgresStore) =>
    (await sql<{ text: string }>`select text from notes`.execute(store.db)).rows.map(({ text }) => text),
} as never);

test.after(() => postgres.stop());
test("the cluster is stopped", () => undefined);
test.run();
