/**
 * The token of a governed action: a compact JWS (RFC 7515), so that who is shown it can tell who approved what. The buyer
 * sends it to the seller, and both send it back with whatever concerns the action afterwards.
 */
import { createHash } from "node:crypto";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { EVERYBODY } from "../frame/documents.js";
import { compactJws } from "../frame/jws.js";

export interface TokenClaims {
  readonly plan_id: string;
  readonly check_id: string;
  readonly decision: string;
  readonly phase: string;
  /** Who is to be shown it. */
  readonly aud: string;
  /** Unix seconds. */
  readonly exp: number;
}

/** A token as it is kept. */
interface IssuedToken {
  readonly owner: string;
  readonly plan_id: string;
  /** Who alone may carry out what was approved; absent where nobody was named. */
  readonly aud?: string;
}

/** How long an approval may be acted upon. */
export const APPROVAL_MS = 72 * 3_600_000;

/** Sellers show tokens of plans that buyers have registered: whose they are is found by the token alone. */
const issued = collection<IssuedToken>("governance_token");

const keyOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/**
 * A new token, kept with the plan it stands for.
 * @param bound no other agent than its audience may carry out what was approved
 */
export function issueToken(
  call: BehaviourCall,
  claims: TokenClaims,
  { owner, bound }: { readonly owner: string; readonly bound: boolean },
): string {
  const body = { iss: call.agentUrl, iat: Math.floor(call.now.getTime() / 1_000), jti: claims.check_id, ...claims };
  const token = compactJws(call, "governance-context+jws", body);
  issued.put(call, EVERYBODY, keyOf(token), {
    owner,
    plan_id: claims.plan_id,
    ...(bound && { aud: claims.aud }),
  });
  return token;
}

/** The plan that a token stands for; undefined for one that was not issued here. */
export const planOfToken = (call: BehaviourCall, token: string) => issued.get(call, EVERYBODY, keyOf(token));
