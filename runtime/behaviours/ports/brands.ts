/** Brands this agent speaks for, what they license at which price, and who decides on a licence. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** A brand that this agent speaks for. */
export interface OwnBrand {
  readonly brand_id: string;
  readonly house: { readonly domain: string; readonly name: string };
  /** By language: `[{ en: "Acme" }]`. */
  readonly names: readonly JsonObject[];
  /** Parts of the identity as the wire has them: logos, colors, tone and so on. */
  readonly identity: JsonObject;
  /** Parts that are there, and shown to nobody who asks without a contract. */
  readonly withheld?: readonly string[];
}

/** One price of a licence, in its currency. */
export interface RightsPrice {
  readonly pricing_option_id: string;
  readonly model: "cpm" | "flat_rate";
  /** For a thousand impressions, or for a period. */
  readonly price: number;
  /** ISO 4217. */
  readonly currency: string;
  readonly period?: "daily" | "weekly" | "monthly" | "quarterly" | "annual" | "one_time";
  readonly uses: readonly string[];
  /** Impressions that the price covers. */
  readonly impression_cap?: number;
  /** For a thousand impressions beyond it. */
  readonly overage_cpm?: number;
  /** While such a licence runs, nobody else gets one of the same rights. */
  readonly exclusive?: true;
}

/** Rights that can be had, for which uses and at which prices. */
export interface RightsOffering {
  readonly rights_id: string;
  readonly brand_id: string;
  readonly name: string;
  readonly description: string;
  /** As the wire has it: `talent`, `brand_ip`, `stock_media`. */
  readonly right_type: string;
  readonly available_uses: readonly string[];
  /** ISO 3166-1 alpha-2; everywhere where left out. */
  readonly countries?: readonly string[];
  readonly restrictions?: readonly string[];
  /** What has to be said where it is used. */
  readonly disclosure?: string;
  /** Domains of brands that it is not licensed to. */
  readonly closedTo?: readonly string[];
  readonly pricing: readonly [RightsPrice, ...RightsPrice[]];
}

/** A licence that a buyer asks for, and that the offering does not rule out. */
export interface LicenceQuestion {
  /** The caller. */
  readonly principal: string;
  /** The licence's id; the same while it is asked about. */
  readonly grantId: string;
  readonly offering: RightsOffering;
  readonly price: RightsPrice;
  readonly buyer: { readonly domain: string; readonly brand_id?: string };
  readonly uses: readonly string[];
  readonly countries: readonly string[];
  /** What the campaign is, in words. */
  readonly description: string;
  /** Dates such as 2027-03-31. */
  readonly start?: string;
  readonly end?: string;
  readonly impressions?: number;
}

/** Whether a licence is granted, refused, or still to be thought about. */
export type LicenceDecision =
  | { readonly decision: "grant" }
  /** Somebody has to think about it; asked again until it is decided. Times are words for people: `2 business days`. */
  | { readonly decision: "wait"; readonly detail: string; readonly within?: string }
  /** Suggestions are for a buyer who can change what he asks for; none where nothing would help. */
  | { readonly decision: "refuse"; readonly reason: string; readonly suggestions?: readonly string[] };

/** A licence as it is given. */
export interface Licence {
  readonly grantId: string;
  readonly principal: string;
  readonly brandId: string;
  readonly rightsId: string;
  readonly uses: readonly string[];
  /** When it ends, ISO 8601. */
  readonly until: string;
}

/** What a buyer makes content with under a licence. */
export interface LicenceCredential {
  /** Who takes the key. */
  readonly provider: string;
  readonly rights_key: string;
  readonly uses: readonly string[];
  /** ISO 8601. */
  readonly expires_at?: string;
  readonly endpoint?: string;
}

/** A licence that is taken back. */
export interface Revocation {
  readonly grantId: string;
  readonly reason: string;
  /** ISO 8601; at once where left out. */
  readonly effectiveAt?: string;
  /** Only these; all where left out. */
  readonly uses?: readonly string[];
}

/** A question about a brand, as the wire has it: is this domain, property or mark yours, or is this house your parent? */
export interface ClaimQuestion {
  readonly claim_type: "subsidiary" | "parent" | "property" | "trademark";
  /** `subsidiary_domain`, `parent_domain`, `property` or `mark`, and what else is said of it. */
  readonly claim: JsonObject;
}

/** What the brand says to a claim. */
export type ClaimAnswer = {
  /** More of the answer, as the wire has `details`. */
  readonly details?: JsonObject;
  /** For everybody to read; at most 500 characters. */
  readonly note?: string;
} & (
  | { readonly status: "owned" | "transferring" | "disputed" | "not_ours" | "archived" | "licensed_out" | "unknown" }
  /** Decided within so many days. */
  | { readonly status: "pending_review"; readonly days: number }
  | { readonly status: "licensed_in"; readonly licensorDomain: string }
);

/** Whom claims are asked of. */
export interface BrandClaims {
  /** The brand that answers, by its domain: whoever asks, it is never the caller who says which. */
  readonly domain: string;
  answer(claim: ClaimQuestion, who: { readonly principal: string }): Promise<ClaimAnswer>;
}

/** Brands, and rights to what is theirs. Yours to answer. */
export interface BrandsPort extends CallsUpstream {
  /** Types of rights that are licensed, and their uses; declared. Nothing is where both are empty. */
  readonly rightTypes: readonly string[];
  readonly uses: readonly string[];
  /** Asked once for each call. */
  brands(who: { readonly principal: string }): Promise<readonly OwnBrand[]>;
  /** Claims about the brand, answered under a signature; nobody is asked where this is left out. */
  readonly claims?: BrandClaims;
  offerings(who: { readonly principal: string }): Promise<readonly RightsOffering[]>;
  /** Asked for every licence; what an offering allows is granted where this is left out. */
  decide?(question: LicenceQuestion): Promise<LicenceDecision>;
  /**
   * Keys of providers that make content. It may be asked twice of one licence, and has to give one set of keys; where it is left
   * out, a key is made that this agent knows.
   */
  credentials?(licence: Licence): Promise<readonly LicenceCredential[]>;
  /** Licences that are taken back; asked again and again. Their buyers are told once. */
  revoked?(who: { readonly principal: string }): Promise<readonly Revocation[]>;
}
