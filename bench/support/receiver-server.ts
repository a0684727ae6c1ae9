/**
 * A server to be measured from another process: `receiver` is all of it on SQLite with synchronous=FULL, `bare` is node's
 * own server that verifies and answers. Arguments: kind, port, key as JSON, database file.
 */
import { createServer } from "node:http";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract.js";
import { createReceiver, webhookReceiver } from "../../runtime/receiver/index.js";
import { memoryReplayStore, verifyWebhookSync } from "../../runtime/signing/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { keySource, PUBLIC_URL, ROUTE, SENDER } from "./receiver-events.js";

const [kind, port, jwk, file] = process.argv.slice(2) as [string, string, string, string];
const keys = keySource(JSON.parse(jwk));
const ready = (): void => void process.stdout.write("ready\n");

async function receiver(): Promise<void> {
  const store = openSqliteStore({ path: file });
  let wrong = 0;
  const made = createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    senders: { [SENDER]: { keys } },
    publicUrl: PUBLIC_URL,
    senderCap: 100_000_000,
    logger: pino({ level: "error" }),
    handlers: {
      tools: {
        create_media_buy: {
          completed: (_buy, _answer, delivery) => {
            wrong += delivery.notes.length;
          },
          submitted: () => undefined,
          working: () => undefined,
          "input-required": () => undefined,
          failed: () => undefined,
          canceled: () => undefined,
          rejected: () => undefined,
        },
      },
      fallback: () => {
        wrong += 1;
      },
    },
  });
  await made.expect({ route: ROUTE, sender: SENDER, kind: "task" });
  made.start();
  const app = fastify();
  await app.register(webhookReceiver, { receiver: made });
  process.on("SIGTERM", async () => {
    await made.idle();
    process.stdout.write(`${JSON.stringify({ wrong, backlog: await store.inbox.backlog() })}\n`);
    process.exit();
  });
  await app.listen({ port: Number(port), host: "127.0.0.1" });
  ready();
}

function bare(): void {
  const options = { keys, replay: memoryReplayStore({ perKeyCap: 10_000_000, totalCap: 10_000_000 }) };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const signed = { method: request.method!, url: PUBLIC_URL + request.url!, headers: request.headers, body };
      const { ok } = verifyWebhookSync(signed, options);
      response.writeHead(ok ? 200 : 401, { "content-type": "application/json", "content-length": 2 }).end("{}");
    });
  });
  process.on("SIGTERM", () => process.exit());
  server.listen(Number(port), "127.0.0.1", ready);
}

if (kind === "receiver") await receiver();
else bare();
