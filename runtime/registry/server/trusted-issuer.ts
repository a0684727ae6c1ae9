/** Issuers beside the registry's own. */

/** An OAuth issuer whose tokens are accepted. */
export interface TrustedIssuer {
  /** `iss` of its tokens; its metadata are looked for there. */
  readonly issuer: string;
  /** `aud` its tokens must carry. Default the API's own resource identifier. */
  readonly audience?: string;
  /** Default ES256, ES384, EdDSA, RS256 and PS256. Never `none`, never HMAC: keys are public. */
  readonly algorithms?: readonly string[];
  /** Claim that names the user's organization. Default `org_id`. */
  readonly organizationClaim?: string;
}
