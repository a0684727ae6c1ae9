/** The peer's client before our seller, speaking the release that comes with it, over both transports on real sockets. */

import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createSeller, tokenAuth } from "../../runtime/seller/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { peerRelease } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";

const load = createRequire(import.meta.url);
const TOKEN = "token-of-the-peer-0123456789abcdef";

// biome-ignore lint/suspicious/noExplicitAny: the peer's own types are not ours to import
type Any = any;

/** Bindings of the peer's release, inside this repository so that they find what they import. */
async function bindings(folder: string): Promise<Release> {
  const out = path.resolve(import.meta.dirname, `../../.cache/interop-seller-${process.pid}`);
  process.on("exit", () => rmSync(out, { recursive: true, force: true }));
  const { releases } = await generate([folder], { out, partial: true });
  const { release } = await import(pathToFileURL(path.join(out, releases[0]!.version, "index.ts")).href);
  return release;
}

const product = {
  product_id: "prod_1",
  name: "Evening",
  description: "Evening inventory.",
  publisher_properties: [{ publisher_domain: "news.example", selection_type: "all" }],
  format_ids: [{ agent_url: "https://creative.example/mcp", id: "video_30s" }],
  delivery_type: "guaranteed",
  pricing_options: [{ pricing_option_id: "po_1", pricing_model: "cpm", currency: "EUR", fixed_price: 18.5 }],
  reporting_capabilities: {
    available_reporting_frequencies: ["daily"],
    expected_delay_minutes: 240,
    timezone: "UTC",
    supports_webhooks: false,
    available_metrics: ["impressions"],
    date_range_support: "date_range",
  },
};

function handlers(runs: { count: number }) {
  return {
    get_products: (_request: Any, ctx: Any) => ctx.complete({ products: [product] }),
    create_media_buy: (request: Any, ctx: Any) => {
      if (request.packages[0].product_id !== "prod_1") {
        return ctx.fail({
          code: "PRODUCT_NOT_FOUND",
          message: "There is no such product.",
          field: "packages[0].product_id",
        });
      }
      runs.count += 1;
      return ctx.complete({ media_buy_id: `mb_${ctx.taskId}`, packages: [] });
    },
  };
}

const buy = (productId: string, key: string) => ({
  idempotency_key: key,
  account: { account_id: "acct_1" },
  brand: { domain: "acme.example" },
  start_time: "2027-04-01T00:00:00Z",
  end_time: "2027-04-30T23:59:59Z",
  packages: [{ product_id: productId, pricing_option_id: "po_1", budget: 25_000 }],
  context: { correlation_id: key },
});

test("the peer's client buys from our seller over MCP and A2A", async () => {
  const folder = peerRelease();
  if (folder === undefined) return;
  const release = await bindings(folder);
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const port = await freePort();
  const runs = { count: 0 };
  const seller = await createSeller({
    release,
    specialisms: ["sales_guaranteed"],
    tools: handlers(runs),
    store,
    baseUrl: `http://127.0.0.1:${port}`,
    name: "Interop seller",
    mode: "development",
    auth: tokenAuth({ tokens: { [TOKEN]: "peer" } }),
    capabilities: { account: { supported_billing: ["operator"] } },
  } as never);
  await seller.start({ port });
  try {
    const { AdCPClient } = load(path.resolve(import.meta.dirname, "peer/node_modules/@adcp/sdk"));
    const agent = (protocol: string, agentUri: string) => ({
      id: protocol,
      name: protocol,
      protocol,
      agent_uri: agentUri,
      auth_token: TOKEN,
    });
    const base = `http://127.0.0.1:${port}`;
    const client = new AdCPClient([agent("mcp", `${base}/mcp`), agent("a2a", base)]);
    for (const protocol of ["mcp", "a2a"]) {
      const ours = client.agent(protocol);
      const products = await ours.getProducts({ buying_mode: "brief", brief: "runners" });
      assert.is(products.success, true, `${protocol}: ${products.error}`);
      assert.is(products.data.products[0].product_id, "prod_1");
      const key = `interop-${protocol}-0123456789`;
      const first = await ours.createMediaBuy(buy("prod_1", key));
      assert.is(first.success, true, `${protocol}: ${first.error}`);
      const again = await ours.createMediaBuy(buy("prod_1", key));
      assert.is(again.data.media_buy_id, first.data.media_buy_id);
      const missing = await ours.createMediaBuy(buy("prod_2", `${key}-missing`));
      assert.is(missing.success, false);
      assert.match(JSON.stringify(missing), /PRODUCT_NOT_FOUND/);
    }
    assert.is(runs.count, 2, "a replay does not buy again");
  } finally {
    await seller.close();
    await store.close();
  }
});

test("the peer's grader of signed requests finds nothing", async () => {
  const folder = peerRelease();
  if (folder === undefined) return;
  const release = await bindings(folder);
  const sdk = path.resolve(import.meta.dirname, "peer/node_modules/@adcp/sdk");
  const vectors = path.join(sdk, "compliance/cache/3.0.6/test-vectors/request-signing/keys.json");
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const port = await freePort();
  const seller = await createSeller({
    release,
    specialisms: ["sales_guaranteed"],
    tools: handlers({ count: 0 }),
    store,
    baseUrl: `http://127.0.0.1:${port}`,
    name: "Graded seller",
    mode: "development",
    capabilities: { account: { supported_billing: ["operator"] } },
    // What the grader's contract asks of its counterpart: its keys, one of them revoked, and a small cap.
    requestSigning: {
      keys: staticKeys(JSON.parse(readFileSync(vectors, "utf8")), { sender: "https://grader.example" }),
      replay: store.replay({ keyCap: 100 }),
      revocation: { check: (keyid: string) => (keyid === "test-revoked-2026" ? "revoked" : "good") },
      covers_content_digest: "either",
      required_for: ["create_media_buy"],
    },
  } as never);
  const url = `${await seller.start({ port })}/mcp`;
  try {
    const flags = [
      "--transport",
      "mcp",
      "--allow-http",
      "--covers-content-digest",
      "either",
      "--rate-abuse-cap",
      "100",
    ];
    const cli = [path.join(sdk, "bin/adcp.js"), "grade", "request-signing", url, ...flags, "--json"];
    const output = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, cli, { maxBuffer: 1 << 24 }, (_error, stdout, stderr) =>
        stdout === "" ? reject(new Error(stderr)) : resolve(stdout),
      );
    });
    const report = JSON.parse(output);
    const failed = [...report.positive, ...report.negative].filter((one: Any) => !one.skipped && !one.passed);
    assert.equal(failed, []);
    assert.ok(report.passed_count >= 30, `${report.passed_count} vectors passed`);
  } finally {
    await seller.close();
    await store.close();
  }
});

test.run();
