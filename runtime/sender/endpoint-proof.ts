/**
 * Whether somebody listens at a URL who wants to: a challenge, answered with what it asks. It is signed whatever events will
 * carry: who only wants to know a credential, or has another's, learns and proves nothing by it.
 */
import { hash, randomBytes } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../contract/index.js";
import type { AttemptOptions } from "./attempt.js";
import { deliveryHeaders } from "./attempt.js";
import { encodeBody } from "./envelope.js";
import type { NotificationConfig, NotificationScope } from "./types.js";

/** Bytes of a challenge: nobody guesses it. */
const CHALLENGE_BYTES = 32;
/** An answer holds one value. */
const ANSWER_LIMIT_BYTES = 4_096;
/** Milliseconds an endpoint has to answer. */
const TIMEOUT_MS = 10_000;

/** @returns why it is not proved */
export type EndpointProof = (
  of: { readonly principal: string; readonly config: NotificationConfig },
  bodyOf: (challenge: string) => JsonObject,
) => Promise<string | undefined>;

/** As a challenge names them, and as two sets are compared. */
const normalized = (types: readonly string[]): string[] => types.toSorted();

/** What a proof is of: a config that changes in this is proved again. */
export const fingerprintOf = ({ url, authentication, event_types }: NotificationConfig): string => {
  const { href } = new URL(url);
  const of = { url: href, authentication: authentication ?? null, event_types: normalized(event_types) };
  return hash("sha256", canonicalize(of)!, "hex");
};

/** The challenge of a config (core/webhook-challenge.json, core/agent-webhook-challenge.json). */
export const challengeBody = (
  { account }: NotificationScope,
  { subscriber_id, event_types, authentication }: NotificationConfig,
  challenge: string,
): JsonObject => ({
  type: "webhook.challenge",
  ...(account === undefined ? { scope: "agent" } : { account_id: account }),
  challenge,
  subscriber_id,
  delivery_auth:
    authentication === undefined
      ? { mode: "rfc9421" }
      : {
          mode: authentication.schemes[0],
          credential_fingerprint: hash("sha256", authentication.credentials, "hex"),
        },
  event_types: normalized(event_types),
});

export function endpointProof(options: AttemptOptions, agentUrl: string): EndpointProof {
  return async ({ principal, config }, bodyOf) => {
    const challenge = randomBytes(CHALLENGE_BYTES).toString("hex");
    const body = Buffer.from(encodeBody({ ...bodyOf(challenge), seller_agent_url: agentUrl }, "a challenge"));
    const target = { url: config.url, auth: null };
    let headers: Readonly<Record<string, string>>;
    try {
      headers = await deliveryHeaders(body, { target, principal, id: challenge }, options);
    } catch (fault) {
      options.onFault(fault);
      return "the challenge could not be signed";
    }
    const result = await options.fetch(config.url, {
      method: "POST",
      headers,
      body,
      maxBytes: ANSWER_LIMIT_BYTES,
      oversize: "truncate",
      timeouts: { readMs: TIMEOUT_MS, totalMs: TIMEOUT_MS },
    });
    if (!result.ok) return "the endpoint could not be reached";
    if (result.status < 200 || result.status > 299) return `the endpoint answered HTTP ${result.status}`;
    return answers(result.body, challenge) ? undefined : "the endpoint did not answer with the challenge";
  };
}

/** One member, under either name, and nothing else: what sends back all it is sent has agreed to nothing. */
function answers(body: Uint8Array, challenge: string): boolean {
  try {
    const said = JSON.parse(new TextDecoder().decode(body)) as unknown;
    if (typeof said !== "object" || said === null) return false;
    const [only, another] = Object.entries(said);
    return another === undefined && /^(challenge|token)$/.test(only?.[0] ?? "") && only?.[1] === challenge;
  } catch {
    return false;
  }
}
