/** Which measurement terms the seller agrees to. */

import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import type { Product } from "../ports/catalogue.js";

/** Counts are compared when they have settled: these windows are reported. */
const windows: ReadonlySet<string> = new Set(["live", "c3", "c7", "final"]);

/** Two vendors never count the same: less than this share of difference, in percent, is not agreed to. */
const LEAST_VARIANCE_PERCENT = 5;

export interface ProposedTerms {
  readonly measurement_terms?: {
    readonly billing_measurement?: { readonly max_variance_percent?: number; readonly measurement_window?: string };
  };
  readonly min_spend_target?: number | null;
  readonly catalogs?: readonly { readonly type?: string }[];
  readonly audience_evidence_requirements?: unknown;
  readonly audience_evidence_pins?: unknown;
  readonly committed_metrics?: unknown;
}

/** Does the release have this member of a package? */
export const knowsTerm = (shapes: BehaviourCall["shapes"], name: string): boolean =>
  shapes.request("create_media_buy").has("packages", "*", name);

/**
 * What nobody here keeps to, and would change what the money is spent on if it were left out.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
function checkKept({ shapes }: BehaviourCall, wanted: ProposedTerms, field: string): void {
  const unkept = {
    min_spend_target: "budgets are fixed here: there is no spend that could be moved towards a target",
    audience_evidence_requirements: "no product here comes with evidence of its audience",
    audience_evidence_pins: "no product here comes with evidence of its audience",
  } as const;
  // What a release does not know of is nobody's to mind.
  for (const [name, message] of Object.entries(unkept))
    if (wanted[name as keyof typeof unkept] != null && knowsTerm(shapes, name))
      throw new ToolError("UNSUPPORTED_FEATURE", message, { field: `${field}.${name}` });
}

/**
 * @param field where the package stands in the request
 * @throws ToolError TERMS_REJECTED, with what would be agreed to; UNSUPPORTED_FEATURE, VALIDATION_ERROR
 */
export function checkTerms(call: BehaviourCall, wanted: ProposedTerms, product: Product, field: string): void {
  checkKept(call, wanted, field);
  const { catalogs = [] } = wanted;
  const again = catalogs.findIndex(
    ({ type }, index) => type !== undefined && catalogs.findIndex((one) => one.type === type) < index,
  );
  if (again >= 0)
    throw invalid(call, `a package promotes one ${catalogs[again]!.type} catalog`, `${field}.catalogs[${again}].type`);
  checkMeasured(wanted, product, field);
}

function checkMeasured({ measurement_terms }: ProposedTerms, product: Product, field: string): void {
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
