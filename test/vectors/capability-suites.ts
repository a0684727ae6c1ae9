/** What needs no signature of the vectors' own: URLs, names of methods, and the matrix of policies. */
import { existsSync } from "node:fs";
import path from "node:path";
import * as signing from "../../runtime/signing/index.js";
import { canonicalUrl } from "../../runtime/url.js";
import { readJson } from "../signing/corpus.js";
import type { Case, Folder, VectorGroup } from "./types.js";

const groupMade = (folder: Folder, file: string, cases: readonly Case[]): VectorGroup[] =>
  cases.length === 0 ? [] : [{ release: folder.label, suite: "request-signing", group: file, cases }];

function fileOf({ at }: Folder, name: string): Record<string, never[]> | undefined {
  const file = path.join(at, "request-signing", `${name}.json`);
  return existsSync(file) ? readJson(file) : undefined;
}

interface UrlCase {
  readonly name: string;
  readonly input_url: string;
  readonly expected_target_uri?: string;
  readonly expected_authority?: string;
}

export function canonicalization(folder: Folder): VectorGroup[] {
  const cases: readonly UrlCase[] = fileOf(folder, "canonicalization")?.cases ?? [];
  return groupMade(
    folder,
    "canonicalization",
    cases.map(({ name, input_url, expected_target_uri, expected_authority }) => ({
      name,
      async run() {
        const result = canonicalUrl(input_url, { unicodeHost: "convert" });
        const [url, authority] = result.ok ? [result.url, result.authority] : [];
        return url === expected_target_uri && authority === expected_authority ? undefined : `came to ${url}`;
      },
    })),
  );
}

interface Declaration {
  readonly family: string;
  readonly methods: readonly string[];
}

interface MatchCase {
  readonly id: string;
  readonly declared_methods: readonly string[];
  readonly wire_method: string;
  readonly matches: boolean;
}

export function methodNames(folder: Folder): VectorGroup[] {
  const file = fileOf(folder, "protocol-method-names");
  if (file === undefined) return [];
  const { valid_declarations, invalid_declarations, exact_match_cases } = file as never as {
    valid_declarations: readonly Declaration[];
    invalid_declarations: readonly string[];
    exact_match_cases: readonly MatchCase[];
  };
  const fault = (methods: readonly string[]) =>
    signing.capabilityFault({ protocol_methods_required_for: methods })?.detail;
  return groupMade(folder, "protocol-method-names", [
    ...valid_declarations.map(({ family, methods }) => ({ name: family, run: async () => fault(methods) })),
    ...invalid_declarations.map((name) => ({
      name,
      run: async () => (fault([name]) === undefined ? "the name may be declared" : undefined),
    })),
    ...exact_match_cases.map(({ id, declared_methods, wire_method, matches }) => ({
      name: id,
      run: async (word: string) => {
        const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: wire_method, params: {} }));
        const options = { ...sources(word), capability: { protocol_methods_required_for: declared_methods } };
        const result = signing.verifyRequestSync({ ...request, body }, options);
        return result.ok === !matches ? undefined : `a signature is ${result.ok ? "not " : ""}demanded`;
      },
    })),
  ]);
}

const NOW = 1_776_520_800;
const request = { method: "POST", url: "https://seller.example.com/mcp", headers: {} } as const;
const key = {
  ...{ kid: "matrix", kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", key_ops: ["verify"] },
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
/** The key pair of RFC 8037, appendix A. */
const privateKey = { ...key, d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A" };

const sources = (word: string) => ({
  keys: signing.staticKeys([{ ...key, [`${word}_use`]: "request-signing" }], { sender: "https://buyer.example" }),
  replay: signing.memoryReplayStore(),
  now: () => NOW,
  word,
});

interface MatrixCase {
  readonly id: string;
  readonly endpoint_profile: "3.1" | "3.2";
  readonly mode: string;
  readonly has_body: boolean;
  readonly signature_present: boolean;
  readonly covers_content_digest?: boolean;
  readonly digest_matches_body?: boolean;
  readonly cryptographic_signature_valid?: boolean;
  readonly signature_header_state?: string;
  readonly fallback_auth_valid: boolean;
  readonly legacy_digest_policy?: "either";
  readonly expected: {
    action: string;
    error_code?: string;
    authentication_source?: string;
    verified_signer_identity: boolean;
  };
}

export function bodyIntegrity(folder: Folder): VectorGroup[] {
  const cases: readonly MatrixCase[] = fileOf(folder, "body-integrity-policy")?.cases ?? [];
  return groupMade(
    folder,
    "body-integrity",
    cases.map((one) => ({ name: one.id, run: async (word) => matrixFault(one, word) })),
  );
}

/** Makes the request that a row of the matrix describes, and says where its verdict is another. */
async function matrixFault(one: MatrixCase, word: string): Promise<string | undefined> {
  const methods = one.mode.startsWith("protocol_methods_");
  const capability = { supported: true, [one.mode]: [methods ? "tasks/cancel" : "create_media_buy"] };
  const rules = { profile: one.endpoint_profile, nonAsciiHost: "header_malformed", operations: "named" } as const;
  const made = await matrixRequest(one, word, methods);
  const options = { ...sources(word), capability, rules, fallback: one.fallback_auth_valid };
  const result = await signing.verifyRequest(made, options);
  const expected = one.expected;
  const verified = result.ok && result.signed;
  if (verified !== expected.verified_signer_identity) return `a signer was ${verified ? "" : "not "}verified`;
  if (!result.ok) return result.code === expected.error_code ? undefined : `refused with ${result.code}`;
  const warned = !result.signed && result.warning !== undefined;
  const action = !warned ? "accept" : one.fallback_auth_valid ? "accept_with_warning" : "reject_unauthenticated";
  return action === expected.action ? undefined : `came to ${action}`;
}

async function matrixRequest(one: MatrixCase, word: string, methods: boolean): Promise<signing.SignableRequest> {
  const message = methods
    ? { jsonrpc: "2.0", id: 1, method: "tasks/cancel", params: { id: "t" } }
    : { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "create_media_buy", arguments: {} } };
  const body = Buffer.from(one.has_body ? JSON.stringify(message) : "");
  if (!one.signature_present) return { ...request, body };
  const draft = { ...request, method: one.has_body ? "POST" : "GET", body };
  const covered = one.covers_content_digest !== false;
  // A signature without the digest is one that the newer profile's signer refuses to make: the older one's, respelled.
  const { headers } = await signing.signRequest(draft, {
    ...{ key: privateKey, keyid: key.kid, now: () => NOW, word },
    ...(covered ? { profile: one.endpoint_profile } : { contentDigest: false }),
  });
  const respelled = one.endpoint_profile === "3.2" && !covered;
  const signature = respelled
    ? headers.Signature.replace(/:([\w-]+):/, (_, token) => `:${standard(token)}:`)
    : headers.Signature;
  const broken = one.cryptographic_signature_valid === false;
  const fields: Record<string, string> = {
    ...headers,
    Signature: broken ? signature.replace(/:.{4}/, (head) => (head === ":AAAA" ? ":BBBB" : ":AAAA")) : signature,
  };
  if (one.signature_header_state === "malformed_pair") delete fields["Signature-Input"];
  const changed = one.digest_matches_body === false;
  return { ...draft, headers: fields, body: changed ? Buffer.from(body.toString().replace('"id":1', '"id":2')) : body };
}

const standard = (token: string): string => Buffer.from(token, "base64url").toString("base64");
