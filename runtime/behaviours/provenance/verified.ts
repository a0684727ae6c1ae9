/** Asks the verifiers a product lists whether a creative is what it says, and keeps what they want audited. */
import type { JsonObject, ProtocolError } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeUpload } from "../ports/creatives.js";
import type { VerifierFinding } from "../ports/provenance.js";
import { namedVerifiers, type ProvenancePolicy, provenanceOf, verifierFor } from "./policy.js";

interface Observed {
  readonly observations: readonly JsonObject[];
}

const kept = collection<Observed>("audit_observation");

/** What verifiers wanted audited of a creative. */
export const observationsOf = async (call: BehaviourCall, creativeId: string): Promise<readonly JsonObject[]> =>
  (await kept.get(call, call.principal, creativeId))?.observations ?? [];

/** A finding that is less sure refutes nobody. */
const SURE = 0.9;

/** Sources of which a machine that was trained, or a formula, made at least a part. */
const isMadeByMachine = (source: string): boolean => /algorithmic|synthetic/.test(source);

/**
 * What verifiers refute of what a creative says; empty where they agree, or none is asked.
 * @param field where the creative stands in the request
 */
export async function refutations(
  call: BehaviourCall,
  policy: ProvenancePolicy,
  upload: CreativeUpload,
  field: string,
): Promise<ProtocolError[]> {
  const provenance = provenanceOf(upload);
  const [named] = provenance === undefined ? [] : namedVerifiers(provenance);
  const listed = named === undefined ? policy.accepted_verifiers?.[0] : verifierFor(policy, named);
  if (provenance === undefined || listed === undefined) return [];
  // The seller decides what it asks for; the buyer may say where it is silent.
  const verifier = {
    ...listed,
    ...(listed.feature_id === undefined && named?.feature_id !== undefined && { feature_id: named.feature_id }),
  };
  const found = await call.ports.provenance.verify?.({ verifier, upload, provenance });
  if (found === undefined) return [];
  const { audit_observations: observations = [] } = found;
  if (observations.length > 0) kept.put(call, call.principal, upload.creative_id, { observations });
  const claimed = provenance.digital_source_type;
  if (typeof claimed !== "string" || !contradicts(found, claimed)) return [];
  const { agent_url } = verifier;
  const { feature_id, value: observed_value, confidence } = found;
  return [
    {
      code: call.shapes.knowsError("PROVENANCE_CLAIM_CONTRADICTED")
        ? "PROVENANCE_CLAIM_CONTRADICTED"
        : "CREATIVE_REJECTED",
      message: "a verifier found something else than what the creative says of its making",
      field: `${field}.provenance.digital_source_type`,
      recovery: "correctable",
      // These and no more: what else a verifier says may be about somebody else.
      details: {
        agent_url,
        feature_id,
        claimed_value: claimed,
        observed_value,
        ...(confidence !== undefined && { confidence }),
      },
    },
  ];
}

const contradicts = ({ feature_id, value, confidence = 1 }: VerifierFinding, claimed: string): boolean =>
  feature_id === "ai_generated" && value === true && confidence >= SURE && !isMadeByMachine(claimed);
