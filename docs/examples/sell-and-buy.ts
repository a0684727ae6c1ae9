/**
 * A seller and a buyer that talk over MCP on this machine: a product list, an order that is repeated after its answer was
 * "lost", and an error with what to do about it. Both sides are typed by the same release.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBuyer } from "adbind/buyer";
import { createSeller, ToolError } from "adbind/seller";
import { openSqliteStore } from "adbind/store";
import { release } from "#bindings";

const store = openSqliteStore({ path: join(mkdtempSync(join(tmpdir(), "adbind-")), "seller.db") });
store.db.exec("CREATE TABLE orders (id TEXT PRIMARY KEY, budget REAL NOT NULL)");

// Leave get_products or create_media_buy out, and this does not compile: sales_guaranteed begins with them.
const seller = await createSeller({
  release,
  specialisms: ["sales_guaranteed"],
  tools: {
    get_products: async (_request, ctx) => ctx.complete({ products: [] }),
    create_media_buy: async ({ packages = [] }, ctx) => {
      const budget = packages.reduce((sum, { budget: one }) => sum + one, 0);
      if (budget < 100)
        throw new ToolError("BUDGET_TOO_LOW", `${budget} is less than 100`, { field: "packages[0].budget" });
      const id = `mb-${ctx.taskId.slice(0, 8)}`;
      // Commits with the answer and its idempotency key, exactly once.
      ctx.effect((tx) => void tx.prepare("INSERT INTO orders VALUES (?, ?)").run(id, budget));
      return ctx.complete({ media_buy_id: id, confirmed_at: null, revision: 1, packages: [] });
    },
  },
  store,
  baseUrl: "http://127.0.0.1",
  name: "A small seller",
  // Plain http is for this machine; and an answer of ours that breaks the release is an error, not a report.
  mode: "development",
});
const address = await seller.start();

const buyer = createBuyer({ release, agent: `${address}/mcp`, allowLocal: true });
const order = (budget: number, key?: string) =>
  buyer.tools.create_media_buy({
    account: { account_id: "acc-1" },
    brand: { domain: "outdoor.example" },
    start_time: "2027-01-01T00:00:00Z",
    end_time: "2027-01-31T00:00:00Z",
    packages: [{ product_id: "sports", pricing_option_id: "cpm", budget }],
    ...(key !== undefined && { idempotency_key: key }),
  });

const first = await order(5_000);
const again = await order(5_000, first.idempotencyKey);
console.log("first order:", first.answer.status);
console.log(
  "the same again:",
  again.answer.status,
  again.replayed ? "(the first answer, replayed)" : "(a second order!)",
);
console.log("orders kept:", store.db.prepare("SELECT count(*) AS n FROM orders").get());

const small = await order(50);
const line = small.on({
  completed: () => "completed",
  submitted: () => "submitted",
  working: () => "working",
  "input-required": () => "input-required",
  failed: ({ errors: [error] }) => `${error?.code} at ${error?.field}: ${error?.suggestion} (${small.recovery})`,
  canceled: () => "canceled",
  rejected: () => "rejected",
});
console.log("a small order:", line);

await buyer.close();
await seller.close();
await store.close();
