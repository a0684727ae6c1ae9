/**
 * Who the seller is, for whoever verifies what it signs: its brand file and its keys
 * (docs/protocol/signing.md#key-discovery).
 */
import { type JsonObject, wireNames } from "../contract/index.js";
import type { Jwk } from "../signing/index.js";
import { badSellerOption, type SellerSettings } from "./settings.js";

/** Members of a key that everybody may see; whatever else a private key holds stays here. */
const publicMembers = ["kty", "crv", "x", "y"] as const;

const algorithms: Readonly<Record<string, string>> = { OKP: "EdDSA", EC: "ES256" };

/** @throws AdbindError `seller_option_invalid` */
export function publicKeySet(settings: Pick<SellerSettings<never>, "signing" | "releases">): { keys: JsonObject[] } {
  const { signing } = settings;
  if (signing === undefined) return { keys: [] };
  const use = wireNames(settings.releases[0]!.word).keyUse;
  const own = publicJwk(signing.key, signing.keyid, use);
  const others = (signing.alsoPublished ?? []) as JsonObject[];
  if (others.some((key) => "d" in key)) throw badSellerOption("signing.alsoPublished", "give public keys, without d");
  return { keys: [own, ...others] };
}

/** What everybody may see of a key. @param use the member that says what it is for @throws AdbindError `seller_option_invalid` */
export function publicJwk(given: object, kid: string, use: string): JsonObject {
  const key = given as Jwk;
  const alg = algorithms[key.kty ?? ""];
  if (alg === undefined || typeof key.x !== "string") {
    throw badSellerOption("signing.key", "give a private JWK, Ed25519 or P-256");
  }
  const members = Object.fromEntries(
    publicMembers.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]),
  );
  // A key that was made for one purpose is published for that one.
  const purpose = typeof key[use] === "string" ? key[use] : "request-signing";
  return { ...members, kid, alg, use: "sig", key_ops: ["verify"], [use]: purpose };
}

/** Roles an agent can have in a brand file, by the protocol it serves. */
const roles: Readonly<Record<string, string>> = {
  "media-buy": "sales",
  signals: "signals",
  governance: "governance",
  creative: "creative",
  brand: "brand",
};

/** The brand file: one entry for each endpoint, since callers compare the URL they know byte by byte. */
export function brandFile(
  settings: SellerSettings<never>,
  endpoints: readonly { id: string; url: string }[],
): JsonObject {
  const [release] = settings.releases;
  const protocols = settings.specialisms.map((id) => release!.specialisms[id]?.protocol ?? "");
  const type = protocols.map((protocol) => roles[protocol]).find((role) => role !== undefined) ?? "sales";
  return {
    version: "1.0",
    agents: endpoints.map(({ id, url }) => ({
      type,
      url,
      id,
      description: settings.description.slice(0, 500),
      jwks_uri: `${settings.baseUrl}/.well-known/jwks.json`,
    })),
  };
}
