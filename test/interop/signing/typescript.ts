/** The official TypeScript SDK as a peer: the 3.0 line, which is what its registry has. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Jwk } from "../../../runtime/signing/index.js";
import type { Departure, PlainRequest, Signable, SigningPeer } from "./peer.js";

const folder = new URL("../peer/", import.meta.url);
const manifest = new URL("node_modules/@adcp/sdk/package.json", folder);

interface Sdk {
  signWebhook(request: object, key: object): { headers: Record<string, string> };
  signRequest(request: object, key: object, options: object): { headers: Record<string, string> };
  verifyWebhookSignature(request: object, options: object): Promise<{ status: string }>;
  verifyRequestSignature(request: object, options: object): Promise<{ status: string }>;
  StaticJwksResolver: new (keys: Jwk[]) => object;
  InMemoryReplayStore: new () => object;
  InMemoryRevocationStore: new () => object;
}

const httpsOnly = "its verifier of webhooks takes https only, but on this machine";
const noFragment = "its verifier of webhooks wants the fragment, which is never sent, away beforehand";

const departures: readonly Departure[] = [
  { url: "https://buyer.example.com/p?x=%7e", reason: "the bytes of a query are kept" },
  { url: "https://buyer.example.com/p?", reason: "an empty query is kept" },
  { url: "https://[2001:db8:0:0::1]:8443/p", reason: "the text of an IPv6 address is not rewritten" },
  { url: "http://buyer.example.com/webhooks", reason: httpsOnly, verifying: "webhook" },
  { url: "http://buyer.example.com:80/webhooks", reason: httpsOnly, verifying: "webhook" },
  { url: "https://buyer.example.com/p#part", reason: noFragment, verifying: "webhook" },
  { url: "https://buyer.example.com/p?a=1#part", reason: noFragment, verifying: "webhook" },
];

const reasonOf = (error: unknown): string =>
  (error as { code?: string }).code ?? (error instanceof Error ? error.message : String(error));

/** @returns undefined where the SDK is not installed */
export function typescriptPeer(): SigningPeer | undefined {
  if (!existsSync(manifest)) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const sdk: Sdk = createRequire(new URL("package.json", folder))("@adcp/sdk/signing");
  const optionsFor = (published: Jwk) => ({
    jwks: new sdk.StaticJwksResolver([published]),
    replayStore: new sdk.InMemoryReplayStore(),
    revocationStore: new sdk.InMemoryRevocationStore(),
    capability: { supported: true, covers_content_digest: "either", required_for: [] },
  });
  return {
    name: `@adcp/sdk ${version}`,
    lacks: { "request 3.2": "the SDK is of the 3.0 line, which has one profile" },
    departures,
    async sign(what: Signable, request: PlainRequest, key: Jwk) {
      const own = { keyid: key.kid, alg: key.kty === "EC" ? "ecdsa-p256-sha256" : "ed25519", privateKey: key };
      try {
        const { headers } =
          what === "webhook"
            ? sdk.signWebhook(request, own)
            : sdk.signRequest(request, own, { coverContentDigest: true });
        return { ok: true, headers };
      } catch (error) {
        return { ok: false, reason: reasonOf(error) };
      }
    },
    async verify(what: Signable, request: PlainRequest, published: Jwk) {
      const verify = what === "webhook" ? sdk.verifyWebhookSignature : sdk.verifyRequestSignature;
      try {
        const { status } = await verify(request, optionsFor(published));
        return status === "verified" ? undefined : status;
      } catch (error) {
        return reasonOf(error);
      }
    },
    close: async () => undefined,
  };
}
