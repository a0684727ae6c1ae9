/** The published signing vectors: as they are, and re-signed under another protocol word. */
import { sign } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { nodeCrypto } from "../../runtime/signing/node-crypto.js";
import type { Jwk, SignatureAlgorithm } from "../../runtime/signing/types.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const corpus = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared");

export interface Vector {
  file: string;
  name: string;
  reference_now: number;
  request: { method: string; url: string; headers: Record<string, string>; body: string };
  verifier_capability?: object;
  jwks_ref: string[];
  jwks_override?: Record<string, unknown>;
  expected_signature_base?: string;
  signing_profile_version?: "3.1" | "3.2";
  expected_outcome: {
    success: boolean;
    error_code?: string;
    failed_step?: number | string;
    status?: "verified" | "unsigned";
    resolved_operation?: string | null;
    dispatch?: string;
  };
  test_harness_state?: {
    replay_cache_entries?: { keyid: string; nonce: string }[];
    revoked_kids?: string[];
    revocation_list?: { revoked_kids: string[] };
    per_keyid_cap_filled_for?: string;
    replay_cache_per_keyid_cap_hit?: { keyid: string };
    revocation_list_stale_seconds?: number;
  };
}

export interface VectorSet {
  word: string;
  keys: Jwk[];
  vectors: Vector[];
}

export const corpusFile = (...parts: string[]): string => path.join(corpus, "vectors", ...parts);

export const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8"));

/** The vectors of a folder; undefined where the corpus is not there. */
export const loadVectors = (folder: "webhook-signing" | "request-signing"): VectorSet | undefined =>
  vectorsIn(corpusFile(folder));

/** The vectors of any folder with `positive` and `negative`; keys are its own, or those beside it. */
export function vectorsIn(base: string, keys = path.join(base, "keys.json")): VectorSet | undefined {
  if (!existsSync(base)) return undefined;
  const vectors = ["positive", "negative"].flatMap((kind) =>
    readdirSync(path.join(base, kind))
      .sort()
      .map((name): Vector => ({ file: `${kind}/${name}`, ...readJson(path.join(base, kind, name)) })),
  );
  return { word: "adcp", keys: readJson(keys).keys, vectors };
}

/** The key with its published private part where a signer looks for it. */
export const privateJwk = (key: Jwk): Jwk => ({ ...key, d: String(key._private_d_for_test_only) });

const algorithmOfJwk = (key: Jwk): SignatureAlgorithm => (key.kty === "OKP" ? "ed25519" : "ecdsa-p256-sha256");

function holds(key: Jwk, base: string, signature: Buffer): boolean {
  const alg = algorithmOfJwk(key);
  return nodeCrypto.verify(alg, nodeCrypto.importPublic(key, alg), base, signature) as boolean;
}

const signedPart = ({ request }: Vector): string =>
  JSON.stringify([request.url, /^sig1=[^,]*/.exec(request.headers["Signature-Input"] ?? "")?.[0]]);

/**
 * The set under another word: tags and key-use members renamed, and every signature that held over its base made again
 * over the renamed base. One that did not hold stays as it is: that is what its vector is about.
 */
export function reword(
  set: VectorSet,
  word: string,
  baseOf: (vector: Vector) => string | undefined = () => undefined,
): VectorSet {
  const rename = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(`${set.word}_use`, `${word}_use`)
        .replace(new RegExp(`${set.word}/(webhook|request)-signing/v1`, "g"), `${word}/$1-signing/v1`),
    );
  // Some vectors repeat the signed part of another and leave its base out.
  const bases = new Map(
    set.vectors
      .filter((one) => one.expected_signature_base)
      .map((one) => [signedPart(one), one.expected_signature_base]),
  );
  const vectors = set.vectors.map((vector) => {
    const renamed: Vector = rename(vector);
    const signature = vector.request.headers.Signature;
    const keyid = /keyid="([^"]*)"/.exec(vector.request.headers["Signature-Input"] ?? "")?.[1];
    const key = set.keys.find(({ kid }) => kid === keyid);
    const token = /^sig1=:([\w+/=-]+):/.exec(signature ?? "")?.[1];
    const holding = [vector.expected_signature_base, bases.get(signedPart(vector)), baseOf(vector)];
    const base = holding.find(
      (one) => key && token && one !== undefined && holds(key, one, Buffer.from(token, "base64url")),
    );
    if (!key || !signature || !base || !token) return renamed;
    const alg = algorithmOfJwk(key);
    const { material } = nodeCrypto.importPrivate(privateJwk(key)) as unknown as { material: never };
    const over = Buffer.from(rename(base));
    const made =
      alg === "ed25519"
        ? sign(null, over, material)
        : sign("sha256", over, { key: material, dsaEncoding: "ieee-p1363" });
    const standard = /[+/=]/.test(token);
    renamed.request.headers.Signature = signature.replaceAll(token, made.toString(standard ? "base64" : "base64url"));
    return renamed;
  });
  return { word, keys: rename(set.keys), vectors };
}
