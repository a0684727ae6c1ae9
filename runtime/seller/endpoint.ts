/**
 * The URLs a seller answers under. Two endpoints where its releases sign requests in two ways: one URL never verifies two
 * profiles, so callers who sign as older releases do have URLs of their own.
 */
import type { Release, TransportName } from "../contract/index.js";
import { type EndpointSigning, endpointSigning, legacySigned } from "../facts/index.js";
import type { SellerSettings } from "./settings.js";

/** One endpoint, and the releases it declares. */
export interface Endpoint {
  readonly id: "current" | "legacy";
  /** Newest first. */
  readonly releases: readonly Release[];
  readonly signing: EndpointSigning;
}

const endpoint = (id: Endpoint["id"], releases: readonly Release[]): Endpoint => ({
  id,
  releases,
  signing: endpointSigning(releases),
});

/** Where a transport is reached at an endpoint. */
export const transportPath = ({ id }: Endpoint, transport: TransportName): string =>
  `${id === "current" ? "" : `/${id}`}/${transport}`;

/** The endpoint of all releases, then that of the older ones, where the newer ones sign otherwise. */
export function endpointsOf(releases: readonly Release[]): readonly [Endpoint, ...Endpoint[]] {
  const older = legacySigned(releases);
  return [endpoint("current", releases), ...(older.length > 0 ? [endpoint("legacy", older)] : [])];
}

/** A seller's settings as one of its endpoints has them. */
export const settingsAt = <Tx>(settings: SellerSettings<Tx>, { releases }: Endpoint): SellerSettings<Tx> => ({
  ...settings,
  releases,
});
