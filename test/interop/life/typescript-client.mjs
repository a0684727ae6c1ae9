/**
 * The official TypeScript SDK's client as a buyer, untouched: one JSON question a line, one JSON answer a line, as python.py.
 * Arguments: the seller's host, which is this machine; the SDK's entry.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import dns from "node:dns";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [host, entry] = process.argv.slice(2);
// This machine's name service: it is its own, not the client's.
const { lookup } = dns;
dns.lookup = (name, ...more) => lookup(name === host ? "127.0.0.1" : name, ...more);
// What the SDK tells people goes beside the answers.
console.log = console.info = console.debug = (...said) => console.error(...said);

const { ADCPMultiAgentClient, ADCP_VERSION } = await import(pathToFileURL(entry).href);

const BRAND = { domain: "acmeoutdoor.example" };
const ACCOUNT = { brand: BRAND, operator: "pinnacle.example" };
const SECRET = "a-secret-of-the-buyer-for-webhooks-0123456789";
const WAIT_MS = 30_000;
const DAY_MS = 86_400_000;
const day = (days) => new Date(Date.now() + days * DAY_MS).toISOString();

/** Webhooks as they arrive. */
const arrived = [];
const inbox = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  arrived.push({ path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString("utf8") });
  response.end();
});
await new Promise((resolve) => inbox.listen(0, "127.0.0.1", resolve));
inbox.unref();
const origin = `http://127.0.0.1:${inbox.address().port}`;

async function arrival(taskType, status) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await setTimeout(100))
    for (const one of arrived)
      if (one.path.startsWith(`/webhooks/${taskType}/`) && JSON.parse(one.body).status === status) return one;
  throw new Error(`no webhook of ${taskType} says ${status}: ${JSON.stringify(arrived).slice(0, 300)}`);
}

const data = (result) => {
  assert.ok(result.success, `${result.status}: ${result.error ?? JSON.stringify(result.data ?? null)}`);
  return result.data;
};

const steps = {
  async capabilities({ buyer }) {
    const said = data(await buyer.executeTask("get_adcp_capabilities", {}));
    assert.ok(said.supported_protocols.includes("media_buy"), JSON.stringify(said));
  },
  async accounts({ buyer }) {
    const [account] = data(await buyer.syncAccounts({ accounts: [{ ...ACCOUNT, billing: "operator" }] })).accounts;
    assert.equal(account.status, "active");
    const { accounts } = data(await buyer.listAccounts({}));
    assert.ok(accounts.some((one) => one.account_id === account.account_id));
  },
  async products(life) {
    const asked = { buying_mode: "brief", brief: "Outdoor gear", brand: BRAND, account: ACCOUNT };
    const { products } = data(await life.buyer.getProducts(asked));
    life.product = products.find((one) => one.delivery_type === "guaranteed" && one.format_ids?.length > 0);
    assert.ok(life.product, JSON.stringify(products).slice(0, 500));
  },
  async order(life) {
    const bought = data(await life.buyer.createMediaBuy(order(life, 20_000)));
    life.buy = bought.media_buy_id;
    assert.equal(bought.packages.length, 1);
    assert.equal((await found(life, life.buy)).media_buy_id, life.buy);
  },
  async formats(life) {
    const { formats } = data(await life.buyer.listCreativeFormats({}));
    [life.format] = formats;
    assert.ok(life.format);
  },
  async creative({ buyer, format }) {
    const creative_id = `creative_${randomUUID()}`;
    const image = { asset_type: "image", url: "https://cdn.acmeoutdoor.example/a.png", width: 300, height: 250 };
    const wanted = format.assets.filter(({ asset_type }) => asset_type === "image").map((one) => [one.asset_id, image]);
    const creative = { creative_id, name: "A banner", format_id: format.format_id, assets: Object.fromEntries(wanted) };
    const [synced] = data(await buyer.syncCreatives({ account: ACCOUNT, creatives: [creative] })).creatives;
    assert.equal(synced.action, "created", JSON.stringify(synced));
    const { creatives } = data(await buyer.listCreatives({ account: ACCOUNT }));
    assert.ok(creatives.some((one) => one.creative_id === creative_id));
  },
  async update({ buyer, buy }) {
    const changed = data(await buyer.updateMediaBuy({ account: ACCOUNT, media_buy_id: buy, paused: true }));
    assert.equal(changed.media_buy_id, buy);
  },
  async delivery({ buyer, buy }) {
    const reports = data(await buyer.getMediaBuyDelivery({ account: ACCOUNT, media_buy_ids: [buy] }));
    assert.equal(reports.media_buy_deliveries[0].media_buy_id, buy);
  },
  /** An order that waits for a signature, and the webhook that tells of its end; the client registers it by itself. */
  async later(life) {
    const result = await life.buyer.createMediaBuy(order(life, 60_000));
    assert.equal(result.status, "submitted", result.error);
    const { headers, body, path } = await arrival("create_media_buy", "completed");
    const [, , type, , operation] = path.split("/");
    const [signature, timestamp] = [headers["x-adcp-signature"], headers["x-adcp-timestamp"]];
    const taken = await life.buyer.handleWebhook(JSON.parse(body), type, operation, signature, timestamp, body);
    assert.equal(taken, true);
    const [told] = life.told;
    assert.equal(told?.status, "completed", JSON.stringify(life.told));
    assert.equal((await found(life, told.media_buy_id)).media_buy_id, told.media_buy_id);
  },
  async cancel(life) {
    const { buyer, buy, known } = life;
    const result = await buyer.updateMediaBuy({ account: ACCOUNT, media_buy_id: buy, canceled: true });
    // What the seller says of the buy afterwards decides: see known.json.
    if (life.protocol === "a2a" && result.error === "Task canceled") known.cancel = result.error;
    else data(result);
    assert.equal((await found(life, buy)).status, "canceled");
  },
};

function order({ product }, budget) {
  const [option] = product.pricing_options;
  const line = { product_id: product.product_id, pricing_option_id: option.pricing_option_id, budget };
  return { account: ACCOUNT, brand: BRAND, start_time: day(2), end_time: day(32), packages: [line] };
}

async function found({ buyer }, media_buy_id) {
  const [one] = data(await buyer.getMediaBuys({ account: ACCOUNT, media_buy_ids: [media_buy_id] })).media_buys;
  return one;
}

async function live({ url, protocol, line, token }) {
  const agent = {
    id: "seller",
    name: "Seller",
    agent_uri: url,
    protocol,
    ...(token !== null && { auth_token: token }),
  };
  const told = [];
  const client = new ADCPMultiAgentClient([agent], {
    ...(line !== null && { adcpVersion: line }),
    webhookUrlTemplate: `${origin}/webhooks/{task_type}/{agent_id}/{operation_id}`,
    webhookSecret: SECRET,
    handlers: {
      onCreateMediaBuyStatusChange: (answer, { status }) => told.unshift({ ...answer, status }),
    },
  });
  arrived.length = 0;
  const life = { buyer: client.agent("seller"), protocol, told, known: {} };
  const faults = {};
  for (const [name, step] of Object.entries(steps))
    faults[name] = await step(life).then(
      () => null,
      (error) => `${error.name}: ${error.message}`.slice(0, 600),
    );
  return { steps: faults, known: life.known };
}

const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
tell({ name: `@adcp/sdk of release ${ADCP_VERSION}` });
for await (const question of createInterface({ input: process.stdin })) tell(await live(JSON.parse(question)));
process.exit();
