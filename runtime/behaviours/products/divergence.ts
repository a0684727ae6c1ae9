/** Products that name their formats twice, and not the same ones: nothing is refused, and the buyer is told. */
import type { JsonObject } from "../../contract/index.js";
import type { FormatId } from "../ports/creatives.js";

interface Option {
  readonly format_option_id?: string;
  readonly format_kind?: string;
  readonly v1_format_ref?: readonly FormatId[];
}

const keyOf = ({ agent_url, id }: FormatId): string => `${agent_url.replace(/\/+$/, "")}#${id}`;

const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as readonly T[]) : []);

/** What a product's two lists disagree in; undefined where they agree, or there is only one. */
function divergenceOf(product: JsonObject): string | undefined {
  const ids = listOf<FormatId>(product.format_ids).map(keyOf);
  const options = listOf<Option>(product.format_options);
  if (ids.length === 0 || options.length === 0) return undefined;
  const named = options.flatMap(({ v1_format_ref: refs }) => listOf<FormatId>(refs).map(keyOf));
  const extra = named.find((one) => !ids.includes(one));
  if (extra !== undefined) return `format_options stands for ${extra}, which format_ids does not name`;
  // An option that stands for no older format may be any of those.
  const whole = options.every(({ v1_format_ref: refs }) => listOf(refs).length > 0);
  const lost = whole ? ids.find((one) => !named.includes(one)) : undefined;
  return lost === undefined ? undefined : `no format_options stands for ${lost}`;
}

/** An advisory for each product whose lists disagree, in the order of the answer. */
export const divergences = (products: readonly JsonObject[]): JsonObject[] =>
  products.flatMap((product, index) => {
    const reason = divergenceOf(product);
    if (reason === undefined) return [];
    const { product_id, format_ids } = product;
    const summary = listOf<Option>(product.format_options).map(({ format_option_id, format_kind }) => ({
      ...(format_option_id !== undefined && { format_option_id }),
      ...(format_kind !== undefined && { format_kind }),
    }));
    return [
      {
        code: "FORMAT_DECLARATION_DIVERGENT",
        message: "the product names its formats twice, and not the same ones; format_options holds",
        field: `products[${index}]`,
        source: "producer",
        details: { product_id, format_ids, format_options_summary: summary, divergence_reason: reason },
      },
    ];
  });
