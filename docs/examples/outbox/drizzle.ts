/**
 * An order and its webhook, both or neither, with drizzle: what `transaction` hands to the work is the transaction, on
 * whichever driver. Behind a pooler, postgres.js is given `prepare: false`.
 */
import { generateKeyPairSync } from "node:crypto";
import { createSender } from "adbind/sender";
import { openStore } from "adbind/store";
import { eq, sql } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { release } from "#bindings";

const orders = pgTable("orders", { id: text().primaryKey(), status: text().notNull() });

const { privateKey } = generateKeyPairSync("ed25519");

export async function openShop(url: string) {
  const client = postgres(url, { prepare: false, onnotice: () => undefined });
  const db = drizzle(client);
  const store = await openStore(url);
  const sender = await createSender({ store, release, signer: { key: privateKey, keyid: "key-1" } });
  await db.execute(sql`create table if not exists orders (id text primary key, status text not null)`);

  return {
    sender,
    /** Takes an order; the buyer is told at `webhook` what becomes of it. */
    take: (id: string, webhook: string) =>
      db.transaction(async (tx) => {
        await tx.insert(orders).values({ id, status: "new" });
        const start = { taskId: id, tool: "create_media_buy", status: "submitted", principal: "buyer-1" } as const;
        await sender.tasks.register(start, { push: { url: webhook, operation_id: id } }, { tx });
      }),
    /** The order changes and its webhook is stored. Repeated after a commit of unknown fate, it is the same webhook. */
    approve: (id: string) =>
      db.transaction(async (tx) => {
        await tx.update(orders).set({ status: "approved" }).where(eq(orders.id, id));
        await sender.tasks.update(id, { status: "working", message: "approved" }, { tx, dedupKey: "approved" });
      }),
    async close() {
      await sender.stop();
      await store.close();
      await client.end();
    },
  };
}
