/** Whether a creative is what it says it is: who is asked, and what they may answer. */
import type { JsonObject } from "../../contract/index.js";
import type { CreativeUpload, Provenance, VerifyAgent } from "./creatives.js";
import type { CallsUpstream } from "./upstream.js";

/** An agent whose word on a creative's provenance is taken. */
export interface AcceptedVerifier extends VerifyAgent {
  readonly providers?: readonly string[];
}

/** What a verifier is asked of a creative. */
export interface VerifierQuestion {
  readonly verifier: AcceptedVerifier;
  readonly upload: CreativeUpload;
  readonly provenance: Provenance;
}

/** What a verifier found of one feature. */
export interface VerifierFinding {
  readonly feature_id: string;
  /** As measured, such as true for `ai_generated`. */
  readonly value: unknown;
  /** 0 to 1. */
  readonly confidence?: number;
  /** What the verifier wants audited; never a reason to refuse. */
  readonly audit_observations?: readonly JsonObject[];
}

/** Checks what a creative says of how it was made. Yours to answer. */
export interface ProvenancePort extends CallsUpstream {
  /** Asks a verifier whose URL a product of this seller lists; undefined where it has no opinion. */
  verify?(question: VerifierQuestion): Promise<VerifierFinding | undefined>;
}
