/** A seller and its sender whose callers are spread over three databases: here three files, elsewhere servers of PostgreSQL. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "adbind/db";
import { createSeller } from "adbind/seller";
import { createSender } from "adbind/sender";
import { shardedByPrincipal } from "adbind/store";
import { release } from "#bindings";

const folder = mkdtempSync(join(tmpdir(), "adbind-"));
/** Opens a database, with the application's own tables: they are in each of them. */
async function open(name: string) {
  const database = openSqlite({ path: join(folder, `${name}.db`) });
  database.file.exec("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, caller TEXT NOT NULL)");
  return database;
}

const store = await shardedByPrincipal([
  { name: "eu-1", database: () => open("eu-1") },
  { name: "eu-2", database: () => open("eu-2") },
  { name: "eu-3", database: () => open("eu-3") },
]);

const signer = { key: generateKeyPairSync("ed25519").privateKey, keyid: "seller-1" };
const sender = await createSender({ store, release, signer });
const seller = await createSeller({
  store,
  sender,
  release,
  tools: {
    create_media_buy: (_request, ctx) => {
      const id = `mb-${ctx.taskId}`;
      // In the caller's database, with the answer and its idempotency key.
      ctx.effect((tx) => void tx.prepare("INSERT INTO orders VALUES (?, ?)").run(id, ctx.principal));
      return ctx.complete({ media_buy_id: id, confirmed_at: null, revision: 1, packages: [] });
    },
  },
});

const callers = ["https://one.example", "https://two.example", "https://three.example", "https://four.example"];
for (const principal of callers) {
  const args = {
    idempotency_key: "an-order-of-this-caller",
    account: { account_id: "acc-1" },
    brand: { domain: "outdoor.example" },
    start_time: "2027-01-01T00:00:00Z",
    end_time: "2027-01-31T00:00:00Z",
    packages: [{ product_id: "sports", pricing_option_id: "cpm", budget: 5_000 }],
  };
  const { status } = await seller.call({ tool: "create_media_buy", args, transport: "mcp", identity: { principal } });
  // A transaction of the application's own is begun where its caller is; what it tells of is stored in it.
  const database = await store.databaseOf(principal);
  await database.write(function* (query) {
    const [row] = yield* query.rows<{ n: number }>("SELECT count(*) AS n FROM orders WHERE caller = ?", [principal]);
    console.log(
      `${principal}: ${status}, ${row?.n} order in ${database.where.slice(folder.length + 1, -".db".length)}`,
    );
  });
}
await seller.close();
await sender.stop();
await store.close();
