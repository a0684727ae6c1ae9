/** A catalogue of products that differ in one thing each, and what filters leave of it. */
import * as assert from "uvu/assert";
import type { Product } from "../../runtime/behaviours/index.js";
import type { TestSeller } from "./behaving-seller.js";

export const price = (pricing_option_id: string, more: object = {}) => ({
  ...{ pricing_option_id, pricing_model: "cpm", currency: "USD" },
  ...more,
});
export const product = (product_id: string, more: Partial<Product> & { readonly more?: object }): Product =>
  ({
    ...{ product_id, name: product_id, description: "Inventory.", delivery_type: "guaranteed", channels: ["display"] },
    ...{ formats: ["display_300x250_image"], pricing_options: [price("fixed", { fixed_price: 5 })] },
    ...more,
  }) as Product;

/** A filter, what is left, with the prices of what has several, and the first release that has it. */
export type FilterCase = readonly [filter: object, left: readonly string[], since?: string];
type Shown = {
  readonly product_id: string;
  readonly pricing_options: readonly { readonly pricing_option_id: string }[];
};

/** What each filter leaves, with the price of a product of which one of two is left. */
export async function judgeFilters(
  version: string,
  { ask }: Pick<TestSeller, "ask">,
  all: readonly FilterCase[],
): Promise<void> {
  for (const [filters, left, since = "3.0"] of all) {
    if (version < since) continue;
    const { products } = await ask("get_products", { buying_mode: "wholesale", filters });
    const shown = products.map(({ product_id: id, pricing_options: prices }: Shown) =>
      id === "both" && prices.length === 1 ? `${id}: ${prices[0]!.pricing_option_id}` : id,
    );
    assert.equal(shown, left, JSON.stringify(filters));
  }
}
