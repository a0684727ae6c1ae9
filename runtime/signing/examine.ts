/** Steps 1 to 6 of the checklist: all that a message says of itself, before anybody is asked about its key. */
import { canonicalUrl, type UrlResult } from "../url.js";
import { isBaseValue } from "./base.js";
import type { Step } from "./codes.js";
import { isAlgorithm } from "./crypto.js";
import { Malformed, parseContentDigest, parseSignature, parseSignatureInput, type SignatureInput } from "./fields.js";
import { fieldValue, type SigningHeaders, signingHeaders } from "./headers.js";
import {
  type DigestPolicy,
  type Profile,
  type Reason,
  requestComponentFault,
  webhookComponentFault,
} from "./profiles.js";
import type { SignableRequest, SignatureAlgorithm } from "./types.js";

/** Tolerance for clocks that disagree, either way. */
export const SKEW_SECONDS = 60;
/** Longest validity a signature may claim (docs/protocol/webhooks.md#limits). */
export const WINDOW_SECONDS = 300;
/** 16 random bytes in base64url: shorter nonces collide or can be guessed. */
const NONCE_CHARS = 22;

/** What a step found wrong. */
export interface Rejection {
  readonly step: Step;
  readonly reason: Reason;
  readonly detail?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** What a profile and a verifier's policy fix beforehand. */
export interface Rules {
  readonly profile: Profile;
  readonly digest: DigestPolicy;
  /** Alphabets that binary values may be in: `standard` is base64 with padding, and nothing else. */
  readonly binary: "either" | "standard";
  /** What a host in other letters than ASCII is called. */
  readonly nonAsciiHost: "header_malformed" | "target_uri_malformed";
}

/** What steps 1 to 6 establish. */
export interface Examined {
  readonly input: SignatureInput;
  readonly signature: Uint8Array;
  /** Unpadded base64url, when the signature covers it. */
  readonly digest: string | undefined;
  readonly url: UrlResult;
  readonly fields: SigningHeaders;
  readonly alg: SignatureAlgorithm;
  readonly created: number;
  readonly expires: number;
  readonly nonce: string;
  readonly keyid: string;
}

const malformed = (detail: string): Rejection => ({ step: 1, reason: "header_malformed", detail });

/** Steps 1 to 6: everything the message says of itself. */
export function examine(request: SignableRequest, rules: Rules, tag: string, now: number): Examined | Rejection {
  const fields = signingHeaders(request.headers);
  if (fields.signatureInput === undefined) return malformed("there is no Signature-Input");
  if (fields.signature === undefined) return malformed("there is no Signature");
  const input = parseSignatureInput(fields.signatureInput);
  if (input instanceof Malformed) return malformed(input.detail);
  const signature = parseSignature(fields.signature, rules.binary);
  if (signature instanceof Malformed) return malformed(signature.detail);
  const url = canonicalUrl(request.url, { unicodeHost: "refuse" });
  const hostsFirst = rules.nonAsciiHost === "header_malformed";
  if (hostsFirst && !url.ok && url.reason === "non_ascii_host") return malformed(url.detail);
  const doubled = coveredFieldFault(request, input.components, fields, hostsFirst);
  if (doubled !== undefined) return malformed(doubled);
  const covered = input.components.includes("content-digest") ? fields.contentDigest : undefined;
  const digest = covered === undefined ? undefined : parseContentDigest(covered, rules.binary);
  if (digest instanceof Malformed) return malformed(digest.detail);

  const { created, expires, nonce, keyid, alg, tag: given } = input.params;
  const short = nonce !== undefined && !isNonce(nonce);
  if (short) return malformed("the nonce is not base64url of at least 16 bytes");
  const missing = paramNames.filter((name) => input.params[name] === undefined);
  if (missing.length > 0) return { step: 2, reason: "params_incomplete", detail: `missing: ${missing.join(", ")}` };
  if (given !== tag) return { step: 3, reason: "tag_invalid", detail: `the tag is not ${tag}` };
  if (!isAlgorithm(alg!)) return { step: 4, reason: "alg_not_allowed" };
  const late = windowFault(created!, expires!, now);
  if (late !== undefined) return { step: 5, reason: "window_invalid", detail: late };
  const components = componentFault(request, rules, input.components, fields);
  if (components !== undefined) return { step: 6, ...components };
  return {
    input,
    signature,
    digest,
    url,
    fields,
    alg: alg as SignatureAlgorithm,
    created: created!,
    expires: expires!,
    nonce: nonce!,
    keyid: keyid!,
  };
}

const paramNames = ["created", "expires", "nonce", "keyid", "alg", "tag"] as const;

/** Is this a nonce the profile allows: base64url without padding, of at least 16 bytes? */
export const isNonce = (nonce: string): boolean =>
  nonce.length >= NONCE_CHARS && nonce.length % 4 !== 1 && /^[A-Za-z0-9_-]+$/.test(nonce);

/** What is wrong with the fields the signature covers, as fields: more than one value, or bytes a base cannot hold. */
function coveredFieldFault(
  request: SignableRequest,
  components: readonly string[],
  fields: SigningHeaders,
  hostsToo: boolean,
): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(request.method)) return "the method is not a token";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the range meant
  if (hostsToo && fields.authorities.some((host) => /[^\x00-\x7f]/.test(host))) return "the Host field is not ASCII";
  for (const name of components) {
    if (name.startsWith("@")) continue;
    const value = coveredValue(request, fields, name);
    if (value === undefined) continue;
    if (!isBaseValue(value)) return `the field ${name} holds a control or a non-ASCII character`;
    if (name === "content-type" && value.replace(/"(?:[^"\\]|\\.)*"/g, "").includes(","))
      return "Content-Type has several values";
  }
  return undefined;
}

export const coveredValue = (request: SignableRequest, fields: SigningHeaders, name: string): string | undefined =>
  name === "content-type"
    ? fields.contentType
    : name === "content-digest"
      ? fields.contentDigest
      : fieldValue(request.headers, name);

/** Step 5. Equality at a bound passes. */
function windowFault(created: number, expires: number, now: number): string | undefined {
  if (expires <= created) return "expires is not after created";
  if (expires - created > WINDOW_SECONDS) return `the window is longer than ${WINDOW_SECONDS} s`;
  if (created > now + SKEW_SECONDS) return `created is more than ${SKEW_SECONDS} s ahead`;
  if (expires < now - SKEW_SECONDS) return `expired more than ${SKEW_SECONDS} s ago`;
  return undefined;
}

/** Step 6. */
function componentFault(
  request: SignableRequest,
  rules: Rules,
  components: readonly string[],
  fields: SigningHeaders,
): { readonly reason: Reason; readonly detail: string } | undefined {
  const fault =
    rules.profile.name === "webhook"
      ? webhookComponentFault(components)
      : requestComponentFault(components, request.body.length > 0, rules);
  if (fault !== undefined) return fault;
  const absent = components.find((name) => !name.startsWith("@") && coveredValue(request, fields, name) === undefined);
  return absent === undefined ? undefined : { reason: "components_incomplete", detail: `there is no field ${absent}` };
}
