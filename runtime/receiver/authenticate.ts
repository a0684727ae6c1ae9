/**
 * Who sent it: the registration's mode decides how that is proved, and nothing else is tried
 * (docs/protocol/webhooks.md#receiving, 2).
 */
import {
  challengeOf,
  type ReplayStore,
  receivedMode,
  verifyBearer,
  verifyHmac,
  verifyStandardWebhook,
  verifyWebhook,
} from "../signing/index.js";
import type { HeaderFields, Refusal, SignableRequest } from "../signing/types.js";
import { refusal } from "../signing/verify.js";
import type { NonceUse, RegisteredMode, RouteBinding } from "../store/types.js";
import { senderKeys } from "./sender-keys.js";
import type { ReceiverConfig } from "./settings.js";
import type { SenderConfig } from "./types.js";

/** `digest`: SHA-256 of the body in base64url, where verifying has made it. */
type Believed = { readonly ok: true; readonly json: unknown; readonly digest?: string };

export type Authenticated = (Believed | Refusal) & {
  /** Verified and not used up yet: whoever answers the request does that first. */
  readonly nonce?: NonceUse;
};

/** Keyids remembered to tell a new one; beyond this the memory starts anew rather than growing. */
const KEYID_MEMORY_ENTRIES = 100_000;

/** Tells of every keyid of a sender the first time it is seen. */
function keyidMemory(isNew: () => void) {
  const seen = new Set<string>();
  return (sender: string, keyid: string): void => {
    const entry = `${sender} ${keyid}`;
    if (seen.has(entry)) return;
    if (seen.size >= KEYID_MEMORY_ENTRIES) seen.clear();
    seen.add(entry);
    isNew();
  };
}

/** The deprecation was logged when the mode was registered; once more for every request says nothing new. */
const onDeprecated = (): void => undefined;

/** The modes that end with release 4.0. */
const byLegacy = (now: () => number, word: string) => ({
  "HMAC-SHA256": async (
    request: SignableRequest,
    { sender }: RouteBinding,
    held: SenderConfig,
  ): Promise<Authenticated> =>
    held.hmac === undefined
      ? refusal("hmac_signature_invalid", 0, { detail: "the sender has no secret" })
      : verifyHmac(request, { secrets: held.hmac, sender, now, word, onDeprecated }),
  Bearer: async (request: SignableRequest, { sender }: RouteBinding, held: SenderConfig): Promise<Authenticated> =>
    held.bearer === undefined
      ? refusal("bearer_token_invalid", 0, { detail: "the sender has no token" })
      : verifyBearer(request, { tokens: held.bearer, sender, now, word, onDeprecated }),
});

/** What both sides have agreed on outside of any release. */
const byStandard =
  (now: () => number) =>
  async (request: SignableRequest, { sender }: RouteBinding, held: SenderConfig): Promise<Authenticated> =>
    held.standardWebhooks === undefined
      ? refusal("hmac_signature_invalid", 0, { detail: "the sender has no secret" })
      : verifyStandardWebhook(request, { secrets: held.standardWebhooks, sender, now });

/**
 * Makes the function that authenticates a request for a route.
 * The promise rejects only for configuration that changed under it, e.g. a release without legacy schemes.
 */
export function authenticator<Tx>(config: ReceiverConfig<Tx>) {
  const { word } = config.defaultRelease.release;
  const now = (): number => Math.floor(config.verifiedAt() / 1000);
  const replay = config.store.replay();
  const noteKeyid = keyidMemory(() => config.metrics.newKeyid());
  const keysOf = senderKeys(config);

  const bySignature = async (
    request: SignableRequest,
    route: RouteBinding,
    held: SenderConfig,
  ): Promise<Authenticated> => {
    const { sender } = route;
    const { keys, keyUses } = keysOf(route, held);
    if (keys === undefined) return keyless();
    let nonce: NonceUse | undefined;
    const noted = notingReplay(replay, sender, (use) => {
      nonce = use;
    });
    const options = {
      keys,
      keyUses,
      replay: noted,
      now,
      word,
      ...(held.revocation && { revocation: held.revocation }),
    };
    const result = await verifyWebhook(request, options);
    if (!result.ok) return nonce === undefined ? result : { ...result, nonce };
    if (result.sender !== sender && !held.aliases?.includes(result.sender)) return foreign();
    noteKeyid(sender, result.keyid);
    const { json, digest } = result;
    return { ok: true, json, ...(digest !== undefined && { digest }), ...(nonce && { nonce }) };
  };

  const byMode = {
    signature: bySignature,
    ...byLegacy(now, word),
    "standard-webhooks": byStandard(now),
  } satisfies Record<RegisteredMode, unknown>;

  return {
    /** What the header fields say before a byte of the body is read. */
    fault(headers: HeaderFields, { sender, mode }: RouteBinding): Refusal | undefined {
      const received = receivedMode(headers, word);
      // A signature beside the registered credential is not a fallback; without it, it is another mode.
      if (received !== undefined && received !== mode && !carries(headers, mode, word)) {
        return refusal("webhook_mode_mismatch", 0, { detail: `registered for ${mode}, received ${received}` });
      }
      return config.senderOf(sender) === undefined ? unconfigured() : undefined;
    },
    async verify(request: SignableRequest, route: RouteBinding): Promise<Authenticated> {
      const held = config.senderOf(route.sender);
      return held === undefined ? unconfigured() : byMode[route.mode](request, route, held);
    },
  };
}

const keyless = (): Refusal => refusal("webhook_signature_key_unknown", 7, { detail: "the sender has no keys" });

const foreign = (): Refusal => refusal("webhook_signature_key_unknown", 7, { detail: "the key is another sender's" });

const unconfigured = (): Refusal =>
  refusal("webhook_signature_key_unknown", 7, { detail: "the sender is not configured any more" });

/** Does the request carry the mode's own headers, whatever else is there? */
const carries = (headers: HeaderFields, mode: RegisteredMode, word: string): boolean => {
  const legacyFields = [...signatureFields, `x-${word}-`];
  const others = {
    signature: [],
    "HMAC-SHA256": signatureFields,
    "standard-webhooks": legacyFields,
    Bearer: [...legacyFields, "webhook-"],
  }[mode];
  const own = pairs(headers).filter(([name]) => !others.some((prefix) => name.toLowerCase().startsWith(prefix)));
  return receivedMode(own, word) === mode;
};

const signatureFields = ["signature"];

const pairs = (headers: SignableRequest["headers"]): (readonly [string, string])[] => {
  if (Symbol.iterator in headers) return [...(headers as Iterable<readonly [string, string]>)];
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one): (readonly [string, string])[] =>
      typeof one === "string" ? [[name, one]] : [],
    ),
  );
};

/**
 * Steps 12 and 13 are only noted while verifying, and done with the claim, in its transaction: one commit an event, and
 * nothing is consumed unless all of it is. A keyid means something only beside its sender: two sellers may both call a
 * key `key-1`, and share no bound.
 */
const notingReplay = (replay: ReplayStore, sender: string, note: (use: NonceUse) => void): ReplayStore => ({
  atCap: (keyid, now) => replay.atCap(`${sender} ${keyid}`, now),
  insert(keyid, nonce, expiresAt, now) {
    note({ keyid: `${sender} ${keyid}`, nonce, expiresAt, now });
    return "inserted";
  },
});

/** Value of `WWW-Authenticate` for a refusal with status 401. */
export const challengeFor = (refused: Refusal): string | undefined =>
  challengeOf(refused.code) ?? (refused.code === "bearer_token_invalid" ? 'Bearer error="invalid_token"' : undefined);
