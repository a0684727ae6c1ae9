/** Statements of the agent's own, signed so that whoever is shown one can tell whose it is: compact JWS (RFC 7515). */
import { createPrivateKey, sign } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "./call.js";

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** @param typ what sort of statement it is, as its header says */
export function compactJws({ signing }: Pick<BehaviourCall, "signing">, typ: string, body: JsonObject): string {
  const { key, keyid } = signing;
  const input = `${encode({ alg: "EdDSA", typ, kid: keyid })}.${encode(body)}`;
  const signature = sign(null, Buffer.from(input), createPrivateKey({ key: { ...key }, format: "jwk" }));
  return `${input}.${signature.toString("base64url")}`;
}
