/**
 * A server to be measured from another process: `receiver` and `fastify` are all of it on the store, on node's own server and on
 * fastify; `bare` is node's own server that verifies and answers. It says at SIGUSR2 what processor time it has taken.
 * Arguments: kind, port, key as JSON, the store's URL.
 */
import { createServer } from "node:http";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver, nodeListener, webhookReceiver } from "../../runtime/receiver/index.js";
import { memoryReplayStore, verifyWebhookSync } from "../../runtime/signing/index.js";
import { openStore, type Store } from "../../runtime/store/index.js";
import { keySource, PUBLIC_URL, ROUTE, SENDER } from "./receiver-events.js";

const [kind, port, jwk, url] = process.argv.slice(2) as [string, string, string, string];
const keys = keySource(JSON.parse(jwk));
const ready = (): void => void process.stdout.write("ready\n");
const end = (text: string): void => void process.stdout.write(`${text}\n`, () => process.exit());
process.on("SIGUSR2", () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`cpu ${user + system}\n`);
});

async function receiver(): Promise<void> {
  const store = await openStore(url);
  let wrong = 0;
  const made = createReceiver({
    store: store as unknown as Store<unknown>,
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
  process.on("SIGTERM", async () => {
    await made.idle();
    end(JSON.stringify({ wrong, backlog: await store.inbox.backlog() }));
  });
  if (kind === "fastify") {
    const app = fastify();
    await app.register(webhookReceiver, { receiver: made });
    await app.listen({ port: Number(port), host: "127.0.0.1" });
    ready();
  } else createServer(nodeListener(made)).listen(Number(port), "127.0.0.1", ready);
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
  process.on("SIGTERM", () => end(""));
  server.listen(Number(port), "127.0.0.1", ready);
}

if (kind === "bare") bare();
else await receiver();
