/** Signatures that no honest seller makes: whatever one wishes to cover, say and sign. */
import { createPrivateKey, hash, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { buildSignatureBase } from "../signing/base.js";
import { webhookComponents } from "../signing/profiles.js";
import { canonicalUrl } from "../url.js";
import type { TestKey } from "./key.js";
import type { TestWebhook } from "./sign.js";

/** What is said of a signature, without the rules that hold for it. */
export interface Forgery {
  readonly components?: readonly string[];
  /** Unix seconds. */
  readonly created: number;
  readonly windowSeconds?: number;
  readonly tag?: string;
  readonly keyid?: string;
  /** Whose key signs; the seller's own by default. */
  readonly key: Pick<TestKey, "keyid" | "word" | "privateKey">;
  readonly nonce: string;
}

const keyObject = (key: TestKey["privateKey"]): KeyObject =>
  "type" in key && typeof key.export === "function"
    ? (key as KeyObject)
    : createPrivateKey({ key: key as JsonWebKey, format: "jwk" });

const rawSignature = (key: KeyObject, base: string): string =>
  key.asymmetricKeyType === "ed25519"
    ? sign(null, Buffer.from(base, "latin1"), key).toString("base64url")
    : sign("sha256", Buffer.from(base, "latin1"), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");

/** The same request under another signature. */
export function resigned({ method, url, target, headers, body }: TestWebhook, forgery: Forgery): TestWebhook {
  const { components = webhookComponents, created, windowSeconds = 300, key, nonce } = forgery;
  const { keyid = key.keyid, tag = `${key.word}/webhook-signing/v1` } = forgery;
  const material = keyObject(key.privateKey);
  const alg = material.asymmetricKeyType === "ed25519" ? "ed25519" : "ecdsa-p256-sha256";
  const at = canonicalUrl(url, { unicodeHost: "convert" });
  const digest = `sha-256=:${hash("sha256", body, "base64url")}:`;
  const values: Record<string, string> = {
    "@method": method,
    "@target-uri": at.ok ? at.url : url,
    "@authority": at.ok ? at.authority : "",
    "content-type": headers["Content-Type"] ?? "application/json",
    "content-digest": digest,
  };
  const times = `;created=${created};expires=${created + windowSeconds}`;
  const texts = Object.entries({ nonce, keyid, alg, tag }).map(([name, value]) => `;${name}="${value}"`);
  const params = `(${components.map((name) => `"${name}"`).join(" ")})${times}${texts.join("")}`;
  const base = buildSignatureBase(components, (name) => values[name] ?? "", params);
  const signed = { "Signature-Input": `sig1=${params}`, Signature: `sig1=:${rawSignature(material, base)}:` };
  return { method, url, target, headers: { ...headers, "Content-Digest": digest, ...signed }, body };
}
