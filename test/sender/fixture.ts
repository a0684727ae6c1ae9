/** A sender with a clock, a network and keys of the test's own. */
import { generateKeyPairSync } from "node:crypto";
import { release } from "../../generated/3.1.0/index.js";
import type { Fetcher, FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import type { SecretKeys, SenderOptions } from "../../runtime/sender/index.js";
import { memoryReplayStore, staticKeys, verifyWebhook } from "../../runtime/signing/index.js";

export const NOW = 1_776_520_800_000;
const SELLER = "https://seller.example/agent";

const pair = generateKeyPairSync("ed25519");
const signer = { key: pair.privateKey, keyid: "seller-1" };
const publicJwk = {
  ...pair.publicKey.export({ format: "jwk" }),
  kid: "seller-1",
  use: "sig",
  key_ops: ["verify"],
  alg: "EdDSA",
  proto_use: "request-signing",
};
const keys = staticKeys([publicJwk as never], { sender: SELLER });

/** Of the tests' own; others may be opened with it. */
export const secretKeys: SecretKeys = { current: "k1", keys: { k1: new Uint8Array(32).fill(7) } };

export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every kind
  readonly body: any;
  readonly at: number;
}

export type Reaction = number | Partial<Extract<FetchResult, { ok: true }>> | Extract<FetchResult, { ok: false }>;

/** An endpoint that answers challenges, and takes everything else. */
export const listening = ({ body }: Sent): Reaction =>
  body.type === "webhook.challenge"
    ? { body: new TextEncoder().encode(JSON.stringify({ challenge: body.challenge })) }
    : 200;

/** A network of one function: what was sent, and what it answers. */
export class FakeNetwork {
  readonly sent: Sent[] = [];
  react: (sent: Sent) => Reaction | Promise<Reaction> = () => 200;

  constructor(readonly clock: { at: number }) {}

  readonly fetch: Fetcher = async (url, request: GuardedRequest = {}) => {
    const bytes = request.body as Uint8Array;
    const body = JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    const one: Sent = { url, headers: request.headers ?? {}, bytes, body, at: this.clock.at };
    this.sent.push(one);
    const reaction = await this.react(one);
    if (typeof reaction === "object" && "ok" in reaction && reaction.ok === false) return reaction;
    const answer = typeof reaction === "number" ? { status: reaction } : reaction;
    return {
      ok: true,
      status: 200,
      headers: {},
      body: new Uint8Array(),
      truncated: false,
      url,
      ...answer,
    } as FetchResult;
  };
}

export const optionsFor = (clock: { at: number }, network: FakeNetwork) =>
  ({
    release,
    signer,
    fetch: network.fetch,
    now: () => clock.at,
    random: () => 0.5,
    secrets: secretKeys,
    onDeprecated: () => undefined,
    worker: { pollMs: 10 },
  }) satisfies Omit<SenderOptions, "store">;

/** Verifies what was sent as a receiver would, at the time it was sent. */
export const verify = (sent: Sent, replay = memoryReplayStore()) =>
  verifyWebhook(
    { method: "POST", url: sent.url, headers: sent.headers, body: sent.bytes },
    { keys, replay, now: () => Math.floor(sent.at / 1000) },
  );
