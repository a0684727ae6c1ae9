/** A receiver whose senders are spread over three databases: here three files, elsewhere `postgres://` URLs of three servers. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "adbind/db";
import { createReceiver } from "adbind/receiver";
import { staticKeys } from "adbind/signing";
import { shardedBySender } from "adbind/store";
import { release } from "#bindings";

const folder = mkdtempSync(join(tmpdir(), "adbind-"));
const urlOf = (name: string): string => `sqlite:${join(folder, `${name}.db`)}`;
const sellers = ["https://one.example", "https://two.example", "https://three.example", "https://four.example"];

const store = await shardedBySender([
  { name: "eu-1", database: () => openDatabase(urlOf("eu-1")) },
  { name: "eu-2", database: () => openDatabase(urlOf("eu-2")) },
  { name: "eu-3", database: () => openDatabase(urlOf("eu-3")) },
]);

const receiver = createReceiver({
  store,
  release,
  publicUrl: "https://hooks.buyer.example",
  senders: Object.fromEntries(sellers.map((sender) => [sender, { keys: staticKeys([], { sender }) }])),
  handlers: { fallback: () => undefined },
});
for (const [index, sender] of sellers.entries()) {
  await receiver.expect({ route: `/webhooks/${index}`, sender, kind: "task" });
  const { where } = await store.databaseOf(sender);
  console.log(`${sender}: ${where.slice(folder.length + 1, -".db".length)}`);
}
await receiver.stop();
await store.close();
