/**
 * Signing and verifying against the one thing each cannot avoid, `crypto.sign` and `crypto.verify`: ed25519, 2 KB body,
 * cached keys, replay store in memory, one thread. Each is timed in turn in the same process over requests of one kind;
 * figures are medians.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import {
  type Jwk,
  memoryReplayStore,
  type SignableRequest,
  signRequestSync,
  signWebhook,
  signWebhookSync,
  staticKeys,
  verifyWebhook,
  verifyWebhookSync,
} from "../runtime/signing/index.js";
import type { Floor, Row } from "./support/row.js";

// Short rounds: what else the machine does then falls into few of them, and medians leave those out.
const ROUNDS = 401;
const WARM_UP_ROUNDS = 30;
const REQUESTS_PER_ROUND = 20;
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

const unsigned = { method: "POST", url: "https://buyer.example.com/webhooks/media/op_0d7a3c1e", headers: {}, body };

function signedRequests(privateKey: object): (SignableRequest & { headers: Record<string, string> })[] {
  return Array.from({ length: REQUESTS_PER_ROUND }, () => {
    const signed = signWebhookSync(unsigned, { key: privateKey, keyid: "bench-2026", now, word: WORD });
    const headers = Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const usual = { host: "buyer.example.com", "content-length": String(body.length), "user-agent": "seller/1.0" };
    return { ...unsigned, headers: { ...usual, ...Object.fromEntries(headers) } };
  });
}

type Requests = ReturnType<typeof signedRequests>;
type Contender = (requests: Requests) => Promise<void> | void;

/** Contenders of one direction; the one named `raw` is the floor of the others. */
interface Race {
  readonly floor: string;
  readonly what: string;
  /** Whose ratio has a target. */
  readonly judged: string;
  readonly contenders: Record<string, Contender>;
}

interface PeerSigning {
  InMemoryReplayStore: new () => object;
  InMemoryRevocationStore: new () => object;
  StaticJwksResolver: new (keys: unknown[]) => object;
  verifyWebhookSignature(request: object, options: object): Promise<{ status: string }>;
  signWebhook(request: object, key: object): { headers: Record<string, string> };
}

/** The official SDK, where it is installed. */
function loadPeer(): PeerSigning | undefined {
  const folder = new URL("../test/interop/peer/", import.meta.url);
  if (!existsSync(fileURLToPath(new URL("node_modules/@adcp/sdk", folder)))) return undefined;
  return createRequire(new URL("package.json", folder))("@adcp/sdk/signing");
}

/** @param privateKey of the key that is published */
function signingRace(privateKey: KeyObject): Race {
  const options = { key: privateKey, keyid: "bench-2026", now, word: WORD };
  const times = async (one: () => unknown): Promise<void> => {
    for (let at = 0; at < REQUESTS_PER_ROUND; at++) await one();
  };
  const timesSync = (one: () => unknown): void => {
    for (let at = 0; at < REQUESTS_PER_ROUND; at++) one();
  };
  const base = Buffer.from(signWebhookSync(unsigned, options).signatureBase);
  const contenders: Record<string, Contender> = {
    signWebhook: () => times(() => signWebhook(unsigned, options)),
    signWebhookSync: () => timesSync(() => signWebhookSync(unsigned, options)),
    "signRequestSync, profile 3.2": () => timesSync(() => signRequestSync(unsigned, { ...options, profile: "3.2" })),
    raw: () => timesSync(() => sign(null, base, privateKey)),
  };
  const peer = loadPeer();
  if (peer !== undefined) {
    const jwk = { ...privateKey.export({ format: "jwk" }), kid: "bench-2026", [`${WORD}_use`]: "webhook-signing" };
    const text = { ...unsigned, headers: { "content-type": "application/json" }, body: body.toString() };
    const key = { keyid: "bench-2026", alg: "ed25519", privateKey: jwk };
    contenders.peer = () => timesSync(() => peer.signWebhook(text, key));
  }
  return { floor: "crypto.sign", what: "signature", judged: "signWebhook", contenders };
}

function verifyingRace({ privateKey, published, publicKey }: ReturnType<typeof makeKey>): Race {
  const keys = staticKeys([published], { sender: "https://seller.example.com/agent" });
  const options = () => ({ keys, replay: memoryReplayStore(), now, word: WORD });
  const fail = (what: unknown): never => {
    throw new Error(`a signature did not verify: ${JSON.stringify(what)}`);
  };
  const contenders: Record<string, Contender> = {
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
    contenders.peer = async (requests) => {
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
  contenders.raw = rawVerify(publicKey, signedRequests(privateKey));
  return { floor: "crypto.verify", what: "verification", judged: "verifyWebhook", contenders };
}

/** `crypto.verify` alone, over bases and signatures made beforehand. */
function rawVerify(publicKey: ReturnType<typeof createPublicKey>, requests: Requests): Contender {
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
async function raced({ floor, what, judged, contenders }: Race, make: () => Requests): Promise<Row[]> {
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    // Where one comes in a round must not matter: each starts one place further on.
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round + WARM_UP_ROUNDS) % names.length]!;
      const requests = make();
      const started = performance.now();
      await contenders[name]!(requests);
      if (round >= 0) times[name]!.push(performance.now() - started);
    }
  }
  const ratio = (name: string) => median(times[name]!.map((time, at) => times.raw![at]! / time));
  const perOp = (name: string) => (median([...times[name]!]) / REQUESTS_PER_ROUND) * 1000;
  const floorOf = (name: string): Floor => ({ of: floor, times: 1 / ratio(name) });
  const figures: Row[] = names.map((name) => ({
    name: `${name}, one ${what}`,
    value: perOp(name),
    unit: "us",
    floor: name === "raw" ? { none: "it is the floor" } : floorOf(name),
  }));
  for (const name of names.filter((one) => one !== "raw")) {
    const target = name === judged ? { target: { min: 0.85 } } : {};
    figures.push({ name: `${name}, of raw ${floor}`, value: ratio(name), unit: "x", floor: floorOf(name), ...target });
  }
  return figures;
}

export async function run(): Promise<Row[]> {
  const key = makeKey();
  const make = () => signedRequests(key.privateKey);
  return [...(await raced(verifyingRace(key), make)), ...(await raced(signingRace(key.privateKey), () => []))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`body ${body.length} bytes, ${ROUNDS} rounds of ${REQUESTS_PER_ROUND}`);
  for (const { name, value, unit, target } of await run()) {
    console.log(
      `${name.padEnd(46)} ${value.toFixed(3).padStart(9)} ${unit}${target ? `  (at least ${target.min})` : ""}`,
    );
  }
}
