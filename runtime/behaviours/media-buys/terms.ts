/** Which measurement terms the seller agrees to. */

import { ToolError } from "../../seller/tool-error.js";
import type { Product } from "../ports/catalogue.js";

/** Counts are compared when they have settled: these windows are reported. */
const windows: ReadonlySet<string> = new Set(["live", "c3", "c7", "final"]);

/** Two vendors never count the same: less than this share of difference, in percent, is not agreed to. */
const LEAST_VARIANCE_PERCENT = 5;

export interface ProposedTerms {
  readonly measurement_terms?: {
    readonly billing_measurement?: { readonly max_variance_percent?: number; readonly measurement_window?: string };
  };
}

/** @throws ToolError TERMS_REJECTED, with what would be agreed to */
export function checkTerms({ measurement_terms }: ProposedTerms, product: Product, field: string): void {
  const measured = measurement_terms?.billing_measurement;
  if (measured === undefined) return;
  const { max_variance_percent: variance, measurement_window: window } = measured;
  const at = `${field}.measurement_terms.billing_measurement`;
  if (variance !== undefined && variance < LEAST_VARIANCE_PERCENT)
    throw new ToolError("TERMS_REJECTED", `a variance below ${LEAST_VARIANCE_PERCENT} percent is not agreed to`, {
      field: `${at}.max_variance_percent`,
      details: {
        rejected_terms: ["max_variance_percent"],
        acceptable: { max_variance_percent: LEAST_VARIANCE_PERCENT },
      },
    });
  const own = (product.reporting_capabilities?.measurement_windows ?? []) as { window_id?: string }[];
  const agreed = [...windows, ...own.flatMap(({ window_id: id }) => id ?? [])];
  if (window !== undefined && !agreed.includes(window))
    throw new ToolError("TERMS_REJECTED", `billing follows one of ${agreed.join(", ")}, not ${window}`, {
      field: `${at}.measurement_window`,
      details: { rejected_terms: ["measurement_window"], acceptable: { measurement_window: agreed } },
    });
}
