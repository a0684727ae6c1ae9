/** How requests are signed: at an endpoint of one's own, and at a peer's. */
import {
  type JsonObject,
  type Release,
  type RequestProfileName,
  type SigningFacts,
  wireNames,
} from "../contract/index.js";

/** The rules a verifier has for every request that reaches one endpoint. */
export interface EndpointSigning {
  readonly profile: RequestProfileName;
  readonly nonAsciiHost: SigningFacts["nonAsciiHost"]["value"];
  readonly operations: SigningFacts["operations"]["value"];
}

/**
 * The rules of an endpoint, by the releases it declares and nothing that a request says: one release of the 3.2 profile puts
 * all of it there.
 * @param releases those the endpoint declares
 */
export function endpointSigning(releases: readonly Pick<Release, "facts">[]): EndpointSigning {
  const signing = releases.map(({ facts }) => facts.signing);
  const any = <K extends keyof SigningFacts>(name: K, value: SigningFacts[K]["value"]): boolean =>
    signing.some((one) => one[name].value === value);
  return {
    profile: any("profile", "3.2") ? "3.2" : "3.1",
    nonAsciiHost: any("nonAsciiHost", "target_uri_malformed") ? "target_uri_malformed" : "header_malformed",
    operations: any("operations", "one") ? "one" : "named",
  };
}

/** The releases of some that are served at an endpoint of their own, because the newest ones change how requests are signed. */
export const legacySigned = <R extends Pick<Release, "facts">>(releases: readonly R[]): R[] => {
  const older = releases.filter(({ facts }) => facts.signing.profile.value === "3.1");
  return older.length < releases.length ? older : [];
};

/**
 * The profile that a peer verifies, by what it declares now.
 * @param releases one's own; a pattern of theirs says which versions have the newer profile
 * @param capabilities the peer's declaration as it came; null where it has none, which only old peers do
 */
export function peerProfile(
  releases: readonly Pick<Release, "facts" | "word">[],
  capabilities: JsonObject | null,
): RequestProfileName {
  const [first] = releases;
  if (first === undefined || capabilities === null) return "3.1";
  const own = capabilities[first.word];
  const listed = typeof own === "object" && own !== null ? (own as JsonObject).supported_versions : undefined;
  const versions = [capabilities[wireNames(first.word).version], ...(Array.isArray(listed) ? listed : [])];
  const newer = releases.map(({ facts }) => new RegExp(facts.signing.newer.value, "u"));
  return versions.some((one) => typeof one === "string" && newer.some((pattern) => pattern.test(one))) ? "3.2" : "3.1";
}
