/**
 * `verifyWebhook` against the one thing it cannot avoid, `crypto.verify`: ed25519, 2 KB body, cached keys, replay store in
 * memory, one thread. Each is timed in turn in the same process over the same signed requests; figures are medians.
 */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import {
  type Jwk,
  memoryReplayStore,
  type SignableRequest,
  signWebhookSync,
  staticKeys,
  verifyWebhook,
  verifyWebhookSync,
} from "../runtime/signing/index.js";
import type { Floor, Row } from "./support/row.js";

const ROUNDS = 41;
const REQUESTS_PER_ROUND = 200;
const WORD = "adcp";

/** A finished `create_media_buy`, as a seller reports it: about 2 KB. */
const body = Buffer.from(
  JSON.stringify({
    idempotency_key: "whk_5f0c7e52-7f0e-4a52-9c0a-8a4a1f1f3c11",
    operation_id: "op_0d7a3c1e-2b57-4d3c-8a0e-6f2f6f0a9b77",
    task_id: "task_7c1d9a",
    task_type: "create_media_buy",
    domain: "media-buy",
    status: "completed",
    timestamp: "2026-11-21T09:30:00Z",
    message: "Media buy created with 8 packages; creatives are due by 2026-11-28.",
    context: { session: "a7f2", trace: "4bf92f3577b34da6a3ce929d0e0e4736" },
    result: {
      media_buy_id: "mb_2026_11_0042",
      buyer_ref: "autumn-launch",
      status: "active",
      packages: Array.from({ length: 8 }, (_, at) => ({
        package_id: `pkg_${1000 + at}`,
        product_id: "ctv_sports_premium_us",
        budget: { amount: 12_500 * (at + 1), currency: "USD" },
        pacing: "even",
        start_time: "2026-12-01T00:00:00Z",
        end_time: "2026-12-31T23:59:59Z",
      })),
    },
  }),
);

function makeKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const published = {
    ...(publicKey.export({ format: "jwk" }) as Jwk),
    kid: "bench-2026",
    alg: "EdDSA",
    use: "sig",
    key_ops: ["verify"],
    // The one purpose both verifiers take.
    [`${WORD}_use`]: "webhook-signing",
  };
  return { privateKey, published, publicKey: createPublicKey({ key: published as never, format: "jwk" }) };
}

const now = (): number => 1_795_253_400;

function signedRequests(privateKey: object, count: number): (SignableRequest & { headers: Record<string, string> })[] {
  return Array.from({ length: count }, () => {
    const request = { method: "POST", url: "https://buyer.example.com/webhooks/media/op_0d7a3c1e", headers: {}, body };
    const signed = signWebhookSync(request, { key: privateKey, keyid: "bench-2026", now, word: WORD });
    const headers = Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const usual = { host: "buyer.example.com", "content-length": String(body.length), "user-agent": "seller/1.0" };
    return { ...request, headers: { ...usual, ...Object.fromEntries(headers) } };
  });
}

type Contender = (requests: ReturnType<typeof signedRequests>) => Promise<void> | void;

interface PeerSigning {
  InMemoryReplayStore: new () => object;
  InMemoryRevocationStore: new () => object;
  StaticJwksResolver: new (keys: unknown[]) => object;
  verifyWebhookSignature(request: object, options: object): Promise<{ status: string }>;
}

/** The official SDK, where it is installed. */
function loadPeer(): PeerSigning | undefined {
  const folder = new URL("../test/interop/peer/", import.meta.url);
  if (!existsSync(fileURLToPath(new URL("node_modules/@adcp/sdk", folder)))) return undefined;
  return createRequire(new URL("package.json", folder))("@adcp/sdk/signing");
}

function contenders(): { run: Record<string, Contender>; make: () => ReturnType<typeof signedRequests> } {
  const { privateKey, published, publicKey } = makeKey();
  const keys = staticKeys([published], { sender: "https://seller.example.com/agent" });
  const options = () => ({ keys, replay: memoryReplayStore(), now, word: WORD });
  const fail = (what: unknown): never => {
    throw new Error(`a signature did not verify: ${JSON.stringify(what)}`);
  };
  const run: Record<string, Contender> = {
    verifyWebhook: async (requests) => {
      const shared = options();
      for (const request of requests) {
        const result = await verifyWebhook(request, shared);
        if (!result.ok) fail(result);
      }
    },
    verifyWebhookSync: (requests) => {
      const shared = options();
      for (const request of requests) {
        const result = verifyWebhookSync(request, shared);
        if (!result.ok) fail(result);
      }
    },
    "verifyWebhook, body read": async (requests) => {
      const shared = options();
      for (const request of requests) {
        const result = await verifyWebhook(request, shared);
        if (!result.ok || result.json === undefined) fail(result);
      }
    },
  };
  const peer = loadPeer();
  if (peer !== undefined) {
    run.peer = async (requests) => {
      const shared = {
        jwks: new peer.StaticJwksResolver([published]),
        replayStore: new peer.InMemoryReplayStore(),
        revocationStore: new peer.InMemoryRevocationStore(),
        now,
      };
      for (const request of requests) {
        const text = { ...request, body: request.body.toString() };
        if ((await peer.verifyWebhookSignature(text, shared)).status !== "verified") fail("peer");
      }
    };
  }
  const make = () => signedRequests(privateKey, REQUESTS_PER_ROUND);
  run.raw = rawVerify(publicKey, make());
  return { run, make };
}

/** `crypto.verify` alone, over bases and signatures made beforehand. */
function rawVerify(
  publicKey: ReturnType<typeof createPublicKey>,
  requests: ReturnType<typeof signedRequests>,
): Contender {
  const published = publicKey.export({ format: "jwk" }) as Jwk;
  const jwk = {
    ...published,
    kid: "bench-2026",
    alg: "EdDSA",
    use: "sig",
    key_ops: ["verify"],
    adcp_use: "webhook-signing",
  };
  const options = { keys: staticKeys([jwk], { sender: "x" }), replay: memoryReplayStore(), now, word: WORD };
  const prepared = requests.map((request) => {
    const result = verifyWebhookSync(request, options);
    if (!result.ok) throw new Error(result.code);
    const signature = Buffer.from(String(request.headers.signature).slice("sig1=:".length, -1), "base64url");
    return { base: Buffer.from(result.signatureBase), signature };
  });
  return () => {
    for (const { base, signature } of prepared) if (!verify(null, base, publicKey, signature)) throw new Error("raw");
  };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** Runs the rounds. Ratios are per round, so that a machine that slows down slows both sides. */
export async function run(): Promise<Row[]> {
  const { run: all, make } = contenders();
  const names = Object.keys(all);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -3; round < ROUNDS; round++) {
    // Where one comes in a round must not matter: each starts one place further on.
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round + names.length * 3) % names.length]!;
      const requests = make();
      const started = performance.now();
      await all[name]!(requests);
      // Rounds before 0 warm up.
      if (round >= 0) times[name]!.push(performance.now() - started);
    }
  }
  const ratio = (name: string) => median(times[name]!.map((time, at) => times.raw![at]! / time));
  const perOp = (name: string) => (median([...times[name]!]) / REQUESTS_PER_ROUND) * 1000;
  const floorOf = (name: string): Floor => ({ of: "crypto.verify", times: 1 / ratio(name) });
  const figures: Row[] = names.map((name) => ({
    name: `${name}, one verification`,
    value: perOp(name),
    unit: "us",
    floor: name === "raw" ? { none: "it is the floor" } : floorOf(name),
  }));
  for (const name of names.filter((one) => one !== "raw")) {
    const target = name === "verifyWebhook" ? { target: { min: 0.85 } } : {};
    figures.push({
      name: `${name}, of raw crypto.verify`,
      value: ratio(name),
      unit: "x",
      floor: floorOf(name),
      ...target,
    });
  }
  return figures;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`body ${body.length} bytes, ${ROUNDS} rounds of ${REQUESTS_PER_ROUND}`);
  for (const { name, value, unit, target } of await run()) {
    console.log(
      `${name.padEnd(46)} ${value.toFixed(3).padStart(9)} ${unit}${target ? `  (at least ${target.min})` : ""}`,
    );
  }
}
