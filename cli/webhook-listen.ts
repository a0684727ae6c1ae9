/** `adbind webhook listen`: prints what arrives, and whether it verifies. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch } from "../runtime/net/index.js";
import { brandKeys, remoteJwks } from "../runtime/signing/discovery/index.js";
import { type KeySource, memoryReplayStore, staticKeys, verifyWebhook } from "../runtime/signing/index.js";
import { publicKey, readKeyFile } from "./key-file.js";
import { userPath } from "./output.js";

interface ListenGiven {
  port: string;
  jwks?: string;
  agent?: string;
  url?: string;
  status: string;
  count?: string;
  word: string;
}

/** Receivers take no more (service.md, "Limits"). */
const MAX_BODY_BYTES = 1_048_576;

function keysOf({ jwks, agent }: ListenGiven): KeySource | undefined {
  if (jwks !== undefined && agent !== undefined) {
    throw new AdbindError("usage", "The keys are named twice", { remedy: "give either --jwks or --agent" });
  }
  if (agent !== undefined) return brandKeys({ agentUrl: agent, fetch: createGuardedFetch() });
  if (jwks === undefined) return undefined;
  if (/^https:/i.test(jwks)) return remoteJwks({ url: jwks, sender: jwks, fetch: createGuardedFetch() });
  const keys = readKeyFile(userPath(jwks)).keys.map((key) => (key.d === undefined ? key : publicKey(key)));
  return staticKeys(keys, { sender: jwks });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e\n]/g, "?");

const pretty = (body: Buffer): string => {
  try {
    return JSON.stringify(JSON.parse(body.toString()), null, 2);
  } catch {
    return body.toString();
  }
};

function whole(text: string, what: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw new AdbindError("usage", `${text} is no ${what}`, { remedy: `give ${min} to ${max}` });
}

async function listen(given: ListenGiven): Promise<void> {
  const status = whole(given.status, "HTTP status", 200, 599);
  const port = whole(given.port, "port", 0, 65_535);
  const count = given.count === undefined ? Number.POSITIVE_INFINITY : whole(given.count, "count", 1, 1_000_000);
  const keys = keysOf(given);
  const replay = memoryReplayStore();
  let seen = 0;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) {
      response.writeHead(413, { connection: "close" }).end();
      return;
    }
    const address = server.address() as AddressInfo;
    const base = given.url ?? `http://127.0.0.1:${address.port}`;
    const url = new URL(request.url ?? "/", base).href;
    console.log(printable(`${request.method} ${request.url}, ${body.length} bytes`));
    let answer = status;
    if (keys !== undefined) {
      const signed = { method: request.method ?? "POST", url, headers: request.headersDistinct, body };
      const result = await verifyWebhook(signed, { keys, replay, word: given.word });
      if (!result.ok) answer = result.status;
      console.log(
        result.ok ? `verified: ${result.keyid}` : printable(`refused at step ${result.step}: ${result.code}`),
      );
      if (!result.ok) response.setHeader("www-authenticate", `Signature error="${result.code}"`);
    }
    console.log(printable(pretty(body)));
    response.writeHead(answer).end();
    seen += 1;
    if (seen >= count) server.close();
  };
  const server = createServer((request, response) =>
    receive(request, response).catch((error: unknown) => {
      console.error(printable(`could not be answered: ${error instanceof Error ? error.message : error}`));
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new AdbindError("usage", "The port cannot be listened on", { cause })));
    server.listen(port, "127.0.0.1", resolve);
  });
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await new Promise<void>((resolve) => server.once("close", resolve));
}

export const listenCommand = (parent: Command): Command =>
  parent
    .command("listen")
    .description("prints webhooks that arrive on this machine, and whether they verify")
    .option("--port <number>", "on 127.0.0.1; 0 picks one", "8787")
    .option("--jwks <file or URL>", "the sender's keys; without any nothing is verified")
    .option("--agent <url>", "the sender's agent URL: keys are found through its brand file")
    .option("--url <base>", "public URL in front of it, when there is a tunnel")
    .option("--status <code>", "what to answer, to see the sender retry", "200")
    .option("--count <number>", "stop after so many")
    .option("--word <word>", "the protocol's word", "proto")
    .action(listen);
