/** What publishers' files say, and what a crawl found. Times are unix milliseconds. */
import type { components } from "../../generated/registry/openapi.js";
import type { FileProblem } from "./file-problems.js";

type BrandAgent = components["schemas"]["BrandAgent"];

/** How a publisher's file was found (docs/protocol/files.md#where-it-is). */
export type DiscoveryMethod = "direct" | "authoritative_location" | "ads_txt_managerdomain";
/** How an agent stands to a publisher. */
export type DelegationType = "direct" | "delegated" | "ad_network";
/** What an entry of an authorization file selects by. */
export type AuthorizationType =
  | "property_ids"
  | "property_tags"
  | "inline_properties"
  | "publisher_properties"
  | "signal_ids"
  | "signal_tags";

/** What a property is known by. */
export interface Identifier {
  readonly type: string;
  readonly value: string;
}

/** A property, of the domain whose file it stands in. */
export interface PropertyRecord {
  /** The publisher's name for it. */
  readonly id: string | null;
  readonly type: string;
  readonly name: string;
  readonly identifiers: readonly Identifier[];
  readonly tags: readonly string[];
  /** `supported_channels`; absent or empty where the file does not say. */
  readonly channels?: readonly string[];
}

/** One entry of `authorized_agents`, narrowed to what it may say about one domain. */
export interface AgentEntry {
  /** Canonical. */
  readonly agentUrl: string;
  /** Its number among the file's `authorized_agents`; absent in what is no file. */
  readonly place?: number;
  readonly authorizedFor: string | null;
  /** Null in what is no file: an agent's own claim, or an import by who runs the registry; then all the publisher has. */
  readonly authorizationType: AuthorizationType | null;
  /** With `property_ids`. */
  readonly propertyIds?: readonly string[];
  /** With `property_tags`. */
  readonly propertyTags?: readonly string[];
  /** With `inline_properties`: they become properties of the domain, and the entry covers just them. */
  readonly properties?: readonly PropertyRecord[];
  /** With `publisher_properties`: the selectors that name this domain, in the protocol's own form. */
  readonly publisherProperties?: readonly PropertySelector[];
  readonly countries?: readonly string[];
  readonly delegationType?: DelegationType | null;
  readonly exclusive?: boolean | null;
  /** Outside of the two the entry authorizes nothing. */
  readonly effectiveFrom?: number | null;
  readonly effectiveUntil?: number | null;
  readonly placementIds?: readonly string[];
  readonly placementTags?: readonly string[];
  readonly signalIds?: readonly string[];
  readonly signalTags?: readonly string[];
  /** JWKs, as the file has them. */
  readonly signingKeys?: readonly object[];
}

/** Absent lists do not restrict; present ones must all hold, values within one are alternatives. */
export interface PropertySelector {
  readonly propertyIds?: readonly string[];
  readonly propertyTypes?: readonly string[];
  readonly tags?: readonly string[];
}

/** An agent-authorization file after checking, as far as it may speak for the domain. */
export interface AuthorizationFile {
  readonly agents: readonly AgentEntry[];
  readonly properties: readonly PropertyRecord[];
  /** Properties the file declares, where those are more than are kept. */
  readonly propertiesDeclared?: number;
  /** Of `collections[]`: what categories are made of. */
  readonly genres: readonly string[];
  /** `genre_taxonomy` of the collections; null: the registry's default. */
  readonly genreTaxonomy: string | null;
  /** `last_updated`. */
  readonly lastUpdated: number | null;
  /** What the file says of other domains: kept as claims, never as those domains' own word. */
  readonly others: readonly { readonly publisherDomain: string; readonly agent: AgentEntry }[];
}

/** An entry of a brand file's `properties[]`. */
export interface BrandProperty {
  /** A namespace or kind as the file has it; null is a website. */
  readonly type: string | null;
  readonly identifier: string;
  readonly relationship: "owned" | DelegationType | null;
}

/** A brand file as it came. */
export interface KeptBrandFile {
  /** Where it is, after pointers. */
  readonly url: string;
  readonly variant: "brand_agent" | "house_portfolio" | "brand_canonical";
  readonly file: { readonly [member: string]: unknown };
  /** Every name of the domain's own brands in it. */
  readonly names: readonly string[];
}

/**
 * How a fetch ended. `absent`: the origin says that there is no file (404, 410). `unreachable`: the origin could not be
 * asked, or said come again. `held`: there is another file, which is not taken before it has stayed, or at all. After any
 * but the first the last good copy stays, for seven days.
 */
export type AdagentsOutcome = "valid" | "invalid" | "absent" | "unreachable" | "held";

/** What the crawler hands over after it fetched one domain. */
export interface CrawlResult {
  readonly domain: string;
  readonly crawledAt: number;
  readonly adagents: {
    readonly outcome: AdagentsOutcome;
    readonly method: DiscoveryMethod;
    /** With `ads_txt_managerdomain` only. */
    readonly managerDomain: string | null;
    /** Of the last response; null when there was none. */
    readonly httpStatus: number | null;
    /** Decompressed size of the document that counts. */
    readonly bytes: number | null;
    /** Where the document came from; null when that is the expected URL. */
    readonly resolvedUrl: string | null;
    readonly problems: readonly FileProblem[];
    /** With `valid` only. */
    readonly file?: AuthorizationFile;
  };
  readonly brand: {
    readonly outcome: "present" | "absent" | "invalid" | "unreachable";
    readonly name: string | null;
    readonly properties: readonly BrandProperty[];
    readonly agents: readonly BrandAgent[];
    /** With `present`, of a file that is the domain's. */
    readonly document?: KeptBrandFile;
  };
}

/** What a crawl changed. */
export interface AppliedCrawl {
  /** Properties and authorizations were written; false when the file is as it was. */
  readonly changed: boolean;
  readonly properties: number;
  readonly authorizations: number;
  /** Agents whose profiles were computed again. */
  readonly agents: number;
}
