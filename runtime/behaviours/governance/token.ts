/**
 * The token of a governed action: a compact JWS (RFC 7515), so that who is shown it can tell who approved what. The buyer
 * sends it to the seller, and both send it back with whatever concerns the action afterwards.
 */
import { createHash, createPrivateKey, sign } from "node:crypto";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

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

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Sellers show tokens of plans that buyers have registered: whose they are is found by the token alone. */
const issued = collection<{ readonly owner: string; readonly plan_id: string }>("governance_token");
const EVERYBODY = "";

const keyOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** A new token, kept with the plan it stands for. */
export function issueToken(call: BehaviourCall, owner: string, claims: TokenClaims): string {
  const { key, keyid } = call.signing;
  const header = { alg: "EdDSA", typ: "governance-context+jws", kid: keyid };
  const body = { iss: call.agentUrl, iat: Math.floor(call.now.getTime() / 1_000), jti: claims.check_id, ...claims };
  const input = `${encode(header)}.${encode(body)}`;
  const signature = sign(null, Buffer.from(input), createPrivateKey({ key: { ...key }, format: "jwk" }));
  const token = `${input}.${signature.toString("base64url")}`;
  issued.put(call, EVERYBODY, keyOf(token), { owner, plan_id: claims.plan_id });
  return token;
}

/** The plan that a token stands for; undefined for one that was not issued here. */
export const planOfToken = (call: BehaviourCall, token: string) => issued.get(call, EVERYBODY, keyOf(token));
