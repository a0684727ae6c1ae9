/**
 * An order and its webhook, both or neither, with better-sqlite3: the application has a handle of its own on the file that
 * the sender's store is in. Nothing is awaited inside the transaction.
 */
import { generateKeyPairSync } from "node:crypto";
import { createSender } from "adbind/sender";
import { openSqliteStore } from "adbind/store";
import Sqlite from "better-sqlite3";
import { release } from "#bindings";

const { privateKey } = generateKeyPairSync("ed25519");

export async function openShop(file: string) {
  const store = openSqliteStore({ path: file });
  const sender = await createSender({ store, release, signer: { key: privateKey, keyid: "key-1" } });
  const db = new Sqlite(file, { timeout: 5_000 });
  db.exec("create table if not exists orders (id text primary key, status text not null)");

  const take = db.transaction((id: string, webhook: string) => {
    db.prepare("insert into orders (id, status) values (?, 'new')").run(id);
    const start = { taskId: id, tool: "create_media_buy", status: "submitted", principal: "buyer-1" } as const;
    sender.tasks.register(start, { push: { url: webhook, operation_id: id } }, { tx: db });
  });
  const approve = db.transaction((id: string) => {
    db.prepare("update orders set status = 'approved' where id = ?").run(id);
    sender.tasks.update(id, { status: "working", message: "approved" }, { tx: db, dedupKey: "approved" });
  });

  return {
    sender,
    /** Takes an order; the buyer is told at `webhook` what becomes of it. */
    take: async (id: string, webhook: string): Promise<void> => take.immediate(id, webhook),
    /** The order changes and its webhook is stored. Repeated after a commit of unknown fate, it is the same webhook. */
    approve: async (id: string): Promise<void> => approve.immediate(id),
    async close() {
      await sender.stop();
      db.close();
      await store.close();
    },
  };
}
