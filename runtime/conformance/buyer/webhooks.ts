/** Webhooks as the worst of networks brings them: forged before and after, twice, captured, and late. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import { type FaultName, testFaults } from "../../testing/faults.js";
import type { TestKey } from "../../testing/key.js";
import { signTestWebhook, type TestWebhook } from "../../testing/sign.js";
import { faultWords } from "../agent/failed-answer.js";
import { readStart } from "../agent/http.js";
import type { SentWebhook } from "./types.js";

/** Forgeries that are sent before the task ends: who believes one takes an order for done that is not. */
const early: readonly FaultName[] = ["unsigned", "forged", "unknown-key", "wrong-digest", "wrong-url", "stale"];
/** After the end: who believes it takes a good order for a failed one. */
const afterwards: readonly FaultName[] = ["forged"];

/** Bytes of a receiver's answer that are told. */
const SAID_BYTES = 500;
/** Milliseconds that a receiver may take, and that its handlers are given before the next webhook comes. */
const ANSWER_MS = 10_000;

export interface WebhookDelivery {
  readonly url: string;
  readonly phase: string;
  readonly key: TestKey;
  readonly now: () => number;
  readonly fetch: typeof globalThis.fetch;
}

/** Posts a webhook. */
export async function post(
  request: TestWebhook,
  named: Pick<SentWebhook, "as" | "body">,
  { url, phase, now, fetch }: WebhookDelivery,
): Promise<SentWebhook> {
  const sent = { at: now(), phase, url, ...named };
  try {
    const response = await fetch(url, {
      method: request.method,
      headers: request.headers,
      body: Buffer.from(request.body),
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { ...sent, status: response.status, said: await readStart(response, SAID_BYTES) };
  } catch (error) {
    return { ...sent, status: undefined, said: faultWords(error) };
  }
}

export interface HostileStory {
  /** Fields of every webhook of the task. */
  readonly envelope: JsonObject;
  /** Ends the task. @returns its result */
  readonly end: () => JsonObject;
  /** What a forged end says of the order. */
  readonly forged: JsonObject;
  readonly pause: () => Promise<void>;
}

/** Sends them all, one after the other. */
export async function sendHostile(story: HostileStory, delivery: WebhookDelivery): Promise<SentWebhook[]> {
  const { key, now, url } = delivery;
  const sent: SentWebhook[] = [];
  const bodyOf = (status: string, more: JsonObject): JsonObject => ({
    ...story.envelope,
    idempotency_key: `evt_${randomBytes(12).toString("hex")}`,
    status,
    timestamp: new Date(now()).toISOString(),
    ...more,
  });
  const put = async (as: SentWebhook["as"], body: JsonObject, request?: TestWebhook): Promise<void> => {
    sent.push(await post(request ?? signTestWebhook({ url, event: body, key, now }), { as, body }, delivery));
    await story.pause();
  };
  const forge = async (fault: FaultName, status: string, result: JsonObject): Promise<void> => {
    const body = bodyOf(status, { result });
    await put(fault, body, testFaults[fault].make({ url, event: body, key, now }).at(-1));
  };
  for (const fault of early) await forge(fault, "completed", story.forged);
  const working = bodyOf("working", { result: { percentage: 50 } });
  await put("genuine", working);
  const ended = bodyOf("completed", { result: story.end() });
  const request = signTestWebhook({ url, event: ended, key, now });
  await put("genuine", ended, request);
  await put("duplicate", ended);
  await put("captured", ended, request);
  await put("late", { ...working, idempotency_key: `evt_${randomBytes(12).toString("hex")}` });
  for (const fault of afterwards)
    await forge(fault, "failed", { errors: [{ code: "REJECTED", message: "The order was rejected" }] });
  return sent;
}
