/**
 * What the registry's parts hand each other. Times are unix milliseconds, domains and agent URLs are in the forms that
 * `model.ts` makes; wire shapes are those of the API document.
 */
import type { components } from "../../generated/registry/openapi.js";
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { AnyStore } from "../store/index.js";
import type { CheckedData } from "./checked-types.js";
import type { FileProblem } from "./file-problems.js";
import type { AppliedCrawl, AuthorizationFile, CrawlResult } from "./file-types.js";
import type { FollowedData, Page, PageRequest, PublishersPage } from "./follow-types.js";
import type { JsonBytes } from "./json-bytes.js";
import type { ListedData, OptOutData } from "./listed-types.js";
import type { Member, MemberAgent, OperatorScope, OperatorViewer } from "./member-types.js";
import type { PagedData } from "./page-types.js";
import type { SearchFilters, SearchPartState, SearchParts } from "./search-types.js";

export type * from "./checked-types.js";
export type * from "./file-types.js";
export type * from "./follow-types.js";
export type * from "./listed-types.js";
export type * from "./member-types.js";
export type * from "./page-types.js";
export * from "./search-types.js";

type Schemas = components["schemas"];
/** What is known of a publisher. */
export type PublisherLookup = Schemas["PublisherLookup"];
/** What one agent may sell of one publisher. */
export type AuthorizationLookup = Schemas["AuthorizationLookup"];
/** A member and its agents, as far as the caller may see them. */
export type OperatorLookup = Schemas["OperatorLookup"];
/** What an agent can sell, as a search shows it. */
export type AgentProfile = Schemas["AgentProfile"];
/** A page of agents that match. */
export type AgentSearchResult = Schemas["AgentSearchResult"];
/** Publishers that an agent may sell for. */
export type AgentPublishers = Schemas["AgentPublishers"];
/** Agents that a domain's file names. */
export type DomainAgents = Schemas["DomainAgents"];
/** Agents that may sell one property. */
export type PropertyAgents = Schemas["PropertyAgents"];
/** Selectors to be turned into identifiers. */
export type ExpandRequest = Schemas["ExpandRequest"];
/** Properties and identifiers that selectors stand for. */
export type ExpandResult = Schemas["ExpandResult"];
/** What picks properties of a publisher. */
export type Selector = Schemas["Selector"];
/** Whether a product's properties may be sold by an agent. */
export type ProductAuthorization = Schemas["ProductAuthorization"];
/** How much a registry knows. */
export type Stats = Schemas["Stats"];
/** An entry of a brand file's `agents[]`. */
export type BrandAgent = Schemas["BrandAgent"];
/** What an agent says that it does. */
export type AgentType = Schemas["AgentType"];
/** Whose word an authorization is. */
export type AuthorizationSource = Schemas["AuthorizationSource"];

/** A JSON document, as it is kept and handed on. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A file the registry serves for a publisher. */
export interface HostedFile {
  readonly domain: string;
  /** As the publisher left it. */
  readonly file: JsonValue;
  readonly updatedAt: number;
  readonly originVerifiedAt: number | null;
  readonly originLastCheckedAt: number | null;
}

/** How a registry's data are made. */
export interface RegistryDataOptions {
  /** Origin of this registry, e.g. `https://registry.example`: hosted files' URLs begin with it. Default `http://localhost`. */
  readonly publicUrl?: string;
  /** Unix milliseconds; the store's clock by default, where machines share one, else the system's. */
  readonly now?: () => number;
  /** Agents that no member registered are found by a search too. Default false (docs/protocol/registry.md#score). */
  readonly searchDiscovered?: boolean;
  /**
   * Who answers searches: an index in this process's memory, or the store's database itself, in the same order and with the same
   * cursors, where it can be shared. Default `memory`.
   */
  readonly search?: "memory" | "database";
  /** With `database`: a copy of the store's database that is asked instead of it, and may be behind. */
  readonly searchCopy?: AnyStore | undefined;
  /** In place of both: processes that hold a part of the index each, which are asked together. */
  readonly searchParts?: SearchParts | undefined;
}

/** The registry's data, on either database. Domains and URLs may come as callers wrote them, but must be usable. */
export interface RegistryData extends FollowedData, ListedData, OptOutData, CheckedData, PagedData {
  /**
   * One transaction: the domain's rows, and the profiles of the agents they touch.
   * @param along what else is written in it, before them
   */
  applyCrawl(result: CrawlResult, along?: (query: Query) => Coroutine<void>): Promise<AppliedCrawl>;
  /** Never says `checking` or `auto_crawl_triggered`: the server adds them when it starts a crawl. */
  lookupPublisher(domain: string): Promise<PublisherLookup>;
  lookupAuthorization(domain: string, agentUrl: string): Promise<AuthorizationLookup | undefined>;
  lookupOperator(domain: string, viewer: OperatorViewer, scope: OperatorScope): Promise<OperatorLookup>;
  search(filters: SearchFilters, page: PageRequest): Promise<Page<AgentSearchResult>>;
  /**
   * For a server's start: computes profiles that an interrupted import left waiting, and loads what a search needs; the
   * first search would. About a second for 100,000 agents. Where parts hold the index, waits until those that are there have
   * read theirs.
   * @param signal ends the waiting
   */
  warm(signal?: AbortSignal): Promise<void>;
  /** How each part of the search's index is; undefined where it is in one piece. */
  searchParts(): Promise<SearchPartState[] | undefined>;
  /** Undefined: nobody knows the agent. */
  agentPublishers(agentUrl: string, page: PublishersPage): Promise<Page<AgentPublishers> | undefined>;
  lookupDomain(domain: string): Promise<DomainAgents>;
  /**
   * A hundred publishers that name an identifier are looked at, and a thousand agents told.
   * @param agentUrl only this agent, at all publishers that name both, whatever is only claimed of them left out; `truncated` where
   * those say too much of it to be read at once
   */
  lookupProperty(type: PropertyAgents["type"], value: string, agentUrl?: string): Promise<PropertyAgents>;
  /**
   * @param by who asks, by any name: callers of large expansions take turns
   * @throws AdbindError `registry_busy` when too many large ones wait already; `registry_data_invalid`
   */
  expand(request: ExpandRequest, by?: string): Promise<ExpandResult>;
  /** The same, as it goes over the wire: its parts are kept as text, and reading them would be for writing them again. */
  expandBytes(request: ExpandRequest, by?: string): Promise<JsonBytes<ExpandResult>>;
  /** @param by as of `expand` @throws AdbindError as `expand` */
  validateProduct(request: ExpandRequest, by?: string): Promise<ProductAuthorization>;
  stats(): Promise<Stats>;
  /** Changes whenever anything does; cheap, for an ETag of whatever is made from the data. */
  revision(): Promise<number>;

  hostedFile(domain: string): Promise<HostedFile | undefined>;
  /** Hosts a file, already checked and narrowed to the domain; its entries count as `aao_hosted` until the origin points here. */
  putHostedFile(
    domain: string,
    hosted: { readonly file: JsonValue; readonly content: AuthorizationFile },
  ): Promise<void>;
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
  /**
   * Ends what the file of a domain said that an organization owns, if its origin said at the last crawl that there is none.
   * @returns whether there was something to end
   */
  endAbsent(domain: string, organization: string): Promise<boolean>;
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
  recomputeEffect(): Promise<number>;
  /** Tells copies of the database how far they can be read, where searches are answered by PostgreSQL. */
  tellMark(): Promise<void>;
  /** Computes profiles that an interrupted import left waiting; answers how many. */
  recomputeProfiles(): Promise<number>;
}

/** What an agent itself says of a publisher. */
export interface AgentClaim {
  readonly publisherDomain: string;
  readonly authorizedFor: string | null;
}

/** What is known of the crawls of a domain. */
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
