/**
 * One server that answers `get_products`, for the bench of the seller: ours, a bare server of the MCP package that validates and
 * sends the same bytes, node's own that sends them, or the peer's. Prints its port.
 */
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { release } from "../../generated/3.1.0/index.js";
import { createSeller } from "../../runtime/seller/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { createValidator } from "../../runtime/validate/index.js";

const PRODUCTS = 10;

const product = (n: number) => ({
  product_id: `prod_${n}`,
  name: `Product ${n}`,
  description: "Full-screen video in streaming apps between 18:00 and 23:00, on the large screen of the household.",
  publisher_properties: [{ publisher_domain: "news.example", selection_type: "all" as const }],
  format_ids: [{ agent_url: "https://creative.example/mcp", id: "video_1920x1080_30s" }],
  delivery_type: "guaranteed" as const,
  pricing_options: [{ pricing_option_id: "po_cpm", pricing_model: "cpm" as const, currency: "EUR", fixed_price: 18.5 }],
  reporting_capabilities: {
    available_reporting_frequencies: ["daily" as const],
    expected_delay_minutes: 240,
    timezone: "UTC",
    supports_webhooks: true,
    available_metrics: ["impressions" as const, "spend" as const],
    date_range_support: "date_range" as const,
  },
});
const products = Array.from({ length: PRODUCTS }, (_, n) => product(n));

const print = (port: number): void => void process.stdout.write(`${port}\n`);

async function ours(folder: string): Promise<void> {
  const seller = await createSeller({
    release,
    specialisms: [],
    tools: { get_products: (_request, ctx) => ctx.complete({ products } as never) },
    store: openSqliteStore({ path: path.join(folder, "seller.db") }),
    baseUrl: "https://seller.example",
    name: "Bench",
    capabilities: { supported_protocols: ["media_buy"] },
    limits: { calls: false },
  });
  print(Number(new URL(await seller.start()).port));
}

const read = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
};

const structuredContent = { status: "completed", products, context: { trace: "bench" } };
const result = { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };

/** The official package's own way of serving without sessions, an answer that is ready, and the validation that we do. */
async function bare(): Promise<void> {
  const validator = await createValidator(release);
  const http = createServer(async (request, response) => {
    const body = await read(request);
    const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/call", ({ params }) => {
      const asked = validator.request("get_products", params.arguments);
      const answered = validator.arm("get_products", "completed", structuredContent);
      if (!asked.ok || !answered.ok) throw new Error("the bench's own messages are valid");
      return result as never;
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    response.on("close", () => void server.close());
    const headers = request.headers as Record<string, string>;
    const received = new Request("http://bare.invalid/mcp", { method: "POST", headers });
    const answer = await transport.handleRequest(received, { parsedBody: body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  http.listen(0, "127.0.0.1", () => print((http.address() as { port: number }).port));
}

/** The floor: reads what was asked and sends an answer that is bytes already. */
function bytes(): void {
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, result });
  const sent = { "content-type": "application/json", "content-length": Buffer.byteLength(answer) };
  const http = createServer(async (request, response) => {
    await read(request);
    response.writeHead(200, sent).end(answer);
  });
  http.listen(0, "127.0.0.1", () => print((http.address() as { port: number }).port));
}

/** The peer's server with the same products, as its guide for sellers makes one. */
function peer(): void {
  const load = createRequire(import.meta.url);
  const folder = path.resolve(import.meta.dirname, "../../test/interop/peer/node_modules/@adcp/sdk");
  const { createAdcpServer } = load(path.join(folder, "dist/lib/server/legacy/v5/index.js"));
  const { serve, InMemoryStateStore } = load(path.join(folder, "dist/lib/server/index.js"));
  const mediaBuy = { getProducts: async () => ({ products }) };
  const resolveAccount = async () => ({ id: "bench" });
  const stateStore = new InMemoryStateStore();
  const http = serve(() => createAdcpServer({ name: "Peer", version: "1.0.0", mediaBuy, resolveAccount, stateStore }), {
    port: 0,
  });
  const ready = () => print((http.address() as { port: number }).port);
  if (http.listening) ready();
  else http.once("listening", ready);
}

const [kind = "ours", folder = "."] = process.argv.slice(2);
if (kind === "ours") await ours(folder);
else if (kind === "bare") await bare();
else if (kind === "bytes") bytes();
else peer();
