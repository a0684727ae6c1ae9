/** Which figures of a package the seller promises to report: agreed to once, added to, and never taken back. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import type { Product } from "../ports/catalogue.js";
import { reportingOf } from "../products/products.js";
import { knowsTerm } from "./terms.js";

interface Metric extends JsonObject {
  readonly scope?: string;
  readonly metric_id?: string;
  readonly vendor?: JsonObject;
  readonly qualifier?: JsonObject;
  readonly committed_at?: string;
}

/** What makes two entries one. */
const keyOf = ({ scope, metric_id, vendor, qualifier }: Metric): unknown => [scope, metric_id, vendor, qualifier ?? {}];

function isReported(product: Product, { scope, metric_id: id, vendor }: Metric): boolean {
  const { available_metrics: own, vendor_metrics: theirs } = reportingOf(product);
  if (scope !== "vendor") return Array.isArray(own) && own.includes(id);
  return (
    Array.isArray(theirs) &&
    (theirs as readonly Metric[]).some(
      (one) => one.metric_id === id && (one.vendor as JsonObject | undefined)?.domain === vendor?.domain,
    )
  );
}

/**
 * The promise after a request: what was promised stays, and what is new is promised from now on.
 * @param field where the package stands in the request
 * @returns as a term of the package; nothing where the request says nothing of it
 * @throws ToolError TERMS_REJECTED for what the product does not report; VALIDATION_ERROR for a promise that is changed
 */
export function committedMetrics(
  call: BehaviourCall,
  { product, field }: { readonly product: Product; readonly field: string },
  wanted: unknown,
  before: unknown = [],
): JsonObject {
  if (!Array.isArray(wanted) || !knowsTerm(call.shapes, "committed_metrics")) return {};
  const promised = [...(before as readonly Metric[])];
  for (const [index, one] of (wanted as readonly Metric[]).entries()) {
    const at = `${field}.committed_metrics[${index}]`;
    const known = promised.find((other) => isDeepStrictEqual(keyOf(other), keyOf(one)));
    if (known === undefined) {
      if (!isReported(product, one))
        throw new ToolError("TERMS_REJECTED", `${one.metric_id} is not reported of product ${product.product_id}`, {
          field: `${at}.metric_id`,
          details: { rejected_terms: ["committed_metrics"] },
        });
      promised.push({ ...one, committed_at: call.time });
    } else if (!isDeepStrictEqual({ ...known, ...one }, known))
      throw invalid(call, `${one.metric_id} was promised otherwise, and stays so`, at);
  }
  return { committed_metrics: promised };
}
