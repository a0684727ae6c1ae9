/** A vector's signature made anew: its own faults kept, times moved to now, the agent's URL in the vector's place. */
import { createHash, createPrivateKey, randomBytes, sign } from "node:crypto";

export interface SigningKey {
  readonly kid: string;
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y?: string;
  readonly _private_d_for_test_only?: string;
}

export interface SigningVector {
  readonly name: string;
  /** Unix seconds that the vector's times are to be read against. */
  readonly reference_now: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly verifier_capability?: {
    readonly covers_content_digest?: string;
    readonly protocol_methods_required_for?: unknown;
  };
  readonly requires_contract?: string;
  readonly expected_outcome?: { readonly success?: boolean; readonly error_code?: string };
}

export interface SignatureParts {
  readonly url: string;
  readonly body: string;
  /** Unix seconds. */
  readonly now: number;
  readonly keys: readonly SigningKey[];
  /** Standard base64, as the 3.2 profile writes it; base64url without padding else. */
  readonly standard: boolean;
}

const encode = (bytes: Buffer, standard: boolean): string => bytes.toString(standard ? "base64" : "base64url");

/** Times of the vector moved to now, and its nonce replaced: a nonce of the published ones has been seen before. */
function moved(input: string, vector: SigningVector, { now }: SignatureParts): string {
  const shift = (text: string): string => String(now + Number(text) - vector.reference_now);
  return input
    .replace(/\b(created|expires)=(\d+)/g, (_, name: string, time: string) => `${name}=${shift(time)}`)
    .replace(/nonce="[^"]*"/g, () => `nonce="${randomBytes(16).toString("base64url")}"`);
}

function baseOf(inner: string, headers: Readonly<Record<string, string>>, { url }: SignatureParts): string {
  const components = [...(/^\(([^)]*)\)/.exec(inner)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name!);
  const { host, origin, pathname, search } = new URL(url);
  const values: Readonly<Record<string, string>> = {
    "@method": "POST",
    "@target-uri": `${origin}${pathname}${search}`,
    "@authority": host,
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
  const lines = components.map((name) => `"${name}": ${values[name] ?? ""}`);
  return [...lines, `"@signature-params": ${inner}`].join("\n");
}

function signatureOf(base: string, inner: string, keys: readonly SigningKey[]): Buffer {
  const kid = /keyid="([^"]*)"/.exec(inner)?.[1];
  // A key that nobody knows signs with any: the verifier stops before it looks.
  const jwk = keys.find((one) => one.kid === kid) ?? keys[0]!;
  const { kty, crv, x, y, _private_d_for_test_only: d } = jwk;
  if (d === undefined) return randomBytes(64);
  const key = createPrivateKey({ key: { kty, crv, x, ...(y !== undefined && { y }), d }, format: "jwk" });
  const data = Buffer.from(base, "latin1");
  return kty === "EC" ? sign("sha256", data, { key, dsaEncoding: "ieee-p1363" }) : sign(null, data, key);
}

/** Headers of a vector's request for the agent's URL. */
export function signedHeaders(vector: SigningVector, parts: SignatureParts): Record<string, string> {
  const { headers: given } = vector.request;
  const input = given["Signature-Input"];
  const code = vector.expected_outcome?.error_code;
  const headers: Record<string, string> = {};
  if (given["Content-Type"] !== undefined) headers["content-type"] = given["Content-Type"];
  const digested = given["Content-Digest"];
  const digestedBody = code === "request_signature_digest_mismatch" ? `${parts.body} ` : parts.body;
  const digest = createHash("sha256").update(digestedBody).digest();
  if (digested !== undefined) {
    const member = `sha-256=:${encode(digest, parts.standard)}:`;
    headers["content-digest"] = digested.split(",").length > 1 ? `${member}, ${member}` : member;
  }
  if (input === undefined) {
    if (given.Signature !== undefined) headers.signature = given.Signature;
    return headers;
  }
  const renewed = moved(input, vector, parts);
  headers["signature-input"] = renewed;
  const inner = /^sig1=(.*?)(?:, \w+=\(|$)/s.exec(renewed)?.[1];
  const broken = code === "request_signature_invalid";
  const bytes =
    inner === undefined || broken ? randomBytes(64) : signatureOf(baseOf(inner, headers, parts), inner, parts.keys);
  const url64 =
    vector.request.headers.Signature?.includes("_") === true && code === "request_signature_header_malformed";
  headers.signature = `sig1=:${encode(bytes, parts.standard && !url64)}:`;
  return headers;
}
