/** What this seller sells. Documents of kind `product`, everybody's, as the wire has them. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Fixture } from "../../documents.js";
import type { Call } from "../../handler.js";
import { format, formatFromId, saveFormat } from "../formats/formats.js";

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

export interface Product {
  readonly product_id: string;
  readonly name: string;
  readonly description: string;
  readonly delivery_type: "guaranteed" | "non_guaranteed";
  readonly channels: readonly string[];
  /** Ids of this seller's formats. */
  readonly formats: readonly string[];
  readonly pricing_options: readonly PricingOption[];
  readonly publisher_properties: readonly JsonObject[];
  readonly reporting_capabilities: JsonObject;
  /** More of the product's own fields, as on the wire. */
  readonly more?: JsonObject;
}

const KIND = "product";

/** What a product has unless it says otherwise. */
export const usualReporting: JsonObject = {
  available_reporting_frequencies: ["daily"],
  expected_delay_minutes: 240,
  timezone: "UTC",
  supports_webhooks: true,
  available_metrics: ["impressions", "spend", "clicks", "completion_rate"],
  date_range_support: "date_range",
};

export const usualProperties = (domain: string): JsonObject[] => [{ publisher_domain: domain, selection_type: "all" }];

export const productFixture = (product: Product): Fixture => ({
  kind: KIND,
  owner: "",
  id: product.product_id,
  body: product,
});

export const products = (call: Call): Product[] => call.documents.list<Product>(KIND, "");

export const findProduct = (call: Call, id: string): Product | undefined => call.documents.get<Product>(KIND, "", id);

/** @throws ToolError PRODUCT_NOT_FOUND */
export function product(call: Call, id: string, field: string): Product {
  const found = findProduct(call, id);
  if (found === undefined) throw new ToolError("PRODUCT_NOT_FOUND", `no product ${id}`, { field });
  return found;
}

/** Keeps a product; a format it names that is not known becomes one. */
export function saveProduct(call: Call, kept: Product): void {
  for (const id of kept.formats) if (format(call, id) === undefined) saveFormat(call, formatFromId(id));
  call.documents.put(KIND, "", kept.product_id, kept);
}

/** Prices that buyers bid on have no fixed price. */
export const isAuction = ({ fixed_price }: PricingOption): boolean => fixed_price === undefined;

export const shownProduct = (call: Call, { formats, more, ...rest }: Product): JsonObject => ({
  ...rest,
  format_ids: formats.map((id) => ({ agent_url: call.agentUrl, id })),
  ...more,
});
