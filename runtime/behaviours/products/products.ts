/** What is sold, as a call sees it: the catalogue's products, and those a test has put there. */
import type { JsonObject } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import { formatId, formatsNamed } from "../formats/formats.js";
import { formatOptions } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CatalogueQuery, PricingOption, Product } from "../ports/catalogue.js";
import { configuredProduct, findConfigured } from "./configured.js";

const seeded = collection<Product>("product");

export async function seedProduct(call: BehaviourCall, product: Product): Promise<void> {
  const known = await productsById(call);
  seeded.put(call, call.principal, product.product_id, product);
  known.set(product.product_id, product);
}

/** Metrics that are reported unless a product says otherwise. */
export const usualMetrics: readonly string[] = ["impressions", "spend", "clicks", "completion_rate"];

/** What a product has unless it says otherwise. */
const usualReporting: JsonObject = {
  available_reporting_frequencies: ["daily"],
  expected_delay_minutes: 240,
  timezone: "UTC",
  supports_webhooks: true,
  available_metrics: usualMetrics,
  date_range_support: "date_range",
};

/** What is said of the reports of a product, with what is so unless it says otherwise. */
export const reportingOf = (product: Product | undefined): JsonObject => ({
  ...usualReporting,
  ...product?.reporting_capabilities,
});

export const queryOf = (call: BehaviourCall, request: { readonly brief?: string } = {}): CatalogueQuery => ({
  principal: call.principal,
  ...(call.ctx.account !== undefined && { account: call.ctx.account }),
  ...(request.brief !== undefined && { brief: request.brief }),
});

/** Everything on sale. What the catalogue says is asked for at each call, so that a new price is what is sold. */
export async function productsOf(call: BehaviourCall, request: { readonly brief?: string } = {}): Promise<Product[]> {
  const offered = await call.once(`products ${request.brief ?? ""}`, () =>
    call.ports.catalogue.products(queryOf(call, request)),
  );
  const added = await seeded.list(call, call.principal);
  // What a test has put there is what it looks for.
  const own = new Set(added.map(({ product_id }) => product_id));
  return [...added, ...offered.filter(({ product_id }) => !own.has(product_id))];
}

/**
 * The whole of what is offered. A test that has put products there sees those and no others; anything else of the catalogue can still
 * be bought by its id.
 */
export async function onOffer(call: BehaviourCall, request: { readonly brief?: string } = {}): Promise<Product[]> {
  const stocked = call.mode === "development" ? await seeded.list(call, call.principal) : [];
  return stocked.length > 0 ? stocked : productsOf(call, request);
}

/** Everything on sale, by its id: gathered once in a call, since each package of thousands asks for its product. */
const productsById = (call: BehaviourCall): Promise<Map<string, Product>> =>
  call.once("products by id", async () => {
    const byId = new Map<string, Product>();
    // Of several by one id the first is meant.
    for (const one of await productsOf(call)) if (!byId.has(one.product_id)) byId.set(one.product_id, one);
    return byId;
  });

/** A product by its id; one that was configured for the caller too, at today's price of what it was made from. */
export async function findProduct(call: BehaviourCall, id: string): Promise<Product | undefined> {
  const all = await productsById(call);
  const found = all.get(id);
  if (found !== undefined) return found;
  const configured = await findConfigured(call, id);
  const base = configured && all.get(configured.base);
  return configured && base && configuredProduct(base, configured);
}

/** When a product's time was over; undefined for one that is on offer. */
export function expiredAt({ now }: BehaviourCall, { more }: Product): string | undefined {
  const at = more?.expires_at;
  return typeof at === "string" && Date.parse(at) <= now.getTime() ? at : undefined;
}

/** @throws ToolError PRODUCT_EXPIRED for one whose time is over */
export function checkUnexpired(call: BehaviourCall, product: Product, field: string): void {
  const at = expiredAt(call, product);
  if (at === undefined) return;
  const code = call.shapes.knowsError("PRODUCT_EXPIRED") ? "PRODUCT_EXPIRED" : "PRODUCT_UNAVAILABLE";
  throw new ToolError(code, `product ${product.product_id} was on offer until ${at}`, { field });
}

/** The products of packages, each once; undefined for one that is there no more. */
export const productsBought = (
  call: BehaviourCall,
  packages: readonly { readonly product_id: string }[],
): Promise<(Product | undefined)[]> =>
  Promise.all([...new Set(packages.map(({ product_id }) => product_id))].map((id) => findProduct(call, id)));

/** @throws ToolError PRODUCT_NOT_FOUND */
export async function productOf(call: BehaviourCall, id: string, field: string): Promise<Product> {
  const found = await findProduct(call, id);
  if (found === undefined) throw new ToolError("PRODUCT_NOT_FOUND", `no product ${id}`, { field });
  return found;
}

const amounts = ["fixed_price", "floor_price", "min_spend_per_package"] as const;

/**
 * A price as it is bought at: what is no amount is below any bid.
 * @throws AdbindError `port_answer_invalid`
 */
export function checkedPricing(option: PricingOption): PricingOption {
  const wrong = amounts.find(
    (name) => option[name] !== undefined && !(Number.isFinite(option[name]) && option[name]! >= 0),
  );
  if (wrong === undefined) return option;
  const { pricing_option_id: id } = option;
  throw new AdbindError("port_answer_invalid", `${wrong} of pricing option ${id} is ${String(option[wrong])}`, {
    where: "products of the port catalogue",
    remedy: "give a number of at least 0, or leave it out",
  });
}

/** Prices that buyers bid on have no fixed price. */
export const isAuction = ({ fixed_price }: PricingOption): boolean => fixed_price === undefined;

/** A product as the release at hand has it. */
export async function shownProduct(call: BehaviourCall, product: Product): Promise<JsonObject> {
  const { formats, more, publisher_properties, reporting_capabilities: _r, coverage: _c, ...rest } = product;
  const taken = await formatsNamed(call, formats);
  return {
    ...rest,
    publisher_properties: publisher_properties ?? [
      { publisher_domain: new URL(call.agentUrl).hostname, selection_type: "all" },
    ],
    reporting_capabilities: reportingOf(product),
    ...(formats.length > 0 && {
      format_ids: taken.map((one) => formatId(call, one)),
      format_options: formatOptions(call.agentUrl, taken, call.shapes),
    }),
    ...more,
  };
}
