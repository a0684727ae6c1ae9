/**
 * A receiver of signed webhooks on an embedded store. A seller's event is sent twice and forged once: its effect is
 * applied once. The seller is played here; everything else is what a buyer would deploy.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceiver, webhookReceiver } from "adbind/receiver";
import { signWebhook, staticKeys } from "adbind/signing";
import { openSqliteStore } from "adbind/store";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "#bindings";

const seller = "https://seller.example/agent";
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const use = { kid: "key-1", use: "sig", key_ops: ["verify"], alg: "EdDSA", [`${release.word}_use`]: "request-signing" };
const jwk = { ...publicKey.export({ format: "jwk" }), ...use };

const store = openSqliteStore({ path: join(mkdtempSync(join(tmpdir(), "adbind-")), "inbox.db") });
store.db.exec("CREATE TABLE bought (media_buy_id TEXT PRIMARY KEY, times INTEGER NOT NULL)");
const buy = store.db.prepare("INSERT INTO bought VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1");

const receiver = createReceiver({
  store,
  release,
  publicUrl: "https://hooks.buyer.example",
  // Refusals are warnings; here the answer itself is printed.
  logger: pino({ level: "error" }),
  // `{ keys: agentKeys }`, of `adbind/signing/discovery`, finds keys by the seller's URL; here they are at hand.
  senders: { [seller]: { keys: staticKeys([jwk], { sender: seller }) } },
  handlers: {
    tools: {
      create_media_buy: {
        submitted: () => {},
        working: ({ percentage }) => console.log(`working: ${percentage ?? 0} %`),
        "input-required": ({ reason }) => console.log(`needs input: ${reason}`),
        // What a handler returns commits with the event, exactly once. The handler itself may run again after a crash.
        completed: (data) => () => void buy.run(data.media_buy_id),
        failed: ({ errors }) => console.log(errors.map(({ code }) => code).join()),
        canceled: () => {},
        rejected: () => {},
      },
    },
    fallback: ({ kind, taskType }) => console.log(`nobody handles ${kind} ${taskType}`),
  },
});
receiver.start();
const app = fastify();
await app.register(webhookReceiver, { receiver });

// Before the request that registers the webhook is sent, the receiver is told what will come.
await receiver.expect({ route: "/webhooks/buys", sender: seller, kind: "task", operationId: "op-1" });

const event = {
  idempotency_key: "4d3bd8f6-8c70-4c1e-9f0e-5a1f6f7f3f10",
  operation_id: "op-1",
  task_id: "task-1",
  task_type: "create_media_buy",
  status: "completed",
  timestamp: new Date().toISOString(),
  result: { status: "completed", media_buy_id: "mb-7", confirmed_at: null, revision: 1, packages: [] },
};

async function send(body: object, tamper = ""): Promise<string> {
  const request = {
    method: "POST" as const,
    url: "https://hooks.buyer.example/webhooks/buys",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
  };
  const signed = await signWebhook(request, { key: privateKey, keyid: "key-1", word: release.word });
  // What is signed has its Content-Type: given once more, a server would see it twice and refuse it.
  const headers = { ...signed.headers, host: "hooks.buyer.example" };
  const answer = await app.inject({ method: "POST", url: "/webhooks/buys", headers, payload: request.body + tamper });
  return `${answer.statusCode} ${answer.headers["www-authenticate"] ?? answer.body}`;
}

console.log(await send(event));
console.log(await send(event));
console.log(await send(event, " "));
await receiver.idle();
console.log(store.db.prepare("SELECT * FROM bought").all());
await receiver.stop();
await app.close();
await store.close();
