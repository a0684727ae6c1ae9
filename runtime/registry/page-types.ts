/** What people ask of the registry page by page. Names are those that pages show as JSON. */

import type { components } from "../../generated/registry/openapi.js";
import type { AuthorizationType, DelegationType, DiscoveryMethod, Identifier } from "./file-types.js";
import type { SearchDimension, SearchFilters } from "./search-types.js";

type PublisherLookup = components["schemas"]["PublisherLookup"];

/** Why not, one of a closed set. */
export type WhyNotCode =
  | "publisher_unknown"
  | "no_valid_file"
  | "agent_not_named"
  | "claim_only"
  | "superseded"
  | "not_yet"
  | "ended"
  | "signals_only"
  | "nothing_selected"
  | "property_unknown"
  | "property_not_selected";

/** Why an agent may not sell something. */
export interface WhyNot {
  readonly code: WhyNotCode;
  readonly message: string;
  readonly remedy: string;
}

/** A step from the publisher's domain to what the agent may sell. */
export interface PathStep {
  readonly step: "publisher" | "pointer" | "manager" | "file" | "hosted_file" | "claim" | "entry" | "agent";
  readonly message: string;
  readonly url?: string;
}

/** What one entry lets an agent sell. */
export interface EntryGrant {
  readonly source: "adagents_json" | "aao_hosted" | "agent_claim";
  /** Who claims it. */
  readonly claimant: string | null;
  /** JSON pointer of the entry in the file; null where it is not known. */
  readonly pointer: string | null;
  readonly authorized_for: string | null;
  readonly authorization_type: AuthorizationType | null;
  /** What the entry selects by, as the file says it. */
  readonly selector: Readonly<Record<string, unknown>>;
  readonly countries: readonly string[];
  readonly delegation_type: DelegationType | null;
  readonly exclusive: boolean | null;
  readonly effective_from: string | null;
  readonly effective_until: string | null;
  readonly in_effect: boolean;
  /** It is the publisher's word: no claim, and no hosted file beside the publisher's own. */
  readonly counts: boolean;
  /** Properties covered; null is all the publisher has. */
  readonly covers: number | null;
  /** Whether the property asked about is covered; null where none was. */
  readonly covers_property: boolean | null;
}

/** A property as a page shows it. */
export interface ToldProperty {
  readonly id: string | null;
  readonly type: string;
  readonly name: string;
  readonly identifiers: readonly Identifier[];
  readonly tags: readonly string[];
  readonly channels: readonly string[];
  readonly source: string;
}

/** Why an agent may sell something, or why not. */
export interface Explanation {
  readonly publisher_domain: string;
  readonly agent_url: string;
  /** As it was asked. */
  readonly asked_property: string | null;
  readonly property: ToldProperty | null;
  readonly may_sell: boolean;
  readonly file: {
    readonly expected_url: string;
    readonly url: string | null;
    readonly method: DiscoveryMethod | null;
    readonly manager_domain: string | null;
    readonly outcome: string | null;
    readonly last_crawled: string | null;
    readonly last_validated: string | null;
  };
  /** Since when what is said of the two is as it is now. */
  readonly since: string | null;
  readonly path: readonly PathStep[];
  readonly grants: readonly EntryGrant[];
  /** Empty where it may. */
  readonly why_not: readonly WhyNot[];
}

/** Which properties of a publisher, and how many. */
export interface PropertiesRequest {
  /** In names, identifiers and labels, without case. */
  readonly text?: string | undefined;
  readonly type?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1..1000. */
  readonly limit: number;
}

/** A page of a publisher's properties. */
export interface PropertiesPage {
  /** All the publisher has. */
  readonly total: number;
  /** Of those that match; null beyond ten thousand. */
  readonly matching: number | null;
  readonly properties: readonly ToldProperty[];
  readonly cursor: string | null;
}

/** What became of an agent at a publisher. */
export interface AgentChange {
  readonly agent_url: string;
  readonly change: "granted" | "changed" | "revoked";
  readonly at: string;
}

/** What a publisher's file said otherwise before. */
export interface PublisherChanges {
  readonly crawled_at: string | null;
  /** Of the last change of the properties: how many, and the first names. */
  readonly properties: {
    readonly at: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly names: readonly string[];
  } | null;
  /** The newest first; what ended is remembered for 90 days. */
  readonly agents: readonly AgentChange[];
}

/** What parts of the search's index said. */
export interface OfParts {
  /** Those that did not answer, as `2/4`: their agents are not counted. Absent where all did. */
  readonly missing_parts?: readonly string[];
}

/** A value of a list filter, and how many agents have it. */
export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

/** How many agents there would be with one value more. */
export interface Facets extends OfParts {
  /** That match. */
  readonly total: number;
  readonly has_tmp: number;
  readonly values: Readonly<Record<SearchDimension, readonly FacetValue[]>>;
}

/** Agents by channel and market: `counts[channel][market]`. */
export interface MarketMap extends OfParts {
  readonly channels: readonly string[];
  readonly markets: readonly string[];
  readonly counts: readonly (readonly number[])[];
}

/** Which publishers an overview is of, a page of them. */
export interface OverviewRequest {
  /** Only agents whose URL has this text in it, without case. */
  readonly text?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** What a registry's pages show, read a page at a time. */
export interface PagedData {
  /**
   * A publisher lookup without the properties: its price does not grow with them. A cursor that leads nowhere begins at the
   * beginning.
   */
  overview(domain: string, agents: OverviewRequest): Promise<PublisherLookup>;
  /**
   * Why an agent may sell a publisher's properties, or one of them, or why not.
   * @param property the publisher's name for it, or an identifier; absent is any
   */
  explain(domain: string, agentUrl: string, property?: string): Promise<Explanation>;
  /** Properties of a publisher, filtered; a cursor of another filter leads on from its place. */
  propertiesPage(domain: string, request: PropertiesRequest): Promise<PropertiesPage>;
  /** What is otherwise than before. */
  changesOf(domain: string, limit: number): Promise<PublisherChanges>;
  /** Counts for a search: of each dimension as if nothing were chosen in it. */
  facets(filters: SearchFilters): Promise<Facets>;
  /** The markets with the most agents, and in which channels those are. */
  marketMap(filters: SearchFilters, size: { readonly markets: number }): Promise<MarketMap>;
}
