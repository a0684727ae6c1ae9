/** A receiver in the frameworks people have: one line each (docs/examples/frameworks), and all of them answer alike. */
import { existsSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Receiver } from "../../runtime/receiver/index.js";
import { createSeller, type MountedSeller } from "../../runtime/seller/index.js";
import { createTestReceiver } from "../../runtime/testing/index.js";
import { tempFolder } from "../support/release.js";
import { answersOf, PUBLIC_URL, SENDER, type Seen } from "./framework-suite.js";

const examples = path.resolve(import.meta.dirname, "../../docs/examples/frameworks");
const installed = existsSync(path.join(examples, "node_modules/hono"));
const names = installed ? ["node-http", "fastify", "express", "hono", "fetch"] : ["node-http", "fastify"];

interface Example {
  start(receiver: Receiver, port: number): Server | Promise<Server>;
}

async function answers(name: string): Promise<Record<string, unknown>> {
  const { start } = (await import(path.join(examples, `${name}.ts`))) as Example;
  const made = createTestReceiver({ release, sender: SENDER, publicUrl: PUBLIC_URL, ignoreHost: true });
  for (const route of ["/webhooks/a", "/webhooks/%7Eb"])
    await made.receiver.expect({ route, sender: SENDER, kind: "task" });
  const server = await start(made.receiver as Receiver, 0);
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  try {
    const found = await answersOf((server.address() as AddressInfo).port, made);
    return { ...found, handled: made.seen.map(({ taskId }) => taskId).sort() };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await made.close();
  }
}

const expected = await answers("node-http");

test("the suite is answered as it should be", () => {
  const { whole, handled, ...rest } = expected as Record<string, Seen>;
  assert.equal(whole, { status: 200, body: '{"status":"accepted"}', type: "application/json", challenge: undefined });
  assert.equal(handled, ["chunked", "path", "query", "replayed", "spaced", "twice"]);
  assert.is(rest["the same event again"]!.body, '{"status":"duplicate"}');
  for (const name of ["three megabytes, read", "three megabytes in chunks, read"]) assert.is(rest[name]!.status, 413);
  assert.is(rest["an empty body"]!.challenge, 'Signature error="webhook_signature_digest_mismatch"');
  assert.match(rest["its signature twice"] as never, "webhook_signature_header_malformed");
  assert.match(rest["its media type twice"] as never, "unsupported_media_type");
  assert.is(rest["another route of the app"]!.body, '{"a":[1,2]}');
});

for (const name of names.slice(1))
  test(`${name} answers as node's own server does`, async () => {
    const found = await answers(name);
    const other = Object.keys(expected).filter(
      (what) => JSON.stringify(found[what]) !== JSON.stringify(expected[what]),
    );
    const lines = other.map((what) => `${what}: ${JSON.stringify(found[what])}, not ${JSON.stringify(expected[what])}`);
    assert.is(lines.length, 0, lines.join("\n"));
  });

const mcp = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const listed = { name: "get_products", arguments: { buying_mode: "wholesale" } };

/** What a seller in an app answers, and what the app does. */
async function sellerIn(start: (seller: MountedSeller, port: number) => Server | Promise<Server>) {
  const seller = await createSeller({
    release,
    tools: { get_products: (_request, ctx) => ctx.complete({ products: [] }) },
  });
  const server = await start(await seller.mount(), 0);
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${at}${path}`, init);
    return [answer.status, (await answer.text()).replaceAll(/:\d{4,5}|\d{4}-[\d-]+T[\d:.]+Z/g, "")];
  };
  try {
    return {
      called: await ask("/mcp", { method: "POST", headers: mcp, body: rpc("tools/call", listed) }),
      card: await ask("/.well-known/agent-card.json?x=1"),
      broken: await ask("/mcp", { method: "POST", headers: mcp, body: "{" }),
      streamed: await ask("/a2a", {
        method: "POST",
        headers: { ...mcp, "a2a-version": "1.0" },
        body: rpc("SendStreamingMessage", {
          message: { messageId: "m", role: "ROLE_USER", parts: [{ data: { skill: "get_products", parameters: {} } }] },
        }),
      }).then(([status, text]) => [status, /data:/.test(String(text))]),
      foreign: await ask("/mcp", { method: "POST", headers: { ...mcp, origin: "https://evil.example" }, body: "{}" }),
      own: await ask("/orders", { method: "POST", headers: mcp, body: '{"a":1}' }),
    };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await seller.close();
  }
}

test("a seller stands in an app of any framework, and leaves the app its own", async () => {
  if (!installed) return;
  const { inNode, ...others } = (await import(path.join(examples, "seller.ts"))) as Record<string, never>;
  const wanted = await sellerIn(inNode!);
  assert.equal([wanted.called[0], wanted.card[0], wanted.streamed], [200, 200, [200, true]]);
  assert.equal([wanted.broken[0], wanted.foreign[0]], [400, 403]);
  assert.equal(wanted.own, [200, '{"a":1}']);
  for (const [name, start] of Object.entries(others)) assert.equal(await sellerIn(start), wanted, name);
});

test("a request whose body somebody has read is told so, and logged", async () => {
  if (!installed) return;
  const { default: express } = await import(path.join(examples, "node_modules/express/index.js"));
  const refused = await sellerIn((seller, port) => {
    const app = express();
    app.use(express.json(), seller.listener);
    return app.listen(port, "127.0.0.1");
  });
  assert.equal(refused.called, [500, '{"error":"body_not_raw"}']);
});

test("a seller's products are rows of the application's, and its log the application's", async () => {
  const example = path.resolve(examples, "../outbox/kysely-seller.ts");
  if (!existsSync(path.resolve(examples, "../outbox/node_modules/kysely"))) return;
  const { startShop } = (await import(example)) as typeof import("../../docs/examples/outbox/kysely-seller.js");
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const shop = await startShop(path.join(tempFolder(), "shop.db"), logger);
  try {
    const offer = { id: "front", name: "Front page", cpm: 18, format: "display_300x250" };
    await shop.db.insertInto("offers").values(offer).execute();
    const { port } = shop.server.address() as AddressInfo;
    const price = async (): Promise<number> => {
      const body = rpc("tools/call", listed);
      const answer = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers: mcp, body });
      return Number(/"fixed_price":(\d+)/.exec(await answer.text())?.[1]);
    };
    assert.is(await price(), 18);
    await shop.db.updateTable("offers").set({ cpm: 21 }).execute();
    assert.is(await price(), 21, "a price that is changed is the price from then on");
    assert.ok(
      lines.some((line) => line.includes("over plain http")),
      lines.join(""),
    );
  } finally {
    await shop.close();
  }
});

if (!installed)
  test("express and Hono are not installed", () => {
    console.log("skipped: the frameworks of test/interop/frameworks are not installed; ./run test installs them");
  });

test.run();
