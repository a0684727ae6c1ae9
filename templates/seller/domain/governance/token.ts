/**
 * The token of a governed action: a compact JWS (RFC 7515), so that who is shown it can tell who approved what. The buyer
 * sends it to the seller, and both send it back with whatever concerns the action afterwards.
 */
import { createPrivateKey, sign } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";

export interface TokenClaims {
  readonly plan_id: string;
  readonly check_id: string;
  readonly decision: string;
  readonly phase: string;
  /** Who asked. */
  readonly aud: string;
  /** Unix seconds. */
  readonly exp: number;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export function governanceToken(call: Call, claims: TokenClaims): string {
  const { key, keyid } = call.signing;
  const header: JsonObject = { alg: "EdDSA", typ: "governance-context+jws", kid: keyid };
  const body = { iss: call.agentUrl, iat: Math.floor(call.now.getTime() / 1_000), jti: claims.check_id, ...claims };
  const input = `${encode(header)}.${encode(body)}`;
  const signature = sign(null, Buffer.from(input), createPrivateKey({ key: key as never, format: "jwk" }));
  return `${input}.${signature.toString("base64url")}`;
}
