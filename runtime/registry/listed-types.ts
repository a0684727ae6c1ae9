/** What those who go through the registry ask and get. */
import type { components } from "../../generated/registry/openapi.js";

type Schemas = components["schemas"];
/** Agents that are listed, a page of them. */
export type AgentList = Schemas["AgentList"];
/** An agent as a list shows it. */
export type ListedAgent = Schemas["ListedAgent"];
/** Publishers that are listed, a page of them. */
export type PublisherList = Schemas["PublisherList"];
/** A brand, found through the pointers of its files. */
export type ResolvedBrand = Schemas["ResolvedBrand"];
/** A brand file as it was found. */
export type BrandFile = Schemas["BrandFile"];
/** Publishers and agents that match words. */
export type FoundAll = Schemas["FoundAll"];

/** Of the registry's data what brand files say. */
export interface BrandData {
  /** Those that are known, by domain. */
  resolveBrands(domains: readonly string[]): Promise<ReadonlyMap<string, ResolvedBrand>>;
  /** With all that its file says of it. */
  resolveBrand(domain: string): Promise<ResolvedBrand | undefined>;
  /** As it came. */
  brandFile(domain: string): Promise<BrandFile | undefined>;
  /** @param wanted.search words, or the beginning of a name or a domain */
  listBrands(wanted: {
    readonly search?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<ResolvedBrand[]>;
  findBrands(text: string, limit: number): Promise<ResolvedBrand[]>;
  /** Brands that are known. */
  brandCount(): Promise<number>;
}

/** Of the registry's data what is gone through. */
export interface ListedData extends BrandData {
  listAgents(wanted: {
    readonly cursor?: string | undefined;
    readonly limit: number;
    readonly type?: string | undefined;
    /** With the domains that authorize each. */
    readonly properties: boolean;
    /** With how each answered when it was asked last, and what it said it can do. */
    readonly health?: boolean | undefined;
    readonly capabilities?: boolean | undefined;
  }): Promise<AgentList>;
  /** An agent that everybody may see, with all that it said; undefined for any other. */
  listedAgent(agentUrl: string): Promise<(ListedAgent & { readonly publisherCount: number }) | undefined>;
  /** @param wanted.search beginning of a domain */
  listPublishers(wanted: {
    readonly cursor?: string | undefined;
    readonly limit: number;
    readonly offset?: number | undefined;
    readonly search?: string | undefined;
  }): Promise<PublisherList>;
  /** Ten thousand and one at most. */
  agentDomains(agentUrl: string): Promise<readonly string[]>;
  searchAll(text: string): Promise<FoundAll>;
  /** Publishers whose file is valid. */
  publisherCount(): Promise<number>;
}

/** Of the registry's data the wishes of owners. */
export interface OptOutData {
  /** Nothing is fetched any more of a domain and what is under it, and what was found ends. @returns the publishers that ended */
  optOut(domain: string): Promise<string[]>;
  /** Ends what `optOut` had not ended when its process was killed. @returns the domains whose owners had opted out so */
  endOptedOut(): Promise<string[]>;
  /** @returns whether its owner had opted out */
  optIn(domain: string): Promise<boolean>;
  optedOut(): Promise<{ readonly domain: string; readonly since: string }[]>;
}
