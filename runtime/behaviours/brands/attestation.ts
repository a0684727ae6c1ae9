/** Proof of a licence that travels with creatives: a compact JWS (RFC 7515) of what the licence allows, by this agent's key. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { compactJws } from "../frame/jws.js";

const GRANT_CLAIM = "https://adcontextprotocol.org/claims/rights/grant";
const GRANT_SUBJECT = "https://adcontextprotocol.org/claims/subjects/rights-grant";
const FORMAT = "urn:ietf:rfc:7515";

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** A licence by its id, and its end as ISO 8601. */
interface ProvenLicence {
  readonly id: string;
  readonly until: string;
}

/** The constraint with its digest, and a credential of the holder's that binds it. */
export function attested(call: BehaviourCall, { id, until }: ProvenLicence, constraint: JsonObject): JsonObject {
  const digest = sha256(canonicalize(constraint)!);
  const subject = {
    type: "resource",
    resource_type: GRANT_SUBJECT,
    namespace: call.agentUrl,
    id,
    content_digest: digest,
  };
  const issuer = { type: "brand", brand: constraint.rights_holder };
  const claims: JsonObject = {
    iss: call.agentUrl,
    iat: Math.floor(call.now.getTime() / 1_000),
    exp: Math.floor(Date.parse(until) / 1_000),
    issuer,
    claim_type: GRANT_CLAIM,
    subject,
    grant_status: constraint.grant_status,
  };
  const embedded = { format: FORMAT, value: compactJws(call, "rights-grant+jws", claims) };
  const ref = { issuer, claim_type: GRANT_CLAIM, subject, embedded_credential: embedded };
  return { ...constraint, content_digest: digest, attestation_refs: [ref] };
}
