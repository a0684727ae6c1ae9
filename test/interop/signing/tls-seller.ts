/** A seller behind TLS on this machine, and whether a peer that knows its URL alone believes what it signs. */
import { existsSync, readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { releaseNamed } from "../../../cli/check/release-value.js";
import { createSeller } from "../../../runtime/seller/index.js";
import { createSender } from "../../../runtime/sender/index.js";
import { openSqliteStore } from "../../../runtime/store/index.js";
import { corpus } from "../../support/corpus.js";
import { tempFolder } from "../../support/release.js";
import { plainRequest, type SigningCell, signOurs } from "./cells.js";
import type { MadeKeys } from "./keys.js";
import type { PythonPeer } from "./python.js";

const fixture = (name: string): string => path.resolve(import.meta.dirname, "../../net/fixtures", name);
/** The authority of the seller's certificate, which is that certificate. */
export const certificate = fixture("loopback-test-only.cert.pem");
const secret = fixture("loopback-test-only.key.pem");
/** The certificate has it; the peer's process takes it for this machine. */
const HOST = "seller.example.net";

/** Releases a seller is started with: one of each line, and all of them at once, the way they are served side by side. */
const served: readonly (readonly string[])[] = [["3.0.26"], ["3.1.19"], ["3.2.4"], ["3.2.4", "3.1.19", "3.0.26"]];

const folderOf = (version: string): string => path.join(corpus, "releases", version);

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

/** Starts a seller as its maker would, with no more than it must be given. */
async function withSeller(
  versions: readonly string[],
  { webhook }: MadeKeys,
  use: (baseUrl: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const [release, ...releases] = await Promise.all(versions.map((version) => releaseNamed(folderOf(version))));
  const server = await listening();
  const store = openSqliteStore({ path: path.join(tempFolder(), "seller.db") });
  const signer = { key: webhook.key, keyid: webhook.key.kid! };
  const baseUrl = `https://${HOST}:${server.port}`;
  try {
    const sender = await createSender({ release: release!, store, signer } as never);
    const seller = await createSeller({
      ...{ release, releases, specialisms: [], store, sender, signing: signer, baseUrl, name: "Behind TLS" },
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

/** One for each release, transport and endpoint; none without the published releases. */
export function discoveryCells(peer: PythonPeer, keys: MadeKeys): SigningCell[] {
  const there = served.filter((versions) => versions.every((version) => existsSync(folderOf(version))));
  return there.flatMap((versions) =>
    (["mcp", "a2a"] as const).map((protocol) => ({
      name: `a seller of ${versions.join(", ")} over ${protocol}, known by its URL alone`,
      run: () =>
        withSeller(versions, keys, async (baseUrl) => {
          const { key } = keys.webhook;
          const signed = await signOurs("webhook", plainRequest("https://buyer.example.com/webhooks/op_1"), key);
          const refused = await peer.discover(signed, `${baseUrl}/${protocol}`, protocol);
          if (refused !== undefined) return refused;
          const stranger = await signOurs("webhook", plainRequest("https://buyer.example.com/"), keys.request.key);
          const believed = (await peer.discover(stranger, `${baseUrl}/${protocol}`, protocol)) === undefined;
          return believed ? "a key that the seller does not publish is believed" : undefined;
        }),
    })),
  );
}
