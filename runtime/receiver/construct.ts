/** The check alone, for those who keep events themselves: a signature verified, an envelope read, nothing stored. */
import type { Answer, ArmsOf, JsonObject, Release, Tools } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { WebhookFormat } from "../extract/webhook.js";
import { type ReplayStore, type Step, verifyWebhook } from "../signing/index.js";
import type { KeySource, RevocationSource, SignableRequest } from "../signing/types.js";
import type { EventKind } from "../store/types.js";
import { challengeFor } from "./authenticate.js";
import { answerOf, dataOf } from "./dispatch.js";
import { type Envelope, readEnvelope } from "./envelope.js";
import { fieldOf, isReceivable } from "./fields.js";
import { instantText } from "./instant.js";
import { kindOf } from "./kinds.js";
import { notRaw } from "./not-raw.js";
import type { DeliveryReport, ReceiverAnswer } from "./types.js";

/** One request to verify, the keys, and the release that types its event. */
export interface ConstructOptions<T extends Tools = Tools> {
  /** The request as it came: its public URL, all of its header fields, the bytes of its body. */
  readonly request: SignableRequest;
  /** The keys of the one sender this URL was given to (`staticKeys`, `agentKeys` of adbind/signing). */
  readonly keys: KeySource;
  /** The release that sender speaks. */
  readonly release: Release<T>;
  /** What was registered; `task` by default. */
  readonly kind?: EventKind;
  /** Known shape; detected when left out. */
  readonly format?: WebhookFormat;
  readonly revocation?: RevocationSource;
  /** Remembers nonces. Left out, none is: a request that is captured and sent again within its window passes. */
  readonly replay?: ReplayStore;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
}

interface EventFields {
  /** Whose keys verified it: with the key, what an event is known by (docs/protocol/webhooks.md#deduplication). */
  readonly sender: string;
  readonly keyid: string;
  readonly idempotencyKey: string;
  readonly taskId: string | null;
  readonly operationId: string | null;
  readonly status: string | null;
  /** When it says it happened, UTC; null where it says nothing, or a time that is still to come. */
  readonly timestamp: string | null;
  readonly notificationId: string | null;
  /** The whole body, parsed. */
  readonly body: JsonObject;
}

/** An event of a task whose tool and status the release knows. */
export type ConstructedTask<T extends Tools> = {
  [K in keyof T & string]: EventFields & {
    readonly kind: "task";
    readonly taskType: K;
    readonly answer: Answer<ArmsOf<T[K]>>;
  };
}[keyof T & string];

/** A verified event; `unknown` where its tool, or a status of that tool, is none of the release's. */
export type ConstructedEvent<T extends Tools> =
  | ConstructedTask<T>
  | (EventFields & { readonly kind: "report"; readonly data: DeliveryReport })
  | (EventFields & { readonly kind: Exclude<EventKind, "task" | "report">; readonly data: JsonObject })
  | (EventFields & { readonly kind: "unknown"; readonly taskType: string | null });

/** Why `constructEvent` gave no event. */
export class WebhookRefused extends AdbindError {
  constructor(
    /** What the sender is told: a code of the signature, or of the envelope. */
    readonly reason: string,
    /** Step of the verifier's checklist; null where the signature held, or was not looked at. */
    readonly step: Step | null,
    /** Answer with it as it stands. */
    readonly answer: ReceiverAnswer,
    detail?: string,
  ) {
    super("webhook_refused", `${reason}${step === null ? "" : ` at step ${step}`}`, {
      ...(detail !== undefined && { where: detail }),
      remedy: "send what `answer` says; nothing of it is to be believed",
    });
  }
}

/** Nothing is remembered, as nothing is stored. */
const forgetful: ReplayStore = { atCap: () => false, insert: () => "inserted" };

const refused = (
  status: number,
  { code, fields = [], headers = {} }: { code: string; fields?: readonly string[]; headers?: Record<string, string> },
): ReceiverAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ error: code, ...(fields.length > 0 && { fields }) }),
});

async function verified<T extends Tools>(options: ConstructOptions<T>) {
  const { request, keys, release, revocation, replay = forgetful, now = Date.now } = options;
  if (!((request.body as unknown) instanceof Uint8Array)) throw notRaw();
  if (!isReceivable(fieldOf(request.headers, "content-type"))) {
    const code = "unsupported_media_type";
    throw new WebhookRefused(code, null, refused(415, { code }));
  }
  const result = await verifyWebhook(request, {
    ...{ keys, replay, word: release.word, now: () => Math.floor(now() / 1000) },
    keyUses: release.facts.signing.webhookKeyUses.value,
    ...(revocation && { revocation }),
  });
  if (result.ok) return result;
  const { code, step, status, detail, retryAfterSeconds } = result;
  const challenge = challengeFor(result);
  const headers: Record<string, string> = {
    ...(status === 401 && challenge !== undefined && { "www-authenticate": challenge }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  };
  throw new WebhookRefused(code, step, refused(status, { code, headers }), detail);
}

/**
 * Verifies one webhook and gives its event, typed by the release. It keeps nothing: that an event comes twice, late or out of
 * order is the caller's to notice, by `sender` and `idempotencyKey`; `createReceiver` does all of it.
 * @throws WebhookRefused with `reason` and `step` for a request that is not to be believed
 * @throws AdbindError `body_not_raw` where the body is not the bytes that came
 */
export async function constructEvent<T extends Tools>(options: ConstructOptions<T>): Promise<ConstructedEvent<T>> {
  const { request, release, now = Date.now } = options;
  const { json, sender, keyid } = await verified(options);
  const kind = kindOf(json, options.kind ?? "task", release);
  const read = readEnvelope(json, { kind, format: options.format ?? null, now: now(), raw: request.body });
  if (!read.ok) {
    const { code, fields } = read;
    throw new WebhookRefused(code, null, refused(400, { code, fields }), fields.join(", "));
  }
  const body = json as JsonObject;
  return eventOf({ ...fieldsOf(read.envelope), sender, keyid, body }, { kind, envelope: read.envelope, release });
}

const fieldsOf = ({ key, taskId, operationId, status, time, notificationId }: Envelope) => ({
  ...{ idempotencyKey: key, taskId, operationId, status, notificationId },
  timestamp: time?.by === "sender" ? instantText(time.instant) : null,
});

function eventOf<T extends Tools>(
  fields: EventFields,
  { kind, envelope, release }: { kind: EventKind; envelope: Envelope; release: Release<T> },
): ConstructedEvent<T> {
  if (kind !== "task") return { ...fields, kind, data: dataOf(kind, fields.body) } as ConstructedEvent<T>;
  const { taskType } = envelope;
  const answer = answerOf(release as unknown as Release, envelope, fields.body);
  if (answer === undefined) return { ...fields, kind: "unknown", taskType };
  return { ...fields, kind, taskType, answer } as ConstructedTask<T>;
}
