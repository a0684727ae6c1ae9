/** Whether a peer that knows a seller's URL alone believes what it signs. */
import { existsSync } from "node:fs";
import path from "node:path";
import { corpus } from "../../support/corpus.js";
import { withTlsSeller } from "../../support/tls-seller.js";
import { wholeReleaseIn } from "../../support/whole-release.js";
import { plainRequest, type SigningCell, signOurs } from "./cells.js";
import type { MadeKeys } from "./keys.js";
import type { PythonPeer } from "./python.js";

/** The certificate has it; the peer's process takes it for this machine. */
const HOST = "seller.example.net";

/** Releases a seller is started with: one of each line, and all of them at once, the way they are served side by side. */
const served: readonly (readonly string[])[] = [["3.0.26"], ["3.1.19"], ["3.2.4"], ["3.2.4", "3.1.19", "3.0.26"]];

const folderOf = (version: string): string => path.join(corpus, "releases", version);

/** One for each release, transport and endpoint; none without the published releases. */
export function discoveryCells(peer: PythonPeer, keys: MadeKeys): SigningCell[] {
  const there = served.filter((versions) => versions.every((version) => existsSync(folderOf(version))));
  const { key } = keys.webhook;
  return there.flatMap((versions) =>
    (["mcp", "a2a"] as const).map((protocol) => ({
      name: `a seller of ${versions.join(", ")} over ${protocol}, known by its URL alone`,
      async run() {
        const releases = await Promise.all(
          versions.map(async (version) => (await wholeReleaseIn(folderOf(version))).release),
        );
        return withTlsSeller({ releases, host: HOST, key }, async (baseUrl): Promise<string | undefined> => {
          const signed = await signOurs("webhook", plainRequest("https://buyer.example.com/webhooks/op_1"), key);
          const refused = await peer.discover(signed, `${baseUrl}/${protocol}`, protocol);
          if (refused !== undefined) return refused;
          const stranger = await signOurs("webhook", plainRequest("https://buyer.example.com/"), keys.request.key);
          const believed = (await peer.discover(stranger, `${baseUrl}/${protocol}`, protocol)) === undefined;
          return believed ? "a key that the seller does not publish is believed" : undefined;
        });
      },
    })),
  );
}
