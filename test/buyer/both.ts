/** Our buyer and our seller on real sockets, with signed requests and signed webhooks. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Tracer } from "@opentelemetry/api";
import type Database from "better-sqlite3";
import { release } from "../../generated/3.1.0/index.js";
import { type Completions, createBuyer, createCompletions } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { createReceiver, nodeListener, type ReceivedEvent, type Receiver } from "../../runtime/receiver/index.js";
import type { Seller } from "../../runtime/seller/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { createTestKey } from "../../runtime/testing/index.js";
import { buyRequest, newBench, openSeller } from "../seller/fixture.js";
import { sellerKey } from "../support/receiver.js";

export const BUYER = "https://buyer.example/agent";

interface Both {
  readonly url: string;
  readonly seller: Seller<Database.Database>;
  /** The seller's. */
  readonly sender: Sender;
  readonly receiver: Receiver<Database.Database>;
  readonly completions: Completions;
  readonly seen: ReceivedEvent[];
  readonly bench: ReturnType<typeof newBench>;
  buyer(
    transport: "mcp" | "a2a",
    more?: Partial<BuyerOptions<typeof release>>,
  ): ReturnType<typeof createBuyer<typeof release>>;
  close(): Promise<void>;
}

/** The buyer's receiver, on a socket of its own. */
async function openHooks(folder: string, traced: { tracer?: Tracer }) {
  const inbox = openSqliteStore({ path: path.join(folder, "buyer.db") });
  const completions = createCompletions();
  const seen: ReceivedEvent[] = [];
  const http = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const hooks = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const senders = new Map<string, object>();
  const receiver = createReceiver({
    store: inbox,
    release,
    handlers: completions.through({ fallback: (delivery: ReceivedEvent) => void seen.push(delivery) }),
    ...traced,
    senders: senders as never,
    publicUrl: hooks,
    pollMs: 10,
  });
  receiver.start();
  const handler = nodeListener(receiver);
  const close = async (): Promise<void> => {
    await receiver.stop();
    http.closeAllConnections();
    http.close();
    await inbox.close();
  };
  return { receiver, completions, seen, hooks, senders, close };
}

async function both(more: { tracer?: Tracer } & object = {}): Promise<Both> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-buyer-"));
  const key = sellerKey("seller-1");
  const requestKey = createTestKey({ keyid: "buyer-1", use: "request-signing" });
  const outbox = openSqliteStore({ path: path.join(folder, "seller.db") });
  const traced = more.tracer === undefined ? {} : { tracer: more.tracer };
  const { receiver, completions, seen, hooks, senders, close } = await openHooks(folder, traced);
  const fetch = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const sender = await createSender({
    store: outbox,
    ...{ release, fetch, signer: { key: key.privateKey, keyid: key.keyid } },
    ...{ net: { allowHttp: true, allowLoopback: true }, worker: { pollMs: 10 }, ...traced },
  });
  sender.start();
  const bench = newBench();
  const port = await freePort();
  const requestSigning = { keys: staticKeys({ keys: [requestKey.jwk] } as never, { sender: BUYER }) };
  const seller = await openSeller<Database.Database>(bench, {
    ...{ store: outbox, sender, requestSigning, baseUrl: `http://127.0.0.1:${port}` },
    ...more,
  });
  const url = await seller.start({ port });
  senders.set(url, { keys: staticKeys({ keys: [key.jwk] } as never, { sender: url }) });
  return {
    ...{ url, seller, sender, receiver, completions, seen, bench },
    buyer: (transport, options = {}) =>
      createBuyer({
        release,
        agent: { url: transport === "mcp" ? `${url}/mcp` : url, transport },
        webhooks: { receiver, url: `${hooks}/hooks/a`, sender: url, completions },
        signing: { key: requestKey.privateKey, keyid: requestKey.keyid },
        allowLocal: true,
        timeoutMs: 10_000,
        ...options,
      }),
    async close() {
      await seller.close();
      await sender.stop();
      await close();
      await fetch.close();
      await outbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function withBoth(more: object, job: (made: Both) => Promise<void>): Promise<void> {
  const made = await both(more);
  try {
    await job(made);
  } finally {
    await made.close();
  }
}

const { idempotency_key: _key, ...request } = buyRequest();
export const buying = request;
export const buyOf = (product: string): never => {
  const { idempotency_key: _, ...request } = buyRequest(product);
  return request as never;
};
