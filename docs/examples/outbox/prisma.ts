/**
 * An order and its webhook, both or neither, with prisma: what `$transaction` hands to the work is the transaction. Its
 * client is generated from prisma/schema.prisma; the table is made by SQL.
 */
import { generateKeyPairSync } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import { createSender } from "adbind/sender";
import { openStore } from "adbind/store";
import { release } from "#bindings";
import { PrismaClient } from "./prisma/client/client.js";

const { privateKey } = generateKeyPairSync("ed25519");

export async function openShop(url: string) {
  const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  const store = await openStore(url);
  const sender = await createSender({ store, release, signer: { key: privateKey, keyid: "key-1" } });
  await db.$executeRaw`create table if not exists orders (id text primary key, status text not null)`;

  return {
    sender,
    /** Takes an order; the buyer is told at `webhook` what becomes of it. */
    take: (id: string, webhook: string) =>
      db.$transaction(async (tx) => {
        await tx.order.create({ data: { id, status: "new" } });
        const start = { taskId: id, tool: "create_media_buy", status: "submitted", principal: "buyer-1" } as const;
        await sender.tasks.register(start, { push: { url: webhook, operation_id: id } }, { tx });
      }),
    /** The order changes and its webhook is stored. Repeated after a commit of unknown fate, it is the same webhook. */
    approve: (id: string) =>
      db.$transaction(async (tx) => {
        await tx.order.update({ where: { id }, data: { status: "approved" } });
        await sender.tasks.update(id, { status: "working", message: "approved" }, { tx, dedupKey: "approved" });
      }),
    async close() {
      await sender.stop();
      await store.close();
      await db.$disconnect();
    },
  };
}
