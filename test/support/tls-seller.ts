/** A seller behind TLS on this machine, started as its maker would start it. */
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Release } from "../../runtime/contract/index.js";
import { createSeller, openAuth } from "../../runtime/seller/index.js";
import { createSender } from "../../runtime/sender/index.js";
import type { Jwk } from "../../runtime/signing/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { tempFolder } from "./release.js";

const fixture = (name: string): string => path.resolve(import.meta.dirname, "../net/fixtures", name);
/** The authority of the seller's certificate, which is that certificate. */
export const certificate = fixture("loopback-test-only.cert.pem");
const secret = fixture("loopback-test-only.key.pem");

/** A server that answers with whatever is there once the seller, which must know the port, is made. */
async function listening(): Promise<{ port: number; serve: (answer: RequestListener) => void; close: () => void }> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer({ key: readFileSync(secret), cert: readFileSync(certificate) }, (request, response) =>
    answer(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => {
      answer = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface TlsSeller {
  /** The first is that of calls that name none. */
  readonly releases: readonly Release[];
  /** A name that the certificate has. */
  readonly host: string;
  /** What it signs with, its private part too. */
  readonly key: Jwk;
}

/** Starts a seller with no more than it must be given, and stops it after `use`. */
export async function withTlsSeller<T>(
  { releases: [release, ...releases], host, key }: TlsSeller,
  use: (baseUrl: string) => Promise<T>,
): Promise<T> {
  const server = await listening();
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const signer = { key, keyid: key.kid! };
  const baseUrl = `https://${host}:${server.port}`;
  try {
    const sender = await createSender({ release, store, signer } as never);
    const seller = await createSeller({
      ...{ release, releases, specialisms: [], store, sender, signing: signer, baseUrl, name: "Behind TLS" },
      // Releases differ in whether a seller of one tool has others that change something.
      auth: openAuth,
      capabilities: { supported_protocols: ["media_buy"], account: { supported_billing: ["operator"] } },
      tools: { get_products: (_request: unknown, ctx: { complete(answer: object): unknown }) => ctx.complete({}) },
    } as never);
    await seller.app.ready();
    server.serve((request, response) => seller.app.routing(request, response));
    try {
      return await use(baseUrl);
    } finally {
      await seller.close();
      await sender.stop();
    }
  } finally {
    server.close();
    await store.close();
  }
}
