/** Webhooks as a seller would send them: signed for a URL, at a time. */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import { signWebhookSync } from "../signing/index.js";
import type { TestKey } from "./key.js";

/** A signed request, ready to be handed over or sent. */
export interface TestWebhook {
  readonly method: string;
  /** The public URL it is signed for. */
  readonly url: string;
  /** Path and query of that URL, as the request line has them: what `receiver.handle` takes. */
  readonly target: string;
  /** All it is sent with, `Content-Type` among them: given once more, a server sees it twice and answers 415. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What to sign for a test, for which URL and with which key. */
export interface SignTestOptions {
  /** The URL the seller was given: what the receiver's `publicUrl` and route make together. */
  readonly url: string;
  /** The event; bytes are sent as they are. */
  readonly event: JsonObject | Uint8Array;
  readonly key: Pick<TestKey, "keyid" | "word" | "privateKey">;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** Base64url of at least 16 bytes; random by default. */
  readonly nonce?: string;
}

/** Path and query of a URL, undecoded. */
const targetOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start < 0 ? "/" : url.slice(start);
};

/**
 * Signs an event for a URL.
 * @throws AdbindError `body_not_json`, `duplicate_key_input`, `target_url_malformed`: what no honest seller can sign
 */
export function signTestWebhook({ url, event, key, now = Date.now, nonce }: SignTestOptions): TestWebhook {
  const body = event instanceof Uint8Array ? event : new TextEncoder().encode(JSON.stringify(event));
  const { headers } = signWebhookSync(
    { method: "POST", url, headers: {}, body },
    {
      ...{ key: key.privateKey, keyid: key.keyid, word: key.word, now: () => Math.floor(now() / 1000) },
      ...(nonce !== undefined && { nonce }),
    },
  );
  return { method: "POST", url, target: targetOf(url), headers: { ...headers }, body };
}

/** Enough of a task's event to be accepted: fields set to undefined are left out. */
export const testEvent = (over: JsonObject = {}, now: () => number = Date.now): JsonObject => ({
  idempotency_key: randomUUID(),
  task_id: "task-1",
  task_type: "create_media_buy",
  status: "working",
  timestamp: new Date(now()).toISOString(),
  ...over,
});
