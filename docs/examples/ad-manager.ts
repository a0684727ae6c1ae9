/**
 * Orders that run at an ad manager, a service of somebody else's: HTTP, a token, line items in micros, and no idempotency keys. The
 * service here loses every third answer; what the buyer orders is booked there once all the same.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdServer, type Order, openSeller } from "adbind/behaviours";
import { createBuyer } from "adbind/buyer";
import { ToolError } from "adbind/seller";
import { pino } from "pino";
import { release } from "#bindings";
import { startService } from "./ad-manager/service.js";

interface ManagedOrder {
  readonly id: string;
  readonly status: string;
}

const MICROS = 1_000_000;

const lineItems = ({ lines }: Order) =>
  lines.map(({ packageId, budget, start, end, paused, canceled }) => ({
    ...{ externalId: packageId, startTime: start, endTime: end, impressions: 0 },
    ...{ costMicros: budget * MICROS, status: canceled ? "CANCELED" : paused ? "PAUSED" : "READY" },
  }));

export function adManager(url: string, token: string): AdServer {
  async function ask<T>(method: string, path: string, signal?: AbortSignal, body?: object): Promise<T> {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    // A refusal, which the buyer is told. Anything else that is thrown means that nobody knows, and it is asked again.
    if (answer.status === 422) throw new ToolError("PRODUCT_UNAVAILABLE", "There is not enough inventory.");
    if (!answer.ok) throw new Error(`the ad manager answers ${answer.status} to ${method} ${path}`);
    return (await answer.json()) as T;
  }
  const change =
    (status?: string): AdServer["change"] =>
    async ({ orderId }, order, { signal }) => {
      await ask("PATCH", `/orders/${orderId}`, signal, { lineItems: lineItems(order), ...(status && { status }) });
    };
  return {
    async book(order, { idempotencyKey, signal }) {
      // The key is the order's name there: an order whose answer was lost is found by it.
      const name = encodeURIComponent(idempotencyKey);
      const { orders } = await ask<{ orders: ManagedOrder[] }>("GET", `/orders?externalId=${name}`, signal);
      const wanted = { externalId: idempotencyKey, lineItems: lineItems(order) };
      const { id } = orders[0] ?? (await ask<ManagedOrder>("POST", "/orders", signal, wanted));
      return { orderId: id };
    },
    // Said as it is to be: repeated, it changes nothing more.
    change: change(),
    pause: change("PAUSED"),
    resume: change("APPROVED"),
    cancel: change("CANCELED"),
    async delivery({ orderId }) {
      interface Report {
        readonly rows: readonly { externalId: string; impressions: number; clicks: number }[];
      }
      const { rows } = await ask<Report>("GET", `/orders/${orderId}/report`);
      return Object.fromEntries(
        rows.map(({ externalId, impressions, clicks }) => [
          externalId,
          { impressions, clicks, spend: (impressions * 8) / 1_000, conversions: 0 },
        ]),
      );
    },
  };
}

const service = await startService("a token");
const seller = await openSeller({
  release,
  specialisms: ["sales_guaranteed"],
  name: "A seller before an ad manager",
  database: `sqlite:${join(mkdtempSync(join(tmpdir(), "adbind-")), "seller.db")}`,
  baseUrl: "http://127.0.0.1",
  mode: "development",
  ports: { adServer: adManager(service.url, "a token") },
  // Lost answers are warnings.
  logger: pino({ level: "error" }),
});
const address = await seller.start({ port: 0 });
const buyer = createBuyer({ release, agent: `${address}/mcp`, allowLocal: true, pollMs: 200 });

function order(budget: number) {
  return buyer.tools.create_media_buy({
    account: { brand: { domain: "outdoor.example" }, operator: "outdoor.example" },
    brand: { domain: "outdoor.example" },
    start_time: "2099-01-01T00:00:00Z",
    end_time: "2099-01-31T00:00:00Z",
    packages: [{ product_id: "lifestyle_display_q2", pricing_option_id: "cpm_standard", budget }],
  });
}

const first = await order(5_000);
console.log("an order:", first.answer.status);
console.log("later:", (await first.waitForCompletion()).status);
const large = await order(2_000_000);
console.log("more than there is:", (await large.waitForCompletion()).status);
console.log("orders at the ad manager:", service.orders().length);

await buyer.close();
await seller.close();
await service.close();
