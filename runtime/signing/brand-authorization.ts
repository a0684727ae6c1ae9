/**
 * Whether a brand vouches for who signed a claim about it: a cross-check of a response whose signature holds already. It is
 * advice to the reader, and never a reason to drop the response.
 */

import { wireNames } from "../contract/index.js";
import { isJsonObject } from "../contract/json-object.js";
import { canonicalUrl } from "../url.js";
import type { Jwk, JwkSet } from "./types.js";

type Json = { readonly [key: string]: unknown };

/** Why a signed word on a brand is not to be relied on. */
export type BrandDistrust =
  | "brand_json_unavailable"
  | "agent_not_authorized"
  | "agent_authorization_ambiguous"
  | "jwks_unavailable"
  | "kid_not_authorized"
  | "kid_authorization_ambiguous"
  | "key_material_mismatch"
  | "key_purpose_invalid";

/** In the names of the release's own schema for it. */
export type BrandAuthorization =
  | { readonly trust: "trusted"; readonly kid: string; readonly jwks_uri: string }
  | { readonly trust: "untrusted"; readonly reason: BrandDistrust; readonly kid?: string; readonly jwks_uri?: string };

/** A signed word on a brand, to be held against that brand's own file. */
export interface BrandClaim {
  /** The brand the response speaks of, by the domain that was asked. */
  readonly brandDomain: string;
  /** URL of the agent that answered. */
  readonly agentUrl: string;
  /** `kid` of its signature. */
  readonly kid: string;
  /** The key that the signature held under; absent where nothing was verified. */
  readonly verified?: Jwk;
  /** The brand's file; null where it cannot be had. */
  readonly brandFile: unknown;
  /** Key sets by the canonical form of their URL; undefined where one cannot be had. */
  jwks(uri: string): JwkSet | undefined;
  /** The protocol's word; `proto` by default. */
  readonly word?: string;
}

const canonical = (url: unknown): string | undefined => {
  const result = typeof url === "string" ? canonicalUrl(url, { unicodeHost: "convert" }) : undefined;
  return result?.ok === true ? result.url : undefined;
};

/** Agents that may speak for a domain: the file's own, the house's, and those of that brand, never of its sisters. */
function agentsFor(file: Json, domain: string): Json[] {
  const brands = Array.isArray(file.brands) ? file.brands.filter(isJsonObject) : [];
  const own = brands.filter(
    ({ url }) => typeof url === "string" && URL.canParse(url) && new URL(url).hostname === domain,
  );
  return [file, file.house, ...own]
    .filter(isJsonObject)
    .flatMap(({ agents }) => (Array.isArray(agents) ? agents.filter(isJsonObject) : []));
}

/** Whether two keys are one, by the members that make them. */
const sameMaterial = (left: Jwk, right: Jwk): boolean =>
  (["kty", "crv", "x", "y"] as const).every((name) => left[name] === right[name]);

/** Judges who signed a claim about a brand by the brand's own file and key set. */
export function brandAuthorization(claim: BrandClaim): BrandAuthorization {
  if (!isJsonObject(claim.brandFile)) return { trust: "untrusted", reason: "brand_json_unavailable" };
  const wanted = canonical(claim.agentUrl);
  const matches = agentsFor(claim.brandFile, claim.brandDomain.toLowerCase()).filter(
    ({ type, url }) => type === "brand" && wanted !== undefined && canonical(url) === wanted,
  );
  const [agent, ...others] = matches;
  if (agent === undefined) return { trust: "untrusted", reason: "agent_not_authorized" };
  if (others.length > 0) return { trust: "untrusted", reason: "agent_authorization_ambiguous" };
  const uri =
    agent.jwks_uri === undefined ? `${new URL(wanted!).origin}/.well-known/jwks.json` : canonical(agent.jwks_uri);
  if (uri?.startsWith("https://") !== true) return { trust: "untrusted", reason: "jwks_unavailable" };
  return keyAuthorization(claim, uri);
}

function keyAuthorization({ kid, verified, jwks, word }: BrandClaim, uri: string): BrandAuthorization {
  const distrust = (reason: BrandDistrust): BrandAuthorization => ({ trust: "untrusted", reason, kid, jwks_uri: uri });
  const set = jwks(uri);
  if (set === undefined || !Array.isArray(set.keys)) return distrust("jwks_unavailable");
  const [key, ...more] = (set.keys as readonly unknown[]).filter(
    (one): one is Jwk => isJsonObject(one) && one.kid === kid,
  );
  if (key === undefined) return distrust("kid_not_authorized");
  if (more.length > 0) return distrust("kid_authorization_ambiguous");
  if (verified === undefined || !sameMaterial(key, verified)) return distrust("key_material_mismatch");
  const fit = key.use === "sig" && key.key_ops?.includes("verify") === true;
  if (!fit || key[wireNames(word ?? "proto").keyUse] !== "response-signing") return distrust("key_purpose_invalid");
  return { trust: "trusted", kid, jwks_uri: uri };
}
