/** What is known of properties: who publishes them, what they are, and how they measure up. */
import type { Call } from "../../handler.js";

export interface Identifier {
  readonly type: string;
  readonly value: string;
}

export interface Property {
  readonly property_id: string;
  readonly publisher_domain: string;
  readonly property_type: string;
  readonly identifiers: readonly Identifier[];
  readonly tags: readonly string[];
  readonly channels: readonly string[];
  readonly countries: readonly string[];
  /** Measured features by id; one that is missing is not covered. */
  readonly features: { readonly [feature: string]: number | string | boolean };
}

/** Types of identifiers that delivery can be told by here. */
export const knownTypes = new Set([
  "domain",
  "subdomain",
  "bundle_id",
  "ios_bundle",
  "android_package",
  "apple_app_store_id",
  "google_play_id",
  "roku_store_id",
  "venue_id",
  "rss_url",
  "podcast_guid",
]);

export const properties = (call: Call): Property[] => call.documents.list<Property>("property", "");

/** Hosts are compared without case; other identifiers as they are. */
export const identity = ({ type, value }: Identifier): string =>
  `${type} ${type === "domain" || type === "subdomain" ? value.toLowerCase() : value}`;

/** The property an identifier belongs to. */
export function propertyOf(known: readonly Property[], identifier: Identifier): Property | undefined {
  const wanted = identity(identifier);
  return known.find(({ identifiers }) => identifiers.some((own) => identity(own) === wanted));
}
