/**
 * What the registry's parts hand each other. Times are unix milliseconds, domains and agent URLs are in the forms that
 * `model.ts` makes; wire shapes are those of the API document.
 */
import type { components } from "../../generated/registry/openapi.js";
import type { FileProblem } from "./file-problems.js";
import type { FollowedData, Page, PageRequest } from "./follow-types.js";
import type { JsonBytes } from "./json-bytes.js";
import type { ListedData } from "./listed-types.js";

export type * from "./follow-types.js";
export type * from "./listed-types.js";

type Schemas = components["schemas"];
export type PublisherLookup = Schemas["PublisherLookup"];
export type AuthorizationLookup = Schemas["AuthorizationLookup"];
export type OperatorLookup = Schemas["OperatorLookup"];
export type AgentProfile = Schemas["AgentProfile"];
export type AgentSearchResult = Schemas["AgentSearchResult"];
export type AgentPublishers = Schemas["AgentPublishers"];
export type DomainAgents = Schemas["DomainAgents"];
export type PropertyAgents = Schemas["PropertyAgents"];
export type ExpandRequest = Schemas["ExpandRequest"];
export type ExpandResult = Schemas["ExpandResult"];
export type Selector = Schemas["Selector"];
export type ProductAuthorization = Schemas["ProductAuthorization"];
export type Stats = Schemas["Stats"];
/** An entry of a brand file's `agents[]`. */
export type BrandAgent = Schemas["BrandAgent"];
export type AgentType = Schemas["AgentType"];
export type AuthorizationSource = Schemas["AuthorizationSource"];

/** A JSON document, as it is kept and handed on. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type DiscoveryMethod = "direct" | "authoritative_location" | "ads_txt_managerdomain";
export type DelegationType = "direct" | "delegated" | "ad_network";
/** A member's word on who may see an agent (registry-facts.md 4). */
export type Visibility = "public" | "members_only" | "private";
export type AuthorizationType =
  | "property_ids"
  | "property_tags"
  | "inline_properties"
  | "publisher_properties"
  | "signal_ids"
  | "signal_tags";

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
  };
}

export interface AppliedCrawl {
  /** Properties and authorizations were written; false when the file is as it was. */
  readonly changed: boolean;
  readonly properties: number;
  readonly authorizations: number;
  /** Agents whose profiles were computed again. */
  readonly agents: number;
}

/** A member's agent. */
export interface MemberAgent {
  readonly url: string;
  readonly name: string | null;
  readonly type: AgentType;
  readonly visibility: Visibility;
  readonly deliveryTypes: readonly string[];
  readonly formatKinds: readonly string[];
  /** Trusted match is supported. */
  readonly hasTmp: boolean;
}

/** A member of the registry, as the registry's data knows it; keys and users are another part's. */
export interface Member {
  /** Names it; lower case letters, digits, hyphens. */
  readonly slug: string;
  readonly organization: string | null;
  readonly displayName: string;
  readonly tier: string | null;
  readonly founding: boolean;
  /** Tier and founding are shown to everyone. */
  readonly isPublic: boolean;
  readonly domains: readonly { readonly domain: string; readonly verified: boolean }[];
  readonly agents: readonly MemberAgent[];
}

/** What an operator lookup needs to know of its caller (registry-facts.md 4). */
export interface OperatorViewer {
  /** The caller's tier includes API access. */
  readonly seesMembersOnly: boolean;
  readonly owns: (member: Member) => boolean;
  /** Its tier counts only while the organization's subscription is live. Default: it is. */
  readonly tierLive?: (member: Member) => boolean | Promise<boolean>;
}
export type OperatorScope = "public" | "member" | "private" | "all";

/** The list filters, in the order that `matched_filters` names them. */
export const SEARCH_DIMENSIONS = [
  "channels",
  "property_types",
  "markets",
  "categories",
  "tags",
  "delivery_types",
  "format_kinds",
] as const;
export type SearchDimension = (typeof SEARCH_DIMENSIONS)[number];

/** Filters of different names must all hold; values of one are alternatives; an empty list is no filter. */
export type SearchFilters = { readonly [dimension in SearchDimension]?: readonly string[] } & {
  readonly has_tmp?: boolean;
  readonly min_properties?: number;
};

/** A file the registry serves for a publisher. */
export interface HostedFile {
  readonly domain: string;
  /** As the publisher left it. */
  readonly file: Json;
  readonly updatedAt: number;
  readonly originVerifiedAt: number | null;
  readonly originLastCheckedAt: number | null;
}

export interface RegistryDataOptions {
  /** Origin of this registry, e.g. `https://registry.example`: hosted files' URLs begin with it. Default `http://localhost`. */
  readonly publicUrl?: string;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** Agents that no member registered are found by a search too. Default false (registry-facts.md 5). */
  readonly searchDiscovered?: boolean;
}

/** The registry's data, on either database. Domains and URLs may come as callers wrote them, but must be usable. */
export interface RegistryData extends FollowedData, ListedData {
  /** One transaction: the domain's rows, and the profiles of the agents they touch. */
  applyCrawl(result: CrawlResult): Promise<AppliedCrawl>;
  /** Never says `checking` or `auto_crawl_triggered`: the server adds them when it starts a crawl. */
  lookupPublisher(domain: string): Promise<PublisherLookup>;
  lookupAuthorization(domain: string, agentUrl: string): Promise<AuthorizationLookup | undefined>;
  lookupOperator(domain: string, viewer: OperatorViewer, scope: OperatorScope): Promise<OperatorLookup>;
  search(filters: SearchFilters, page: PageRequest): Promise<Page<AgentSearchResult>>;
  /**
   * For a server's start: computes profiles that an interrupted import left waiting, and loads what a search needs; the
   * first search would. About a second for 100,000 agents.
   */
  warm(): Promise<void>;
  /** Undefined: nobody knows the agent. */
  agentPublishers(
    agentUrl: string,
    page: PageRequest & { readonly source?: AuthorizationSource },
  ): Promise<Page<AgentPublishers> | undefined>;
  lookupDomain(domain: string): Promise<DomainAgents>;
  lookupProperty(type: PropertyAgents["type"], value: string): Promise<PropertyAgents>;
  expand(request: ExpandRequest): Promise<ExpandResult>;
  /** The same, as it goes over the wire: its parts are kept as text, and reading them would be for writing them again. */
  expandBytes(request: ExpandRequest): Promise<JsonBytes<ExpandResult>>;
  validateProduct(request: ExpandRequest): Promise<ProductAuthorization>;
  stats(): Promise<Stats>;
  /** Changes whenever anything does; cheap, for an ETag of whatever is made from the data. */
  revision(): Promise<number>;

  hostedFile(domain: string): Promise<HostedFile | undefined>;
  /** Hosts a file, already checked and narrowed to the domain; its entries count as `aao_hosted` until the origin points here. */
  putHostedFile(domain: string, hosted: { readonly file: Json; readonly content: AuthorizationFile }): Promise<void>;
  removeHostedFile(domain: string): Promise<boolean>;
  /** Domains whose hosted origin was not checked since `before`, oldest first. */
  hostedDue(before: number, limit: number): Promise<string[]>;
  /** The origin was asked whether it points at the hosted file. */
  originChecked(domain: string, checked: { readonly verified: boolean; readonly at: number }): Promise<void>;

  /** Never crawled: members' verified domains, and imported publishers. Then those last crawled before `before`, oldest first. */
  crawlDue(before: number, limit: number): Promise<string[]>;
  /**
   * Ends what files said that were last valid by `before`, of publishers that were crawled since: properties,
   * authorizations and claims of others go. @returns their domains
   */
  endStale(before: number, limit: number): Promise<string[]>;
  /** When adagents and brand files were last crawled, whatever came of it. */
  crawlState(domain: string): Promise<CrawlState | undefined>;

  /** Adds a member, or replaces the one of that slug with its domains and agents. */
  putMember(member: Member): Promise<void>;
  member(slug: string): Promise<Member | undefined>;
  memberOf(organization: string): Promise<Member | undefined>;
  members(): Promise<Member[]>;
  removeMember(slug: string): Promise<boolean>;
  /** Registers or changes one agent of a member; others stay. @throws AdbindError `registry_data_invalid` */
  registerAgent(slug: string, agent: MemberAgent): Promise<void>;
  /** What an agent itself says it may sell: kept as claims in place of its earlier ones. */
  putClaims(agentUrl: string, claims: readonly AgentClaim[]): Promise<void>;

  /**
   * Works out again what authorizations cover that began or ended since, and the profiles of their agents. Cheap where
   * there are none; any number of instances may ask. @returns how many publishers they are of
   */
  settleEffect(): Promise<number>;
  /** Computes profiles that an interrupted import left waiting; answers how many. */
  settleProfiles(): Promise<number>;
}

export interface AgentClaim {
  readonly publisherDomain: string;
  readonly authorizedFor: string | null;
}

export interface CrawlState {
  readonly domain: string;
  readonly crawledAt: number | null;
  readonly validatedAt: number | null;
  /** As `adagents_valid`. */
  readonly valid: boolean | null;
  readonly managerDomain: string | null;
  /** What the last fetch left out of the file. */
  readonly problems: readonly FileProblem[];
}
