/** A sender and a receiver of one release, with nothing but a function between the two. */
import type { KeyObject } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import type { Fetcher, FetchResult } from "../../runtime/net/index.js";
import { createReceiver, type ReceivedEvent, type Receiver } from "../../runtime/receiver/index.js";
import { createSender, type ReportSource, type Sender } from "../../runtime/sender/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { secretKeys } from "../sender/fixture.js";
import { keysOf, type SellerKey, sellerKey } from "../support/receiver.js";
import { judgeOf, type SchemaJudge } from "../support/schema-judge.js";
import { wholeReleaseIn } from "../support/whole-release.js";

export const BUYER = "https://buyer.example";
const SELLER = "https://seller.example/agent";

const routes = ["task", "report", "impairment", "list_change", "artifact", "rights", "account", "agent"] as const;

/** What was sent, and what was answered. */
export interface Exchange {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly body: JsonObject;
  readonly status: number;
  /** Unix seconds. */
  readonly at: number;
}

export interface World {
  readonly release: Release;
  readonly judge: SchemaJudge;
  readonly sender: Sender;
  readonly receiver: Receiver;
  readonly sent: Exchange[];
  readonly seen: ReceivedEvent[];
  readonly clock: { at: number };
  /** What the sender signs with, and its public key. */
  readonly signer: { readonly key: object; readonly keyid: string };
  readonly jwk: object;
  readonly privateJwk: object;
  reports: ReportSource;
  close(): Promise<void>;
}

interface Held {
  readonly release: Release;
  readonly clock: { at: number };
  readonly key: SellerKey;
}

/** A receiver of a release that keeps what its handler was given. */
function receiverOf(store: SqliteStore, { release, clock, key }: Held, seen: ReceivedEvent[]): Receiver {
  return createReceiver({
    store,
    release,
    handlers: { fallback: (delivery: ReceivedEvent) => void seen.push(delivery) },
    senders: { [SELLER]: { keys: keysOf(SELLER, key) } },
    publicUrl: BUYER,
    now: () => clock.at,
  }) as Receiver;
}

/** Hands what is sent to a receiver, and notes it. */
const wire =
  (receiver: Receiver, clock: { readonly at: number }, sent: Exchange[]): Fetcher =>
  async (url, { headers = {}, body } = {}) => {
    const bytes = body as Uint8Array;
    const { host, pathname } = new URL(url);
    const at = clock.at / 1000;
    const request = { method: "POST", target: pathname, headers: { host, ...headers }, body: bytes };
    const { status, headers: answered, body: text } = await receiver.handle(request);
    sent.push({ url, headers, bytes, body: JSON.parse(new TextDecoder().decode(bytes)) as JsonObject, status, at });
    const shown = { status, headers: answered, body: new TextEncoder().encode(text) };
    return { ok: true, truncated: false, url, ...shown } as FetchResult;
  };

/** A sender and a receiver of one release, each on a store of its own. */
export async function openWorld(folder: string): Promise<World> {
  const { release } = await wholeReleaseIn(folder);
  const judge = await judgeOf(folder);
  const files = mkdtempSync(path.join(tmpdir(), "adbind-kinds-"));
  const store = (name: string): SqliteStore => openSqliteStore({ path: path.join(files, name) });
  const [out, into] = [store("out.db"), store("in.db")];
  const clock = { at: Date.now() };
  const made = sellerKey("key-1", release.word);
  // A purpose that every verifier takes, the oldest too.
  const key = { ...made, jwk: { ...made.jwk, [`${release.word}_use`]: "webhook-signing" } };
  const privateJwk = { ...(made.privateKey as KeyObject).export({ format: "jwk" }), ...key.jwk };
  const signer = { key: key.privateKey, keyid: key.keyid };
  const [sent, seen]: [Exchange[], ReceivedEvent[]] = [[], []];
  const receiver = receiverOf(into, { release, clock, key }, seen);
  const fetch = wire(receiver, clock, sent);
  const world: { reports: ReportSource } = { reports: () => ({ currency: "EUR", media_buy_deliveries: [] }) };
  const sender = await createSender({
    store: out,
    release,
    signer,
    agentUrl: SELLER,
    secrets: secretKeys,
    fetch,
    now: () => clock.at,
    worker: { pollMs: 5 },
    reports: (request) => world.reports(request),
  });
  for (const kind of routes) await receiver.expect({ route: `/${kind}`, sender: SELLER, kind });
  receiver.start();
  sender.start();
  const close = async (): Promise<void> => {
    await sender.stop();
    await receiver.stop();
    for (const one of [out, into]) await one.close();
    rmSync(files, { recursive: true, force: true });
  };
  return Object.assign(world, {
    release,
    judge,
    sender,
    receiver,
    sent,
    seen,
    clock,
    signer,
    jwk: key.jwk,
    privateJwk,
    close,
  });
}
