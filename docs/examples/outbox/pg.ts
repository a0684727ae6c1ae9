/**
 * An order and its webhook, both or neither, with `pg`. The application has its own pool, its own table and its own
 * transactions; the sender writes in the one that is open.
 */
import { generateKeyPairSync } from "node:crypto";
import { createSender } from "adbind/sender";
import { openStore } from "adbind/store";
import pg from "pg";
import { release } from "#bindings";

const { privateKey } = generateKeyPairSync("ed25519");

export async function openShop(url: string) {
  const pool = new pg.Pool({ connectionString: url });
  const store = await openStore(url);
  const sender = await createSender({ store, release, signer: { key: privateKey, keyid: "key-1" } });
  await pool.query("create table if not exists orders (id text primary key, status text not null)");

  async function transaction(work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
    const tx = await pool.connect();
    try {
      await tx.query("begin");
      await work(tx);
      await tx.query("commit");
    } catch (error) {
      await tx.query("rollback");
      throw error;
    } finally {
      tx.release();
    }
  }

  return {
    sender,
    /** Takes an order; the buyer is told at `webhook` what becomes of it. */
    take: (id: string, webhook: string) =>
      transaction(async (tx) => {
        await tx.query("insert into orders (id, status) values ($1, 'new')", [id]);
        const start = { taskId: id, tool: "create_media_buy", status: "submitted", principal: "buyer-1" } as const;
        await sender.tasks.register(start, { push: { url: webhook, operation_id: id } }, { tx });
      }),
    /** The order changes and its webhook is stored. Repeated after a commit of unknown fate, it is the same webhook. */
    approve: (id: string) =>
      transaction(async (tx) => {
        await tx.query("update orders set status = 'approved' where id = $1", [id]);
        await sender.tasks.update(id, { status: "working", message: "approved" }, { tx, dedupKey: "approved" });
      }),
    async close() {
      await sender.stop();
      await store.close();
      await pool.end();
    },
  };
}
