/**
 * Mutated requests against a receiver in this process: bytes of the body, header fields, request line, and fields of
 * bodies that are signed again. Nothing may throw or be a 5xx, and nothing may be accepted but what its sender signed.
 */
import { createHmac, hash, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";
import type { ReceiverAnswer, ReceiverRequest } from "../../runtime/receiver/index.js";
import { memoryReplayStore, signWebhook, verifyWebhook } from "../../runtime/signing/index.js";
import type { Arrival, Store } from "../../runtime/store/types.js";
import {
  envelope,
  keysOf,
  PUBLIC_URL,
  SECRET,
  SELLER,
  type Setup,
  START_MS,
  sellerKey,
  setup,
  TOKEN,
} from "../support/receiver.js";
import { type Mutated, mutate, type Original, type Signer, script } from "./receiver-mutation.js";

/** Requests handled at once: they share commits, as they would on a busy server. */
const BATCH = 64;
const NOW_SECONDS = START_MS / 1000;

export interface Report {
  readonly count: number;
  readonly seed: number;
  readonly statuses: Record<string, number>;
  readonly seconds: number;
}

interface Fuzz extends Signer {
  readonly s: Setup;
  readonly keys: ReturnType<typeof keysOf>;
}

/** Signs whatever bytes it is given; the project's own signer refuses what is not strict JSON. */
const signer =
  (key: KeyObject, template: { base: string; input: string; digest: string }) =>
  (mode: Original["mode"], target: string, body: Uint8Array): Original => {
    const type = ["Content-Type", "application/json"] as const;
    if (mode === "Bearer")
      return { mode, target, body, base: "", fields: [type, ["Authorization", `Bearer ${TOKEN}`]] };
    if (mode === "HMAC-SHA256") {
      const mac = createHmac("sha256", SECRET).update(`${NOW_SECONDS}.`).update(body).digest("hex");
      const fields = [
        type,
        ["X-Proto-Timestamp", String(NOW_SECONDS)],
        ["X-Proto-Signature", `sha256=${mac}`],
      ] as const;
      return { mode, target, body, base: "", fields };
    }
    const digest = `sha-256=:${hash("sha256", body, "base64url")}:`;
    const base = template.base.replace(template.digest, digest);
    const signature = sign(null, Buffer.from(base), key).toString("base64url");
    const signed = [
      ["Content-Digest", digest],
      ["Signature-Input", template.input],
      ["Signature", `sig1=:${signature}:`],
    ] as const;
    return { mode, target, body, base, fields: [["Host", "hooks.buyer.example"], type, ...signed] };
  };

/** A receiver whose nonces never run out: a valid mutation of a request is to be seen, not masked as a replay. */
async function prepare(): Promise<Fuzz> {
  const key = sellerKey();
  const config = { keys: keysOf(SELLER, key), hmac: { current: SECRET }, bearer: { current: TOKEN } };
  const made = await setup();
  const { inbox } = made.store;
  const store: Store<never> = Object.create(made.store, {
    replay: { value: () => ({ atCap: () => false, insert: () => "inserted" }) },
    inbox: {
      value: Object.create(inbox, { accept: { value: ({ nonce: _, ...rest }: Arrival) => inbox.accept(rest) } }),
    },
  });
  const s = { ...(await setup({ store, senderConfig: config })), store: made.store };
  const routes = { "/hooks/s": "signature", "/hooks/h": "HMAC-SHA256", "/hooks/b": "Bearer" } as const;
  for (const [route, mode] of Object.entries(routes)) {
    await s.receiver.expect({ route, sender: SELLER, kind: "task", mode, operationId: "op-1" });
  }
  await s.receiver.expect({ route: "/hooks/s2", sender: SELLER, kind: "task", format: "a2a" });
  const plain = Buffer.from("{}");
  const signOne = async (target: string) => {
    const request = { method: "POST", url: PUBLIC_URL + target, headers: {}, body: plain };
    const { headers, signatureBase } = await signWebhook(request, {
      key: key.privateKey,
      keyid: key.keyid,
      now: () => NOW_SECONDS,
    });
    return { base: signatureBase, input: headers["Signature-Input"], digest: headers["Content-Digest"]! };
  };
  const templates = { "/hooks/s": await signOne("/hooks/s"), "/hooks/s2": await signOne("/hooks/s2") };
  const signIt: Fuzz["sign"] = (mode, target, body) =>
    signer(key.privateKey as KeyObject, templates[target as "/hooks/s"] ?? templates["/hooks/s"])(mode, target, body);
  const bytes = (task_id: string) => Buffer.from(JSON.stringify(envelope({ task_id })));
  const a2a = { id: "t-2", status: { state: "completed" }, artifacts: [{ parts: [{ data: { a: 1 } }] }] };
  return {
    s: { ...s, close: () => s.close().then(made.close) },
    keys: config.keys,
    sign: signIt,
    originals: [
      ...[0, 1, 2, 3].map((i) => signIt("signature", "/hooks/s", bytes(`t-${i}`))),
      signIt("signature", "/hooks/s2", Buffer.from(JSON.stringify(a2a))),
      signIt("HMAC-SHA256", "/hooks/h", bytes("t-h")),
      signIt("Bearer", "/hooks/b", bytes("t-b")),
    ],
  };
}

const requestOf = ({ method, target, fields, body }: Mutated): ReceiverRequest => ({
  method,
  target,
  headers: fields,
  body,
});

/** What is wrong with the answer to a mutated request; undefined when nothing is. */
async function verdict(fuzz: Fuzz, made: Mutated, answer: ReceiverAnswer): Promise<string | undefined> {
  if (answer.status >= 500 || answer.status < 200) return `status ${answer.status}`;
  const parsed = JSON.parse(answer.body);
  if (answer.status !== 200) return typeof parsed.error === "string" ? undefined : "a refusal without its code";
  const { original } = made;
  // Bearer protects the credential alone (docs/protocol/signing.md#legacy-schemes).
  if (original.mode === "Bearer") return undefined;
  if (Buffer.compare(made.body, original.body) !== 0) return "accepted with another body";
  if (made.method !== "POST" || made.target !== original.target) return "accepted for another target";
  if (original.mode === "HMAC-SHA256") return undefined;
  const again = await verifyWebhook(
    { method: made.method, url: PUBLIC_URL + made.target, headers: made.fields, body: made.body },
    { keys: fuzz.keys, replay: memoryReplayStore(), now: () => NOW_SECONDS },
  );
  if (!again.ok) return `accepted, and refused when asked again: ${again.code}`;
  return again.signatureBase === original.base ? undefined : "accepted over another signature base";
}

/**
 * Sends mutated requests.
 * @param count how many
 * @param seed repeats a run
 */
export async function runFuzz(count: number, seed: number): Promise<Report> {
  const started = performance.now();
  const fuzz = await prepare();
  const statuses: Record<string, number> = {};
  const crashes: unknown[] = [];
  let wrong: string | undefined;
  const crash = (error: unknown): void => void crashes.push(error);
  process.on("unhandledRejection", crash).on("uncaughtException", crash);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: BATCH, maxLength: BATCH, size: "max" }), async (scripts) => {
        const made = scripts.map((one) => mutate(fuzz, one));
        const answers = await Promise.all(made.map((one) => fuzz.s.receiver.handle(requestOf(one))));
        for (const [i, answer] of answers.entries()) {
          const name = `${answer.status} ${answer.status === 200 ? JSON.parse(answer.body).status : JSON.parse(answer.body).error}`;
          statuses[name] = (statuses[name] ?? 0) + 1;
          const found = await verdict(fuzz, made[i]!, answer);
          if (found === undefined) continue;
          // One script says it all; fast-check would print the whole batch.
          wrong = `${found}: ${JSON.stringify(scripts[i])}`;
          throw new Error(wrong);
        }
        if (crashes.length > 0) throw crashes[0];
      }),
      { numRuns: Math.ceil(count / BATCH), seed, endOnFailure: true },
    );
    await fuzz.s.receiver.idle();
  } catch (error) {
    if (wrong !== undefined) throw new Error(`seed ${seed}: ${wrong}`);
    throw error;
  } finally {
    process.off("unhandledRejection", crash).off("uncaughtException", crash);
    await fuzz.s.close();
  }
  return { count: Math.ceil(count / BATCH) * BATCH, seed, statuses, seconds: (performance.now() - started) / 1000 };
}
