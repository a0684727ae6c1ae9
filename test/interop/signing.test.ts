/** The protocol's official SDK and this: what one signs the other accepts, both ways, over HTTP, in both profiles. */
import { existsSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Jwk,
  memoryReplayStore,
  type SignableRequest,
  signRequest,
  signWebhook,
  staticKeys,
  verifyRequest,
  verifyWebhook,
} from "../../runtime/signing/index.js";
import { canonicalUrl } from "../../runtime/url.js";
import { makeKey } from "../signing/fixtures.js";
import { cellsOf } from "../support/cells.js";
import { agreeCells, forbiddenCells } from "./signing/cells.js";
import { makeKeys } from "./signing/keys.js";
import { typescriptPeer } from "./signing/typescript.js";

const WORD = "adcp";
const folder = new URL("./peer/", import.meta.url);

interface PeerSigned {
  headers: Record<string, string>;
}

interface Peer {
  signWebhook(request: object, key: object): PeerSigned;
  signRequest(request: object, key: object, options?: object): PeerSigned;
  verifyWebhookSignature(request: object, options: object): Promise<{ status: string }>;
  verifyRequestSignature(request: object, options: object): Promise<{ status: string }>;
  canonicalTargetUri(url: string): string;
  StaticJwksResolver: new (keys: Jwk[]) => object;
  InMemoryReplayStore: new () => object;
  InMemoryRevocationStore: new () => object;
}

const peer: Peer | undefined = existsSync(new URL("node_modules/@adcp/sdk/package.json", folder))
  ? createRequire(new URL("package.json", folder))("@adcp/sdk/signing")
  : undefined;

const body = JSON.stringify({
  idempotency_key: "whk_01HW9D3H8FZP2N6R8T0V4X6Z9B",
  task_id: "task_456",
  status: "completed",
  result: { note: "é\u2603" },
});
const paths = ["/webhooks/op_1", "/a/./b/../c/%7euser/%e2%98%83?b=2&a=1&x=a+b", "/x//y/", "/"];

const ourForm = (url: string): string => {
  const result = canonicalUrl(url, { unicodeHost: "convert" });
  return result.ok ? result.url : result.reason;
};

/** Sends a request over HTTP as its bytes are, and gives what the other side received. */
async function overHttp(path: string, sign: (url: string) => Promise<Record<string, string>> | Record<string, string>) {
  const received: { message: IncomingMessage; body: Buffer }[] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      received.push({ message, body: Buffer.concat(chunks) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  try {
    const headers = await sign(`${origin}${path}`);
    await new Promise<void>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, path, method: "POST", headers };
      const call = httpRequest(options, (response) => response.resume().on("end", resolve).on("error", reject));
      call.on("error", reject).end(body);
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  const { message, body: bytes } = received[0]!;
  return { method: message.method!, url: `${origin}${message.url}`, headers: message.headersDistinct, body: bytes };
}

const flat = (request: SignableRequest) => ({
  method: request.method,
  url: request.url,
  headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
  body: Buffer.from(request.body).toString(),
});

const plain = (url: string) => ({ method: "POST", url, headers: { "Content-Type": "application/json" }, body });

const keyFor = (curve: "ed25519" | "P-256", use: string) => {
  const { jwk, privateKey } = makeKey(curve, { [`${WORD}_use`]: use });
  const alg = curve === "ed25519" ? "ed25519" : "ecdsa-p256-sha256";
  return {
    jwk,
    privateKey,
    peerKey: { keyid: jwk.kid, alg, privateKey: { ...jwk, ...privateKey.export({ format: "jwk" }) } },
  };
};

const ours = (jwk: Jwk) => ({
  keys: staticKeys([jwk], { sender: "https://peer.example/" }),
  replay: memoryReplayStore(),
  word: WORD,
});

function theirs({ StaticJwksResolver, InMemoryReplayStore, InMemoryRevocationStore }: Peer, jwk: Jwk) {
  const capability = { supported: true, covers_content_digest: "either", required_for: [] };
  return {
    jwks: new StaticJwksResolver([jwk]),
    replayStore: new InMemoryReplayStore(),
    revocationStore: new InMemoryRevocationStore(),
    capability,
  };
}

if (peer === undefined)
  test("the peer's signatures are skipped where it is not installed", () =>
    console.log("skipped: the peer SDK is not installed under test/interop/peer"));
else {
  for (const curve of ["ed25519", "P-256"] as const) {
    for (const path of paths) {
      test(`webhook, ${curve}, ${path}: the peer signs, we verify`, async () => {
        const { jwk, peerKey } = keyFor(curve, "webhook-signing");
        const request = await overHttp(path, (url) => peer.signWebhook(plain(url), peerKey).headers);
        const options = ours(jwk);
        const result = await verifyWebhook(request, options);
        assert.ok(result.ok, JSON.stringify(result));
        assert.equal(result.json, JSON.parse(body));
        const again = await verifyWebhook(request, options);
        assert.is(again.ok ? "" : again.code, "webhook_signature_replayed");
        const changed = await verifyWebhook({ ...request, body: Buffer.from(body.replace("456", "457")) }, ours(jwk));
        assert.is(changed.ok ? "" : changed.code, "webhook_signature_digest_mismatch");
      });

      test(`webhook, ${curve}, ${path}: we sign, the peer verifies`, async () => {
        const { jwk, privateKey } = keyFor(curve, "webhook-signing");
        const options = { key: privateKey, keyid: jwk.kid!, word: WORD };
        const request = await overHttp(path, async (url) => {
          const signed = await signWebhook({ method: "POST", url, headers: {}, body: Buffer.from(body) }, options);
          return { ...signed.headers };
        });
        assert.is((await peer.verifyWebhookSignature(flat(request), theirs(peer, jwk))).status, "verified");
        const changed = { ...flat(request), body: body.replace("456", "457") };
        const outcome = await peer
          .verifyWebhookSignature(changed, theirs(peer, jwk))
          .catch((error: { code?: string }) => error.code);
        assert.is(outcome, "webhook_signature_digest_mismatch");
      });

      for (const contentDigest of [true, false]) {
        test(`request, ${curve}, ${path}, digest ${contentDigest}: the peer signs, we verify`, async () => {
          const { jwk, peerKey } = keyFor(curve, "request-signing");
          const sign = (url: string) =>
            peer.signRequest(plain(url), peerKey, { coverContentDigest: contentDigest }).headers;
          const result = await verifyRequest(await overHttp(path, sign), ours(jwk));
          assert.ok(result.ok && result.signed, JSON.stringify(result));
        });

        test(`request, ${curve}, ${path}, digest ${contentDigest}: we sign, the peer verifies`, async () => {
          const { jwk, privateKey } = keyFor(curve, "request-signing");
          const options = { key: privateKey, keyid: jwk.kid!, word: WORD, contentDigest };
          const request = await overHttp(path, async (url) => {
            const signed = await signRequest({ method: "POST", url, headers: {}, body: Buffer.from(body) }, options);
            return { ...signed.headers } as Record<string, string>;
          });
          assert.is((await peer.verifyRequestSignature(flat(request), theirs(peer, jwk))).status, "verified");
        });
      }
    }
  }

  test("targets have one form on both sides", () => {
    const urls = [
      "https://Buyer.Example.com:443/a/./b/../c?z=1&a=2#f",
      "https://buyer.example.com",
      "https://buyer.example.com/%7e%2f%e2%98%83//x/..//y",
      "https://buyer.example.com:8443/?x=%2F&y=a+b",
      "https://[2001:DB8::1]:443/p",
      "https://xn--bcher-kva.example/p",
    ];
    for (const url of urls) assert.is(ourForm(url), peer.canonicalTargetUri(url));
  });

  // The rules (test/runtime/url.test.ts) are what we hold to; where the installed SDK departs from them, a sender who puts
  // such things in a URL cannot be verified across the two. If one of these fails, the SDK has come round: move it up.
  const departures = {
    "query bytes are kept": "https://buyer.example.com/p?x=%7e",
    "an empty query is kept": "https://buyer.example.com/p?",
    "an encoded dot is no dot": "https://buyer.example.com/a/%2E%2E/b",
    "IPv6 text is not rewritten": "https://[2001:db8:0:0::1]/",
    "the root dot goes": "https://buyer.example.com./p",
  };
  for (const [rule, url] of Object.entries(departures)) {
    test(`the peer departs from the rules: ${rule}`, () => assert.is.not(ourForm(url), peer.canonicalTargetUri(url)));
  }
}

/** Of `./run interop typescript`, a few: with keys of the command, and what nobody may sign. */
const interopCells = async () => {
  const sdk = typescriptPeer();
  const keys = await makeKeys("ed25519", WORD);
  const agree = sdk === undefined ? [] : agreeCells({ peer: sdk, keys });
  const all = [...agree.filter(({ known }) => known === undefined), ...forbiddenCells(keys)];
  const chosen = cellsOf(
    "./run interop typescript",
    all.map(({ name }) => name),
    8,
  );
  return all.filter(({ name }) => chosen.includes(name));
};
for (const { name, run } of await interopCells()) test(name, async () => assert.is(await run(), undefined));

test.run();
