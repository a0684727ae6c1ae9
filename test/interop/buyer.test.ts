/** Our buyer and the peer's sellers: its worked example over MCP, its server framework over A2A, on real sockets. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { Failure, JsonObject } from "../../runtime/contract/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { peerRelease } from "../support/corpus.js";
import { until } from "../support/until.js";
import { wholeReleaseIn } from "../support/whole-release.js";

const root = path.resolve(import.meta.dirname, "../..");
const sdk = path.join(import.meta.dirname, "peer/node_modules/@adcp/sdk");
const load = createRequire(path.join(sdk, "package.json"));
const folder = existsSync(sdk) ? peerRelease() : undefined;
if (!existsSync(sdk)) console.log("skipped: the peer SDK is not installed (npm ci in test/interop/peer)");

/** What the example seller expects unless told otherwise. */
const TOKEN = "sk_harness_do_not_use_in_prod";
const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" };
const brand = { domain: "acmeoutdoor.example" };

function startExample(file: string, env: Record<string, string>): ChildProcess {
  const tsx = path.join(root, "node_modules/tsx/dist");
  const hooks = [
    "--require",
    path.join(tsx, "preflight.cjs"),
    "--import",
    pathToFileURL(path.join(tsx, "loader.mjs")).href,
  ];
  return spawn(process.execPath, [...hooks, path.join(sdk, "examples", file)], {
    cwd: sdk,
    env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "development", ...env },
    stdio: "ignore",
  });
}

test("MCP: the peer's example seller sells, and its task ends by polling", async () => {
  if (folder === undefined) return;
  const { bootMockServer } = load("./dist/lib/mock-server/index.js");
  const upstream = await bootMockServer({ specialism: "sales-guaranteed", port: await freePort() });
  const port = await freePort();
  const env = { PORT: String(port), UPSTREAM_URL: upstream.url };
  const child = startExample("hello_seller_adapter_guaranteed.ts", env);
  const { release } = await wholeReleaseIn(folder);
  const url = `http://127.0.0.1:${port}/mcp`;
  const buyer = createBuyer({ release, agent: url, allowLocal: true, auth: { bearer: TOKEN }, pollMs: 100 });
  const stranger = createBuyer({ release, agent: url, allowLocal: true, auth: { bearer: "wrong" } });
  try {
    await until(async () =>
      fetch(url, { method: "POST" }).then(
        () => true,
        () => false,
      ),
    );
    const negotiation = await buyer.negotiate();
    assert.ok(negotiation.ok && negotiation.negotiated.idempotent);
    assert.ok((await buyer.listed()).includes("create_media_buy"));
    const found = await buyer.call("get_products", { buying_mode: "brief", brief: "sports", account, brand });
    const [product] = (found.answer.data as { products: { product_id: string; pricing_options: JsonObject[] }[] })
      .products;
    const pricing_option_id = product?.pricing_options[0]?.pricing_option_id;
    const request = {
      ...{ account, brand, start_time: "2027-01-01T00:00:00Z", end_time: "2027-03-01T00:00:00Z" },
      packages: [{ product_id: product?.product_id, budget: 50_000, pricing_option_id }],
    };
    const bought = await buyer.call("create_media_buy", request);
    assert.is(bought.answer.status, "submitted", JSON.stringify(bought.answer.data));
    const ended = await bought.waitForCompletion();
    assert.is(ended.status, "completed", JSON.stringify(ended.data));
    assert.type((ended.data as JsonObject).media_buy_id, "string");
    const repeated = await buyer.call("create_media_buy", { ...request, idempotency_key: bought.idempotencyKey });
    assert.equal([repeated.replayed, repeated.answer.taskId], [true, bought.answer.taskId]);
    const refused = await stranger.call("get_products", { buying_mode: "brief", brief: "sports", account, brand });
    assert.is(refused.answer.status, "failed");
  } finally {
    await buyer.close();
    await stranger.close();
    child.kill("SIGKILL");
    await upstream.close();
  }
});

test("A2A: the peer's server framework is called by skill, and its statuses are read from the payload", async () => {
  if (folder === undefined) return;
  const { createA2AAdapter, adcpError, createIdempotencyStore, InMemoryStateStore, memoryBackend } =
    load("./dist/lib/server/index.js");
  const { createAdcpServer } = load("./dist/lib/server/create-adcp-server.js");
  const express = load("express");
  const app = express();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  // A test that fails early must end all the same.
  http.unref();
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const heard: JsonObject[] = [];
  const server = createAdcpServer({
    name: "Peer",
    version: "1.0.0",
    idempotency: createIdempotencyStore({ backend: memoryBackend(), ttlSeconds: 86_400 }),
    stateStore: new InMemoryStateStore(),
    resolveSessionKey: () => "session",
    validation: { requests: "off", responses: "off" },
    mediaBuy: {
      getProducts: async () => ({ products: [] }),
      createMediaBuy: async (request: JsonObject) => {
        heard.push(request);
        if (heard.length === 1) return { status: "submitted", task_id: "task_1", message: "later" };
        return adcpError("PRODUCT_NOT_FOUND", { message: "no such product", field: "packages[0].product_id" });
      },
    },
  });
  const card = { name: "Peer", description: "A seller", url: `${url}/a2a`, version: "1.0.0", securitySchemes: {} };
  const adapter = createA2AAdapter({ server, agentCard: { ...card, provider: { organization: "Peer", url } } });
  app.use(express.json());
  adapter.mount(app);
  const buyer = createBuyer({ release: (await wholeReleaseIn(folder)).release, agent: url, allowLocal: true });
  try {
    const found = await buyer.call("get_products", { buying_mode: "brief", brief: "sports" });
    assert.is(found.answer.status, "completed", JSON.stringify(found.answer.data));
    assert.equal((found.answer.data as JsonObject).products, []);
    const request = {
      account,
      brand,
      packages: [{ product_id: "p" }],
      start_time: "asap",
      end_time: "2027-03-01T00:00:00Z",
    };
    const bought = await buyer.call("create_media_buy", request);
    assert.equal([bought.answer.status, bought.answer.taskId], ["submitted", "task_1"], JSON.stringify(bought.answer));
    assert.is(heard[0]?.idempotency_key, bought.idempotencyKey);
    const missing = await buyer.call("create_media_buy", request);
    const [error] = (missing.answer.data as Failure).errors;
    assert.equal(
      [error?.code, error?.field, missing.recovery],
      ["PRODUCT_NOT_FOUND", "packages[0].product_id", "correctable"],
    );
  } finally {
    await buyer.close();
    http.closeAllConnections();
    http.close();
  }
});

test.run();
