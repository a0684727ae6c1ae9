/**
 * Webhooks signed by a KMS: the private keys never leave it, and each principal has its own. The KMS is played here by a local
 * server that is asked as most of them are: a key's name and base64 in, a signature in base64 out.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSender, type RemoteSigner } from "adbind/sender";
import { memoryReplayStore, staticKeys, verifyWebhook } from "adbind/signing";
import { openSqliteStore } from "adbind/store";
import { release } from "#bindings";

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const read = async (request: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
};

/** The KMS: keys by name. */
const pairs = new Map(["webhooks-acme", "webhooks-initech"].map((name) => [name, generateKeyPairSync("ed25519")]));
const kms = createServer(async (request, response) => {
  const { key, message } = JSON.parse((await read(request)).toString());
  const signature = sign(null, Buffer.from(message, "base64"), pairs.get(key)!.privateKey);
  response.end(JSON.stringify({ signature: signature.toString("base64") }));
});
const kmsUrl = await listen(kms);

/** What a sender needs of it: a name, an algorithm, and a function from bytes to 64 bytes. */
const signerFor = (principal: string): RemoteSigner => {
  const keyid = `webhooks-${principal}`;
  return {
    keyid,
    alg: "ed25519",
    async sign(base) {
      const message = Buffer.from(base).toString("base64");
      const answer = await fetch(kmsUrl, { method: "POST", body: JSON.stringify({ key: keyid, message }) });
      if (!answer.ok) throw new Error(`the KMS answered ${answer.status}`);
      return Buffer.from(((await answer.json()) as { signature: string }).signature, "base64");
    },
  };
};

/** Two receivers at one address, who know the seller's public keys. */
const jwks = [...pairs].map(([kid, { publicKey }]) => {
  const use = { kid, use: "sig", key_ops: ["verify"], alg: "EdDSA", [`${release.word}_use`]: "request-signing" };
  return { ...publicKey.export({ format: "jwk" }), ...use };
});
const keys = staticKeys(jwks as never, { sender: "https://seller.example/agent" });
const replay = memoryReplayStore();
/** Two endpoints are served side by side: which comes first is nobody's to say. */
const told: string[] = [];
const { promise: both, resolve } = Promise.withResolvers<void>();
const receiver = createServer(async (request, response) => {
  const body = await read(request);
  const message = { method: "POST", url: `${receiverUrl}${request.url}`, headers: request.headers as never, body };
  const verified = await verifyWebhook(message, { keys, replay, word: release.word });
  told.push(`${request.url}: ${verified.ok ? `signed by ${verified.keyid}` : verified.code}`);
  response.writeHead(verified.ok ? 200 : 401).end();
  if (told.length === pairs.size) resolve();
});
const receiverUrl = await listen(receiver);

const store = openSqliteStore({ path: join(mkdtempSync(join(tmpdir(), "adbind-")), "outbox.db") });
const net = { allowHttp: true, allowLoopback: true };
const sender = await createSender({ store, release, signerFor, net });
for (const principal of ["acme", "initech"]) {
  const task = { taskId: principal, tool: "create_media_buy", status: "submitted", principal } as const;
  await sender.tasks.register(task, { push: { url: `${receiverUrl}/${principal}`, operation_id: principal } });
  await sender.tasks.update(principal, { status: "working" });
}
sender.start();
await both;
for (const line of told.sort()) console.log(line);

await sender.stop();
await store.close();
for (const server of [kms, receiver]) server.close();
