/** Runs one vector through a signing implementation. No node: the browser test bundles it. */
import type { Jwk, ReplayStore, RequestRules, RevocationSource, Signing } from "../../runtime/signing/web.js";
import { memoryReplayStore, staticKeys } from "../../runtime/signing/web.js";
import type { Vector } from "./corpus.js";

export interface Outcome {
  ok: boolean;
  code?: string;
  step?: number | string;
  signatureBase?: string;
  /** Nonces in the store afterwards. */
  burned: number;
}

export interface VectorRun {
  readonly kind: "webhook" | "request";
  readonly word: string;
  readonly keys: readonly Jwk[];
  /** What the release of the vectors decides. */
  readonly rules?: RequestRules;
  readonly keyUses?: readonly string[];
}

function keysOf(vector: Vector, keys: readonly Jwk[]): Jwk[] {
  const override = vector.jwks_override;
  if (override !== undefined && Array.isArray(override.keys)) return override.keys as Jwk[];
  return vector.jwks_ref.map((kid) => (override?.[kid] as Jwk) ?? keys.find((key) => key.kid === kid)!);
}

const revocationOf = (state: Vector["test_harness_state"]): RevocationSource => ({
  check(keyid) {
    if (state?.revocation_list_stale_seconds !== undefined) return "stale";
    const revoked = state?.revoked_kids ?? state?.revocation_list?.revoked_kids ?? [];
    return revoked.includes(keyid) ? "revoked" : "good";
  },
});

const CAP_FOR_TEST = 3;

function replayOf(vector: Vector): ReplayStore & { readonly size: number } {
  const { test_harness_state: state, reference_now: now } = vector;
  const store = memoryReplayStore({ perKeyCap: CAP_FOR_TEST });
  for (const { keyid, nonce } of state?.replay_cache_entries ?? []) store.insert(keyid, nonce, now + 360, now);
  const full = state?.per_keyid_cap_filled_for ?? state?.replay_cache_per_keyid_cap_hit?.keyid;
  if (full !== undefined) for (let at = 0; at < CAP_FOR_TEST; at++) store.insert(full, `filler-${at}`, now + 360, now);
  return store;
}

export async function runVector(
  signing: Pick<Signing, "verifyWebhook" | "verifyRequest">,
  vector: Vector,
  { kind, word, keys, rules, keyUses }: VectorRun,
): Promise<Outcome> {
  const request = { ...vector.request, body: new TextEncoder().encode(vector.request.body) };
  const replay = replayOf(vector);
  const before = replay.size;
  const options = {
    keys: staticKeys(keysOf(vector, keys), { sender: "https://seller.example.com/agent" }),
    replay,
    revocation: revocationOf(vector.test_harness_state),
    now: () => vector.reference_now,
    word,
  };
  const result =
    kind === "webhook"
      ? await signing.verifyWebhook(request, { ...options, ...(keyUses !== undefined && { keyUses }) })
      : await signing.verifyRequest(request, {
          ...options,
          capability: vector.verifier_capability as object,
          ...(rules !== undefined && { rules }),
        });
  const burned = replay.size - before;
  if (!result.ok) return { burned, ...result };
  return "signatureBase" in result ? { ok: true, burned, signatureBase: result.signatureBase } : { ok: true, burned };
}

/** What is wrong with an outcome; undefined when it is what the vector expects. */
export function judge(vector: Vector, outcome: Outcome): string | undefined {
  const { success, error_code } = vector.expected_outcome;
  if (outcome.ok !== success) return `expected ${success ? "success" : error_code}, got ${outcome.code ?? "success"}`;
  if (!success && outcome.code !== error_code) return `expected ${error_code}, got ${outcome.code}`;
  const base = vector.expected_signature_base;
  if (success && base !== undefined && outcome.signatureBase !== base)
    return `signature base is ${outcome.signatureBase}`;
  const signed = success && vector.expected_outcome.status !== "unsigned";
  if (outcome.burned !== (signed ? 1 : 0)) return `${outcome.burned} nonces were burned`;
  return undefined;
}
