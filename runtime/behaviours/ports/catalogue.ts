/** What is sold. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** One price of a product, in its currency. */
export interface PricingOption {
  readonly pricing_option_id: string;
  readonly pricing_model: string;
  readonly currency: string;
  /** The price; absent where buyers bid. */
  readonly fixed_price?: number;
  /** Lowest bid taken. */
  readonly floor_price?: number;
  readonly min_spend_per_package?: number;
  readonly parameters?: JsonObject;
}

/** Places, as the wire names them. Of a country that has regions here, those are all there is. */
export interface Coverage {
  /** ISO 3166-1 alpha-2. */
  readonly countries?: readonly string[];
  /** ISO 3166-2. */
  readonly regions?: readonly string[];
  /** Where there are none, nothing is said of metros. */
  readonly metros?: readonly { readonly system: string; readonly code: string }[];
  readonly postal_areas?: readonly {
    /** Absent in older names, where the system says it: `us_zip`. */
    readonly country?: string;
    readonly system: string;
    readonly values: readonly string[];
  }[];
  /** Where screens, stations and the like stand, in degrees (WGS 84): who looks near a place finds what is there. */
  readonly points?: readonly { readonly lat: number; readonly lng: number }[];
}

/** Something that can be bought. */
export interface Product {
  readonly product_id: string;
  readonly name: string;
  readonly description: string;
  readonly delivery_type: "guaranteed" | "non_guaranteed";
  readonly channels: readonly string[];
  /**
   * Ids of formats that the seller takes (`Creatives.formats`). Buyers know standard ones, such as `display_300x250_image`, by
   * their name; one of the seller's own they have to look up.
   */
  readonly formats: readonly string[];
  readonly pricing_options: readonly PricingOption[];
  /** The seller's own domain, all of it, where left out. */
  readonly publisher_properties?: readonly JsonObject[];
  readonly reporting_capabilities?: JsonObject;
  /** Where its inventory is: what buyers look for by place is found by this, and it is no part of any answer. Everywhere, where left out. */
  readonly coverage?: Coverage;
  /** More of the product's own fields, as on the wire; a release gets those it knows. */
  readonly more?: JsonObject;
}

/** One product's share of a proposal. */
export interface Allocation {
  readonly product_id: string;
  readonly allocation_percentage: number;
  readonly pricing_option_id?: string;
  readonly rationale?: string;
}

/** A plan over several products, which a buyer may refine, finalize and buy as a whole. */
export interface Proposal {
  readonly proposal_id: string;
  readonly name: string;
  readonly description: string;
  readonly allocations: readonly Allocation[];
  readonly proposal_status: "draft" | "committed";
  readonly expires_at?: string;
  readonly total_budget_guidance?: JsonObject;
  /** Of a committed one: what the buyer refers to when it orders. */
  readonly insertion_order?: { readonly io_id: string; readonly requires_signature: boolean };
}

/** Who looks, and for what. */
export interface CatalogueQuery {
  readonly principal: string;
  /** The account, as the request names it. */
  readonly account?: JsonObject;
  readonly brief?: string;
}

/** A flight that somebody may want to buy. */
export interface AvailabilityQuery extends CatalogueQuery {
  readonly product: Product;
  readonly budget: number;
  readonly start: string;
  readonly end: string;
}

/** What is for sale. Yours to answer. */
export interface Catalogue extends CallsUpstream {
  /** Everything on sale to the caller, in the order it is shown in where nothing else decides. */
  products(query: CatalogueQuery): Promise<readonly Product[]>;
  proposals?(query: CatalogueQuery): Promise<readonly Proposal[]>;
  /** Why it cannot be sold; undefined where it can. */
  unavailable?(query: AvailabilityQuery): Promise<string | undefined>;
  /** What a product will deliver, as the wire has a forecast. */
  forecast?(query: CatalogueQuery & { readonly product: Product }): Promise<JsonObject | undefined>;
}

/** A fixed list of products; what it says is what is sold. */
export const listedCatalogue = (products: readonly Product[], proposals: readonly Proposal[] = []): Catalogue => ({
  products: async () => products,
  proposals: async () => proposals,
});
