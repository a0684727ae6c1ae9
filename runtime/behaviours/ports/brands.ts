/** Brands that an agent speaks for, and what they license. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

export interface KnownBrand {
  readonly brand_id: string;
  readonly house: { readonly domain: string; readonly name: string };
  readonly names: readonly JsonObject[];
  /** Parts of the identity as on the wire: logos, colors, tone and so on. */
  readonly identity: JsonObject;
  /** Parts that only partners get, outside this agent. */
  readonly withheld?: readonly string[];
}

export interface RightsPrice {
  readonly pricing_option_id: string;
  readonly model: "cpm" | "flat_rate";
  /** For 1,000 impressions, or for a period. */
  readonly price: number;
  readonly currency: string;
  readonly period?: "monthly" | "quarterly" | "annual" | "one_time";
  readonly uses: readonly string[];
  readonly impression_cap?: number;
  readonly overage_cpm?: number;
}

export interface RightsOffering {
  readonly rights_id: string;
  readonly brand_id: string;
  readonly name: string;
  readonly description: string;
  readonly right_type: string;
  readonly available_uses: readonly string[];
  /** ISO 3166-1 alpha-2; everywhere where left out. */
  readonly countries?: readonly string[];
  readonly restrictions?: readonly string[];
  /** What has to be said where it is used. */
  readonly disclosure?: string;
  /** Domains of brands it is not licensed to. */
  readonly closedTo?: readonly string[];
  readonly pricing: readonly [RightsPrice, ...RightsPrice[]];
}

/** A licence that is asked for, and that nothing of the offering speaks against. */
export interface LicenceQuestion {
  readonly principal: string;
  readonly offering: RightsOffering;
  readonly price: RightsPrice;
  readonly buyer: string | undefined;
  readonly campaign: JsonObject;
}

export interface BrandsPort extends CallsUpstream {
  brands(who: { readonly principal: string }): Promise<readonly KnownBrand[]>;
  rights(who: { readonly principal: string }): Promise<readonly RightsOffering[]>;
  /** Why a licence is not given all the same; undefined gives it, and so does no such function. */
  refuse?(question: LicenceQuestion): Promise<string | undefined>;
}
