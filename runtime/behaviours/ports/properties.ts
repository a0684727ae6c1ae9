/** What is known of properties: who publishes them, what they are, and how they measure up. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** What a property is known by. */
export interface PropertyIdentifier {
  /** As the wire has it: `domain`, `ios_bundle`. */
  readonly type: string;
  readonly value: string;
}

/** A property with what was measured of it. */
export interface MeasuredProperty {
  readonly property_id: string;
  readonly publisher_domain: string;
  readonly property_type: string;
  readonly identifiers: readonly PropertyIdentifier[];
  readonly tags: readonly string[];
  readonly channels: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly countries: readonly string[];
  /** Measured features by id; one that is missing is not covered. */
  readonly features: { readonly [feature: string]: number | string | boolean };
}

/** Whether an agent may sell a property, by the publisher's own file. */
export interface AuthorizationQuestion {
  readonly salesAgentUrl: string;
  readonly identifier: PropertyIdentifier;
  /** Undefined where nobody here knows whose it is. */
  readonly publisherDomain: string | undefined;
}

/** Properties that buyers may list, and what is known of them. Yours to answer. */
export interface PropertiesPort extends CallsUpstream {
  /** What properties are measured by, as capabilities declare it. */
  readonly features: readonly JsonObject[];
  /** Types of identifiers that delivery can be told by; records of other types are `unidentified`. */
  readonly identifierTypes: readonly string[];
  /** Asked at every call that resolves a list. */
  properties(who: { readonly principal: string }): Promise<readonly MeasuredProperty[]>;
  /** Undefined where it cannot be told; nothing is known of any seller where this is left out. */
  authorized?(question: AuthorizationQuestion): Promise<boolean | undefined>;
}
