/** A seller of release 3.1.0 whose buys do what the product asked for says. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { release } from "../../generated/3.1.0/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { createSeller, type Seller, type SellerOptions, ToolError } from "../../runtime/seller/index.js";
import type { SqliteStore } from "../../runtime/store/index.js";

const manifests = path.resolve(import.meta.dirname, "../../manifests/3.1.0");

/** The n-th example of a schema, as the release gives it. */
const example = (schema: string, n = 0): JsonObject =>
  JSON.parse(readFileSync(path.join(manifests, schema), "utf8")).examples[n];

const { context: _context, status: _status, ...bought } = example("media-buy/create-media-buy-response.json");
const { context: _c, status: _s, ...products } = example("media-buy/get-products-response.json");

/** A valid request to buy, of one product. */
export function buyRequest(product = "prod_ctv_evening", over: JsonObject = {}): JsonObject {
  const {
    push_notification_config: _push,
    reporting_webhook: _report,
    ...base
  } = example("media-buy/create-media-buy-request.json");
  const packages = [{ product_id: product, pricing_option_id: "po_cpm_fixed", budget: 25_000 }];
  return { ...base, packages, idempotency_key: `key-${product}-0123456789`, ...over };
}

export interface Bench {
  /** Media buys made, in order. */
  readonly made: string[];
  /** Times the buying handler ran. */
  runs: number;
  /** Holds `prod_slow` back. */
  gate: Promise<void>;
  /** What runs in the answer's transaction. */
  effect: ((tx: never, id: string) => unknown) | undefined;
}

export const newBench = (): Bench => ({ made: [], runs: 0, gate: Promise.resolve(), effect: undefined });

const productOf = (request: JsonObject): string => (request.packages as { product_id: string }[])[0]?.product_id ?? "";

/** What an order is answered with that makes nothing; of `prod_asked` its budget decides. */
// biome-ignore lint/suspicious/noExplicitAny: one context for replies of every kind
function earlyReply(request: JsonObject, ctx: any): never | undefined {
  const product = productOf(request);
  if (product === "prod_mute") return { media_buy_id: "mb_1" } as never;
  if (product === "prod_manual") return ctx.submitted() as never;
  if (product !== "prod_asked") return undefined;
  const [{ budget }] = request.packages as [{ budget: number }];
  if (budget > 20_000) return ctx.inputRequired({ reason: "BUDGET_EXCEEDS_LIMIT" }) as never;
  return budget < 100 ? (ctx.fail({ code: "BUDGET_TOO_LOW", message: "Not for so little." }) as never) : undefined;
}

interface Working {
  working(data: JsonObject): Promise<void>;
}

const buyOf = (id: string) => ({ ...bought, media_buy_id: id }) as never;

/** What an order is answered with whose product says what becomes of it; undefined makes the buy. */
// biome-ignore lint/suspicious/noExplicitAny: one context for replies of every kind
function plannedReply(request: JsonObject, id: string, bench: Bench, ctx: any): never | undefined {
  switch (productOf(request)) {
    case "prod_missing":
      throw new ToolError("PRODUCT_NOT_FOUND", "There is no such product.", { field: "packages[0].product_id" });
    case "prod_poor":
      return ctx.fail({ code: "HOUSE_RULE", message: "Not on a Sunday.", retry_after: 60 });
    case "prod_broken":
      throw new Error("the database password is hunter2");
    case "prod_wrong":
      return ctx.complete({ media_buy_id: 7 } as never);
    case "prod_scribbled":
      // Handlers are the application's: what they make of their request is theirs.
      for (const name of Object.keys(request)) delete request[name];
      return ctx.submitted();
    case "prod_later":
      return ctx.submitted({ message: "Waiting for a signature." }, async (task: Working) => {
        await bench.gate;
        await task.working({ percentage: 40 });
        return { status: "completed", data: buyOf(id) };
      });
    case "prod_mumbled":
      return ctx.submitted({}, async () => "done");
    case "prod_put_off":
      return ctx.submitted({}, async () => ctx.submitted());
    case "prod_sold_out":
      return ctx.submitted({}, async () => {
        throw new ToolError("PRODUCT_UNAVAILABLE", "It was sold meanwhile.");
      });
    case "prod_dies":
      return ctx.submitted({}, async () => {
        throw new Error("the ad server's password is hunter2");
      });
    case "prod_refused":
      return ctx.submitted({}, async (task: Working) => {
        await task.working({ percentage: 10 });
        return {
          status: "rejected",
          data: { errors: [{ code: "HOUSE_RULE", message: "Not on a Sunday." }] },
        } as never;
      });
  }
  return undefined;
}

/** One order: told early what it cannot be, and made otherwise. */
// biome-ignore lint/suspicious/noExplicitAny: one context for replies of every kind
async function buy(bench: Bench, request: JsonObject, ctx: any): Promise<never> {
  bench.runs += 1;
  const id = `mb_${bench.runs}_${ctx.taskId}`;
  const reply = earlyReply(request, ctx) ?? plannedReply(request, id, bench, ctx);
  if (reply !== undefined) return reply;
  if (productOf(request) === "prod_slow") await bench.gate;
  ctx.effect((tx: unknown) => bench.effect?.(tx as never, id));
  bench.made.push(id);
  return ctx.complete(buyOf(id)) as never;
}

/** Options without store and sender. */
export const sellerOptions = (
  bench: Bench,
): Omit<SellerOptions<typeof release, "sales_guaranteed", SqliteStore>, "store"> => ({
  release,
  specialisms: ["sales_guaranteed"],
  baseUrl: "https://seller.example",
  name: "Test seller",
  mode: "development",
  limits: { calls: false, inFlightWaitMs: 1_500 },
  tools: {
    get_products: (_request, ctx) => ctx.complete(products as never),
    create_media_buy: (request, ctx) => buy(bench, request as never, ctx),
    get_media_buys: (_request, ctx) => {
      const rows = bench.made.map((id) => ({
        media_buy_id: id,
        status: "active",
        currency: "EUR",
        total_budget: 1,
        packages: [],
      }));
      return ctx.complete({ media_buys: rows } as never);
    },
    list_accounts: (_request, ctx) => ctx.complete({ accounts: [] } as never),
    sync_creatives: (_request, ctx) => ctx.complete({ creatives: [] } as never),
  },
});

export const openSeller = <Tx>(bench: Bench, more: object): Promise<Seller<Tx>> =>
  createSeller({ ...sellerOptions(bench), ...more } as never) as never;

/** Calls a tool as a transport would. */
export const call = (seller: Seller<never>, tool: string, args: unknown, principal = "buyer-1") =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  seller.call({ tool, args, transport: "mcp", identity: { principal } }).then(({ payload }) => payload as any);

/** Asks again while another call with the key is being answered, as callers do. */
export async function settled<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    const { proto_error: error } = answer as { proto_error?: { code: string } };
    if (error?.code !== "IDEMPOTENCY_IN_FLIGHT") return answer;
  }
}

let messages = 0;

/** One MCP request through the HTTP server, without a socket. */
export async function mcp(seller: Seller<never>, method: string, params: object, headers: Record<string, string> = {}) {
  messages += 1;
  const response = await seller.app.inject({
    method: "POST",
    url: "/mcp",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    payload: JSON.stringify({ jsonrpc: "2.0", id: messages, method, params }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  return { status: response.statusCode, headers: response.headers, body: response.json() as any };
}
