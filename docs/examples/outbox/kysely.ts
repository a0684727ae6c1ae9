/** An order and its webhook, both or neither, with kysely: what `execute` hands to the work is the transaction. */
import { generateKeyPairSync } from "node:crypto";
import { createSender } from "adbind/sender";
import { openStore } from "adbind/store";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { release } from "#bindings";

interface Tables {
  orders: { id: string; status: string };
}

const { privateKey } = generateKeyPairSync("ed25519");

export async function openShop(url: string) {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
  const store = await openStore(url);
  const sender = await createSender({ store, release, signer: { key: privateKey, keyid: "key-1" } });
  await db.schema
    .createTable("orders")
    .ifNotExists()
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("status", "text", (column) => column.notNull())
    .execute();

  return {
    sender,
    /** Takes an order; the buyer is told at `webhook` what becomes of it. */
    take: (id: string, webhook: string) =>
      db.transaction().execute(async (tx) => {
        await tx.insertInto("orders").values({ id, status: "new" }).execute();
        const start = { taskId: id, tool: "create_media_buy", status: "submitted", principal: "buyer-1" } as const;
        await sender.tasks.register(start, { push: { url: webhook, operation_id: id } }, { tx });
      }),
    /** The order changes and its webhook is stored. Repeated after a commit of unknown fate, it is the same webhook. */
    approve: (id: string) =>
      db.transaction().execute(async (tx) => {
        await tx.updateTable("orders").set({ status: "approved" }).where("id", "=", id).execute();
        await sender.tasks.update(id, { status: "working", message: "approved" }, { tx, dedupKey: "approved" });
      }),
    async close() {
      await sender.stop();
      await store.close();
      await db.destroy();
    },
  };
}
