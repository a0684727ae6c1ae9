/**
 * Signing webhooks and requests: what the verifier in verify.ts accepts, in the one spelling of
 * docs/protocol/signing.md#webhook-headers.
 */
import type { MaybePromise, RequestProfileName } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { AdbindError } from "../errors.js";
import { strictFault } from "../json.js";
import { canonicalUrl, type UrlResult } from "../url.js";
import { isBaseValue } from "./base.js";
import { encodeBase64Url, padded } from "./base64.js";
import type { CryptoBackend } from "./crypto.js";
import { isNonce, WINDOW_SECONDS } from "./examine.js";
import { LABEL } from "./fields.js";
import { fieldValue, isJsonContentType } from "./headers.js";
import { type Profile, requestComponents, webhookComponents } from "./profiles.js";
import type { SignableRequest, SignatureAlgorithm, Signed } from "./types.js";
import { namesOf, systemSeconds } from "./verify.js";

/** Bytes of a nonce; the profile's minimum, and enough that two never meet. */
const NONCE_BYTES = 16;

/** A private key that is elsewhere: in a KMS, an HSM, another process. */
export interface RemoteKey {
  readonly alg: SignatureAlgorithm;
  /**
   * Signs a signature base, as it is: Ed25519 over the bytes, or ECDSA over their SHA-256.
   * @returns 64 bytes; of ECDSA r and s one after the other, not DER
   */
  sign(base: Uint8Array): MaybePromise<Uint8Array>;
}

const isRemoteKey = (key: object): key is RemoteKey => "sign" in key && typeof key.sign === "function";

/** Bytes of a signature of either algorithm. */
const SIGNATURE_BYTES = 64;

/** The key to sign with, and how long the signature holds in seconds. */
export interface SignOptions {
  /**
   * The private key: a JWK with `d`, a `KeyObject` (node) or a `CryptoKey` (WebCrypto). Hand the same object in every
   * time: its imported form is remembered. Or a `RemoteKey`, which only what returns promises can wait for.
   */
  readonly key: object;
  /** `kid` under which the public key is published. */
  readonly keyid: string;
  /** Unix seconds; the system clock by default. */
  readonly now?: () => number;
  /** Base64url of at least 16 bytes; random by default, and never to be used twice. */
  readonly nonce?: string;
  /** Validity, at most 300 s, which is the default. */
  readonly windowSeconds?: number;
  /** The protocol's word; `proto` by default. */
  readonly word?: string;
}

/** How a request is signed: its profile, and whether the body's digest is covered. */
export interface SignRequestOptions extends SignOptions {
  /** Cover the digest of a body; true by default. A verifier whose capability forbids it needs false, which 3.2 does not have. */
  readonly contentDigest?: boolean;
  /** The profile of the endpoint the request goes to: 3.1 by default. */
  readonly profile?: RequestProfileName;
}

interface Imported {
  readonly alg: SignatureAlgorithm;
  readonly material: unknown;
}

const importedKeys = new WeakMap<CryptoBackend, WeakMap<object, Imported>>();

function* importKey(key: object, backend: CryptoBackend): Coroutine<Imported> {
  if (isRemoteKey(key)) return { alg: key.alg, material: key };
  let held = importedKeys.get(backend);
  if (held === undefined) {
    held = new WeakMap();
    importedKeys.set(backend, held);
  }
  const known = held.get(key);
  if (known !== undefined) return known;
  try {
    const imported = yield* wait(backend.importPrivate(key));
    held.set(key, imported);
    return imported;
  } catch (cause) {
    throw new AdbindError("signing_key_invalid", "The signing key cannot be used", {
      remedy: "give an Ed25519 or P-256 private key, as a JWK with d or as the platform's key object",
      cause,
    });
  }
}

const invalidOption = (where: string, remedy: string): AdbindError =>
  new AdbindError("signing_option_invalid", `The option ${where} cannot be used`, { where, remedy });

interface Draft {
  readonly profile: Profile;
  readonly components: readonly string[];
  readonly contentType: string | undefined;
  /** Binary values are in padded standard base64, not in base64url. */
  readonly standard: boolean;
}

/**
 * A webhook must be JSON with distinct keys before it is signed: a body two readers read differently must not carry our
 * signature.
 */
export function* webhookSignature(
  profile: Profile,
  request: SignableRequest,
  options: SignOptions,
  backend: CryptoBackend,
): Coroutine<Signed> {
  const given = fieldValue(request.headers, "content-type");
  if (given !== undefined && given !== "application/json") {
    throw invalidOption("Content-Type", "webhooks are sent as application/json, without parameters");
  }
  checkBody(request.body);
  const draft = { profile, components: webhookComponents, contentType: "application/json", standard: false };
  return yield* signature(draft, request, options, backend);
}

/** A request covers its content type and, unless told otherwise, its digest, when it has a body. */
export function* requestSignature(
  profile: Profile,
  request: SignableRequest,
  options: SignRequestOptions,
  backend: CryptoBackend,
): Coroutine<Signed> {
  const hasBody = request.body.length > 0;
  const newer = options.profile === "3.2";
  if (newer && options.contentDigest === false)
    throw invalidOption("contentDigest", "the 3.2 profile covers every body: leave it out");
  const contentType = fieldValue(request.headers, "content-type") ?? (hasBody ? "application/json" : undefined);
  if (contentType !== undefined && (!isBaseValue(contentType) || contentType.includes(","))) {
    throw invalidOption("Content-Type", "give one media type");
  }
  if (hasBody && isJsonContentType(contentType)) checkBody(request.body);
  const digested = hasBody && options.contentDigest !== false;
  // A body always has a type here.
  const components = digested ? webhookComponents : contentType === undefined ? requestComponents : typedComponents;
  return yield* signature({ profile, components, contentType, standard: newer }, request, options, backend);
}

const typedComponents: readonly string[] = [...requestComponents, "content-type"];

/** @throws AdbindError `duplicate_key_input` or `body_not_json` */
export function checkBody(body: Uint8Array): void {
  // Judged, not made: nobody reads the value.
  const json = strictFault(body);
  if (json === undefined) return;
  throw new AdbindError(json.reason === "duplicate_keys" ? "duplicate_key_input" : "body_not_json", json.detail, {
    where: "the body to sign",
    remedy: json.reason === "duplicate_keys" ? "send each key once" : "send one JSON document in UTF-8",
  });
}

/** URLs signed for lately: a sender signs for the same ones again and again. */
const canonical = new Map<string, UrlResult>();
const CANONICAL_URLS = 1_000;

function canonicalOf(url: string): UrlResult {
  const known = canonical.get(url);
  if (known !== undefined) return known;
  const found = canonicalUrl(url, { unicodeHost: "convert" });
  if (canonical.size >= CANONICAL_URLS) canonical.clear();
  canonical.set(url, found);
  return found;
}

function* signature(
  { profile, components, contentType, standard }: Draft,
  request: SignableRequest,
  options: SignOptions,
  backend: CryptoBackend,
): Coroutine<Signed> {
  const target = canonicalOf(request.url);
  if (!target.ok) {
    throw new AdbindError("target_url_malformed", `No signature can name this URL: ${target.detail}`, {
      remedy: "give an absolute http or https URL",
    });
  }
  const { alg, material } = importedKeys.get(backend)?.get(options.key) ?? (yield* importKey(options.key, backend));
  const binary = (token: string): string => `:${standard ? padded(token) : token}:`;
  const digest = components.includes("content-digest")
    ? `sha-256=${binary(yield* wait(backend.sha256(request.body)))}`
    : undefined;
  const tag = profile.tag(namesOf(options.word ?? "proto"));
  const params = `${listOf(components)}${paramsOf(options, alg, tag, backend)}`;
  let signatureBase = `"@method": ${request.method.toUpperCase()}\n"@target-uri": ${target.url}\n"@authority": ${target.authority}\n`;
  if (contentType !== undefined) signatureBase += `"content-type": ${contentType}\n`;
  if (digest !== undefined) signatureBase += `"content-digest": ${digest}\n`;
  signatureBase += `"@signature-params": ${params}`;
  const { key } = options;
  const made = isRemoteKey(key)
    ? yield* signedElsewhere(key, signatureBase)
    : yield* wait(backend.sign(alg, material, signatureBase));
  return {
    signatureBase,
    headers: {
      ...(contentType !== undefined && { "Content-Type": contentType }),
      ...(digest !== undefined && { "Content-Digest": digest }),
      "Signature-Input": `${LABEL}=${params}`,
      Signature: `${LABEL}=${binary(made)}`,
    },
  };
}

function* signedElsewhere(key: RemoteKey, base: string): Coroutine<string> {
  const bytes = yield* wait(key.sign(new TextEncoder().encode(base)));
  if (bytes instanceof Uint8Array && bytes.length === SIGNATURE_BYTES) return encodeBase64Url(bytes);
  const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : "no bytes";
  throw new AdbindError("signing_key_invalid", `A remote key gave ${got} as a signature`, {
    where: "sign",
    remedy: `answer ${SIGNATURE_BYTES} bytes: of ECDSA r and s one after the other, not DER`,
  });
}

/** The inner list of components; there are three of them. */
const listOf = (components: readonly string[]): string =>
  components === webhookComponents ? webhookList : `("${components.join('" "')}")`;

const webhookList = `("${webhookComponents.join('" "')}")`;

function paramsOf(options: SignOptions, alg: SignatureAlgorithm, tag: string, backend: CryptoBackend): string {
  const { keyid, nonce = backend.randomText(NONCE_BYTES), windowSeconds = WINDOW_SECONDS } = options;
  if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(keyid)) {
    throw invalidOption("keyid", "use printable ASCII without quotes and backslashes");
  }
  if (!isNonce(nonce)) throw invalidOption("nonce", "use unpadded base64url of at least 16 bytes");
  if (!Number.isSafeInteger(windowSeconds) || windowSeconds < 1 || windowSeconds > WINDOW_SECONDS) {
    throw invalidOption("windowSeconds", `use 1 to ${WINDOW_SECONDS}`);
  }
  const created = Math.floor((options.now ?? systemSeconds)());
  const window = `created=${created};expires=${created + windowSeconds}`;
  return `;${window};nonce="${nonce}";keyid="${keyid}";alg="${alg}";tag="${tag}"`;
}
