/** Faults by name: what a hostile or broken sender does, and what a receiver of the profile answers. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import { type Forgery, resigned } from "./forge.js";
import { createTestKey, type TestKey } from "./key.js";
import { signTestWebhook, type TestWebhook } from "./sign.js";

/** What a fault is made of: where it is sent, which event, signed with which key. */
export interface FaultContext {
  /** The URL the seller was given. */
  readonly url: string;
  readonly event: JsonObject;
  /** The seller's own key, which the receiver knows. */
  readonly key: Pick<TestKey, "keyid" | "word" | "privateKey">;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** Unpadded base64url of at least 16 bytes, another one each time. */
  readonly nonce?: () => string;
}

/** What a hostile or broken sender does, and the answer that is right. */
export interface TestFault {
  readonly what: string;
  /** Status of the answer to the last request; several where the profile leaves a choice. */
  readonly statuses: readonly number[];
  /** `error` of that answer's body, where it names one. */
  readonly code: string;
  /** The requests, in their order: the last has the fault, those before are good. */
  make(context: FaultContext): readonly TestWebhook[];
}

/** Ten minutes, in seconds: beyond every window and its skew. */
const FAR_SECONDS = 600;
/** One byte more than receivers take (docs/protocol/webhooks.md#limits). */
const TOO_LARGE_BYTES = 1_048_577;

const good = ({ url, event, key, now }: FaultContext, body: JsonObject | Uint8Array = event): TestWebhook =>
  signTestWebhook({ url, event: body, key, ...(now && { now }) });

const forged = (context: FaultContext, how: Partial<Forgery> = {}, request = good(context)): TestWebhook => {
  const { key, now = Date.now, nonce = () => randomBytes(16).toString("base64url") } = context;
  return resigned(request, { key, nonce: nonce(), created: Math.floor(now() / 1000), ...how });
};

const seconds = ({ now = Date.now }: FaultContext, by: number): number => Math.floor(now() / 1000) + by;

const refused = (code: string, what: string, make: (context: FaultContext) => TestWebhook): TestFault => ({
  what,
  statuses: [401],
  code: `webhook_signature_${code}`,
  make: (context) => [make(context)],
});

const answered = (statuses: number | readonly number[], code: string, what: string, make: TestFault["make"]) => ({
  ...{ what, code, make },
  statuses: typeof statuses === "number" ? [statuses] : statuses,
});

const text = (body: string): Uint8Array => new TextEncoder().encode(body);

const withHeaders = (request: TestWebhook, headers: Readonly<Record<string, string>>): TestWebhook => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

const without = (request: TestWebhook, ...names: readonly string[]): TestWebhook => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => !names.includes(name))),
});

/** The same bytes signed again, which no signer of ours would: they are no strict JSON. */
const unparsable = (context: FaultContext, body: string): TestWebhook =>
  forged(context, {}, { ...good(context), body: text(body) });

/** Every fault there is, by the name the command takes. */
export const testFaults = {
  unsigned: refused("header_malformed", "no signature at all", (c) =>
    without(good(c), "Signature", "Signature-Input", "Content-Digest"),
  ),
  "two-signatures": refused("header_malformed", "the signature field is there twice", (c) => {
    const request = good(c);
    const { Signature = "" } = request.headers;
    return withHeaders(request, { Signature: `${Signature}, ${Signature}` });
  }),
  "wrong-tag": refused("tag_invalid", "signed under the tag of requests", (c) =>
    forged(c, { tag: `${c.key.word}/request-signing/v1` }),
  ),
  stale: refused("window_invalid", "signed ten minutes ago", (c) => forged(c, { created: seconds(c, -FAR_SECONDS) })),
  early: refused("window_invalid", "signed ten minutes from now", (c) =>
    forged(c, { created: seconds(c, FAR_SECONDS) }),
  ),
  "long-window": refused("window_invalid", "valid for an hour", (c) => forged(c, { windowSeconds: 3_600 })),
  "missing-component": refused("components_incomplete", "the body's digest is not covered", (c) =>
    forged(c, { components: ["@method", "@target-uri", "@authority", "content-type"] }),
  ),
  "unknown-key": refused("key_unknown", "a keyid that the sender does not publish", (c) =>
    forged(c, { keyid: `${c.key.keyid}-unknown` }),
  ),
  forged: refused("invalid", "signed by a stranger's key under the sender's keyid", (c) =>
    forged(c, { key: createTestKey(), keyid: c.key.keyid, tag: `${c.key.word}/webhook-signing/v1` }),
  ),
  "wrong-url": refused("invalid", "signed for another path of the same host", (c) => ({
    ...good({ ...c, url: `${c.url}${c.url.includes("?") ? "&" : "?"}other=1` }),
    ...{ url: c.url, target: good(c).target },
  })),
  "wrong-digest": refused("digest_mismatch", "another body than the one that was signed", (c) => ({
    ...good(c),
    body: good(c, { ...c.event, status: "failed" }).body,
  })),
  "cut-body": refused("digest_mismatch", "the second half of the body is missing", (c) => {
    const request = good(c);
    return { ...request, body: request.body.subarray(0, request.body.length >> 1) };
  }),
  replayed: {
    ...refused("replayed", "a good request, sent once more as it was captured", good),
    make: (c) => {
      const request = good(c);
      return [request, request];
    },
  },
  "duplicate-keys": answered(401, "webhook_body_malformed", "one member of the body twice", (c) => [
    unparsable(c, JSON.stringify(c.event).replace("{", '{"status":"failed",')),
  ]),
  "not-json": answered(401, "webhook_body_malformed", "a body that is no JSON", (c) => [
    unparsable(c, "status=failed"),
  ]),
  "wrong-type": answered(415, "unsupported_media_type", "sent as text/plain", (c) => [
    withHeaders(good(c), { "Content-Type": "text/plain" }),
  ]),
  "wrong-method": answered([405, 404], "method_not_allowed", "sent by PUT", (c) => [{ ...good(c), method: "PUT" }]),
  "too-large": answered(413, "body_too_large", "one byte more than a mebibyte", (c) => [
    good(c, text(`{"padding":"${"x".repeat(TOO_LARGE_BYTES - 14)}"}`)),
  ]),
  "no-key": answered(400, "missing_idempotency_key", "an event without idempotency_key", (c) => {
    const { idempotency_key: _, ...rest } = c.event;
    return [good(c, rest)];
  }),
} as const satisfies Record<string, TestFault>;

/** Names a fault. */
export type FaultName = keyof typeof testFaults;

/** Every fault there is. */
export const faultNames = Object.keys(testFaults) as readonly FaultName[];

/** Whether there is a fault of this name. */
export const isFaultName = (name: string): name is FaultName => Object.hasOwn(testFaults, name);

/**
 * What an answer to a fault's last request is worth.
 * @param body its text
 * @returns undefined where it is the one the profile asks for; else what is wrong, in words
 */
export function faultAnswered(name: FaultName, status: number, body: string): string | undefined {
  const { statuses, code }: TestFault = testFaults[name];
  if (!statuses.includes(status)) return `answered ${status}, and not ${statuses.join(" or ")}`;
  const told = errorIn(body);
  return told === undefined || told === code ? undefined : `told ${told}, and not ${code}`;
}

/** A receiver need not say why; where it does in our way, it is compared. */
function errorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}
