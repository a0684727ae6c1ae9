/** What is said of a webhook that arrived: its headers, whether it verifies, whether it is one at all, its body. */
import { isJsonObject, member } from "../runtime/extract/json-object.js";
import { registeredEvents } from "../runtime/facts/index.js";
import { printable } from "../runtime/printable.js";
import { type EnvelopeResult, readEnvelope } from "../runtime/receiver/envelope.js";
import {
  type KeySource,
  type SignableRequest,
  type VerifyResult,
  verificationCodes,
  verifyWebhook,
} from "../runtime/signing/index.js";
import type { EventKind } from "../runtime/store/types.js";

/** A request as it came, header names as they were spelled. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The public URL it was sent to. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export interface WebhookVerdict {
  /** Undefined where no keys were given. */
  readonly signature: VerifyResult | undefined;
  readonly kind: EventKind;
  readonly envelope: EnvelopeResult;
  /** What a receiver answers of itself; undefined where nothing is wrong. */
  readonly refusal: number | undefined;
}

/** Headers whose values let their reader act for the sender. */
const SECRET = /^(?:authorization|proxy-authorization|cookie|x-a2a-notification-token|x-.*(?:token|secret|api-?key))$/i;

const shownValue = (name: string, value: string): string => {
  if (!SECRET.test(name)) return value;
  // A scheme is no secret: `Bearer `, and then the credentials.
  const scheme = /^\w+ /.exec(value)?.[0] ?? "";
  return `${scheme}(${value.length - scheme.length} characters, hidden)`;
};

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

const notices = ["list_change", "artifact", "rights"] as const;

/** Which kind of event a body looks like: no registration says so here. */
function kindSeen(body: unknown): EventKind {
  if (member(body, "notification_type") === "impairment") return "impairment";
  if (member(body, "status") != null) return "task";
  const has = (field: string): boolean => field === "idempotency_key" || member(body, field) != null;
  return notices.find((kind) => registeredEvents[kind].knownBy.every(has)) ?? "task";
}

export interface JudgeArrival {
  readonly keys: KeySource | undefined;
  readonly replay: NonNullable<Parameters<typeof verifyWebhook>[1]["replay"]>;
  readonly word: string;
}

/** Verifies a request as a receiver would, and reads its envelope. */
export async function judgeArrival(
  arrival: WebhookRequest,
  { keys, replay, word }: JudgeArrival,
): Promise<WebhookVerdict> {
  const { method, url, headers, body } = arrival;
  const signed: SignableRequest = { method, url, headers, body };
  const signature = keys === undefined ? undefined : await verifyWebhook(signed, { keys, replay, word });
  const value = parsed(body);
  const kind = kindSeen(value);
  const envelope = readEnvelope(value, { kind, format: null, now: Date.now(), raw: body });
  const refusal = signature?.ok === false ? signature.status : envelope.ok ? undefined : 400;
  return { signature, kind, envelope, refusal };
}

function signatureLine(result: VerifyResult | undefined): string {
  if (result === undefined) return "not verified: no keys were given (--jwks or --agent)";
  if (result.ok) return `verified: ${result.keyid} (${result.alg}) of ${result.sender}`;
  const detail = result.detail === undefined ? "" : ` (${result.detail})`;
  return `refused at step ${result.step}: ${result.code}, ${verificationCodes[result.code].summary}${detail}`;
}

function envelopeLine({ kind, envelope: read }: WebhookVerdict): string {
  if (!read.ok) {
    const fields = read.fields.length === 0 ? "" : `: ${read.fields.join(", ")}`;
    return `no webhook of kind ${kind}: ${read.code}${fields}`;
  }
  const { taskId, taskType, status, notificationId, key } = read.envelope;
  const parts = [taskId, taskType, status, notificationId].filter((part) => part !== null);
  return `a webhook of kind ${kind}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}, key ${key}`;
}

/** @returns the lines that tell of it, the body last */
export function arrivalLines(arrival: WebhookRequest, verdict: WebhookVerdict): string[] {
  const value = parsed(arrival.body);
  const body = isJsonObject(value) ? JSON.stringify(value, null, 2) : Buffer.from(arrival.body).toString();
  return [
    `${arrival.method} ${arrival.target}, ${arrival.body.length} bytes`,
    ...arrival.headers.map(([name, one]) => `  ${name}: ${shownValue(name, one)}`),
    signatureLine(verdict.signature),
    envelopeLine(verdict),
    body,
  ].flatMap((text) => text.split("\n").map(printable));
}
